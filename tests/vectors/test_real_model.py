"""Real weights: an English MiniLM. It proves the pipeline, not Chinese quality (76 % of Han is [UNK] in it)."""

import json
from pathlib import Path

import numpy as np
import pytest

from armarius import embedders

GOLDEN = json.loads((Path(__file__).parents[1] / "cases" / "minilm_vectors.json").read_text(encoding="utf-8"))

PARAGRAPHS = [
    "She read the poem twice, and by the last line tears were running down her face.",
    "The harbour master counted the crates again and wrote the number in his ledger.",
    "Rain had washed the road out, so the carts went the long way round by the mill.",
    "He hid the silver key under the third flagstone and told nobody.",
    "At dawn the two brothers quarrelled over their father's land and drew knives.",
    "The old nurse remembered every birth in the valley and most of the deaths.",
    "A fever kept the captain in bed for a month; his first mate sailed the ship home.",
    "They baked bread for the festival until the whole street smelled of it.",
]
PARAPHRASES = {
    "a girl cries because of some verses": 0,
    "concealing something valuable beneath the floor": 3,
    "siblings fight about an inheritance": 4,
    "the skipper was ill and someone else took command": 6,
    "preparing food for a holiday": 7,
}


@pytest.fixture(scope="module")
def real(minilm):
    return embedders.safetensors(minilm)


def test_vectors_equal_the_golden_ones_of_sentence_transformers(real):
    expected = np.array(GOLDEN["vectors"], np.float32)
    np.testing.assert_allclose(real.embed(GOLDEN["texts"])[:, : expected.shape[1]], expected, atol=1e-5)


def test_settings_are_read_from_the_folder(real):
    assert (real.fingerprint.dimension, real.fingerprint.max_length) == (384, 256)
    assert (real.fingerprint.pooling, real.fingerprint.normalise) == ("mean", True)


def test_onnx_export_gives_the_same_vectors_element_by_element(real, minilm_onnx):
    exported = embedders.onnx(minilm_onnx)
    np.testing.assert_allclose(exported.embed(GOLDEN["texts"]), real.embed(GOLDEN["texts"]), atol=2e-6)
    assert exported.fingerprint != real.fingerprint, "other weights file, other fingerprint"


def test_paraphrase_without_a_shared_word_finds_its_paragraph(real):
    found = (real.embed(list(PARAPHRASES)) @ real.embed(PARAGRAPHS).T).argmax(axis=1)
    assert found.tolist() == list(PARAPHRASES.values())


def test_the_lexical_embedder_does_not_find_most_paraphrases():
    lexical = embedders.lexical()
    found = (lexical.embed(list(PARAPHRASES)) @ lexical.embed(PARAGRAPHS).T).argmax(axis=1)
    assert sum(a == b for a, b in zip(found.tolist(), PARAPHRASES.values(), strict=True)) < len(PARAPHRASES)


def test_load_recognises_each_kind_of_folder(minilm, minilm_onnx, tiny):
    assert embedders.load(minilm).fingerprint == embedders.safetensors(minilm).fingerprint
    assert embedders.load(minilm_onnx).fingerprint == embedders.onnx(minilm_onnx).fingerprint
    assert embedders.load(tiny).fingerprint == embedders.text2vec(tiny).fingerprint
