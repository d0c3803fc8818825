"""What a process opened works in its forked children."""

import multiprocessing
import os
import signal
import sys
import threading
import warnings

import pytest
from tests.processes.support import in_a_fork, open_and_ask

import armarius
from armarius import EntityMatcher, TokenCounter
from armarius.errors import StoreError
from armarius.index.project_index import ProjectIndex

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]

PAGES = {f"chapters/{n:02}.md": f"# 第{n}章\n\n白鹭在第{n}章来了。顾长明也来了。\n" for n in range(1, 13)}
TEXTS = ["白鹭来了，又走了。" * 200] * 40


def test_the_core_works_in_a_child_after_it_worked_in_the_parent():
    counter = TokenCounter.for_encoding("o200k")
    matcher = EntityMatcher([{"id": "bai", "name": "白鹭"}])
    expected = (sum(counter.count_batch(TEXTS)), len(matcher.find_packed(TEXTS)))

    def again():
        return (sum(counter.count_batch(TEXTS)), len(matcher.find_packed(TEXTS)))

    assert in_a_fork(again) == str(expected)
    assert again() == expected, "the parent's threads are its own"


def test_a_child_of_a_child_works_too():
    counter = TokenCounter.for_encoding("o200k")
    expected = sum(counter.count_batch(TEXTS))

    def twice():
        assert sum(counter.count_batch(TEXTS)) == expected
        return in_a_fork(lambda: sum(counter.count_batch(TEXTS)))

    assert in_a_fork(twice) == str(expected)


def test_a_fork_beside_threads_that_count_never_hangs():
    counter, stop = TokenCounter.for_encoding("o200k"), threading.Event()

    def busy():
        while not stop.is_set():
            counter.count_batch(TEXTS)

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        expected = str(sum(counter.count_batch(TEXTS)))
        assert [in_a_fork(lambda: sum(counter.count_batch(TEXTS))) for _ in range(10)] == [expected] * 10
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_scan_of_many_files_works_in_a_child(tmp_path):
    for number in range(300):
        (tmp_path / f"{number}.md").write_text("白鹭\n" * 20, encoding="utf-8")
    assert len(armarius.scan(tmp_path, "白鹭")) == 6000
    assert in_a_fork(lambda: len(armarius.scan(tmp_path, "白鹭"))) == "6000"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "novel"
    for path, text in PAGES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    (root / "codex.json").write_text('{"entities": [{"id": "bai", "name": "白鹭"}]}', encoding="utf-8")
    return root


def asked(engine):
    return (
        len(engine.search("白鹭", limit=99)),
        engine.assemble("白鹭在哪", budget=4000).token_count,
        [one.id for one in engine.entities()],
        engine.graph.snapshot().entities[0].name,
        engine.status().documents,
    )


@pytest.mark.parametrize("watch", [True, False])
def test_an_engine_opened_before_the_fork_answers_alike_on_both_sides(project, watch):
    with armarius.open(project, watch=watch, embedder=armarius.embedders.lexical()) as engine:
        expected = asked(engine)
        assert in_a_fork(lambda: asked(engine)) == str(expected)
        assert asked(engine) == expected

        def embedded():
            done = engine.recall.embed()
            return done.done == done.total > 0, len(engine.similar("白鹭")) > 0

        assert in_a_fork(embedded) == "(True, True)"
        assert engine.index.store.verify() == []


def test_a_child_that_ends_or_closes_leaves_the_index_to_its_parent(project):
    with armarius.open(project, watch=False) as engine:
        expected = asked(engine)
        in_a_fork(engine.close)  # without ever having used it
        in_a_fork(lambda: (asked(engine), engine.close()))
        (project / "chapters/01.md").write_text("# 第一章\n\n青鸾来了。\n", encoding="utf-8")
        assert [hit.path for hit in engine.search("青鸾")] == ["chapters/01.md"]
        assert in_a_fork(lambda: [hit.path for hit in engine.search("青鸾")]) == "['chapters/01.md']"
        assert engine.index.store.verify() == []
        assert asked(engine)[4] == expected[4]


def test_children_write_while_their_parent_closes_and_nothing_is_lost(project):
    engine = armarius.open(project, watch=False)
    asked(engine)
    begin, go = os.pipe()
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            code = 1
            signal.alarm(60)  # a child that hangs fails the test and does not outlive it
            try:
                os.read(begin, 1)
                for turn in range(5):
                    name = f"n{number}-{turn}.md"
                    draft = project / f".draft-{number}"  # another child would read a file that is still empty
                    draft.write_text(f"# 记\n\n独角兽{number}号{turn}。\n", encoding="utf-8")
                    draft.replace(project / name)
                    assert name in [hit.path for hit in engine.search(f"独角兽{number}号{turn}")]
                assert engine.index.store.verify() == []
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    os.write(go, b"4444")
    engine.close()  # the last to close would fold the log away under the children, if their locks were not theirs
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    with armarius.open(project, watch=False) as engine:
        assert len(engine.search("独角兽", limit=99)) == 20
        assert engine.index.store.verify() == []


def test_a_fork_beside_threads_that_read_and_write_never_hangs(project):
    with armarius.open(project, watch=True) as engine:
        stop = threading.Event()

        def read():
            while not stop.is_set():
                asked(engine)

        def write():
            turn = 0
            while not stop.is_set():
                turn += 1
                draft = project / ".draft"  # an empty file in between would be a page without the name
                draft.write_text(f"# 第十二章\n\n白鹭第{turn}次来。\n", encoding="utf-8")
                draft.replace(project / "chapters/12.md")
                engine.refresh()

        threads = [threading.Thread(target=one) for one in (read, read, write)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(8):
                assert in_a_fork(lambda: len(engine.search("白鹭", limit=99))) == "12"
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert engine.index.store.verify() == []


def test_an_index_without_an_engine_says_in_a_child_that_it_is_its_parents(project):
    with ProjectIndex.open(project) as index:

        def refused():
            said = []
            for call in (lambda: index.search("白鹭"), index.refresh, index.freshen, lambda: index.snapshot):
                with pytest.raises(StoreError, match="was forked since; open it again") as error:
                    call()
                said.append(error.type.__name__)
            with pytest.raises(StoreError, match="forked since"):
                index.store.files()
            index.close()
            return said

        assert in_a_fork(refused) == str(["StoreError"] * 4)
        assert len(index.search("白鹭", limit=99)) == 12


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_pool_of_processes_opens_and_asks_whatever_starts_it(project, method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map_async(open_and_ask, [str(project)] * 4).get(60) == [12] * 4
