"""Conformance suite for `GraphStore` (`armarius.graph.protocol`), as a test class to inherit.

    class TestMyGraph(GraphStoreConformance):
        @pytest.fixture
        def store(self):
            return MyGraph(...)          # empty

Only pytest is needed. `pytest.register_assert_rewrite("armarius.testing.graphs")` in conftest.py gives detailed
assertion messages.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import pytest

from armarius.codex.model import Entity, Fact, Relation
from armarius.graph import MAX_DEPTH, Graph, GraphStore, from_bytes, to_bytes
from armarius.testing.fakes import FakeGraph

HOSTILE_TEXTS = (
    "宝玉", "Ann-Marie O’Neil", "o'brien", '"quoted"', "back\\slash", "\\' OR 1=1", "trailing\\", "`tick`", "100%",
    "%27", "two\nlines", "tab\there", "carriage\r\nreturn", "nul\x00byte", "bell\x07 and \x7f", "}) DETACH DELETE n //",
    "x' DETACH DELETE n //", "'}) CREATE (m:Entity {id: 'evil'}) //", "/* comment */ -- comment",
    "$param {brace} [bracket] (round) <angle>", "'; DROP TABLE entities; --", "👩‍👩‍👧‍👦", "e\u0301 is not \u00e9",
    "a\u200bz\u202ea\u2028z\ufeffz", "|pipe|", "-->", "名" * 3_000, "'" * 3_000,
)  # fmt: skip
"""Texts that have broken stores (query syntax, control characters), used as ids, names, types and descriptions."""


class GraphStoreConformance:
    """Inherit and give a fixture `store`: an empty store of your own."""

    texts: Sequence[str] = HOSTILE_TEXTS
    """What each field is tried with; a store of pages leaves out what no page can hold."""

    def test_an_empty_store_knows_nothing_and_says_so(self, store: GraphStore) -> None:
        """No entity is no error."""
        assert isinstance(store, GraphStore)
        assert store.snapshot() == Graph()
        assert tuple(store.neighbors("nobody")) == ()
        assert store.subgraph(["nobody"], depth=3) == store.subgraph([]) == Graph()
        store.delete_entity("nobody")

    def test_an_entity_is_given_back_whole(self, store: GraphStore) -> None:
        """Every field, but not the origins."""
        store.upsert_entity(LIN)
        store.upsert_entity(Entity("bare", "Bare"))
        assert store.snapshot().entities == (Entity("bare", "Bare"), LIN)

    def test_writing_the_same_again_changes_nothing(self, store: GraphStore) -> None:
        """Idempotent, to the byte."""
        fill(store, [("a", "b", "友"), ("b", "a", "友")])
        before = to_bytes(store.snapshot())
        fill(store, [("a", "b", "友"), ("b", "a", "友")])
        assert to_bytes(store.snapshot()) == before

    def test_an_entity_written_again_is_replaced_and_keeps_its_relations(self, store: GraphStore) -> None:
        """Also fields that are empty now."""
        fill(store, [("a", "b", "友")])
        store.upsert_entity(Entity("a", "A", "character", ("阿",), "first", {"年龄": "16"}, "always", (Fact("x", 1),)))
        store.upsert_entity(Entity("a", "New A", "item", (), "second"))
        snapshot = store.snapshot()
        assert snapshot.entities[0] == Entity("a", "New A", "item", (), "second")
        assert snapshot.relations == (Relation("a", "b", "友"),)

    def test_relations_have_a_direction_and_a_type(self, store: GraphStore) -> None:
        """Parallel ones stay apart, and are seen from both ends."""
        fill(store, [("a", "b", "父子"), ("a", "b", "师徒"), ("b", "a", "父子"), ("c", "b", "友")])
        expected = [Relation(*key) for key in (("a", "b", "师徒"), ("a", "b", "父子"), ("b", "a", "父子"))]
        assert list(store.neighbors("a")) == expected
        assert list(store.neighbors("b")) == [*expected, Relation("c", "b", "友")]
        assert list(store.neighbors("c")) == [Relation("c", "b", "友")]

    def test_a_relation_may_lead_back_to_where_it_begins(self, store: GraphStore) -> None:
        """Once in every answer."""
        fill(store, [("a", "a", "自言自语")])
        assert list(store.neighbors("a")) == [Relation("a", "a", "自言自语")]
        assert store.subgraph(["a"], depth=3).relations == (Relation("a", "a", "自言自语"),)
        store.delete_entity("a")
        assert store.snapshot() == Graph()

    def test_a_relation_written_again_gets_the_new_chapters(self, store: GraphStore) -> None:
        """None is open, and differs from 0."""
        fill(store, [("a", "b", "友")])
        for since, until in ((3, 9), (0, None), (None, 0), (None, None)):
            store.upsert_relation(Relation("a", "b", "友", since, until))
            assert list(store.neighbors("a")) == [Relation("a", "b", "友", since, until)]

    def test_a_relation_to_nobody_is_refused_and_nothing_is_written(self, store: GraphStore) -> None:
        """Both ends must be there."""
        fill(store, [("a", "b", "友")])
        before = store.snapshot()
        for source, target in (("a", "x"), ("x", "a"), ("x", "x")):
            raises(KeyError, partial(store.upsert_relation, Relation(source, target, "友")))
        assert store.snapshot() == before

    def test_deleting_an_entity_takes_its_relations_along(self, store: GraphStore) -> None:
        """And nobody else's; written again it begins with none."""
        fill(store, [("a", "b", "友"), ("b", "c", "友"), ("c", "a", "友"), ("c", "d", "友"), ("b", "b", "影")])
        store.delete_entity("b")
        store.delete_entity("b")
        snapshot = store.snapshot()
        assert [entity.id for entity in snapshot.entities] == ["a", "c", "d"]
        assert snapshot.relations == (Relation("c", "a", "友"), Relation("c", "d", "友"))
        store.upsert_entity(Entity("b", "B"))
        assert tuple(store.neighbors("b")) == ()

    def test_a_walk_goes_level_by_level_in_both_directions(self, store: GraphStore) -> None:
        """Each step reaches what stands one relation further."""
        fill(store, [("a", "b", "友"), ("c", "b", "友"), ("c", "d", "友"), ("e", "d", "友"), ("x", "y", "友")])
        reached = [ids(store.subgraph(["a"], depth=depth)) for depth in (1, 2, 3, 4, 5)]
        assert reached == ["ab", "abc", "abcd", "abcde", "abcde"]
        assert ids(store.subgraph(["a", "x", "nobody"])) == "abxy"
        assert len(store.subgraph(["a"], depth=2).relations) == 2

    def test_a_walk_through_circles_ends(self, store: GraphStore) -> None:
        """And lists every relation once."""
        fill(store, [("a", "b", "友"), ("b", "c", "友"), ("c", "a", "友"), ("b", "a", "友"), ("a", "a", "影")])
        graph = store.subgraph(["a"], depth=MAX_DEPTH)
        assert ids(graph) == "abc"
        assert len(graph.relations) == 5
        assert not graph.truncated

    def test_a_walk_of_too_many_steps_is_cut_and_says_so(self, store: GraphStore) -> None:
        """The warning is the specification's sentence; a walk that ends before has none."""
        chain = "abcdefghij"
        fill(store, [(name, other, "友") for name, other in pairwise(chain)])
        graph = store.subgraph(["a"], depth=MAX_DEPTH + 1)
        assert ids(graph) == chain[: MAX_DEPTH + 1]
        assert [str(warning) for warning in graph.warnings] == [f"深度已达最大值 {MAX_DEPTH}，结果可能不完整"]
        assert store.subgraph(["a"], depth=MAX_DEPTH).warnings == ()
        fill(store, [("x", "y", "友")])
        assert store.subgraph(["x"], depth=99).warnings == ()

    def test_a_walk_keeps_what_is_nearest_within_its_limit(self, store: GraphStore) -> None:
        """By id within one step, and says that there is more."""
        fill(store, [("a", end, "友") for end in "dcbe"] + [("b", "f", "友")])
        graph = store.subgraph(["a"], depth=2, limit=3)
        assert (ids(graph), graph.truncated) == ("abc", True)
        assert [relation.target for relation in graph.relations] == ["b", "c"]
        assert store.subgraph(["a"], depth=2, limit=6).truncated is False
        assert [relation.target for relation in store.neighbors("a", limit=2)] == ["b", "c"]

    def test_numbers_below_one_are_refused(self, store: GraphStore) -> None:
        """Depth and limit."""
        raises(ValueError, lambda: store.subgraph(["a"], depth=0))
        raises(ValueError, lambda: store.subgraph(["a"], limit=0))
        raises(ValueError, lambda: store.neighbors("a", limit=0))

    def test_the_order_of_writing_does_not_show(self, store: GraphStore) -> None:
        """The same bytes as of the same graph written the other way round."""
        edges = [("c", "a", "友"), ("a", "c", "友"), ("a", "b", "师徒"), ("a", "b", "友"), ("b", "b", "影")]
        other = FakeGraph()
        fill(store, edges)
        fill(other, edges[::-1], reverse=True)
        assert to_bytes(store.snapshot()) == to_bytes(other.snapshot())

    def test_any_text_is_text(self, store: GraphStore) -> None:
        """As id, name, type, alias, description and attribute; nothing of it is ever executed."""
        other = FakeGraph()
        for number, text in enumerate(self.texts):
            item = Entity(
                f"i{text}d", f"n{text}e", f"t{text}e", (f"a{text}s",), f"d{text}n", {f"k{text}y": f"v{text}e"}
            )
            back = Relation(item.id, "hub", f"r{text}l", number)
            for each in (store, other):
                each.upsert_entity(Entity("hub", "Hub"))
                each.upsert_entity(item)
                each.upsert_relation(back)
                each.upsert_relation(back)
        assert store.snapshot() == other.snapshot()
        for text in self.texts:
            assert [relation.type for relation in store.neighbors(f"i{text}d")] == [f"r{text}l"]
        for text in self.texts[::2]:
            for each in (store, other):
                each.delete_entity(f"i{text}d")
        assert store.snapshot() == other.snapshot()
        assert store.subgraph(["hub"]) == other.subgraph(["hub"])

    def test_what_no_store_can_hold_is_refused_and_nothing_is_written(self, store: GraphStore) -> None:
        """Lone surrogates, nothing at all, white space at the ends, chapters that are none."""
        fill(store, [("a", "b", "友")])
        before = store.snapshot()
        for text in ("", " a", "a\n", "\ud800", "a\udfffb"):
            raises(ValueError, partial(store.upsert_entity, Entity(text, "A")))
            raises(ValueError, partial(store.upsert_entity, Entity("a", text)))
            raises(ValueError, partial(store.upsert_entity, Entity("a", "A", text)))
            raises(ValueError, partial(store.upsert_relation, Relation("a", "b", text)))
        raises(ValueError, lambda: store.upsert_entity(Entity("a", "A", description="\udc00")))
        raises(ValueError, lambda: store.upsert_entity(Entity("a", "A", attributes={"k": "\udc00"})))
        raises(ValueError, lambda: store.upsert_relation(Relation("a", "b", "友", since=-1)))
        raises(ValueError, lambda: store.upsert_relation(Relation("a", "b", "友", until=True)))
        assert store.snapshot() == before

    def test_a_snapshot_is_bytes_and_loads_into_another_store(self, store: GraphStore) -> None:
        """There and back: nothing is lost, and loading twice is loading once."""
        whole = FakeGraph()
        fill(whole, [("a", "b", "友"), ("b", "a", "师徒"), ("c", "c", "影")])
        whole.upsert_entity(LIN)
        whole.upsert_relation(Relation("lin", "a", "兄妹", 3, 9))
        data = to_bytes(whole.snapshot())
        for _ in range(2):
            from_bytes(data).load_into(store)
            assert to_bytes(store.snapshot()) == data
        back = FakeGraph()
        store.snapshot().load_into(back)
        assert to_bytes(back.snapshot()) == data

    def test_a_stamp_differs_after_every_change_and_after_nothing_else(self, store: GraphStore) -> None:
        """For a store that has one."""
        stamp: Callable[[], object] | None = getattr(store, "stamp", None)
        if stamp is None:
            return
        seen = [stamp()]
        for change in (
            partial(store.upsert_entity, Entity("a", "A")),
            partial(store.upsert_entity, Entity("a", "B")),
            partial(store.upsert_relation, Relation("a", "a", "影")),
            partial(store.upsert_relation, Relation("a", "a", "影", 3)),
            partial(store.delete_entity, "a"),
        ):
            change()
            assert stamp() not in seen
            seen.append(stamp())
            store.snapshot()
            store.neighbors("a")
            store.subgraph(["a"])
            assert stamp() == seen[-1]

    def test_threads_may_share_it(self, store: GraphStore) -> None:
        """Everything that four of them wrote is there."""
        store.upsert_entity(Entity("hub", "Hub"))

        def write(name: str) -> None:
            for number in range(3):
                store.upsert_entity(Entity(f"{name}{number}", f"{name}{number}"))
                store.upsert_relation(Relation("hub", f"{name}{number}", "友"))
                store.neighbors("hub")

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, "abcd"))
        assert len(store.neighbors("hub")) == 12


LIN = Entity(
    "lin",
    "林小雨",
    "character",
    ("小雨", "雨丫头"),
    "林默的妹妹。\n第二行",
    {"年龄": "16", "住处": "江城"},
    "always",
    (Fact("不再逃课", 7), Fact("在江城", None, 9), Fact("总是")),
)


def fill(store: GraphStore, relations: list[tuple[str, str, str]], *, reverse: bool = False) -> None:
    """Write these relations, and an entity for each of their ends."""
    for id_ in sorted({end for relation in relations for end in relation[:2]}, reverse=reverse):
        store.upsert_entity(Entity(id_, id_.upper()))
    for source, target, type_ in relations:
        store.upsert_relation(Relation(source, target, type_))


def ids(graph: Graph) -> str:
    """The ids of a graph with one-letter ids, as one string."""
    return "".join(entity.id for entity in graph.entities)


def raises(kind: type[Exception], call: Callable[[], object]) -> None:
    """Assert that `call` raises `kind`."""
    with pytest.raises(kind):
        call()
