import dataclasses

import numpy as np
import pytest

from armarius.embedders.loaders import LexicalEmbedder
from armarius.errors import DimensionMismatch, EmbeddingError
from armarius.store.vectors_protocol import Fingerprint, PendingText, check_batch, require_same, usable_rows
from armarius.vectors.embedder import Embedder

FIRST = Fingerprint("text2vec-base-chinese", "a" * 64, 768, 128, "mean")


def test_a_fingerprint_survives_the_index():
    assert Fingerprint.from_json(FIRST.to_json()) == FIRST
    assert Fingerprint.from_json(FIRST.to_json()).name == FIRST.name


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": 1}'])
def test_an_unreadable_fingerprint_is_an_embedding_error(text):
    with pytest.raises(EmbeddingError, match="unreadable fingerprint"):
        Fingerprint.from_json(text)


def test_a_renamed_model_is_the_same_model():
    require_same(FIRST, dataclasses.replace(FIRST, name="copy"))


@pytest.mark.parametrize(
    "change", [{"model": "b" * 64}, {"dimension": 384}, {"max_length": 256}, {"pooling": "cls"}, {"normalise": True}]
)
def test_any_other_difference_is_refused_naming_both_and_reembed(change):
    other = dataclasses.replace(FIRST, **change)
    with pytest.raises(DimensionMismatch) as caught:
        require_same(FIRST, other)
    for part in (str(FIRST), str(other), *change, "engine.reembed()"):
        assert part in str(caught.value)


SMALL = dataclasses.replace(FIRST, dimension=4)
TEXTS = [PendingText(owner, "text", b"") for owner in ("first", "second", "third")]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_vector_that_cannot_be_compared_is_refused_with_its_owner(bad):
    vectors = np.ones((3, 4), np.float32)
    vectors[1] = bad
    with pytest.raises(EmbeddingError, match="'second' is not finite"):
        check_batch(SMALL, SMALL, TEXTS, vectors)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_vector_of_zeros_or_that_is_not_finite_is_not_usable(bad):
    vectors = np.ones((3, 4), np.float32)
    vectors[1] = bad
    assert usable_rows(vectors).tolist() == [True, False, True]


def test_a_vector_of_another_dimension_is_refused():
    with pytest.raises(DimensionMismatch, match=r"3x4.*768"):
        check_batch(FIRST, FIRST, TEXTS, np.ones((3, 4), np.float32))


def test_embedders_satisfy_the_protocol():
    assert isinstance(LexicalEmbedder(), Embedder)
