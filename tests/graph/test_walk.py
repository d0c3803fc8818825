"""The walk against the naive one: every step of every relation, from any start, over graphs made at random."""

from hypothesis import given
from hypothesis import strategies as st

from armarius.codex.model import Entity, Relation
from armarius.graph import MAX_DEPTH, from_bytes, to_bytes
from armarius.testing import FakeGraph

ids = st.sampled_from("abcdefgh")
graphs = st.lists(st.tuples(ids, ids, st.sampled_from(("友", "师徒"))), max_size=14)


def filled(relations):
    graph = FakeGraph()
    for id_ in "abcdefgh":
        graph.upsert_entity(Entity(id_, id_.upper()))
    for relation in relations:
        graph.upsert_relation(Relation(*relation))
    return graph


def naive(relations, starts, depth):
    """Distance by id, of what is at most `depth` steps away."""
    found = dict.fromkeys(starts, 0)
    for step in range(1, depth + 1):
        ends = {(a, b) for s, t, _ in relations for a, b in ((s, t), (t, s))}
        found |= {b: step for a, b in ends if found.get(a) == step - 1 and b not in found}
    return found


@given(graphs, st.sets(ids, max_size=3), st.integers(1, MAX_DEPTH))
def test_a_walk_reaches_what_is_so_many_steps_away_and_nothing_else(relations, starts, depth):
    found = filled(relations).subgraph(sorted(starts), depth=depth)
    expected = naive(relations, starts, depth)
    assert [entity.id for entity in found.entities] == sorted(expected)
    assert not found.truncated
    walked = {key for key in relations if min(expected.get(key[0], 99), expected.get(key[1], 99)) < depth}
    assert [(one.source, one.target, one.type) for one in found.relations] == sorted(walked)


@given(graphs, st.sets(ids, min_size=1, max_size=2), st.integers(1, MAX_DEPTH), st.integers(1, 8))
def test_a_limit_keeps_the_nearest_and_more_of_it_takes_nothing_away(relations, starts, depth, limit):
    graph = filled(relations)
    some, more = (graph.subgraph(sorted(starts), depth=depth, limit=size) for size in (limit, limit + 1))
    distance = naive(relations, starts, depth)
    kept = {entity.id for entity in some.entities}
    assert kept == set(sorted(distance, key=lambda id_: (distance[id_], id_))[:limit])
    assert kept <= {entity.id for entity in more.entities}
    assert some.truncated == (len(distance) > limit)


@given(graphs)
def test_bytes_are_the_graph(relations):
    whole = filled(relations).snapshot()
    assert from_bytes(to_bytes(whole)) == whole
