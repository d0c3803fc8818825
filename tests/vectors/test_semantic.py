import threading

import pytest
from tests.vectors.stores import CountingEmbedder, chapter, people, setting
from tests.vectors.test_real_model import PARAGRAPHS, PARAPHRASES

from armarius import embedders
from armarius.errors import DimensionMismatch, EmbeddingError
from armarius.store.vectors_protocol import VectorFilter
from armarius.vectors.project_vectors import Semantic


@pytest.fixture
def opened(open_store):
    made = []

    def make(embedder, store=None, **options):
        made.append(Semantic(store or open_store(), embedder, **options))
        return made[-1]

    yield make
    for semantic in made:
        semantic.close()


def similar(semantic, query, *, limit=10, kinds=(), chapters=(None, None)):
    found = semantic.nearest(query, limit, VectorFilter(tuple(kinds), chapters))
    return [(semantic.store.passages([place])[0], score) for place, score in found]


@pytest.fixture
def store(open_store):
    store = open_store()
    store.apply([chapter(n, f"第{n}章里林小雨在窗边写信", f"第{n}章里银色的河流向东去") for n in range(1, 5)])
    store.apply([setting("# 人物\n\n## 周先生\n\n他在老街开一家钟表铺。\n")])
    return store


def test_what_is_nearest_comes_first_with_its_similarity(opened, store):
    semantic = opened(embedders.lexical(), store)
    semantic.embed_pending(20)
    first, *rest = similar(semantic, "第3章里，银色河流向东", limit=5)
    assert (first[0].path, first[0].text) == ("chapters/ch003.md", "第3章里银色的河流向东去")
    assert 0.5 < first[1] <= 1.0
    assert [score for _, score in rest] == sorted((score for _, score in rest), reverse=True)
    assert len(rest) == 4


def test_filters_by_kind_and_chapter(opened, store):
    semantic = opened(embedders.lexical(), store)
    semantic.embed_pending(20)
    assert [passage.kind for passage, _ in similar(semantic, "银色的河流", kinds=["setting"])] == ["setting"]
    assert {passage.chapter for passage, _ in similar(semantic, "银色的河流", chapters=(None, 2))} == {1, 2}


def test_a_query_without_letters_and_a_limit_of_zero_find_nothing(opened, store):
    semantic = opened(embedders.lexical(), store)
    semantic.embed_pending(20)
    assert similar(semantic, "……") == []
    assert similar(semantic, "河流", limit=0) == []


def test_a_repeated_query_is_embedded_once(opened, store):
    embedder = CountingEmbedder()
    semantic = opened(embedder, store)
    semantic.embed_pending(20)
    before = len(embedder.seen)
    similar(semantic, "林小雨")
    similar(semantic, "林小雨", limit=3)
    assert len(embedder.seen) == before + 1


def test_entity_cards_are_found_apart_from_paragraphs(opened, store):
    store.apply([people("lin", "zhou")])
    semantic = opened(embedders.lexical(), store)
    semantic.changed(cards={"lin": "林小雨，写信的姑娘", "zhou": "周先生，钟表铺的主人"})
    semantic.embed_pending(20)
    assert semantic.nearest("钟表铺", 1, VectorFilter(entities=True))[0][0] == "zhou"
    assert all(passage.path for passage, _ in similar(semantic, "钟表铺", limit=50))


def test_an_index_of_another_model_is_refused_until_reembed(opened, store):
    opened(CountingEmbedder("old"), store).embed_pending(20)
    semantic = opened(CountingEmbedder("new", dimension=8), store)
    with pytest.raises(DimensionMismatch, match=r"old.*new.*reembed"):
        similar(semantic, "林小雨")
    semantic.reembed(wait=True)
    assert len(similar(semantic, "林小雨", limit=99)) == 9
    assert semantic.status().serving.name == "new"


def test_old_vectors_answer_while_new_ones_are_made_then_all_switch(opened, store):
    semantic = opened(CountingEmbedder("old"), store)
    semantic.embed_pending(20)
    new = CountingEmbedder("new", dimension=8, gate=threading.Event())
    semantic.reembed(new)
    assert len(similar(semantic, "林小雨", limit=99)) == 9
    status = semantic.status()
    assert (status.serving.name, status.building.name) == ("old", "new")
    new.gate.set()
    semantic.embed_pending(20)
    status = semantic.status()
    assert (status.serving.name, status.building) == ("new", None)
    assert len(similar(semantic, "林小雨", limit=99)) == 9
    assert store.verify() == []


def test_reembedding_that_fails_leaves_the_old_vectors(opened, store):
    semantic = opened(CountingEmbedder("old"), store)
    semantic.embed_pending(20)
    with pytest.raises(EmbeddingError, match="no memory"):
        semantic.reembed(CountingEmbedder("new", error=MemoryErrorLike("no memory")), wait=True)
    assert len(similar(semantic, "林小雨", limit=99)) == 9
    semantic.reembed(CountingEmbedder("old"))
    assert semantic.status().building is None, "asking for the model that answers drops the half-made set"


class MemoryErrorLike(RuntimeError):
    """What onnxruntime raises when it cannot allocate."""


def test_the_built_in_embedder_keeps_answering_while_a_model_takes_over(opened, store):
    opened(embedders.lexical(), store).embed_pending(20)
    new = CountingEmbedder("model", gate=threading.Event())
    semantic = opened(new, store)
    assert len(similar(semantic, "林小雨", limit=99)) == 9, "its vectors need no files"
    semantic.reembed()
    new.gate.set()
    semantic.embed_pending(20)
    assert semantic.status().serving.name == "model"


def test_many_threads_may_ask_while_a_new_model_takes_over(opened, store):
    store.vectors.approximate.exact_below = 4
    semantic = opened(CountingEmbedder("old"), store)
    semantic.embed_pending(20)
    failures, stop = [], threading.Event()

    def ask(number):
        while not stop.is_set():
            try:
                assert len(similar(semantic, f"问题{number}", limit=99)) == 9
            except Exception as error:
                failures.append(error)
                return

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for name in ("second", "third"):
        semantic.reembed(CountingEmbedder(name, dimension=8), wait=True)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert semantic.status().index.approximate


def test_a_real_model_finds_paraphrases_through_the_whole_path(opened, open_store, minilm):
    store = open_store()
    store.apply([chapter(number, text) for number, text in enumerate(PARAGRAPHS, 1)])
    semantic = opened(embedders.safetensors(minilm), store)
    assert semantic.embed_pending(60)
    found = [similar(semantic, query, limit=1)[0][0].chapter for query in PARAPHRASES]
    assert found == [place + 1 for place in PARAPHRASES.values()]


def test_only_what_stands_out_is_near(opened, open_store, minilm):
    store = open_store()
    store.apply([chapter(number, text) for number, text in enumerate(PARAGRAPHS, 1)])
    semantic = opened(embedders.safetensors(minilm), store)
    semantic.embed_pending(60)
    (found, *_) = semantic.nearby("siblings fight about an inheritance").found
    assert (found.path, found.similarity > 0.4) == ("chapters/ch005.md", True)
    document = store.document(found.path)
    block = document.paragraphs[found.paragraph]
    assert document.text[block.start : block.end] == PARAGRAPHS[4]
    assert semantic.nearby("quantum chromodynamics on a lattice").found == ()
    assert semantic.nearby("……").found == ()
