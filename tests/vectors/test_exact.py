import numpy as np
import pytest
from tests.vectors.stores import CountingEmbedder, chapter, embed_all, setting, slots_of, stored_vectors

from armarius.store.sqlite import vectors as exact
from armarius.store.vectors_protocol import VectorFilter


@pytest.fixture
def embedder():
    return CountingEmbedder()


def test_exact_search_equals_numpy_and_obeys_filters(open_store, embedder):
    store = open_store()
    vector_set = store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(n, *(f"第{n}章的第{i}个段落" for i in range(9))) for n in range(1, 7)])
    store.apply([setting("# 人物\n\n## 林小雨\n\n她住在江城老街。\n\n## 周先生\n\n他开一家钟表铺。\n")])
    embed_all(store.vectors, embedder)
    vectors = stored_vectors(store.vectors)
    query = np.random.default_rng(3).normal(size=16).astype(np.float32)

    def nearest(limit, which=None):
        return store.vectors.nearest(vector_set, query, limit, which)

    def truth(limit, admit):
        similarity = {
            p: float(v @ query / np.linalg.norm(v) / np.linalg.norm(query)) for p, v in vectors.items() if admit(p)
        }
        return sorted(similarity.items(), key=lambda item: -item[1])[:limit]

    for which, admit in [
        (None, lambda _place: True),
        (VectorFilter(), lambda _place: True),
        (VectorFilter(kinds=("setting",)), lambda place: place[0].startswith("spec")),
        (VectorFilter(chapters=(None, 2)), lambda place: place[0] in {"chapters/ch001.md", "chapters/ch002.md"}),
        (VectorFilter(kinds=("chapter",), chapters=(4, None)), lambda place: "chapters/ch004" <= place[0] < "d"),
    ]:
        found, wanted = nearest(10, which), truth(10, admit)
        assert [place for place, _ in found] == [place for place, _ in wanted]
        np.testing.assert_allclose([s for _, s in found], [s for _, s in wanted], atol=1e-5)


def test_filtering_costs_by_the_candidates_not_by_the_vectors(open_store, embedder):
    store = open_store()
    vector_set = store.vectors.adopt(embedder.fingerprint)

    def steps(count):
        store.apply([chapter(1, *(f"第{i}个段落的文字" for i in range(count)))])
        embed_all(store.vectors, embedder, batch=500)
        owners = list(slots_of(store.vectors, vector_set))[:20]
        taken = 0
        with store._session.reading() as connection:

            def step():
                nonlocal taken
                taken += 1
                return False

            connection.set_progress_handler(step, 50)
            assert len(exact.filter_owners(connection, vector_set, owners, VectorFilter(kinds=("chapter",)))) == 20
            connection.set_progress_handler(None)
        return taken

    assert steps(2000) <= 2 * steps(100)


def test_a_filter_is_followed_from_documents_to_vectors_never_over_all_vectors(open_store, embedder):
    store = open_store()
    vector_set = store.vectors.adopt(embedder.fingerprint)
    for which in (VectorFilter(kinds=("setting",)), VectorFilter(chapters=(3, 3))):
        query, values = exact.slots_of(vector_set, which)
        with store._session.reading() as connection:
            plan = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]
        assert plan[1].startswith("SEARCH p USING INTEGER PRIMARY KEY")
        assert plan[2] == "SEARCH v USING PRIMARY KEY (vector_set=? AND owner=?)"
