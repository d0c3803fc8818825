import os
import shutil
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.index.conftest import NOVEL, PROFILES, counts_of, put

from armarius.codex import AuthoredCodex
from armarius.documents.document import list_documents
from armarius.errors import ProjectError, StoreError
from armarius.index import source
from armarius.index.derived import read_names
from armarius.index.graph import ProjectGraph
from armarius.index.project_index import ProjectIndex
from armarius.trust.settings import Config, Permissions


def equals_folder(index, documents=None):
    """The index holds exactly what a fresh reading of the folder gives, or `documents`, and is sound."""
    documents = list_documents(index.root).documents if documents is None else documents
    assert [index.store.document(d.path) for d in documents] == list(documents)
    assert list(index.store.files()) == [d.path for d in documents]
    for row in read_names(index.snapshot, documents):
        assert index.store.learnt(row.kind, [row.path])[row.path] == row
    return index.store.verify() == []


def test_first_opening_indexes_every_document_with_its_mentions(index):
    assert equals_folder(index)
    assert counts_of(index, "chapters/ch001.md") == {"林小雨": 1, "林默": 1}
    status = index.status()
    assert (status.state, status.documents, status.entities) == ("ready", 4, 2)
    assert status.mentions == sum(counts_of(index, path).total() for path in NOVEL) > 4


def test_search_shows_passage_place_and_words(index):
    hit = index.search("小雨", kinds=("chapter",), chapters=(1, 1))[0]
    assert (hit.path, hit.heading, hit.paragraph, hit.chapter) == ("chapters/ch001.md", ("第一章 雨夜",), 1, 1)
    assert NOVEL[hit.path][hit.start : hit.end] == hit.text == "林默推开门，小雨站在雨里。"
    assert [hit.text[a:b] for a, b in hit.highlights] == ["小雨"]
    assert "小雨" in hit.snippet
    assert hit.score > 0


def test_search_never_finds_words_that_do_not_stand_there(index):
    put(index.root, "notes.md", "他说小，雨停了。\n\n小雨停了。")
    index.refresh()
    assert [h.text for h in index.search("小雨停")] == ["小雨停了。"]
    assert index.search("门，小雨")[0].path == "chapters/ch001.md"
    assert index.search("“门，小雨”")[0].path == "chapters/ch001.md"
    assert index.search("、。") == []
    with pytest.raises(ValueError, match="limit must be a whole number >= 1, got 0"):
        index.search("钟", limit=0)


def test_a_saved_chapter_is_all_that_is_written(index):
    put(index.root, "chapters/ch002.md", "# 第二章 钟楼\n\n小雨笑了。麒麟。\n")
    outcome = index.refresh()
    assert (outcome.written, outcome.removed) == (1, 0)
    assert [h.path for h in index.search("麒麟")] == ["chapters/ch002.md"]
    assert index.search("没有说话") == []
    assert equals_folder(index)


def test_a_touched_file_makes_no_generation_and_is_read_once(index, monkeypatch):
    before = index.status().generation
    (index.root / "outline.md").touch()
    index.refresh()
    later = time.time_ns() + 3_000_000_000
    monkeypatch.setattr("armarius.index.source.time", SimpleNamespace(time_ns=lambda: later))  # no doubt is left
    index.refresh()
    stamp = index.store.files()["outline.md"].stamp
    read = []
    monkeypatch.setattr("armarius.index.source.read_documents", lambda *args, **_: read.append(args))
    index.refresh()
    assert (read, index.status().generation) == ([], before)
    assert not stamp.startswith("?")


def test_a_touched_file_is_not_parsed_again(index, monkeypatch):
    before = index.store.files()["outline.md"]
    (index.root / "outline.md").touch()
    monkeypatch.setattr("armarius.documents.document.make_document", None)
    index.refresh()
    after = index.store.files()["outline.md"]
    assert (after.content_hash, after.stamp != before.stamp) == (before.content_hash, True)


def test_the_map_is_not_decided_again_when_files_are_touched(index, monkeypatch):
    for number in range(3, 80):
        put(index.root, f"chapters/ch{number:03}.md", f"# {number}\n\n钟停了。\n")
    index.refresh()
    for path in index.root.glob("chapters/*"):
        path.touch()
    index.refresh()
    index.refresh(["outline.md"])
    monkeypatch.setattr("armarius.index.derived.decide", None)
    with ProjectIndex.open(index.root) as other:
        assert other.map.files


def test_the_map_is_not_decided_again_when_a_short_chapter_grows_by_a_sentence(index, monkeypatch):
    text = f"# 第三章\n\n{'钟停了，灯还亮着。' * 60}\n"
    put(index.root, "chapters/ch003.md", text)
    index.refresh()
    monkeypatch.setattr("armarius.index.derived.decide", None)
    put(index.root, "chapters/ch003.md", f"{text}\n门外又响起了脚步声。\n")
    assert index.refresh().written == 1


def test_a_touched_file_is_not_written_again(index):
    generation = index.status().generation
    (index.root / "outline.md").touch()
    assert index.refresh().written == 0
    assert index.status().generation - generation <= 1  # at most its stamp


def test_same_size_and_time_with_other_content_is_seen(index):
    path = index.root / "chapters/ch001.md"
    info = path.stat()
    path.write_text(NOVEL["chapters/ch001.md"].replace("钟停了", "灯亮了"), "utf-8")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    index.refresh()
    assert index.search("灯亮了")
    assert equals_folder(index)


def test_deleted_renamed_and_moved_files_and_folders_follow(index):
    (index.root / "outline.md").unlink()
    (index.root / "chapters/ch001.md").rename(index.root / "chapters/ch009.md")
    index.refresh()
    assert equals_folder(index)
    (index.root / "chapters").rename(index.root / "正文")
    index.refresh()
    assert set(index.store.files()) == {"正文/ch002.md", "正文/ch009.md", "spec/people.md"}
    assert equals_folder(index)


def test_a_folder_in_place_of_a_file_and_back(index):
    (index.root / "outline.md").unlink()
    put(index.root, "outline.md/inner.md", "钟")
    index.refresh(["outline.md"])
    assert equals_folder(index)
    (index.root / "outline.md/inner.md").unlink()
    (index.root / "outline.md").rmdir()
    put(index.root, "outline.md", "钟")
    index.refresh(["outline.md"])
    assert equals_folder(index)


def test_refreshing_one_path_leaves_the_others_alone(index):
    put(index.root, "chapters/ch001.md", "一")
    put(index.root, "chapters/ch002.md", "二")
    index.refresh(["chapters/ch001.md"])
    assert index.store.document("chapters/ch001.md").text == "一"
    assert index.store.document("chapters/ch002.md").text == NOVEL["chapters/ch002.md"]


def test_changed_names_are_found_again_in_every_text(index):
    put(index.root, "spec/people.md", PROFILES.replace("林小雨", "苏阿雪").replace("别名：小雨", "别名：钟停"))
    assert index.refresh().written == 1
    assert not any(counts_of(index, path)["林小雨"] for path in NOVEL)
    assert counts_of(index, "chapters/ch001.md")["苏阿雪"] == 1
    assert equals_folder(index)


def test_codex_json_is_picked_up(index):
    put(index.root, "codex.json", '{"entities": [{"id": "clock", "name": "钟", "type": "item"}], "relations": []}')
    index.refresh()
    assert counts_of(index, "chapters/ch001.md")["clock"] == 1
    assert equals_folder(index)
    (index.root / "codex.json").unlink()
    index.refresh()
    assert not any(counts_of(index, path)["clock"] for path in NOVEL)


@pytest.mark.parametrize("opened", ["", '[documents]\nread = [".*/**"]\n'])
def test_nothing_opens_what_git_and_the_index_have_written(index, opened):
    put(index.root, ".gitignore", "/*\n!/*/\n!*.toml\n")
    put(index.root, "armarius.toml", opened)
    for folder in (".git", ".armarius", "chapters/.git"):
        put(index.root, f"{folder}/notes.md", "# Notes\n\nOf a program.\n")
    index.refresh()
    assert "chapters/ch001.md" in index.store.files()
    assert not [path for path in index.store.files() if path.endswith("notes.md")]


def test_ignore_files_and_configuration_take_effect_on_indexed_files(index):
    put(index.root, ".gitignore", "outline.md\n")
    index.refresh()
    assert "outline.md" not in index.store.files()
    put(index.root, "armarius.toml", '[kinds]\nnote = ["chapters/ch002.md"]\n')
    index.refresh()
    assert [d.path for d in index.store.documents(kinds=("note",))] == ["chapters/ch002.md"]
    put(index.root, "armarius.toml", "[kinds\n")
    index.refresh()
    assert index.status().warnings[0].code == "INDEX_STALE"
    assert [d.path for d in index.store.documents(kinds=("note",))] == ["chapters/ch002.md"]


def test_unreadable_files_are_in_the_status_and_leave_it_when_mended(index):
    put(index.root, "chapters/ch002.md", b"\0\0")
    index.refresh()
    assert [(s.path, s.reason) for s in index.status().skipped] == [("chapters/ch002.md", "binary: NUL at byte 0")]
    assert "chapters/ch002.md" not in index.store.files()
    put(index.root, "chapters/ch002.md", "好了")
    index.refresh(["chapters/ch002.md"])
    assert index.status().skipped == ()
    assert equals_folder(index)


def test_reopening_an_unchanged_project_reads_no_file(novel, cache, monkeypatch):
    ProjectIndex.open(novel).close()
    time.sleep(0.1)  # until the stamps are old enough to be trusted
    ProjectIndex.open(novel).close()
    read = []
    monkeypatch.setattr(source, "read_document", lambda root, path, **_: read.append(path))
    with ProjectIndex.open(novel) as index:
        assert index.status().documents == 4
    assert read == []


def test_an_index_built_step_by_step_answers_like_a_fresh_one(index, tmp_path):
    for i in range(5):
        put(index.root, f"chapters/ch00{i}.md", f"# 第{i}章\n\n林默和小雨{'又' * i}来了。")
        index.refresh()
    (index.root / "outline.md").unlink()
    index.refresh()
    with ProjectIndex.open(index.root, index_dir=tmp_path / "other") as fresh:
        for text in ("林默", "小雨", "又", "来了", "第"):
            assert index.search(text, limit=99) == fresh.search(text, limit=99)


def test_opening_without_waiting_answers_from_what_is_there_and_says_so(novel, cache):
    gate, seen = threading.Event(), []

    def progress(step):
        seen.append(step)
        gate.wait(60)

    with ProjectIndex.open(novel, wait=False, progress=progress) as index:
        while not seen:
            time.sleep(0.005)
        assert index.freshen()[0].code == "INDEX_STALE"
        assert index.status().state == "building"
        assert index.search("钟")  # the first batch is there
        gate.set()
        assert index.wait(60)
        assert index.freshen() == ()
        assert seen[-1].done == seen[-1].total == 4


def test_a_build_can_be_cancelled_and_taken_up_again(novel, cache):
    for i in range(100):
        put(novel, f"notes/{i:03}.md", f"第{i}条")
    started, go_on = threading.Event(), threading.Event()
    with ProjectIndex.open(novel, wait=False, progress=lambda _: (started.set(), go_on.wait(60))) as index:
        assert started.wait(60)
        index.cancel()
        go_on.set()
        assert index.wait(60)
        status = index.status()
        assert (status.state, status.documents) == ("cancelled", 32)
        assert index.freshen()[0].code == "INDEX_STALE"
    with ProjectIndex.open(novel) as index:
        assert equals_folder(index)


def test_without_a_watcher_answers_are_fresh_after_freshen(index):
    put(index.root, "chapters/ch001.md", "独角兽")
    assert index.freshen() == ()
    assert index.search("独角兽")


def test_many_changed_files_are_read_in_the_background(index):
    for i in range(50):
        put(index.root, f"notes/{i:03}.md", f"第{i}条")
    assert [w.code for w in index.freshen()] == ["INDEX_STALE"]
    index.wait(20)
    assert index.freshen() == ()
    assert equals_folder(index)


def test_two_indexes_of_one_project_see_each_other(index):
    with ProjectIndex.open(index.root) as other:
        put(index.root, "notes/new.md", "独角兽")
        other.refresh()
        assert [h.path for h in index.search("独角兽")] == ["notes/new.md"]
        index.refresh()
        assert equals_folder(index)


def test_a_codex_that_another_process_indexed_is_seen(index):
    with ProjectIndex.open(index.root) as other:
        put(index.root, "spec/people.md", PROFILES.replace("林默", "林深"))
        other.refresh()
        assert index.freshen() == ()
        assert {e.name for e in index.snapshot.codex.entities} == {"林小雨", "林深"}
        assert equals_folder(index)


def test_a_request_does_not_wait_for_a_long_refresh(index):
    started, go_on = threading.Event(), threading.Event()
    put(index.root, "notes/new.md", "独角兽")
    refresh = threading.Thread(target=index.refresh, kwargs={"progress": lambda _: (started.set(), go_on.wait(60))})
    refresh.start()
    assert started.wait(60)
    put(index.root, "notes/newer.md", "麒麟兽")
    assert [w.code for w in index.freshen()] == ["INDEX_STALE"]
    assert index.search("独角兽")
    go_on.set()
    refresh.join()
    assert index.freshen() == ()
    assert index.search("麒麟兽")


def test_a_background_build_leaves_the_world_to_be_asked_for(novel, cache):
    started, go_on = threading.Event(), threading.Event()
    with ProjectIndex.open(novel, wait=False, progress=lambda _: (started.set(), go_on.wait(60))) as index:
        assert index.snapshot.matcher is not None
        go_on.set()


@pytest.mark.parametrize("name", ["codex.json", ".armarius/codex.toml"])
def test_what_was_authored_while_no_index_was_open_reaches_the_graph(novel, cache, name):
    text = {
        "codex.json": '{"entities": [{"id": "gu", "name": "顾长明"}, {"id": "bai", "name": "白鹭"}],'
        ' "relations": [{"source": "gu", "target": "bai", "type": "师徒"}]}',
        ".armarius/codex.toml": '[[entity]]\nid = "gu"\nname = "顾长明"\n\n[[entity]]\nid = "bai"\nname = "白鹭"\n\n'
        '[[relation]]\nid = "r"\nsource = "gu"\ntarget = "bai"\ntype = "师徒"\n',
    }[name]
    ProjectIndex.open(novel).close()
    put(novel, name, text)
    with ProjectIndex.open(novel) as index:
        assert index.status().entities == len(index.snapshot.codex.entities) == 4
        graph = ProjectGraph(index, AuthoredCodex(index.authored))
        assert [(edge.source, edge.target) for edge in graph.neighbors("gu")] == [("gu", "bai")]
        time.sleep(0.1)  # what was written within a tick of the clock is looked at once more, and its stamp kept
        index.freshen()
        generation = index.store.generation()
        snapshot = index.snapshot
        assert index.freshen() == ()
        assert index.snapshot is snapshot, "the world is read again for every answer"
        assert index.store.generation() == generation
    (novel / name).unlink()
    with ProjectIndex.open(novel) as index:
        graph = ProjectGraph(index, AuthoredCodex(index.authored))
        assert (index.status().entities, graph.neighbors("gu")) == (2, ())


def test_the_index_may_live_elsewhere_and_be_deleted(novel, cache, tmp_path):
    with ProjectIndex.open(novel, index_dir=tmp_path / "here") as index:
        path = index.status().path
        assert Path(path).parent.parent == tmp_path / "here" / "armarius-index"
    shutil.rmtree(tmp_path / "here")
    with ProjectIndex.open(novel, index_dir=tmp_path / "here") as index:
        assert equals_folder(index)
    put(novel, "armarius.toml", '[documents]\nindex_dir = ".armarius/index"\n')
    with ProjectIndex.open(novel) as index:
        assert Path(index.status().path).is_relative_to(cache)
    with ProjectIndex.open(novel, permissions=Permissions.of(novel, trusted=True)) as index:
        assert Path(index.status().path).is_relative_to(novel / ".armarius/index/armarius-index")
        assert equals_folder(index)


def test_a_missing_folder_and_a_closed_index_are_refused(tmp_path, novel, cache):
    with pytest.raises(ProjectError, match="not a project folder"):
        ProjectIndex.open(tmp_path / "none")
    index = ProjectIndex.open(novel, config=Config())
    index.close()
    index.close()
    for call in (index.refresh, index.status, lambda: index.search("钟")):
        with pytest.raises(StoreError, match="closed"):
            call()
