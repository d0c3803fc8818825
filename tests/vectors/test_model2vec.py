"""Static tables beside the model2vec package itself: the same files, the same vectors."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import Unigram, WordLevel, WordPiece
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import BertPreTokenizer, Metaspace, Whitespace

from armarius import embedders
from armarius.errors import EmbeddingError

model2vec = pytest.importorskip("model2vec", reason="pip install model2vec")

_VOCABULARY = "[PAD] [UNK] [CLS] [SEP] river silver moon night ##s ##ing a b c d e ##e ##r the 月 夜 河 诗 ， 。"
_PIECES = _VOCABULARY.split()
TEXTS = [
    "the silver river",
    "Moons and rivers, unheard of",
    "月夜，河。",
    "诗 the night 月 zzz",
    "zzz",
    "",
    "the moon " * 40 + "river" * 300,
]


def tokenizer(kind):
    if kind == "word pieces":
        made = Tokenizer(WordPiece({piece: i for i, piece in enumerate(_PIECES)}, unk_token="[UNK]"))
        made.normalizer, made.pre_tokenizer = Lowercase(), BertPreTokenizer()
    elif kind == "words":
        made = Tokenizer(WordLevel({piece: i for i, piece in enumerate(_PIECES)}, unk_token="[UNK]"))
        made.pre_tokenizer = Whitespace()
    else:
        made = Tokenizer(Unigram([(piece, -float(i)) for i, piece in enumerate(_PIECES)], unk_id=1))
        made.pre_tokenizer = Metaspace()
    return made


def model(kind="word pieces", *, mapped=False, weighted=False, dtype="float32", **options):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(9 if mapped else len(_PIECES), 16))
    rows = np.rint(rows * 40).astype(np.int8) if dtype == "int8" else rows.astype(dtype)
    return model2vec.StaticModel(
        rows,
        tokenizer(kind),
        weights=rng.uniform(0.1, 2, len(_PIECES)).astype(np.float32) if weighted else None,
        token_mapping=rng.integers(0, 9, len(_PIECES)) if mapped else None,
        **options,
    )


@pytest.mark.parametrize("kind", ["word pieces", "words", "unigram"])
@pytest.mark.parametrize(("mapped", "weighted"), [(False, False), (False, True), (True, False), (True, True)])
def test_vectors_are_those_of_model2vec(tmp_path, kind, mapped, weighted):
    theirs = model(kind, mapped=mapped, weighted=weighted)
    theirs.save_pretrained(tmp_path)
    ours = embedders.load(tmp_path)
    assert isinstance(ours, type(embedders.static(tmp_path)))
    np.testing.assert_allclose(ours.embed(TEXTS), theirs.encode(TEXTS), atol=1e-6)
    assert ours.embed(TEXTS)[:3].any(axis=1).any()


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8"])
def test_tables_of_other_precision_are_read(tmp_path, dtype):
    theirs = model(mapped=True, weighted=True, dtype=dtype)
    theirs.save_pretrained(tmp_path)
    expected = theirs.encode(TEXTS).astype(np.float32)
    np.testing.assert_allclose(embedders.static(tmp_path).embed(TEXTS), expected, rtol=4e-3, atol=4e-3)


@pytest.mark.parametrize("max_length", [3, 100, None])
def test_length_and_scale_are_what_the_model_says(tmp_path, max_length):
    theirs = model(mapped=True, weighted=True, normalize=True, max_length=max_length)
    theirs.save_pretrained(tmp_path)
    ours = embedders.load(tmp_path)
    assert (ours.fingerprint.max_length, ours.fingerprint.normalise) == (max_length or 0, True)
    np.testing.assert_allclose(ours.embed(TEXTS), theirs.encode(TEXTS), atol=1e-6)


def test_sentence_transformers_layout_is_read(tmp_path):
    theirs = model()
    theirs.save_pretrained(tmp_path / "plain")
    inside = tmp_path / "nested" / "0_StaticEmbedding"
    inside.mkdir(parents=True)
    save_file({"embedding.weight": theirs.embedding}, inside / "model.safetensors")
    tokenizer("word pieces").save(str(inside / "tokenizer.json"))
    modules = [
        {"idx": 0, "name": "0", "path": "0_StaticEmbedding", "type": "sentence_transformers.models.StaticEmbedding"}
    ]
    (tmp_path / "nested" / "modules.json").write_text(json.dumps(modules))
    (tmp_path / "nested" / "config_sentence_transformers.json").write_text("{}")
    nested = embedders.load(tmp_path / "nested").embed(TEXTS)
    np.testing.assert_array_equal(nested, embedders.load(tmp_path / "plain").embed(TEXTS))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"mapping": np.full(len(_PIECES), 9)}, "rows up to 9, the table has 9"),
        ({"mapping": np.zeros(len(_PIECES), np.float32)}, "expected integers"),
        ({"mapping": np.zeros(4, np.int64)}, "the mapping 4: it belongs to another model"),
        ({"weights": np.ones(4, np.float32)}, "the weights 4: it belongs to another model"),
        ({"weights": np.full(len(_PIECES), np.nan, np.float32)}, "not all finite"),
    ],
)
def test_tensors_that_do_not_belong_together_are_refused(tmp_path, change, told):
    model(mapped=True, weighted=True).save_pretrained(tmp_path)
    save_file(load_file(tmp_path / "model.safetensors") | change, tmp_path / "model.safetensors")
    with pytest.raises(EmbeddingError, match=told):
        embedders.load(tmp_path)
