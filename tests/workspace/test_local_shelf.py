"""Many folders in one process: `armarius.shelf`."""

import asyncio
import gc
import os
import sys
import threading
import time
from pathlib import Path

import pytest

import armarius
from armarius.errors import StoreError
from armarius.index.manager import IndexManager
from armarius.workspace import folder as local_shelf

linux = pytest.mark.skipif(sys.platform != "linux", reason="counts by /proc")


def put(root, name, path, text):
    file = root / name / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def eventually(claim, seconds=60):
    end = time.monotonic() + seconds
    while not claim() and time.monotonic() < end:
        time.sleep(0.02)
    assert claim()


@pytest.fixture
def novels(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "novels"
    for number in range(3):
        put(root, f"n{number}", "chapters/ch001.md", f"# 第一章\n\n林默走进第{number}座钟楼。\n")
    return root


@pytest.fixture
def shelf(novels):
    with armarius.shelf(novels) as shelf:
        yield shelf


def test_projects_are_the_folders_that_are_neither_hidden_nor_links(novels, shelf):
    (novels / ".trash").mkdir()
    (novels / "notes.md").write_text("x", encoding="utf-8")
    (novels / "link").symlink_to(novels / "n0")
    assert [one.id for one in shelf.projects()] == ["n0", "n1", "n2"]
    assert [one.id for one in shelf.projects(limit=1, after="n0")] == ["n1"]
    for name in ("link", ".trash", "notes.md", "n9"):
        with pytest.raises(armarius.UnknownId):
            shelf.project(name)
    with pytest.raises(armarius.UnknownId, match="n0") as told:
        shelf.project("n00")
    assert told.value.code == "UNKNOWN_PROJECT"


def test_a_folder_is_made_when_it_is_asked_for(novels, shelf):
    (novels / "link").symlink_to(novels / "n0")
    for name in ("link", ".trash"):
        with pytest.raises(armarius.UnknownId):
            shelf.project(name, create=True)
    assert list(shelf.project("new", create=True).documents()) == []
    assert shelf.project("n0", create=True).search("钟楼")
    assert [one.id for one in shelf.projects()] == ["n0", "n1", "n2", "new"]


@pytest.mark.parametrize("tenant", [None, 0, False, [], "acme"])
def test_a_shelf_of_folders_takes_no_tenant(shelf, tenant):
    assert shelf.project("n0", tenant="").name == "n0"
    with pytest.raises(armarius.ContractError, match=r"^tenant"):
        shelf.project("n0", tenant=tenant)


def test_an_engine_that_is_being_made_while_the_shelf_is_closed_is_closed_too(novels, monkeypatch):
    making, go_on, made, told = threading.Event(), threading.Event(), [], []
    build = local_shelf.EngineParts

    def slow(*args, **named):
        making.set()
        assert go_on.wait(10)
        made.append(build(*args, **named))
        return made[0]

    def ask():
        with pytest.raises(StoreError, match="shelf is closed"):
            shelf.project("n1").search("钟楼")
        told.append(True)

    monkeypatch.setattr(local_shelf, "EngineParts", slow)
    with armarius.shelf(novels) as shelf:
        asking = threading.Thread(target=ask)
        asking.start()
        assert making.wait(10)
    go_on.set()
    asking.join(20)
    assert told
    assert not made[0].index._following.on


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", "n0\\x", None, 7, "a\0b", "x" * 300])
def test_what_is_no_name_of_a_folder_is_refused(shelf, name):
    with pytest.raises(armarius.ContractError):
        shelf.project(name)


def test_a_project_answers_as_it_does_alone(novels, shelf):
    with armarius.open(novels / "n1") as alone:
        expected = alone.assemble("钟楼", document="chapters/ch001.md").prompt
    assert shelf.project("n1").assemble("钟楼", document="chapters/ch001.md").prompt == expected


def test_nothing_is_opened_before_it_is_asked(shelf):
    novels = [shelf.project(one.id) for one in shelf.projects()]
    assert shelf.status().hot == 0
    assert novels[0].search("钟楼")
    assert (shelf.status().hot, shelf.status().asked, shelf.status().misses) == (1, 1, 1)
    assert [one.hot for one in shelf.projects()] == [True, False, False]


def test_those_asked_longest_ago_are_closed_and_opened_again(novels):
    with armarius.shelf(novels, most=2) as shelf:
        for _ in range(2):
            for number in range(3):
                assert shelf.project(f"n{number}").search(f"第{number}座钟楼")
        assert (shelf.status().hot, shelf.status().evicted) == (2, 4)
        assert shelf.status().bytes <= shelf.status().limit


def test_a_project_that_was_let_go_and_is_opened_again_is_not_called_stale(novels, monkeypatch):
    refresh = IndexManager.refresh

    def slow(*arguments, **keywords):
        time.sleep(0.2)
        return refresh(*arguments, **keywords)

    monkeypatch.setattr(IndexManager, "refresh", slow)
    with armarius.shelf(novels, most=1, wait=False, watch=False) as shelf:
        for _ in range(2):
            for name in ("n0", "n1"):
                pack = shelf.project(name).assemble("钟楼", budget=2000)
                assert (pack.warnings, "钟楼。" in pack.prompt) == ((), True)


def test_engines_above_the_memory_go(novels, monkeypatch):
    monkeypatch.setattr(local_shelf._HotFolder, "base", 9_000_000)
    with armarius.shelf(novels, memory="16 MiB") as shelf:
        for number in range(3):
            shelf.project(f"n{number}").search("钟楼")
        assert (shelf.status().hot, shelf.status().evicted) == (1, 2)


def test_a_part_of_an_engine_that_was_let_go_still_answers(novels):
    with armarius.shelf(novels, most=1) as shelf:
        novel = shelf.project("n0")
        index, memories = novel.index, novel.memories
        shelf.project("n1").search("钟楼")
        assert "n0" not in [one.id for one in shelf.projects() if one.hot]
        put(novels, "n0", "chapters/ch002.md", "白鹭来了。")
        assert index.freshen() == ()
        assert [hit.path for hit in index.search("白鹭")] == ["chapters/ch002.md"]
        memories.create("作者爱用短句")
        assert [one.text for one in shelf.project("n0").memories.list()] == ["作者爱用短句"]
        index.close()


def test_a_folder_that_goes_comes_and_comes_anew_is_noticed(novels, shelf):
    novel = shelf.project("n0")
    assert novel.search("钟楼")
    (novels / "n0").rename(novels / "elsewhere")
    put(novels, "n0", "a.md", "麒麟兽来了。")
    eventually(lambda: not novel.search("钟楼"))
    assert novel.search("麒麟兽")
    assert shelf.project("elsewhere").search("钟楼")


def test_a_folder_has_no_versions(shelf):
    with pytest.raises(armarius.ContractError, match="at_least"):
        shelf.project("n0").search("钟楼", at_least=1)


def test_the_shelf_says_whether_its_folder_can_be_read(novels, shelf):
    assert shelf.health() == armarius.workspace.Health(ok=True, seconds=0.0, why="", ready=True)
    novels.rename(novels.with_name("gone"))
    assert not shelf.health().ok
    with pytest.raises(armarius.ProjectError):
        shelf.projects()


def test_a_closed_shelf_answers_no_more_and_leaves_nothing_open(novels):
    shelf = armarius.shelf(novels)
    novel = shelf.project("n0")
    novel.search("钟楼")
    shelf.close()
    shelf.close()
    with pytest.raises(armarius.StoreError, match="closed"):
        novel.search("钟楼")
    assert not [one for one in threading.enumerate() if one.name == "armarius-watcher"]


def test_a_shelf_that_nobody_holds_any_longer_leaves_nothing_open(novels):
    shelf = armarius.shelf(novels)
    shelf.project("n0").search("钟楼")
    del shelf

    def is_quiet():
        gc.collect()
        return not [one for one in threading.enumerate() if one.name == "armarius-watcher"]

    eventually(is_quiet)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_a_shelf_of_its_own(shelf):
    shelf.project("n0").search("钟楼")
    child = os.fork()
    if not child:
        found = shelf.project("n1").search("钟楼")
        os._exit(0 if found and shelf.status().hot == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert shelf.project("n0").search("钟楼")


class TestHundreds:
    """220 folders, with the limits of a machine that nobody tuned."""

    MANY = 220

    @pytest.fixture
    def many(self, tmp_path, monkeypatch):
        monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
        root = tmp_path / "many"
        for number in range(self.MANY):
            put(root, f"n{number:03}", "a.md", f"# 第一章\n\n林默走进第{number}座钟楼。\n")
        return root

    @linux
    def test_threads_descriptors_and_instances_are_bounded_and_every_folder_is_followed(self, many):
        gc.collect()
        before = _held()
        with armarius.shelf(many, most=16) as shelf:
            novels = [shelf.project(one.id) for one in shelf.projects()]
            assert len(novels) == self.MANY
            for number, novel in enumerate(novels):
                assert novel.search(f"第{number}座钟楼")
            files, instances, threads = (now - then for now, then in zip(_held(), before, strict=True))
            assert files <= 16 * 8 + 12
            assert instances <= 2  # watchdog's, and the queue that answers read
            assert threads <= 5
            assert shelf.status().hot == 16
            for number in range(self.MANY):  # open ones and closed ones
                put(many, f"n{number:03}", "b.md", f"白鹭第{number}次来。")
            hot = [shelf.project(one.id) for one in shelf.projects() if one.hot]
            eventually(lambda: all(novel.index.store.document("b.md") for novel in hot))  # nobody asked
            for number in [*range(0, self.MANY, 5), *range(self.MANY - 16, self.MANY)]:
                assert [hit.path for hit in novels[number].search(f"白鹭第{number}次来")] == ["b.md"]


def _held():
    files = []
    for one in Path("/proc/self/fd").iterdir():
        try:
            files.append(str(one.readlink()))
        except OSError:
            continue
    return len(files), files.count("anon_inode:inotify"), threading.active_count()


class TestExhausted:
    """inotify has no more to give."""

    def test_no_instances_means_comparing_with_a_stable_warning(self, novels, monkeypatch):
        def exhausted(*_):
            raise OSError(24, "inotify instance limit reached")

        monkeypatch.setattr("watchdog.observers.Observer", exhausted)
        with armarius.shelf(novels) as shelf:
            novel = shelf.project("n0")
            assert novel.search("钟楼")
            for asked in (shelf.status, novel.status):  # the watcher begins in a thread of its own
                eventually(lambda asked=asked: [one.code for one in asked().warnings] == ["WATCH_UNAVAILABLE"])
            put(novels, "n0", "b.md", "白鹭来了。")
            assert novel.search("白鹭")
            put(novels, "n0", "c.md", "麒麟兽来了。")
            eventually(lambda: novel.index.store.document("c.md"))


@pytest.fixture
def narrow(novels):
    """A shelf on which one request runs and one waits."""
    with armarius.shelf(novels, watch=False, max_concurrent=1, max_waiting=1) as shelf:
        yield shelf


def test_a_request_without_a_place_is_refused_at_once_and_says_when_to_come_again(narrow):
    with narrow.project("n0").asked():
        waiting = threading.Thread(target=narrow.project("n1").search, args=["钟楼"])
        waiting.start()
        eventually(lambda: narrow.turns._taken == 2)
        with pytest.raises(
            armarius.Backpressure, match=r"CONTEXT_BACKPRESSURE: 2 requests run or wait; try again in "
        ) as told:
            within(narrow.project("n2").search)
        assert told.value.seconds > 0
        assert waiting.is_alive()
    waiting.join()
    assert narrow.status().refused == 1
    assert narrow.project("n2").search("钟楼")


def within(search):
    """In a thread of its own: the request of this one has its place already."""
    failed = []

    def run():
        try:
            search("钟楼")
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    raise failed[0]


async def test_coroutines_beyond_the_places_are_refused_before_they_take_a_thread(narrow):
    asked = [narrow.project(f"n{number % 3}").asearch("钟楼") for number in range(20)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    refused = [one for one in answers if isinstance(one, armarius.Backpressure)]
    assert len(refused) == 18
    assert all(one for one in answers if one not in refused)


def test_a_request_inside_another_has_its_place(narrow):
    novel = narrow.project("n0")
    with novel.asked():
        assert novel.documents()
        assert novel.search("钟楼")
    assert narrow.turns._taken == 0


@pytest.mark.parametrize("ask", ["understand", "aunderstand"])
def test_a_shelf_answers_others_while_a_model_of_the_host_replies(novels, ask):
    with armarius.shelf(novels, watch=False, max_concurrent=1, max_waiting=0) as shelf:
        found = []

        def model(_):
            other = threading.Thread(target=lambda: found.extend(shelf.project("n1").search("钟楼")))
            other.start()
            other.join(60)
            return '{"about": {"form": "novel"}}'

        asked = getattr(shelf.project("n0"), ask)(model)
        assert [one.says for one in (asyncio.run(asked) if ask == "aunderstand" else asked)] == ["novel"]
        assert [one.path for one in found] == ["chapters/ch001.md"]


@pytest.mark.parametrize(
    "wrong", [{"max_concurrent": 0}, {"max_concurrent": "8"}, {"max_concurrent": 1, "max_waiting": -1}]
)
def test_what_is_no_number_of_requests_is_refused(novels, wrong):
    with pytest.raises(armarius.ContractError, match=list(wrong)[-1]):
        armarius.shelf(novels, **wrong)
