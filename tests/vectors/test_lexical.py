import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armarius import embedders


def similarity(a, b):
    first, second = embedders.lexical().embed([a, b])
    return float(first @ second)


def test_vectors_are_float32_normalised_and_in_order():
    texts = ["林小雨走了", "the silver river", "林小雨走了"]
    vectors = embedders.lexical().embed(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, 1024)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-6)
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_vectors_are_the_same_on_every_machine():
    vector = embedders.lexical().embed(["林小雨 the Silver river。"])[0]
    places = np.flatnonzero(vector)
    assert places[:6].tolist() == [60, 93, 184, 192, 201, 213]
    np.testing.assert_allclose(vector[places[:6]], [-0.1496, 0.3344, -0.3344, -0.1931, -0.3344, -0.0301], atol=1e-4)


def test_shared_wording_in_another_order_is_close():
    assert similarity("银色河流在夜里", "夜里的银色河流") > 0.8
    assert similarity("the silver rivers at night", "at night, a silver river") > 0.5


def test_shared_particles_alone_are_not_close():
    assert similarity("他的是什么", "金陵旧事的终局") < 0.2
    assert similarity("what is it that they do", "where is the captain of the ship") < 0.2


def test_a_text_without_letters_or_digits_has_no_vector():
    assert not embedders.lexical().embed(["", "……！？", " \n"]).any()


def test_a_dimension_below_one_is_refused():
    with pytest.raises(ValueError, match="dimension must be >= 1, got 0"):
        embedders.lexical(0)


@settings(max_examples=50)
@given(st.lists(st.text(max_size=30), max_size=8))
def test_neighbours_change_no_vector(texts):
    embedder = embedders.lexical(64)
    together = embedder.embed(texts)
    for row, text in enumerate(texts):
        np.testing.assert_array_equal(embedder.embed([text])[0], together[row])
