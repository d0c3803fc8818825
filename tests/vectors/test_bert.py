import json

import numpy as np
import pytest
from safetensors.numpy import load_file
from tests.vectors.bert_reference import hidden_states
from tokenizers import BertWordPieceTokenizer

from armarius import embedders
from armarius.embedders.folder import ModelFolder
from armarius.embedders.preprocess import Tokens

TEXTS = [
    "一个姑娘因为诗而落泪",
    "林小雨的妹妹住在江城。",
    "",
    "THE RIVERS, 银色 river!",
    "龘靐齉 unknown",
    "银色河流夜里写信" * 40,
    "月",
]


@pytest.fixture
def reference(tiny):
    """Plain NumPy: vocab.txt, [CLS] + 126 tokens + [SEP], mean over all of them, no normalisation."""
    weights, config = load_file(tiny / "model.safetensors"), json.loads((tiny / "config.json").read_text())
    tokenizer = BertWordPieceTokenizer(str(tiny / "vocab.txt"), lowercase=True)
    tokenizer.no_truncation()

    def embed(texts):
        rows = []
        for text in texts:
            ids = tokenizer.encode(text).ids
            ids = ids if len(ids) <= 128 else [*ids[:127], ids[-1]]
            rows.append(hidden_states(weights, config, ids).mean(axis=0))
        return np.array(rows)

    return embed


def test_text2vec_preprocessing_and_forward_pass_equal_a_plain_reference(tiny, reference):
    vectors = embedders.text2vec(tiny).embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 32)
    np.testing.assert_allclose(vectors, reference(TEXTS), atol=2e-5)


def test_text2vec_truncates_to_128_tokens_and_does_not_normalise(tiny):
    embedder = embedders.text2vec(tiny)
    long = "银色河流夜里写信" * 16  # 128 characters: two fall off with [CLS] and [SEP]
    vectors = embedder.embed([long[:126], long, long + "月亮"])
    np.testing.assert_allclose(vectors[1], vectors[0], atol=2e-5)
    np.testing.assert_allclose(vectors[2], vectors[0], atol=2e-5)
    assert abs(float(np.linalg.norm(vectors[0])) - 1.0) > 0.1
    assert (embedder.fingerprint.max_length, embedder.fingerprint.pooling, embedder.fingerprint.normalise) == (
        128,
        "mean",
        False,
    )


def test_text2vec_pins_its_settings_whatever_the_folder_says(tiny):
    before = embedders.text2vec(tiny)
    (tiny / "sentence_bert_config.json").write_text('{"max_seq_length": 256}')
    (tiny / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert embedders.text2vec(tiny).fingerprint == before.fingerprint
    assert embedders.safetensors(tiny).fingerprint != before.fingerprint


def test_neighbours_in_a_batch_change_no_vector(tiny):
    embedder = embedders.text2vec(tiny)
    together = embedder.embed(TEXTS)
    for row, text in enumerate(TEXTS):
        np.testing.assert_allclose(embedder.embed([text])[0], together[row], atol=2e-6)


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_each_pooling_equals_its_definition(tiny, pooling):
    weights, config = load_file(tiny / "model.safetensors"), json.loads((tiny / "config.json").read_text())
    tokenizer = BertWordPieceTokenizer(str(tiny / "vocab.txt"), lowercase=True)
    states = [hidden_states(weights, config, tokenizer.encode(text).ids) for text in TEXTS[:3]]
    expected = [{"mean": s.mean(0), "cls": s[0], "max": s.max(0)}[pooling] for s in states]
    vectors = embedders.safetensors(tiny, pooling=pooling).embed(TEXTS[:3])
    np.testing.assert_allclose(vectors, expected, atol=2e-5)


def test_batches_hold_no_more_tokens_than_asked_and_every_text_once(tiny):
    tokens = Tokens.read(ModelFolder.open(tiny), 128)
    batches = list(tokens.batches(TEXTS * 5, batch_tokens=200))
    assert sorted(int(row) for batch in batches for row in batch.rows) == list(range(len(TEXTS) * 5))
    assert all(batch.ids.size <= 200 for batch in batches)
    lengths = [batch.ids.shape[1] for batch in batches]
    assert lengths == sorted(lengths, reverse=True)


def test_a_lone_surrogate_is_read_as_the_replacement_character(tiny):
    embedder = embedders.text2vec(tiny)
    np.testing.assert_array_equal(embedder.embed(["江\ud800城"]), embedder.embed(["江\ufffd城"]))


def test_fingerprint_follows_weights_and_tokenizer_not_the_folder_name(tiny, tmp_path):
    first = embedders.text2vec(tiny).fingerprint
    moved = tiny.rename(tmp_path / "elsewhere")
    assert embedders.text2vec(moved).fingerprint == first
    vocabulary = (moved / "vocab.txt").read_text(encoding="utf-8")
    (moved / "vocab.txt").write_text(vocabulary.replace("river", "stone"), encoding="utf-8")
    assert embedders.text2vec(moved).fingerprint != first
