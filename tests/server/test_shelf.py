"""Projects on a server: the same answers as over a folder, written whole, fenced by tenant."""

import threading

import pytest
from tests.server.novels import NOVEL, files_of, requests

import armarius
from armarius import Quota
from armarius.errors import ContractError, QuotaExceeded, StoreConflict, UnknownId
from armarius.workspace import server as server_shelf
from armarius.workspace.engines import bytes_in
from armarius.workspace.server import HotStored


@pytest.fixture
def novel(shelf, tenant):
    novel = shelf.project("novel", tenant=tenant)
    novel.write(files_of())
    return novel


def hits(found):
    return [(hit.path, hit.span, hit.score, hit.evidence) for hit in found]


def test_sixty_prompts_are_the_same_bytes_as_over_a_folder(novel):
    with armarius.open(NOVEL, project_id="novel", watch=False) as folder:
        for request in requests(60):
            there, here = novel.assemble(**request), folder.assemble(**request)
            assert there.prompt == here.prompt, request
            assert (there.warnings, there.token_count) == (here.warnings, here.token_count)
        for query in ("林默", "照片", "钟楼 雨", "the lamp"):
            assert hits(novel.search(query)) == hits(folder.search(query))
            assert hits(novel.index.search(query, match="any")) == hits(folder.index.search(query, match="any"))
            assert str(novel.retrieve(query)) == str(folder.retrieve(query))
        assert [one.id for one in novel.entities()] == [one.id for one in folder.entities()]


def test_another_process_answers_with_the_same_bytes_at_once(novel, open_shelf, tenant):
    other = open_shelf().project("novel", tenant=tenant)
    for request in requests(6):
        assert other.assemble(**request).prompt == novel.assemble(**request).prompt


def test_what_is_written_is_seen_by_everybody_at_once(novel, open_shelf, tenant):
    other = open_shelf().project("novel", tenant=tenant)
    assert other.document("chapters/ch001.md").text == files_of()["chapters/ch001.md"].decode()
    version = novel.write({"chapters/ch001.md": "# 第一章\n\n白鹭飞走了。\n"})
    assert version == novel.version == other.version
    assert other.document("chapters/ch001.md").text == "# 第一章\n\n白鹭飞走了。\n"
    assert other.search("白鹭飞走")[0].path == "chapters/ch001.md"
    pack = other.assemble("白鹭去哪里了", document="chapters/ch001.md", at_least=version)
    assert "白鹭飞走了" in pack.prompt
    novel.write(remove=["chapters/ch001.md"])
    with pytest.raises(KeyError):
        other.document("chapters/ch001.md")


def test_codex_memories_and_constraints_are_the_same_api(novel, open_shelf, tenant):
    other = open_shelf().project("novel", tenant=tenant)
    other.assemble("林默", document="chapters/ch001.md")
    entity = novel.codex.create("石爷爷", type="character", description="守夜人")
    novel.memories.create("作者爱用短句")
    novel.constraints.create("第三人称")
    assert other.codex.get(entity.id).description == "守夜人"
    assert [one.text for one in other.memories.list()] == ["作者爱用短句"]
    prompt = other.assemble("石爷爷是谁", document="chapters/ch001.md").prompt
    assert "守夜人" in prompt
    assert "作者爱用短句" in prompt
    assert "第三人称" in prompt
    assert other.index.store.verify() == []


def test_a_write_takes_whatever_a_project_holds(shelf, tenant):
    novel = shelf.project("p", tenant=tenant)
    files = {
        "a.md": "# 甲\n\n林默来了。\n",
        "codex.json": '{"entities": [{"id": "mo", "name": "林默", "description": "修表匠"}]}',
        "armarius.toml": '[kinds]\nchapter = ["a.md"]\n[code]\nallow_external_index = true\n',
        ".armarius/books/world/codex.json": '{"entities": [{"id": "gu", "name": "顾长明", "description": "修钟的"}]}',
        ".armarius/memories.toml": '[[memory]]\nid = "m"\ntext = "雨天"\n',
        "draft.docx.txt": ("文本写在很久以前的编码里，句子要长一些才认得出来。" * 4).encode("gb18030"),
        "picture.png": b"\x89PNG\0\0",
    }
    novel.write(files)
    assert {one.path: one.kind for one in novel.documents()}["a.md"] == "chapter"
    assert "修表匠" in novel.assemble("林默", document="a.md").prompt
    assert "修钟的" in novel.assemble("顾长明", document="a.md").prompt
    assert [one.id for one in novel.memories.list()] == ["m"]
    assert novel.document("draft.docx.txt").encoding.startswith("gb")
    with pytest.raises(armarius.ConfigError, match=r"documents\.none"):
        novel.write({"armarius.toml": "[documents]\nnone = 1\n", "a.md": "新"})
    assert novel.document("a.md").text.startswith("# 甲")


def test_whoever_is_slower_is_told_and_changes_nothing(novel, open_shelf, tenant):
    other = open_shelf().project("novel", tenant=tenant)
    seen = novel.version
    other.write({"a.md": "他的"}, expect=seen)
    with pytest.raises(StoreConflict):
        novel.write({"a.md": "我的", "b.md": "也是我的"}, expect=seen)
    assert novel.document("a.md").text == "他的"
    with pytest.raises(KeyError):
        novel.document("b.md")
    assert novel.write({"a.md": "我的"}, expect=novel.version) == other.version


def test_a_write_that_changes_nothing_is_no_version(novel):
    before = novel.version
    assert novel.write(files_of()) == before
    assert novel.write(remove=["none.md"]) == before


def test_a_document_that_is_moved_keeps_its_summary_and_its_pins_for_every_worker(novel, open_shelf, tenant):
    old, new = "chapters/ch001.md", "chapters/ch099.md"
    novel.summaries.set(old, "A watch stops.")
    novel.pins.add(old)
    novel.move(old, new)
    for project in (novel, open_shelf().project("novel", tenant=tenant)):
        assert ([pin.target for pin in project.pins], project.summaries.get(new).text) == ([new], "A watch stops.")
        assert project.summaries.stale() == ()


def test_a_failing_write_leaves_nothing_in_memory_either(novel, monkeypatch):
    before, request = novel.version, requests(1)[0]
    expected = novel.assemble(**request).prompt

    def fail(*_):
        raise RuntimeError("in the middle")

    monkeypatch.setattr(type(novel._shelf), "check_quota", fail)
    with pytest.raises(RuntimeError):
        novel.write({"chapters/ch001.md": "没有了"})
    monkeypatch.undo()
    assert novel.version == before
    assert novel.assemble(**request).prompt == expected
    assert novel.index.store.verify() == []


def test_writers_of_one_project_lose_nothing(open_shelf, tenant):
    novels = [open_shelf().project("p", tenant=tenant) for _ in range(4)]

    def count(novel):
        done = 0
        while done < 8:
            seen = novel.version
            now = 0 if seen == 0 else int(novel.document("count.md", at_least=seen).text)
            try:
                novel.write({"count.md": str(now + 1)}, expect=seen)
            except StoreConflict:
                continue
            done += 1

    threads = [threading.Thread(target=count, args=(novel,)) for novel in novels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert novels[0].document("count.md").text == "32"
    assert novels[0].index.store.verify() == []


def test_tenants_call_projects_the_same_and_see_nothing_of_each_other(shelf, tenant):
    mine, theirs = (shelf.project("novel", tenant=f"{tenant}{one}") for one in "ab")
    mine.write({"a.md": "# 甲\n\n林默来了。\n"})
    theirs.write({"a.md": "# 乙\n\n白鹭来了。\n"})
    assert mine.search("白鹭") == theirs.search("林默") == []
    assert [entry.tenant for entry in shelf.projects(tenant=f"{tenant}a")] == [f"{tenant}a"]
    shelf.delete_tenant(f"{tenant}a")
    assert theirs.document("a.md").title == "乙"
    with pytest.raises(KeyError):
        mine.document("a.md")


@pytest.mark.parametrize("tenant", [None, 0, False, [], 7, b"acme", ["acme"], "a\0b", "\ud800"])
def test_a_tenant_that_is_no_name_is_refused(shelf, tenant):
    with pytest.raises(ContractError, match=r"^tenant"):
        shelf.project("novel", tenant=tenant)


def test_a_project_of_no_tenant_is_that_of_the_empty_one(shelf):
    assert shelf.project("novel")._key == shelf.project("novel", tenant="")._key == shelf.key("novel", "")


@pytest.mark.parametrize(
    "name",
    ["'; DROP TABLE armarius.io; --", "../../etc", "%s", "{s}", "名 字\n", "a/b", "p" * 512, "\u202e", "NULL"],
)
def test_a_project_may_be_called_anything(shelf, tenant, name):
    novel = shelf.project(name, tenant=tenant)
    novel.write({"a.md": f"# {name}\n\n林默来了。\n"})
    assert novel.search("林默")[0].path == "a.md"
    assert [entry.id for entry in shelf.projects(tenant=tenant)] == [name]


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "../a.md", "a//b.md", "a\0.md", "a\ud800.md", "p" * 1025, "a\\b.md"]
)
def test_a_path_that_is_none_is_refused_and_nothing_is_written(shelf, tenant, path):
    novel = shelf.project("p", tenant=tenant)
    with pytest.raises(ContractError, match="path"):
        novel.write({"good.md": "好", path: "坏"})
    assert novel.version == 0
    with pytest.raises(ContractError, match=r"a\.md"):
        novel.write({"a.md": "\ud800"})


def test_deleting_leaves_no_row_and_no_engine(novel, shelf, open_shelf, shared_pool, tenant):
    other = open_shelf().project("novel", tenant=tenant)
    other.assemble("林默", document="chapters/ch001.md")
    key = shelf.key("novel", tenant)
    shelf.delete("novel", tenant=tenant)
    with shared_pool.lent() as connection:
        from armarius.store.postgres.schema import TABLES

        for table in TABLES:
            query = f"SELECT count(*) FROM armarius.{table} WHERE project = %s"
            assert connection.execute(query, (key,)).fetchone() == (0,), table
    assert key not in shelf._hot
    for gone in (novel, other):
        with pytest.raises(UnknownId):
            gone.document("chapters/ch001.md")
        with pytest.raises(UnknownId):
            gone.search("林默")
    with pytest.raises(UnknownId):
        shelf.delete("novel", tenant=tenant)
    other.write({"chapters/ch001.md": "从头再来"})
    assert novel.document("chapters/ch001.md").text == "从头再来"


READS = {
    "a verb": lambda shelf, name, tenant: shelf.project(name, tenant=tenant).search("林默"),
    "a prompt": lambda shelf, name, tenant: shelf.project(name, tenant=tenant).assemble("林默", document="a.md"),
    "a part": lambda shelf, name, tenant: shelf.project(name, tenant=tenant).codex,
    "memories": lambda shelf, name, tenant: shelf.project(name, tenant=tenant).memories,
    "status": lambda shelf, name, tenant: shelf.project(name, tenant=tenant).status(),
    "verify": lambda shelf, name, tenant: shelf.verify(name, tenant=tenant),
    "delete": lambda shelf, name, tenant: shelf.delete(name, tenant=tenant),
    "rename": lambda shelf, name, tenant: shelf.rename(name, "other", tenant=tenant),
    "copy": lambda shelf, name, tenant: shelf.copy(name, "other", tenant=tenant),
    "export": lambda shelf, name, tenant: shelf.export(name, "nowhere", tenant=tenant),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_what_reads_a_project_that_is_not_there_says_so_with_near_names(read, open_shelf, tenant):
    shelf = open_shelf(connections=1, wait_s=0.5)
    shelf.project("novel-1", tenant=tenant).write({"a.md": "甲"})
    shelf.project("novel-2", tenant=f"{tenant}-other").write({"a.md": "乙"})
    with pytest.raises(UnknownId, match="no project is called 'novel-3'; near it: novel-1") as told:
        read(shelf, "novel-3", tenant)
    assert (told.value.code, told.value.near) == ("UNKNOWN_PROJECT", ("novel-1",))
    assert [entry.id for entry in shelf.projects(tenant=tenant)] == ["novel-1"]
    assert shelf.status().hot == 2


def test_a_project_is_made_by_a_write_or_when_it_is_asked_for(shelf, open_shelf, tenant):
    with pytest.raises(UnknownId):
        shelf.project("p", tenant=tenant).documents()
    made = shelf.project("p", tenant=tenant, create=True)
    for novel in (made, open_shelf().project("p", tenant=tenant), shelf.project("p", tenant=tenant, create=True)):
        assert (list(novel.documents()), novel.version) == ([], 0)
    assert made.write({"a.md": "甲"}, expect=0) == 1
    assert shelf.project("p", tenant=tenant, create=True).version == 1


def test_a_renamed_and_a_copied_project_answer_as_before(novel, shelf, tenant):
    request = requests(1)[0]
    expected = novel.assemble(**request).prompt
    shelf.copy("novel", "second", tenant=tenant)
    shelf.rename("novel", "third", tenant=tenant)
    assert [entry.id for entry in shelf.projects(tenant=tenant)] == ["second", "third"]
    for name in ("second", "third"):
        again = shelf.project(name, tenant=tenant)
        assert again.assemble(**request).prompt == expected
        assert again.index.store.verify() == []
    with pytest.raises(StoreConflict):
        shelf.copy("second", "third", tenant=tenant)
    with pytest.raises(UnknownId):
        shelf.rename("novel", "fourth", tenant=tenant)


def test_a_quota_is_held_inside_the_transaction(open_shelf, tenant):
    novel = open_shelf(quota=Quota(files=2, bytes=100)).project("p", tenant=tenant)
    novel.write({"a.md": "甲", "b.md": "乙"})
    with pytest.raises(QuotaExceeded, match="3 files, at most 2"):
        novel.write({"c.md": "丙"})
    with pytest.raises(QuotaExceeded, match="bytes, at most 100"):
        novel.write({"b.md": "长" * 100})
    assert [one.path for one in novel.documents()] == ["a.md", "b.md"]
    novel.write({"c.md": "丙"}, remove=["b.md"])


def test_a_shelf_keeps_what_fits_and_makes_the_rest_again(open_shelf, tenant):
    shelf = open_shelf(memory="16 MiB")
    shelf._hot.limit = 4 * HotStored.base
    novels = [shelf.project(f"p{number}", tenant=tenant) for number in range(12)]
    for number, novel in enumerate(novels):
        novel.write({"a.md": f"# 第{number}本\n\n林默来了。\n"})
    assert 0 < shelf.status().hot < 12
    assert shelf.status().bytes <= shelf.status().limit
    for number, novel in enumerate(novels):
        assert novel.document("a.md").title == f"第{number}本"
    assert shelf.status().evicted >= 12


def test_a_new_configuration_holds_for_every_worker(novel, open_shelf, tenant):
    other = open_shelf().project("novel", tenant=tenant)
    request = {"query": "林默", "document": "chapters/ch003.md", "model": "gpt-4o"}
    before = other.assemble(**request).budget
    novel.write({"armarius.toml": f"[budget]\ntokens = {before // 2}\n"})
    assert novel.assemble(**request).budget == other.assemble(**request).budget == before // 2


@pytest.mark.parametrize(("given", "size"), [("2 GiB", 2**31), ("64mb", 64_000_000), (2**24, 2**24)])
def test_memory_is_a_size(given, size):
    assert bytes_in(given) == size


@pytest.mark.parametrize("given", ["", "much", "-1 GiB", 5, "1 KiB", None])
def test_memory_that_is_no_size_is_refused(given):
    with pytest.raises(ContractError, match="memory"):
        bytes_in(given)


def test_a_warm_question_is_one_round_trip(novel, tenant, shelf):
    from tests.server.tracing import Trace

    request = requests(1)[0]
    novel.assemble(**request)
    novel.assemble(**request)
    trace = Trace(shelf.pool)
    novel.assemble(**request)
    assert len(trace.statements) == 1, trace.statements
    assert not trace.broken


async def test_verbs_have_a_form_for_coroutines(novel):
    request = requests(1)[0]
    assert (await novel.aassemble(**request)).prompt == novel.assemble(**request).prompt
    assert await novel.awrite({"n.md": "新"}) == novel.version


def test_every_verb_is_of_one_moment():
    from armarius.engine.engine import ContextEngine
    from armarius.workspace.engines import ShelvedEngine

    other = {"check_project", "close", "watch", "refresh", "wait", "cancel", "budget_profile", "update_budget_profile"}
    other |= {"reembed", "subgraph", "snapshot", "write", "move"}  # long work, of folders or memory, and new versions
    verbs = {name for name, verb in vars(ContextEngine).items() if callable(verb) and not name.startswith("_")}
    assert "assemble" in verbs
    assert verbs - other <= vars(ShelvedEngine).keys()


def test_an_exported_project_is_the_files_that_were_written(novel, shelf, tenant, tmp_path):
    told = shelf.export("novel", tmp_path / "out", tenant=tenant)
    assert files_of(tmp_path / "out") == files_of()
    assert told.files == len(files_of())


def test_a_text_longer_than_a_file_may_be_is_refused(shelf, tenant, monkeypatch):
    monkeypatch.setattr(server_shelf, "MAX_BYTES", 10)
    with pytest.raises(armarius.ContractError, match=r"a\.md: 11 bytes, at most 10"):
        shelf.project("p", tenant=tenant).write({"a.md": "x" * 11})
