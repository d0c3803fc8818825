"""How often a folder is walked and a document read: as seldom as nothing changes, and never too seldom."""

import time

import pytest

import armarius
from armarius.documents.document import read_document
from armarius.index import source
from armarius.index.source import FolderSource
from armarius.trust.settings import Config

SETTLED = 0.08  # seconds after which the times of a file tell every later change


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "novel"
    (folder / "chapters").mkdir(parents=True)
    for number in range(1, 4):
        path = folder / f"chapters/ch{number:03}.md"
        path.write_text(f"# 第{number}章\n\n白鹭飞过第{number}座桥。\n", encoding="utf-8")
    time.sleep(SETTLED)
    return folder


@pytest.fixture
def counted(monkeypatch):
    """How often each function of the source was called."""
    calls = {"look_at": 0, "reread_document": 0}

    def counting(name):
        plain = getattr(source, name)

        def called(*arguments, **more):
            calls[name] += 1
            return plain(*arguments, **more)

        monkeypatch.setattr(source, name, called)

    for name in calls:
        counting(name)
    return calls


def test_a_folder_in_which_nothing_changed_is_not_walked_again(project, tmp_path, counted):
    with armarius.open(project, watch=False, index_dir=tmp_path / "index") as engine:
        engine.retrieve("白鹭")
        walks = counted["look_at"]
        for _ in range(5):
            assert engine.retrieve("白鹭")
        assert counted["look_at"] == walks


@pytest.mark.parametrize("change", ["write", "same size", "new", "remove", "rename", "ignore"])
def test_whatever_changes_is_seen_by_the_next_question(project, tmp_path, change):
    first = project / "chapters/ch001.md"
    with armarius.open(project, watch=False, index_dir=tmp_path / "index") as engine:
        for _ in range(3):
            assert len(engine.documents()) == 3
        if change == "write":
            first.write_text("# 第1章\n\n灯塔守望着海。\n", encoding="utf-8")
        elif change == "same size":
            first.write_text(first.read_text("utf-8").replace("白鹭", "灯塔"), encoding="utf-8")
        elif change == "new":
            (project / "chapters/ch004.md").write_text("# 第4章\n\n灯塔。\n", encoding="utf-8")
        elif change == "remove":
            first.unlink()
        elif change == "rename":
            first.rename(project / "chapters/ch009.md")
        else:
            (project / ".gitignore").write_text("ch001.md\n", encoding="utf-8")
        paths = [one.path for one in engine.documents()]
        expected = {"new": 4, "remove": 2, "ignore": 2}.get(change, 3)
        assert len(paths) == expected
        assert ("chapters/ch009.md" in paths) == (change == "rename")
        told = engine.search("灯塔")
        assert bool(told) == (change in ("write", "same size", "new"))


def test_changes_within_one_tick_of_the_clock_are_all_seen(project, tmp_path):
    path = project / "chapters/ch002.md"
    with armarius.open(project, watch=False, index_dir=tmp_path / "index") as engine:
        for turn in range(30):
            word = f"第{turn:02}只鹤"
            path.write_text(f"# 第2章\n\n{word}。\n", encoding="utf-8")
            assert [hit.path for hit in engine.search(f"“{word}”")] == ["chapters/ch002.md"], turn


def test_a_document_is_read_again_only_when_its_file_changed(project, counted):
    source = FolderSource(project, Config)
    known = read_document(project, "chapters/ch001.md")
    for _ in range(4):
        assert source.document(known.path, known) is known
    assert counted["reread_document"] == 1
    (project / known.path).write_text(known.text.replace("白鹭", "灯塔"), encoding="utf-8")
    changed = source.document(known.path, known)
    assert "灯塔" in changed.text
    assert source.document(known.path, known) == changed, "what was read is not what the caller holds"


def test_a_stamp_of_a_folder_ends_with_the_first_change(project):
    source = FolderSource(project, Config)
    assert source.stamp() == "", "nothing has been looked at"
    source.compare({})
    stamp = source.stamp()
    assert stamp
    assert stamp == source.stamp()
    (project / "chapters/ch001.md").write_text("other", encoding="utf-8")
    assert source.stamp() == ""
    source.compare({})
    assert source.stamp() != stamp
