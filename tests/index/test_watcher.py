import time
from types import SimpleNamespace

import pytest
from tests.index.conftest import NOVEL, counts_of, put
from tests.index.test_index import equals_folder

from armarius.index import watcher as watchers
from armarius.index.freshness import IndexWatch
from armarius.index.project_index import ProjectIndex
from armarius.index.watcher import Followed, Watcher


@pytest.fixture
def watching(novel, cache):
    with ProjectIndex.open(novel, watch=True) as index:
        eventually(lambda: not index._following.folders[""].pending)
        yield index


def eventually(claim, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if claim():
            return
        time.sleep(0.01)
    assert claim()


def test_nothing_counts_as_watched_before_all_folders_are(tmp_path, monkeypatch):
    watch, seen = IndexWatch(), []
    monkeypatch.setattr(Watcher, "follow", lambda self, root, changed: seen.append(watch.on) or root)
    watch.start({"": tmp_path, "book2": tmp_path / "book2"}, lambda paths: None)
    assert seen == [False, False]
    assert list(watch.folders) == ["", "book2"]


def test_a_save_is_searchable_soon(watching):
    put(watching.root, "chapters/ch001.md", "独角兽")
    eventually(lambda: watching.search("独角兽"))


def test_an_atomic_save_is_a_save(watching):
    part = put(watching.root, "chapters/.ch001.md.swp", "独角兽")
    part.replace(watching.root / "chapters/ch001.md")
    eventually(lambda: watching.search("独角兽"))
    backup = (watching.root / "chapters/ch001.md").rename(watching.root / "chapters/ch001.md~")
    put(watching.root, "chapters/ch001.md", "麒麟兽")
    backup.unlink()
    eventually(lambda: watching.search("麒麟兽"))
    assert equals_folder(watching)


def test_folders_that_come_go_and_move_are_followed(watching, tmp_path):
    outside = put(tmp_path, "elsewhere/deep/x.md", "独角兽").parent.parent
    outside.rename(watching.root / "notes")
    eventually(lambda: watching.search("独角兽"))
    (watching.root / "notes").rename(watching.root / "ideas")
    eventually(lambda: [h.path for h in watching.search("独角兽")] == ["ideas/deep/x.md"])
    put(watching.root, "ideas/deep/y.md", "麒麟兽")
    eventually(lambda: watching.search("麒麟兽"))
    (watching.root / "ideas").rename(outside)
    eventually(lambda: not watching.search("独角兽"))


def test_a_changed_codex_file_and_ignore_file_are_followed(watching):
    put(watching.root, "codex.json", '{"entities": [{"id": "clock", "name": "钟", "type": "item"}], "relations": []}')
    eventually(lambda: any(counts_of(watching, path)["clock"] for path in NOVEL))
    put(watching.root, ".gitignore", "outline.md\n")
    eventually(lambda: "outline.md" not in watching.store.files())


def test_a_replaced_root_is_watched_again(watching):
    watching.root.rename(watching.root.with_name("old"))
    put(watching.root, "new.md", "独角兽")
    watching._following.folders[""].mark_everything()  # what the sweep does once a minute
    eventually(lambda: list(watching.store.files()) == ["new.md"])
    put(watching.root, "newer.md", "麒麟兽")
    eventually(lambda: watching.search("麒麟兽"))


def test_watching_ends_with_its_block_and_the_index_stays_right(index):
    with index.watch():
        assert index.status().watching
    assert not index.status().watching
    put(index.root, "late.md", "独角兽")
    index.refresh()
    assert index.search("独角兽")


class TestDue:
    """When what is marked is due."""

    @pytest.fixture
    def pending(self, tmp_path, monkeypatch):
        clock = [100.0]
        monkeypatch.setattr(watchers, "time", SimpleNamespace(monotonic=lambda: clock[0]))
        found = Followed(tmp_path, Watcher(tmp_path), lambda _: None)
        return found, clock, lambda: found.mark(str(tmp_path / "a.md"))

    def test_a_save_is_looked_at_at_once(self, pending):
        found, clock, mark = pending
        mark()
        clock[0] += 0.003
        mark()
        assert found.due() == pytest.approx(clock[0] + 0.015)

    def test_what_goes_on_changing_is_looked_at_when_it_rests(self, pending):
        found, clock, mark = pending
        mark()
        found.hand_over()
        clock[0] += 0.05
        mark()
        assert found.due() == pytest.approx(clock[0] + 0.1)
        clock[0] += 1.99
        mark()
        assert found.due() == pytest.approx(100.05 + 2.0)

    def test_a_look_at_everything_is_no_save(self, pending):
        found, clock, _ = pending
        found.mark_everything()
        assert found.due() == pytest.approx(clock[0] + 0.1)

    def test_a_burst_that_lasts_is_no_save(self, pending):
        found, clock, mark = pending
        mark()
        clock[0] += 0.11
        mark()
        assert found.due() == pytest.approx(clock[0] + 0.1)


class TestHints:
    """The watcher alone: what it hands over."""

    @pytest.fixture
    def handed(self, tmp_path):
        found = []
        watcher = Watcher(tmp_path).follow(tmp_path, found.append)
        eventually(lambda: found == [None])
        found.clear()
        yield watcher, found
        watcher.stop()

    def test_a_burst_is_handed_over_once(self, handed, tmp_path):
        watcher, found = handed
        for i in range(200):
            watcher.mark(str(tmp_path / f"{i % 20}.md"))
        eventually(lambda: found)
        assert found == [{f"{i}.md" for i in range(20)}]

    def test_after_a_burst_that_the_system_may_not_have_kept_everything_is_compared(self, handed, tmp_path):
        watcher, found = handed
        for i in range(2000):
            watcher.mark(str(tmp_path / f"{i}.md"))
        eventually(lambda: found)
        assert found[-1] is None

    def test_hidden_files_are_no_hint_unless_they_decide_what_is_indexed(self, handed, tmp_path):
        watcher, found = handed
        for path in (".git/index", "a/.cache/x.md", "../outside.md", ".armarius/nervusdb/journal/0"):
            watcher.mark(str(tmp_path / path))
        assert not watcher.pending
        watcher.mark(str(tmp_path / "a/.gitignore"))
        eventually(lambda: found == [None])

    def test_without_watches_of_the_system_the_tree_is_compared_every_second(self, tmp_path, monkeypatch):
        def refuse(self, *_, **__):
            raise OSError(28, "inotify watch limit reached")

        monkeypatch.setattr("watchdog.observers.api.BaseObserver.schedule", refuse)
        found = []
        watcher = Watcher(tmp_path).follow(tmp_path, found.append)
        assert watcher.watcher.blind
        eventually(lambda: len(found) >= 2)
        watcher.stop()
        assert set(found) == {None}


def test_a_folder_is_compared_where_the_system_gives_no_more_events(novel, cache, monkeypatch, caplog):
    def exhausted(*_):
        raise OSError(24, "inotify instance limit reached")

    monkeypatch.setattr("watchdog.observers.Observer", exhausted)
    with ProjectIndex.open(novel, watch=True) as index:
        assert index._following.folders[""].watcher.blind
        put(index.root, "chapters/ch001.md", "独角兽")
        assert index.freshen() == ()
        assert index.search("独角兽")
    assert [record.message for record in caplog.records if "not followed but compared" in record.message]
