"""Every way a model can be missing or broken is an EmbeddingError that names the file and the way out."""

import json
import os
import pickle

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from armarius import embedders
from armarius.errors import EmbeddingError, MissingExtra


def edit(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def truncate(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def drop_tensor(folder):
    tensors = load_file(folder / "model.safetensors")
    del tensors["encoder.layer.1.output.dense.bias"]
    save_file(tensors, folder / "model.safetensors")


def pickled_only(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": 1}))


def disguised_pickle(folder):
    (folder / "model.safetensors").write_bytes(pickle.dumps({"a": 1}) * 50)


def longer_vocabulary(folder):
    with (folder / "vocab.txt").open("a") as file:
        file.write("more\nwords\n")


def huge(path):
    with path.open("r+b") as file:
        file.truncate(1 << 40)


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def nan_weights(folder):
    tensors = load_file(folder / "model.safetensors")
    tensors["embeddings.LayerNorm.bias"] = np.full_like(tensors["embeddings.LayerNorm.bias"], np.nan)
    save_file(tensors, folder / "model.safetensors")


BROKEN = {
    "weights missing": (lambda f: (f / "model.safetensors").unlink(), ["model.safetensors", "missing", "Download"]),
    "weights truncated": (lambda f: truncate(f / "model.safetensors"), ["model.safetensors", "truncated", "again"]),
    "weights empty": (lambda f: (f / "model.safetensors").write_bytes(b""), ["model.safetensors", "again"]),
    "weights of a terabyte": (lambda f: huge(f / "model.safetensors"), ["model.safetensors", "1099511627776 bytes"]),
    "weights a pipe": (lambda f: pipe(f / "model.safetensors"), ["model.safetensors", "missing"]),
    "tensor missing": (drop_tensor, ["encoder.layer.1.output.dense.bias"]),
    "only pickles": (pickled_only, ["pytorch_model.bin", "refused", "model.safetensors"]),
    "pickle renamed": (disguised_pickle, ["not a safetensors file"]),
    "config missing": (lambda f: (f / "config.json").unlink(), ["config.json", "missing"]),
    "config not JSON": (lambda f: truncate(f / "config.json"), ["config.json", "JSON"]),
    "config of a terabyte": (lambda f: huge(f / "config.json"), ["config.json", "1099511627776 bytes"]),
    "config a pipe": (lambda f: pipe(f / "config.json"), ["config.json", "missing"]),
    "config nested without end": (lambda f: (f / "config.json").write_text("[" * 100_000), ["config.json", "JSON"]),
    "config a list": (lambda f: (f / "config.json").write_text("[]"), ["config.json", "object"]),
    "config lacks a number": (lambda f: edit(f / "config.json", hidden_size=None), ["config.json"]),
    "wrong dimension": (lambda f: edit(f / "config.json", hidden_size=64), ["shape", "64"]),
    "odd heads": (lambda f: edit(f / "config.json", num_attention_heads=5), ["5 attention heads"]),
    "wrong architecture": (lambda f: edit(f / "config.json", model_type="gpt2"), ["gpt2", "ONNX"]),
    "other activation": (lambda f: edit(f / "config.json", hidden_act="relu"), ["relu"]),
    "tokenizer missing": (lambda f: (f / "vocab.txt").unlink(), ["tokenizer.json", "vocab.txt", "missing"]),
    "tokenizer of a terabyte": (lambda f: huge(f / "vocab.txt"), ["vocab.txt", "1099511627776 bytes"]),
    "tokenizer truncated": (lambda f: (f / "vocab.txt").write_text("[PAD]\n"), ["vocab.txt", "[CLS]"]),
    "tokenizer.json garbage": (lambda f: (f / "tokenizer.json").write_text("{"), ["tokenizer.json", "not a tokenizer"]),
    "tokenizer of another model": (longer_vocabulary, ["another model"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_text2vec_folder_is_refused_with_file_and_recovery(tiny, case):
    damage, words = BROKEN[case]
    damage(tiny)
    with pytest.raises(EmbeddingError) as caught:
        embedders.text2vec(tiny)
    for word in [*words, str(tiny)]:
        assert word in str(caught.value)


def test_a_folder_that_does_not_exist_names_what_to_download(tmp_path):
    with pytest.raises(EmbeddingError, match=r"does not exist.*config\.json.*tokenizer\.json.*model\.safetensors"):
        embedders.text2vec(tmp_path / "nothing")


def test_a_file_instead_of_a_folder_is_refused(tiny):
    with pytest.raises(EmbeddingError, match="it is a file"):
        embedders.safetensors(tiny / "config.json")


def test_a_path_to_a_pickle_is_refused_without_opening_it(tmp_path):
    with pytest.raises(EmbeddingError, match="refused"):
        embedders.text2vec(tmp_path / "pytorch_model.bin")


def test_damaged_weights_that_yield_nan_are_refused_when_they_embed(tiny):
    nan_weights(tiny)
    with pytest.raises(EmbeddingError, match="NaN"):
        embedders.text2vec(tiny).embed(["江城"])


@pytest.mark.parametrize("keep", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_onnx_file_is_refused(minilm_onnx, tmp_path, keep):
    folder = tmp_path / "model"
    (folder / "onnx").mkdir(parents=True)
    for name in ("config.json", "tokenizer.json"):
        (folder / name).write_bytes((minilm_onnx / name).read_bytes())
    data = (minilm_onnx / "onnx" / "model.onnx").read_bytes()
    (folder / "onnx" / "model.onnx").write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(EmbeddingError, match=r"onnx.model\.onnx cannot be run"):
        embedders.onnx(folder)


def test_a_static_table_is_not_taken_for_a_bert_nor_the_other_way_round(tiny):
    with pytest.raises(EmbeddingError, match="not a static model"):
        embedders.static(tiny)


def test_an_absent_runtime_names_the_extra(tiny, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"armarius\[semantic\]"):
        embedders.text2vec(tiny)
