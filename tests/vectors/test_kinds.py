"""Questions and documents are two kinds; a host's embedder of one kind is still an embedder."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.vectors.stores import CountingEmbedder, chapter

import armarius
from armarius import embedders
from armarius.errors import ContractError, DimensionMismatch, EmbeddingError
from armarius.store.vectors_protocol import VectorFilter
from armarius.vectors.embedder import Embedder, Fingerprint, as_embedder
from armarius.vectors.project_vectors import Semantic

EVERYWHERE = VectorFilter()


@dataclass
class TwoKinds:
    """Letters counted; remembers what came in as which kind."""

    prompt: str = ""
    questions: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)

    @property
    def fingerprint(self):
        return Fingerprint("two", "two", 64)

    def embed_queries(self, texts, /):
        self.questions += texts
        return letters([self.prompt + text for text in texts])

    def embed_documents(self, texts, /):
        self.documents += texts
        return letters(texts)


def letters(texts):
    out = np.zeros((len(texts), 64), np.float32)
    for row, text in zip(out, texts, strict=True):
        for char in text:
            row[ord(char) % 64] += 1
    return out


class Old:
    def embed(self, texts):
        return letters(texts).tolist()


@pytest.fixture
def store(open_store):
    store = open_store()
    store.apply([chapter(1, "银色的河流向东流去。", "林小雨在窗边写信。")])
    return store


def test_paragraphs_are_documents_and_questions_are_queries(store):
    embedder = TwoKinds()
    semantic = Semantic(store, embedder, background=False)
    semantic.embed_pending()
    semantic.nearest("河流", 1, EVERYWHERE)
    semantic.nearby("写信")
    assert set(embedder.documents) == {"银色的河流向东流去。", "林小雨在窗边写信。"}
    assert {"河流", "写信"} <= set(embedder.questions)
    assert not set(embedder.questions) & set(embedder.documents)
    semantic.close()


def test_another_prompt_of_questions_asks_again_and_leaves_the_stored_vectors(store):
    first, second = TwoKinds(), TwoKinds(prompt="问")
    semantic = Semantic(store, first, background=False)
    semantic.embed_pending()
    before = semantic.nearest("河流", 2, EVERYWHERE)
    semantic.reembed(second)
    assert semantic.nearest("河流", 2, EVERYWHERE) != before
    assert second.documents == []
    semantic.nearest("河流", 2, EVERYWHERE)
    assert second.questions.count("河流") == 1
    semantic.close()


def test_another_prompt_of_documents_is_another_set_of_vectors(store, tiny):
    semantic = Semantic(store, embedders.safetensors(tiny), background=False)
    semantic.embed_pending()
    other = embedders.safetensors(tiny, document_prompt="文")
    semantic.close()
    semantic = Semantic(store, other, background=False)
    with pytest.raises(DimensionMismatch, match="document_prompt"):
        semantic.nearest("河流", 1, EVERYWHERE)
    semantic.reembed(wait=True)
    assert semantic.status().serving == other.fingerprint
    semantic.close()


@pytest.mark.parametrize("given", [Old(), letters, lambda texts: letters(texts)], ids=["object", "function", "lambda"])
def test_an_embedder_of_one_kind_serves_both(given, tmp_path):
    (tmp_path / "a.md").write_text("# 第一章\n\n银色的河流向东流去。\n\n林小雨在窗边写信。\n", "utf-8")
    with armarius.open(tmp_path, embedder=given, watch=False) as engine:
        engine.recall.embed()
        assert engine.similar("银色的河流", limit=1)[0].text.startswith("银色的河流")
        assert engine.recall.status().serving.dimension == 64


def test_an_embedder_with_both_kinds_is_taken_as_it_is():
    embedder = TwoKinds()
    assert as_embedder(embedder) is embedder
    assert isinstance(as_embedder(letters), Embedder)


def test_an_adapted_embedder_keeps_the_fingerprint_it_has():
    old = CountingEmbedder()
    plain = type("Plain", (), {"fingerprint": old.fingerprint, "embed": lambda _, texts: old.embed(texts)})()
    assert as_embedder(plain).fingerprint == old.fingerprint


def test_functions_without_a_fingerprint_are_told_apart_by_what_they_answer():
    def one(texts):
        return letters(texts)

    first = as_embedder(one).fingerprint

    def one(texts):
        return letters([text[::2] for text in texts])

    assert as_embedder(one).fingerprint != first


@pytest.mark.parametrize("given", [object(), 3, Old, "text2vec"])
def test_what_is_no_embedder_is_refused(given, tmp_path):
    with pytest.raises(ContractError, match=r"embedder: .* has neither embed_queries"):
        armarius.open(tmp_path, embedder=given)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda texts: [[1.0, float("nan")]] * len(texts), "NaN"),
        (lambda texts: [[1.0, 2.0]] * (len(texts) + 1), "shape"),
        (lambda texts: [1.0] * len(texts), "shape"),
        (lambda texts: [["x", "y"]] * len(texts), "no vectors"),
        (lambda _: None, "no vectors|shape"),
    ],
)
def test_what_is_no_vector_is_refused_with_a_reason(answer, told):
    with pytest.raises(EmbeddingError, match=told):
        as_embedder(answer).embed_queries(["moon"])


def test_a_dimension_that_changes_is_refused():
    embedder = as_embedder(lambda texts: [[1.0] * (len(texts) + 1)] * len(texts))
    with pytest.raises(DimensionMismatch, match="dimensions"):
        embedder.embed_documents(["a", "b"])
