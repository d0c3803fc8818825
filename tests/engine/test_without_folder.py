"""An engine over texts that are no folder answers as one over a folder of the same texts, byte for byte."""

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

import armarius
from armarius.embedders import lexical
from armarius.errors import BookError, BudgetConflict, ConfigError, ProjectError, UnknownDocument, UnknownProject
from armarius.index.project_index import ProjectIndex
from armarius.store.sqlite.location import IndexPlace
from armarius.store.sqlite.store import SqliteStore
from armarius.testing import FakeAuthored, FakeSource

NOVEL = Path(__file__).parents[2] / "examples" / "novel"
QUESTIONS = ("林渡此刻在哪里？", "谁守着灯塔", "第3章写了什么", "", "“灯”", "白鹭和林渡是什么关系")


def texts():
    found = {path.relative_to(NOVEL).as_posix(): path.read_bytes() for path in sorted(NOVEL.rglob("*.md"))}
    assert len(found) > 5
    return found


@pytest.fixture
def source():
    return FakeSource(texts())


@pytest.fixture
def authored():
    codex, config = NOVEL / "codex.json", NOVEL / "armarius.toml"
    return FakeAuthored(
        config=config.read_text("utf-8") if config.exists() else "",
        codex=codex.read_text("utf-8") if codex.exists() else None,
    )


@pytest.fixture
def index(source, authored, tmp_path):
    def opened():
        return SqliteStore.open_repaired(IndexPlace(tmp_path / "index"), project_id="novel")

    return ProjectIndex.over(source, authored, opened, project_id="novel")


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(NOVEL, tmp_path / "novel")
    with armarius.open(tmp_path / "novel", watch=False) as engine:
        yield engine


def test_prompts_are_those_of_a_folder_with_the_same_texts(index, folder, source):
    with armarius.ContextEngine(index) as engine:
        assert (engine.root, engine.project_id) == (None, "novel")
        for budget in (2500, 6000):
            for question in QUESTIONS:
                ask = {"document": "chapters/ch003.md", "cursor": 100, "budget": budget}
                assert engine.assemble(question, **ask).prompt == folder.assemble(question, **ask).prompt
                assert engine.retrieve(question or "灯").outcome == folder.retrieve(question or "灯").outcome
        assert engine.search("灯塔") == folder.search("灯塔")
        assert engine.detect("林渡走了") == folder.detect("林渡走了")
        new = "# 第三章 独角兽\n\n林渡看见独角兽。\n"
        source.write("chapters/ch003.md", new)
        (folder.root / "chapters" / "ch003.md").write_text(new, "utf-8")
        ask = {"document": "chapters/ch003.md", "budget": 3000}
        prompt = engine.assemble("独角兽", **ask).prompt
        assert prompt == folder.assemble("独角兽", **ask).prompt
        assert "林渡看见独角兽" in prompt


def test_what_is_authored_is_kept_where_the_host_keeps_it(index, authored):
    with armarius.ContextEngine(index) as engine:
        engine.constraints.create("第三人称")
        engine.memories.create("作者爱用短句")
        engine.codex.create("顾昭宁", type="character", level="always")
        pack = engine.assemble("顾昭宁是谁", budget=4000)
        assert "第三人称" in pack.contents["rules"]
        assert "作者爱用短句" in pack.contents["settings"]
        assert "顾昭宁" in pack.prompt
        profile = engine.budget_profile()
        engine.update_budget_profile(armarius.BudgetProfile(budget=1234), version=profile.version)
        with pytest.raises(BudgetConflict):
            engine.update_budget_profile(profile, version=profile.version)
    assert authored.profile()["budget"] == 1234
    assert [block.id for block in authored.records("codex", tables=["entity"], check=lambda _: "").records()]


def test_a_document_is_read_as_it_is_at_the_moment_of_the_request(index, source):
    with armarius.ContextEngine(index) as engine:
        source.write("chapters/new.md", "还没有人读过这一页。")
        assert engine.document("chapters/new.md").text == "还没有人读过这一页。"
        with pytest.raises(UnknownDocument, match=r"near it: chapters/new\.md"):
            engine.document("new.md")


def test_recall_needs_an_embedder_that_is_given(index):
    with armarius.ContextEngine(index, embedder=lexical()) as engine:
        engine.recall.embed()
        assert engine.similar("灯塔", limit=3)
        assert engine.status().warnings == ()


def test_what_needs_a_folder_says_so(source, tmp_path):
    def over(config):
        opened = lambda: SqliteStore.open_repaired(IndexPlace(tmp_path / "other"), project_id="p")  # noqa: E731
        return ProjectIndex.over(source, FakeAuthored(config=config), opened, project_id="p")

    with armarius.ContextEngine(over("")) as engine:
        assert not hasattr(engine, "code")
        with pytest.raises(ProjectError, match="the code graph needs a project folder"):
            engine.subgraph("main")
        assert engine.assemble("它调用 `parse_text()` 吗", budget=3000).warnings == ()
    with armarius.ContextEngine(over('[embedding]\nmodel = "models/x"\n')) as engine:
        assert [warning.code for warning in engine.status().warnings] == ["EMBEDDING_UNAVAILABLE"]
    with over('[graph]\nstore = "nervusdb"\n') as index, pytest.raises(ConfigError, match="needs a project folder"):
        armarius.ContextEngine(index)


def test_a_project_without_a_text_says_which_it_is(tmp_path):
    opened = lambda: SqliteStore.open_repaired(IndexPlace(tmp_path / "empty"), project_id="p-17")  # noqa: E731
    index = ProjectIndex.over(FakeSource(), FakeAuthored(), opened, project_id="p-17")
    with armarius.ContextEngine(index) as engine:
        assert engine.assemble("谁", budget=3000).warnings == ("PROJECT_EMPTY: p-17: no document to read",)


def test_a_host_that_speaks_json_is_served_too(index):
    from armarius.verbs import methods_of

    with armarius.ContextEngine(index) as engine:
        methods = methods_of(engine)
        ask = {"projectId": "novel", "documentId": "", "cursorPosition": 0, "skillId": "", "query": "林渡"}
        result = methods["context:prompt:assemble"]({**ask, "budget": 3000})
        assert json.loads(json.dumps(result))["prompt"]
        assert methods["index:status"]({})["documents"] == len(texts())


def test_a_project_in_memory_has_what_is_written_and_is_gone_when_it_is_closed():
    with armarius.open(None, project_id="harbour") as engine:
        place = engine.root
        engine.write({"chapters/ch001.md": "# One\n\nThe zebra swam.\n", "spec/people.md": "# People\n\n## Ada\n"})
        assert (engine.project_id, engine.search("zebra")[0].path) == ("harbour", "chapters/ch001.md")
        engine.write({"chapters/ch001.md": "# One\n\nThe otter swam.\n"}, remove=["spec/people.md"])
        assert [one.path for one in engine.documents()] == ["chapters/ch001.md"]
        assert not engine.search("zebra")
        engine.move("chapters/ch001.md", "chapters/ch002.md")
        assert engine.search("otter")[0].path == "chapters/ch002.md"
        assert "The otter swam" in engine.assemble("who swam?").prompt
    assert not place.exists()


def test_a_text_that_is_written_as_it_stands_is_no_new_file(folder):
    texts = {path: (folder.root / path).read_bytes() for path in ("chapters/ch001.md", "chapters/ch002.md")}
    before = [(folder.root / path).stat() for path in texts]
    folder.write(texts)
    assert [(folder.root / path).stat() for path in texts] == before


BOOK = {f"chapters/{n:03}.md": f"# {n}\n\nThe zebra of day {n} swam.\n" for n in range(1, 41)}


@pytest.fixture
def snapshot():
    with armarius.open(None) as engine:
        engine.write({**BOOK, "people.md": "# People\n\n## Ada\n\n- Type: character\n"})
        engine.constraints.create("Past tense.")
        engine.search("zebra")
        return engine.snapshot()


def test_a_snapshot_opens_texts_records_and_index_and_nothing_is_read_anew(snapshot, monkeypatch):
    monkeypatch.setattr("armarius.documents.document.make_document", None)
    monkeypatch.setattr("armarius.documents.document.document_of", None)
    with armarius.open(None, snapshot=snapshot) as engine:
        assert engine.status().warnings == ()
        assert len(engine.search("zebra", limit=50)) == 40
        assert [entity.name for entity in engine.entities()] == ["Ada"]
        assert [rule.text for rule in engine.constraints] == ["Past tense."]
        generation = engine.status().generation
        engine.write(BOOK)
        assert "day 7 swam" in engine.assemble("the zebra of day 7").prompt
        assert engine.status().generation == generation


def test_a_text_that_differs_from_the_snapshot_is_read(snapshot):
    with armarius.open(None, snapshot=snapshot) as engine:
        engine.write({"chapters/001.md": "# 1\n\nThe otter swam.\n"}, remove=["chapters/002.md"])
        assert engine.search("otter")[0].path == "chapters/001.md"
        assert len(engine.search("zebra", limit=50)) == 38


def test_a_snapshot_has_the_vectors(monkeypatch):
    with armarius.open(None, embedder=lexical()) as engine:
        engine.write(BOOK)
        engine.recall.embed()
        hits = [hit.path for hit in engine.similar("zebra of day 9", limit=3)]
        snapshot = engine.snapshot()
    monkeypatch.setattr(type(lexical()), "embed_documents", None)
    with armarius.open(None, snapshot=snapshot, embedder=lexical()) as engine:
        assert [hit.path for hit in engine.similar("zebra of day 9", limit=3)] == hits
    assert len(hits) == 3


@pytest.mark.parametrize("harm", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:-9000] + bytes(9000)])
def test_a_damaged_snapshot_is_an_empty_project_with_a_warning(snapshot, harm):
    with armarius.open(None, snapshot=harm(snapshot)) as engine:
        assert [warning.code for warning in engine.status().warnings] == ["SNAPSHOT_IGNORED"]
        engine.write(BOOK)
        assert len(engine.search("zebra", limit=50)) == 40


@pytest.mark.parametrize("changed", [("armarius.engine.build.SCHEMA_VERSION", 999), None])
def test_a_snapshot_of_another_version_or_project_keeps_its_texts_with_a_warning(snapshot, monkeypatch, changed):
    if changed:
        monkeypatch.setattr(*changed)
    with armarius.open(None, snapshot=snapshot, project_id="memory" if changed else "other") as engine:
        assert [warning.code for warning in engine.status().warnings] == ["SNAPSHOT_IGNORED"]
        assert len(engine.search("zebra", limit=50)) == 40
        assert len(engine.constraints) == 1


@pytest.mark.parametrize("member", ["texts/chapters/007.md", "index-"])
def test_a_damaged_part_of_a_snapshot_is_left_out_alone(snapshot, member):
    harmed = bytearray(snapshot)
    info = next(info for info in ZipFile(BytesIO(snapshot)).infolist() if info.filename.startswith(member))
    harmed[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 255
    with armarius.open(None, snapshot=bytes(harmed)) as engine:
        (warning,) = engine.status().warnings
        assert warning.message.startswith(f"left out of the snapshot: {member.removeprefix('texts/')}")
        assert len(engine.search("zebra", limit=50)) == (40 if member == "index-" else 39)
        assert len(engine.constraints) == 1


def test_an_index_of_a_snapshot_that_holds_no_utf_8_is_built_again(snapshot):
    from armarius.io.files import pack_zip

    archive = ZipFile(BytesIO(snapshot))
    members = {name: archive.read(name) for name in archive.namelist()}
    (index,) = (name for name in members if name.startswith("index-"))
    members[index] = re.sub(rb"(?<=[0-9a-f]{15})[0-9a-f](?=[0-9a-f]{16})", b"\x9b", members[index])
    with armarius.open(None, snapshot=pack_zip(members)) as engine:
        assert len(engine.search("zebra", limit=50)) == 40


@pytest.mark.parametrize("project_id", ["../x", "a/b", "/", ".x", "x\0"])
def test_a_project_in_memory_lies_in_the_temporary_folder_whatever_its_id_is(project_id):
    with armarius.open(None, project_id=project_id) as engine:
        assert (engine.project_id, engine.root.name) == (project_id, "memory")


_NO_DOCUMENTS = (
    ".armarius/codex.toml",
    "armarius.toml",
    "cover.png",
    ".notes/a.md",
    "chapters/a.exe",
    "../spec.md",
    __file__,
)


@pytest.mark.parametrize("to", [*_NO_DOCUMENTS, "a\ud800.md", 3])
def test_a_document_is_moved_nowhere_where_it_would_be_no_document(folder, to):
    with pytest.raises(armarius.ContractError, match="would be read as no document"):
        folder.move("chapters/ch001.md", to)
    assert folder.document("chapters/ch001.md").text


def test_a_document_is_not_moved_onto_a_file_that_is_no_document(folder):
    folder.write({"armarius.toml": '[documents]\nexclude = ["old/**"]\n', "old/a.md": "# A"})
    with pytest.raises(armarius.ContractError, match=r"there is a file at 'old/a\.md'"):
        folder.move("chapters/ch001.md", "old/a.md")
    assert (folder.root / "old/a.md").read_text() == "# A"


def test_documents_that_are_moved_to_one_path_or_written_at_once_lose_no_text(folder):
    with ThreadPoolExecutor(2) as pool:
        for n in range(5):
            folder.write({"a.md": f"# A\n\nThe otter {n}.\n", "b.md": f"# B\n\nThe heron {n}.\n"}, remove=["c.md"])
            moves = [pool.submit(folder.move, path, "c.md") for path in ("a.md", "b.md")]
            (refusal,) = filter(None, [move.exception() for move in moves])
            assert isinstance(refusal, armarius.ContractError)
            texts = "".join(path.read_text() for path in folder.root.glob("[abc].md"))
            assert f"otter {n}" in texts
            assert f"heron {n}" in texts
            folder.write({"a.md": f"# A\n\nThe otter {n}.\n"}, remove=["c.md", "b.md"])
            move = pool.submit(folder.move, "a.md", "c.md")
            folder.write({"a.md": f"# A\n\nThe lynx {n}.\n"})
            move.result()
            assert any(f"lynx {n}" in path.read_text() for path in folder.root.glob("[ac].md"))


def test_a_document_that_another_one_moved_meanwhile_is_unknown(folder, monkeypatch):
    def locked(*_, **__):
        (folder.root / "chapters/ch001.md").unlink()
        return nullcontext()

    monkeypatch.setattr("armarius.engine.engine.folder_lock", locked)
    with pytest.raises(UnknownDocument, match=r"no such document: 'chapters/ch001\.md'"):
        folder.move("chapters/ch001.md", "b.md")


def test_a_member_of_a_snapshot_that_leads_elsewhere_is_left_out(tmp_path):
    from armarius.io.files import pack_zip

    members = {"texts/../../x.md": b"x", "texts/.git/hooks/x": b"x", "/x.md": b"x", "x.md": b"x", "texts/a.md": b"# A"}
    with armarius.open(None, snapshot=pack_zip(members)) as engine:
        assert [document.path for document in engine.documents()] == ["a.md"]
        assert [path.name for path in engine.root.iterdir()] == ["a.md"]


@pytest.mark.parametrize("limit", ["MAX_UNPACKED", "MAX_MEMBERS"])
def test_a_snapshot_that_could_not_be_restored_is_refused_when_it_is_made(monkeypatch, limit):
    with armarius.open(None) as engine:
        engine.write(BOOK)
        monkeypatch.setattr(f"armarius.io.files.{limit}", 40)
        with pytest.raises(BookError, match=r"snapshot: .* at most 40 are read"):
            engine.snapshot()


def test_a_project_that_could_not_be_restored_whole_is_not_there(snapshot, monkeypatch):
    def fail(root, files):
        (root / "half.md").write_text("# Half")
        raise armarius.StoreError("the disk is full")

    with armarius.shelf(None) as shelf:
        with monkeypatch.context() as patch:
            patch.setattr("armarius.engine.build.fill_folder", fail)
            with pytest.raises(armarius.StoreError, match="full"):
                shelf.restore("memory", snapshot)
        assert len(shelf.projects()) == 0
        assert shelf.restore("memory", snapshot) == ()
        assert len(shelf.project("memory").documents()) == 41


def test_only_a_project_in_memory_has_a_snapshot(folder):
    with pytest.raises(armarius.ContractError, match="only a project in memory"):
        folder.snapshot()
    for path, data in ((folder.root, b""), (None, "text")):
        with pytest.raises(armarius.ContractError, match="expected the bytes of one"):
            armarius.open(path, snapshot=data)


def test_snapshots_go_out_and_in_over_a_wire_where_projects_are_in_memory(folder):
    from armarius.verbs import methods_of_shelf

    with armarius.shelf(None) as shelf:
        call = methods_of_shelf(shelf)
        call["documents:write"]({"projectId": "a", "files": BOOK, "createIfMissing": True})
        kept = call["projects:snapshot"]({"projectId": "a"})
        again = call["projects:restore"]({"projectId": "a", **kept})
        assert "the project is there" in again["warnings"][0]
    with armarius.shelf(None) as shelf:
        call = methods_of_shelf(shelf)
        assert call["projects:restore"]({"projectId": "a", **kept}) == {"projectId": "a", "warnings": []}
        assert call["documents:list"]({"projectId": "a"})["total"] == 40
        (warning,) = call["projects:restore"]({"projectId": "b", "data": "%"})["warnings"]
        assert warning.startswith("SNAPSHOT_IGNORED: left out of the snapshot: all: ")
        assert call["documents:list"]({"projectId": "b"})["total"] == 0
    with armarius.shelf(folder.root.parent) as shelf:
        assert "projects:snapshot" not in methods_of_shelf(shelf, write=True)
        with pytest.raises(armarius.ContractError, match="only a project in memory"):
            shelf.restore("c", b"")


_NO_PATHS = ["../a.md", "/a.md", ".git/a.md", "a/../../b.md", "a\\b.md", "", "a\0.md", "a\ud800.md", "a//b.md", "a/"]


@pytest.mark.parametrize("path", [*_NO_PATHS, "a/" * 600 + "a.md", 3])
def test_a_path_that_leads_out_of_a_project_is_refused_and_nothing_is_written(folder, path):
    with pytest.raises(armarius.ContractError, match="no path in the project"):
        folder.write({"new.md": "x", path: "x"})
    assert not (folder.root / "new.md").exists()


@pytest.mark.parametrize("path", ["taken.md", "link/new.md"])
def test_texts_that_cannot_all_be_written_are_none_and_the_error_says_which(folder, tmp_path, path):
    (folder.root / "taken.md").mkdir()
    (folder.root / "link").symlink_to(tmp_path)
    with pytest.raises(armarius.StoreError, match=rf"^{path}: not written"):
        folder.write({"chapters/ch001.md": "changed", path: "x"})
    assert not (tmp_path / "new.md").exists()
    assert (folder.root / "chapters/ch001.md").read_bytes() == (NOVEL / "chapters/ch001.md").read_bytes()


@pytest.mark.parametrize("path", ["taken.md", "link"])
def test_a_folder_or_a_link_is_not_removed_and_nothing_is_written(folder, tmp_path, path):
    (folder.root / "taken.md").mkdir()
    (folder.root / "link").symlink_to(tmp_path)
    with pytest.raises(armarius.StoreError, match=rf"^{path}: not written"):
        folder.write({"chapters/ch001.md": "changed"}, remove=["chapters/ch002.md", path])
    for kept in ("chapters/ch001.md", "chapters/ch002.md"):
        assert (folder.root / kept).read_bytes() == (NOVEL / kept).read_bytes()


def test_many_projects_in_memory_are_written_over_a_wire_and_deleted():
    from armarius.verbs import methods_of_shelf

    with armarius.shelf(None) as shelf:
        place, call = shelf.root, methods_of_shelf(shelf)
        new = {"projectId": "a", "files": {"ch001.md": "# One\n\nThe zebra swam.\n"}}
        with pytest.raises(UnknownProject):
            call["documents:write"](new)
        for name in ("a", "b"):
            call["documents:write"]({**new, "projectId": name, "createIfMissing": True})
        assert call["documents:find"]({"projectId": "a", "query": "zebra"})["items"][0]["line"] == 3
        call["documents:rename"]({"projectId": "a", "documentId": "ch001.md", "to": "ch002.md"})
        assert [one["path"] for one in call["documents:list"]({"projectId": "a"})["items"]] == ["ch002.md"]
        call["documents:delete"]({"projectId": "a", "documentId": "ch002.md"})
        assert call["documents:list"]({"projectId": "a"})["items"] == []
        call["projects:delete"]({"projectId": "a"})
        assert [one["id"] for one in call["projects:list"]({})["items"]] == ["b"]
    assert not place.exists()


def test_a_page_that_is_found_over_a_wire_goes_on_with_the_next_cursor_of_the_one_before():
    from armarius.verbs import methods_of_shelf

    with armarius.shelf(None) as shelf:
        call = methods_of_shelf(shelf)
        call["documents:write"]({"projectId": "a", "files": BOOK, "createIfMissing": True})
        find, lines, cursor = {"projectId": "a", "query": "zebra"}, [], 0
        while cursor is not None:
            page = call["documents:find"]({**find, "cursor": cursor})
            lines += [item["path"] for item in page["items"]]
            cursor = page.get("nextCursor")
        assert sorted(lines) == sorted(BOOK)
        with pytest.raises(armarius.ContractError, match="cursorPosition is unknown"):
            call["documents:find"]({**find, "cursorPosition": 3})


def test_folders_are_written_over_a_wire_only_where_that_is_allowed(folder):
    from armarius.verbs import methods_of, methods_of_shelf

    assert "documents:write" not in methods_of(folder)
    methods_of(folder, write=True)["documents:write"]({"files": {"new.md": "# New\n\nA zebra.\n"}})
    assert folder.search("zebra")[0].path == "new.md"
    with armarius.shelf(folder.root.parent) as shelf:
        assert "documents:write" not in methods_of_shelf(shelf)
        allowed = methods_of_shelf(shelf, write=True)
        assert "documents:write" in allowed
        assert "projects:delete" not in allowed
        with pytest.raises(armarius.ContractError, match="of the user"):
            shelf.delete(folder.root.name)
