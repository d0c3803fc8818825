"""The clock before a graph store: who waits, for how long, and what of an answer is believed."""

import shutil
import threading
import time
from pathlib import Path

import pytest

import armarius
from armarius.codex.model import Codex, Entity, Fact, Relation
from armarius.graph import Graph
from armarius.graph.entity_cache import GraphGuard
from armarius.testing import FakeGraph

NOVEL = Path(__file__).resolve().parents[2] / "examples" / "novel"
QUESTION = "林小雨的师父是谁？"
UNAVAILABLE = "KG_UNAVAILABLE: 知识图谱数据未注入"


@pytest.fixture
def novel(tmp_path):
    return Path(shutil.copytree(NOVEL, tmp_path / "novel"))


def waits(action, threads=4):
    """Seconds that each of some threads waits that act at once."""
    begun, spent = threading.Barrier(threads), []

    def wait():
        begun.wait()
        started = time.monotonic()
        action()
        spent.append(time.monotonic() - started)

    running = [threading.Thread(target=wait) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return sorted(spent)


class Slow(FakeGraph):
    """A store of which one method answers only when it is let go."""

    def __init__(self, method):
        super().__init__()
        self.method, self.gate, self.begun = method, threading.Event(), 0

    def _held(self, method):
        if method == self.method:
            self.begun += 1
            self.gate.wait(30)

    def snapshot(self):
        self._held("snapshot")
        return super().snapshot()

    def stamp(self):
        self._held("stamp")
        return super().stamp()

    def subgraph(self, *args, **more):
        self._held("subgraph")
        return super().subgraph(*args, **more)


@pytest.mark.parametrize("method", ["snapshot", "stamp"])
def test_requests_wait_for_one_reading_together_and_only_once(novel, method):
    (novel / "armarius.toml").write_text("[graph]\ntimeout_s = 0.8\n")
    graph = Slow(method)
    graph.upsert_entity(Entity("gu", "顾长明", "character"))
    try:
        with armarius.open(novel, watch=False) as files:
            files.detect("钟")  # the index is made before the clock runs
        with armarius.open(novel, watch=False, graph=graph) as engine:
            together = waits(lambda: engine.detect("顾长明"))
            assert together[-1] < 1.5  # in turns it would be 3.2
            later = waits(lambda: engine.detect("顾长明"))
            assert later[-1] < 0.6
            assert [str(one) for one in engine.assemble(query="顾长明是谁").warnings] == [UNAVAILABLE]
            assert graph.begun == 1
            graph.gate.set()
            for _ in range(100):
                if engine.detect("顾长明"):
                    break
                time.sleep(0.02)
            assert [one.entity_id for one in engine.detect("顾长明")] == ["gu"]
            assert engine.assemble(query="顾长明是谁").warnings == ()
    finally:
        graph.gate.set()


def test_what_is_forgotten_while_it_is_read_is_read_again():
    graph = Slow("snapshot")
    guard = GraphGuard(graph, timeout_s=0.05)
    guard.cast.look()
    guard.cast.forget()
    graph.gate.set()
    for _ in range(200):
        guard.cast.look()
        if graph.begun == 2:
            break
        time.sleep(0.01)
    assert graph.begun == 2


def test_a_reading_that_was_late_is_not_repeated_at_the_next_request():
    graph = Slow("stamp")
    guard = GraphGuard(graph, timeout_s=0.05)
    guard.cast.look()
    graph.gate.set()
    for _ in range(200):
        if not guard.cast.missing_from(Codex()).warnings:
            break
        time.sleep(0.01)
    for _ in range(5):
        guard.cast.look()
    assert graph.begun == 1
    assert guard.cast.missing_from(Codex()).warnings == ()


def test_a_question_does_not_wait_for_the_graph_of_another(novel):
    (novel / "armarius.toml").write_text("[graph]\ntimeout_s = 20\n")
    graph = Slow("subgraph")
    graph.upsert_entity(Entity("lin-xiaoyu", "林小雨"))
    with armarius.open(novel, watch=False, graph=graph) as engine:
        engine.retrieve("钟")
        answers = []
        asking = threading.Thread(target=lambda: answers.append(engine.retrieve(QUESTION)))
        asking.start()
        try:
            for _ in range(500):
                if graph.begun:
                    break
                time.sleep(0.01)
            started = time.monotonic()
            assert engine.retrieve("钟为什么停了")
            assert engine.assemble(query="林小雨在哪里").items
            assert time.monotonic() - started < 15
            assert not answers
        finally:
            graph.gate.set()
            asking.join(20)
        assert answers[0].outcome in ("found", "weak")
        assert not answers[0].warnings


def test_questions_wait_for_a_slow_graph_side_by_side(novel):
    (novel / "armarius.toml").write_text("[graph]\ntimeout_s = 0.8\n")
    graph = Slow("subgraph")
    graph.upsert_entity(Entity("lin-xiaoyu", "林小雨"))
    try:
        with armarius.open(novel, watch=False, graph=graph) as engine:
            engine.retrieve("钟")
            assert waits(lambda: engine.retrieve(QUESTION))[-1] < 2.4  # in turns it would be 3.2
    finally:
        graph.gate.set()


def wrong(**fields):
    """An entity as a careless host makes it."""
    entity = Entity("bad", "坏")
    for name, value in fields.items():
        object.__setattr__(entity, name, value)
    return entity


BAD_ENTITIES = [
    wrong(name=None),
    wrong(name=""),
    wrong(id=7),
    wrong(id="\ud800"),
    wrong(aliases=None),
    wrong(aliases=(None,)),
    wrong(attributes=None),
    wrong(attributes={"a": 1}),
    wrong(facts=("text",)),
    wrong(description=None),
    wrong(level=[]),
    {"id": "bad", "name": "坏"},
    None,
]


@pytest.mark.parametrize("bad", BAD_ENTITIES, ids=range(len(BAD_ENTITIES)))
def test_an_entity_that_is_none_is_left_out_and_said_to_be_missing(novel, bad):
    graph = FakeGraph()
    for entity in (Entity("lin-xiaoyu", "林小雨"), Entity("gu", "顾长明", "character")):
        graph.upsert_entity(entity)
    graph.upsert_relation(Relation("gu", "lin-xiaoyu", "师徒"))
    whole = graph.snapshot()
    worse = Graph((bad, *whole.entities), (*whole.relations, Relation("bad", "gu", "友")))
    graph.snapshot = lambda: worse
    graph.subgraph = lambda *_, **__: worse
    with armarius.open(novel, watch=False, graph=graph) as engine:
        assert [one.entity_id for one in engine.detect("顾长明")] == ["gu"]
        pack = engine.assemble(query=QUESTION)
        assert "kg:related:gu" in pack.layers.retrieved.source
        assert [str(warning) for warning in pack.warnings] == [UNAVAILABLE]
        assert "坏" not in [entity.name for entity in engine.entities()]


BAD_RELATIONS = [
    {"source": "gu", "target": "lin-xiaoyu", "type": "友"},
    Relation("gu", "lin-xiaoyu", None),
    Relation("gu", "lin-xiaoyu", "友", "3"),
    Relation(None, "lin-xiaoyu", "友"),
    None,
]


@pytest.mark.parametrize("bad", BAD_RELATIONS, ids=range(len(BAD_RELATIONS)))
def test_a_relation_that_is_none_is_left_out_and_said_to_be_missing(novel, bad):
    people = (Entity("lin-xiaoyu", "林小雨"), Entity("gu", "顾长明", "character"))
    graph = FakeGraph()
    graph.subgraph = lambda *_, **__: Graph(people, (bad, Relation("gu", "lin-xiaoyu", "师徒")))
    with armarius.open(novel, watch=False, graph=graph) as engine:
        pack = engine.assemble(query=QUESTION)
        assert "kg:related:gu" in pack.layers.retrieved.source
        assert [str(warning) for warning in pack.warnings] == [UNAVAILABLE]


@pytest.mark.parametrize("answer", [None, {}, [], Graph(None), Graph((), None), Graph((), (), False, None), "graph"])
def test_an_answer_that_is_no_graph_leaves_the_answer_of_the_files(novel, answer):
    graph = FakeGraph()
    graph.snapshot = lambda: answer
    graph.subgraph = lambda *_, **__: answer
    with armarius.open(novel, watch=False, graph=graph) as engine:
        assert [str(warning) for warning in engine.assemble(query=QUESTION).warnings] == [UNAVAILABLE]


def test_lists_instead_of_tuples_are_no_fault():
    graph = FakeGraph()
    listed = wrong(id="a", name="A", aliases=["甲"], facts=[Fact("t")])
    graph.snapshot = lambda: Graph([listed], [])
    guard = GraphGuard(graph)
    guard.cast.look()
    known = guard.cast.missing_from(Codex())
    assert known.entities == (Entity("a", "A", aliases=("甲",), facts=(Fact("t"),)),)
    assert not known.warnings


def test_without_a_thread_the_graph_is_unavailable_and_asked_again_when_there_is_one(monkeypatch):
    graph = FakeGraph()
    graph.upsert_entity(Entity("a", "A"))
    guard = GraphGuard(graph)
    with monkeypatch.context() as patched:

        def refuse(_thread):
            raise RuntimeError("can't start new thread")

        patched.setattr(threading.Thread, "start", refuse)
        for _ in range(6):
            assert guard.around(["a"], 1, Codex()).failure == "RuntimeError"
            guard.cast.look()
            assert [str(one) for one in guard.cast.missing_from(Codex()).warnings] == [UNAVAILABLE]
    assert [entity.id for entity in guard.around(["a"], 1, Codex()).entities] == ["a"]
    guard.cast.forget()
    guard.cast.look()
    assert guard.cast.missing_from(Codex()).warnings == ()
