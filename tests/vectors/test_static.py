import json

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from armarius import embedders
from armarius.errors import EmbeddingError


@pytest.fixture
def table(tmp_path):
    words = ["[PAD]", "[UNK]", "river", "silver", "moon"]
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    rows = np.arange(20, dtype=np.float32).reshape(5, 4)
    save_file({"embeddings": rows}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": False}))
    return tmp_path, rows


def test_a_text_is_the_mean_of_its_known_tokens(table):
    folder, rows = table
    vectors = embedders.static(folder).embed(["silver river", "silver unheard river", "unheard", ""])
    np.testing.assert_allclose(vectors[0], rows[[3, 2]].mean(axis=0))
    np.testing.assert_array_equal(vectors[1], vectors[0])
    assert not vectors[2:].any()


def test_weights_scale_rows_and_normalize_scales_the_result(table):
    folder, rows = table
    scale = np.array([1, 1, 2, 1, 1], np.float32)
    save_file({"embeddings": rows, "weights": scale}, folder / "model.safetensors")
    (folder / "config.json").write_text('{"model_type": "model2vec", "normalize": true}')
    expected = (rows[3] + 2 * rows[2]) / 2
    vector = embedders.static(folder).embed(["silver river"])[0]
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), rtol=1e-6)


def test_load_recognises_a_static_table(table):
    assert embedders.load(table[0]).fingerprint == embedders.static(table[0]).fingerprint


def test_a_table_shorter_than_the_vocabulary_is_refused(table):
    folder, rows = table
    save_file({"embeddings": rows[:3].copy()}, folder / "model.safetensors")
    with pytest.raises(EmbeddingError, match="another model"):
        embedders.static(folder)
