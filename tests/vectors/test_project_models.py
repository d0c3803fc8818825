"""A model that came with a project: no file of it is read from elsewhere, none makes the call wait."""

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from armarius import embedders
from armarius.embedders.folder import ModelFolder
from armarius.embedders.loaders import load
from armarius.embedders.preprocess import Tokens
from armarius.errors import EmbeddingError
from armarius.trust.settings import Config

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")

FILES = ("config.json", "tokenizer.json", "model.safetensors")


@pytest.fixture
def project(tmp_path):
    model = tmp_path / "novel/models/table"
    model.mkdir(parents=True)
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(["[UNK]", "river", "moon"])}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(model / "tokenizer.json"))
    save_file({"embeddings": np.arange(12, dtype=np.float32).reshape(3, 4)}, model / "model.safetensors")
    (model / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": False}))
    return tmp_path / "novel"


def configured(project):
    return embedders.configured(Config(tables={"embedding": {"model": "models/table"}}), project)


def test_it_is_the_model_that_it_is_for_a_user_who_names_it(project):
    ours, named = configured(project), embedders.load(project / "models/table")
    assert ours.fingerprint == named.fingerprint
    np.testing.assert_array_equal(ours.embed(["river moon"]), named.embed(["river moon"]))


@pytest.mark.parametrize("name", FILES)
def test_a_link_from_file_to_file_within_the_project_is_followed(project, name):
    path = project / "models/table" / name
    path.rename(project / f"blob-{name}")
    path.symlink_to(f"../../blob-{name}")
    assert configured(project).fingerprint == embedders.load(project / "models/table").fingerprint


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["link", "pipe", "huge"])
def test_what_comes_to_lie_there_after_the_look_is_an_embedding_error(project, tmp_path, monkeypatch, name, kind):
    path = project / "models/table" / name
    shutil.copy(path, tmp_path / name)
    folder = ModelFolder.open(path.parent, below=project.resolve())
    if kind == "huge":
        os.truncate(path, 1 << 36)
    else:
        path.unlink()
        path.symlink_to(tmp_path / name) if kind == "link" else os.mkfifo(path)
    # As if it had been looked at before it was put there.
    monkeypatch.setattr(ModelFolder, "_is_file", lambda self, path: path.name in FILES)
    with pytest.raises(EmbeddingError, match=rf"is broken: {name} (cannot be read|leads out of the project)"):
        load(folder)


def test_a_folder_that_is_swapped_for_a_link_is_not_entered(project, tmp_path):
    model = project / "models/table"
    folder = ModelFolder.open(model, below=project.resolve())
    model.rename(tmp_path / "elsewhere")
    model.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EmbeddingError, match=r"incomplete|leads out of the project"):
        load(folder)


@pytest.mark.parametrize("value", [-1, 0, 10**30])
def test_a_length_that_no_text_has_is_a_broken_setting(tiny, value):
    (tiny / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": value}))
    with pytest.raises(EmbeddingError, match=r"sentence_bert_config\.json says max_seq_length"):
        embedders.safetensors(tiny)


def test_a_vocabulary_is_read_as_the_tokenizers_package_reads_it(tiny):
    from tokenizers.models import WordPiece

    path = next(tiny.glob("vocab.txt"))
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write("windows\r\ntrailing \t\n中\n")
    for other in tiny.glob("**/tokenizer.json"):
        other.unlink()
    expected = WordPiece.from_file(str(path), unk_token="[UNK]")
    tokens = Tokens.read(ModelFolder.open(tiny), 16)
    for word in ("windows", "trailing", "中", "[UNK]"):
        assert tokens._tokenizer.token_to_id(word) == expected.token_to_id(word)
    assert tokens.vocabulary == len(Path(path).read_text("utf-8").split("\n")) - 1
