import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tests.vectors.bert_reference import random_weights, tiny_config
from tests.vectors.export import export_bert

from armarius.store.sqlite.location import IndexPlace
from armarius.store.sqlite.store import SqliteStore

_CHARACTERS = "一个姑娘因为诗而落泪林小雨的妹妹住在江城银色河流夜里写信给远方哥旧墙月亮门前石路"


@pytest.fixture(scope="session")
def minilm_onnx(minilm, tmp_path_factory) -> Path:
    """The same model as a folder with onnx/model.onnx and no safetensors."""
    folder = tmp_path_factory.mktemp("minilm-onnx")
    for item in minilm.iterdir():
        if item.suffix in {".json", ".txt"}:
            shutil.copy(item, folder / item.name)
    shutil.copytree(minilm / "1_Pooling", folder / "1_Pooling")
    config = json.loads((minilm / "config.json").read_text())
    weights = {
        name: array for name, array in load_file(minilm / "model.safetensors").items() if array.dtype == np.float32
    }
    export_bert(weights, config, folder / "onnx" / "model.onnx")
    return folder


def write_tiny(folder: Path, *, hidden: int = 32) -> Path:
    """A random BERT with text2vec-base-chinese's files: config, vocab.txt, safetensors, mean pooling, 128 tokens."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces = [*sorted(set(_CHARACTERS)), "river", "##s", "the", "s", "，", "。", "!", "a", "##i"]
    vocabulary = ["[PAD]", *[f"[unused{i}]" for i in range(1, 10)], "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    config = tiny_config(len(vocabulary), hidden=hidden)
    settings = {
        "config.json": config,
        "tokenizer_config.json": {"do_lower_case": True, "tokenizer_class": "BertTokenizer"},
        "sentence_bert_config.json": {"max_seq_length": 128, "do_lower_case": False},
        "modules.json": [{"idx": 0, "type": "sentence_transformers.models.Transformer"}],
        "1_Pooling/config.json": {"word_embedding_dimension": hidden, "pooling_mode_mean_tokens": True},
    }
    for name, content in settings.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    save_file(random_weights(config), folder / "model.safetensors")
    return folder


@pytest.fixture
def tiny(tmp_path) -> Path:
    return write_tiny(tmp_path / "text2vec-tiny")


@pytest.fixture
def open_store(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    opened = []

    def open_one() -> SqliteStore:
        opened.append(SqliteStore.open(IndexPlace(tmp_path / "project"), project_id="p"))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()
