import numpy as np
import pytest
from tests.vectors.stores import CountingEmbedder, chapter, embed_all, removal, setting, slots_of

from armarius.store.sqlite.vectors import ApproximateIndex, nearest
from armarius.store.sqlite.vectors_rows import owners_named
from armarius.store.vectors_protocol import SetGone, VectorFilter


@pytest.fixture
def filled(open_store):
    store, embedder = open_store(), CountingEmbedder()
    store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(n, *(f"第{n}章的第{i}个段落" for i in range(30))) for n in range(1, 9)])
    store.apply([setting("# 人物\n\n" + "\n\n".join(f"## 甲{i}\n\n第{i}个人物的说明" for i in range(12)))])
    embed_all(store.vectors, embedder, batch=100)
    return store, embedder


def queries(count=12):
    return np.random.default_rng(9).normal(size=(count, 16)).astype(np.float32)


def indexed(store, exact_below):
    index = ApproximateIndex(store._session)
    index.exact_below = exact_below
    return index


def named(store, found):
    with store._session.reading() as connection:
        owners = owners_named(connection, [number for number, _ in found])
    return [owners[number] for number, _ in found]


def approximate(store):
    index = indexed(store, 10)
    index.refresh()
    assert index.status().approximate
    return index


def assert_like_exact(store, index, which=VectorFilter(), limit=10):  # noqa: B008
    serving = store.vectors.sets()["serving"]
    missed = total = 0
    for query in queries():
        found = index.search(serving, query, limit, which)
        with store._session.reading() as connection:
            truth = nearest(connection, serving, query, limit, which)
        assert len(found) == len(truth)
        missed += len({owner for owner, _ in truth} - {owner for owner, _ in found})
        total += len(truth)
        assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)
    assert missed <= 0.02 * total


def test_exact_search_answers_below_the_threshold_and_before_the_first_refresh(filled):
    store, _ = filled
    index = indexed(store, 1000)
    index.refresh()
    assert not index.status().approximate
    assert_like_exact(store, index)
    assert_like_exact(store, indexed(store, 10))


def test_the_approximate_index_agrees_with_exact_search_and_says_its_recall(filled):
    store, _ = filled
    index = approximate(store)
    assert_like_exact(store, index)
    status = index.status()
    assert status.vectors == 252
    assert status.recall is not None
    assert status.recall.recall >= 0.98
    assert status.bytes_on_disk > 0


@pytest.mark.parametrize(
    "which",
    [
        VectorFilter(kinds=("setting",)),
        VectorFilter(chapters=(3, 3)),
        VectorFilter(kinds=("chapter",), chapters=(None, 2)),
    ],
)
def test_filters_never_leave_fewer_than_exist(filled, which):
    store, _ = filled
    assert_like_exact(store, approximate(store), which, limit=12)


def test_a_saved_index_is_loaded_and_caught_up_instead_of_built(filled, monkeypatch):
    store, embedder = filled
    approximate(store)
    store.apply([removal(3), chapter(20, "一个全新的段落")])
    embed_all(store.vectors, embedder)
    monkeypatch.setattr(ApproximateIndex, "_build", lambda *_: pytest.fail("built instead of loaded"))
    monkeypatch.setattr(ApproximateIndex, "_samples", lambda *_: pytest.fail("sampled again"))
    loaded = approximate(store)
    assert_like_exact(store, loaded)
    assert loaded.status().recall.recall >= 0.98


def test_a_small_change_is_found_at_once_and_does_not_write_the_whole_file_again(filled):
    store, embedder = filled
    index = approximate(store)
    (before,) = store.vectors.approximate.place.folder.glob("*.usearch")
    for number in (20, 21):
        store.apply([chapter(number, f"第{number}章里全新的段落")])
        embed_all(store.vectors, embedder)
        index.refresh()
    assert [*store.vectors.approximate.place.folder.glob("*.usearch")] == [before]
    again = approximate(store)
    serving = store.vectors.sets()["serving"]
    for search in (index, again):
        found = search.search(serving, embedder.vector("第21章里全新的段落"), 1, VectorFilter())
        assert named(store, found) == [("chapters/ch021.md", 1)]
    store.apply([chapter(22, *(f"又一个段落{n}" for n in range(9)))])
    embed_all(store.vectors, embedder)
    index.refresh()
    assert [*store.vectors.approximate.place.folder.glob("*.usearch")] != [before]


def test_damaged_or_missing_files_are_built_again_with_equal_answers(filled):
    store, _ = filled
    fresh = approximate(store)
    serving = store.vectors.sets()["serving"]
    wanted = [fresh.search(serving, query, 10, VectorFilter()) for query in queries()]
    for damage in (lambda p: p.write_bytes(p.read_bytes()[:100]), lambda p: p.unlink(), lambda p: p.write_bytes(b"")):
        damage(next(store.vectors.approximate.place.folder.glob("*.usearch")))
        index = approximate(store)
        assert [index.search(serving, query, 10, VectorFilter()) for query in queries()] == wanted


def test_many_removals_rebuild_the_graph(filled, monkeypatch):
    store, _ = filled
    index = approximate(store)
    built = []
    build = ApproximateIndex._build
    monkeypatch.setattr(ApproximateIndex, "_build", lambda self, *args: built.append(1) or build(self, *args))
    store.apply([removal(n) for n in range(1, 5)])
    index.refresh()
    assert built == [1]
    assert_like_exact(store, index)


def test_removed_paragraphs_are_not_found_even_before_a_refresh(filled):
    store, embedder = filled
    index = approximate(store)
    store.apply([removal(2)])
    serving = store.vectors.sets()["serving"]
    found = index.search(serving, embedder.vector("第2章的第7个段落"), 10, VectorFilter())
    assert len(found) == 10
    assert all(path != "chapters/ch002.md" for path, _ in named(store, found))


def test_a_set_that_was_replaced_is_said_to_be_gone(filled):
    store, _ = filled
    index, old, new = approximate(store), store.vectors.sets()["serving"], CountingEmbedder("new")
    store.vectors.build(new.fingerprint)
    embed_all(store.vectors, new, "building", batch=300)
    store.vectors.switch()
    with pytest.raises(SetGone):
        index.search(old, queries()[0], 5, VectorFilter())
    index.refresh()
    assert_like_exact(store, index)


def test_records_of_what_went_are_dropped_once_no_index_needs_them(filled):
    store, _ = filled
    index = approximate(store)
    store.apply([removal(2)])
    index.refresh()
    serving = store.vectors.sets()["serving"]
    assert None not in slots_of(store.vectors, serving).values()
