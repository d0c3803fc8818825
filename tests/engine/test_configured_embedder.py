"""`[embedding] model` of armarius.toml: used when it is there, said when it is not."""

import json
import shutil

import pytest
from tests.vectors.stores import CountingEmbedder

import armarius
from armarius import embedders
from armarius.cli import main
from armarius.errors import EmbeddingError

TEXTS = {
    "chapters/ch001.md": "# 第一章\n\n林小雨在窗边写信给远方的哥哥。\n\n夜里下起雨来了。\n",
    "chapters/ch002.md": "# 第二章\n\n银色的河流向东流去。\n",
}


@pytest.fixture
def novel(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    for path, text in TEXTS.items():
        (tmp_path / "novel" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "novel" / path).write_text(text, "utf-8")
    return tmp_path / "novel"


def configure(novel, model, *more):
    lines = ["[embedding]", f"model = {json.dumps(str(model))}", *more]
    (novel / "armarius.toml").write_text("\n".join(lines) + "\n", "utf-8")


def truncated(folder, minilm):
    shutil.copytree(minilm, folder)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100_000])
    return folder


def codes(warnings):
    return [warning.code for warning in warnings]


def test_the_configured_embedder_answers_without_being_given(novel):
    configure(novel, "lexical")
    with armarius.open(novel) as engine:
        engine.recall.embed()
        assert engine.similar("银色的河流", limit=1)[0].path == "chapters/ch002.md"
        assert engine.status().warnings == ()


def test_a_model_folder_is_relative_to_the_project(novel, minilm):
    (novel / "models").mkdir()
    shutil.copytree(minilm, novel / "models" / "english")
    configure(novel, "models/english", "threads = 1")
    with armarius.open(novel) as engine:
        engine.recall.embed()
        assert engine.recall.status().serving == embedders.load(minilm).fingerprint


def test_an_embedder_that_is_given_is_used_instead(novel):
    configure(novel, "models/absent")
    with armarius.open(novel, embedder=embedders.lexical()) as engine:
        engine.recall.embed()
        assert engine.similar("银色的河流")


@pytest.mark.parametrize("kind", ["absent", "truncated"])
def test_a_model_that_cannot_be_used_is_said_everywhere_and_stops_nothing(novel, minilm, kind, capsys):
    if kind == "truncated":
        truncated(novel / "models" / "english", minilm)
    configure(novel, "models/english")
    with armarius.open(novel) as engine:
        (told,) = [str(warning) for warning in engine.status().warnings]
        assert told.startswith(f"EMBEDDING_UNAVAILABLE: {'no' if kind == 'absent' else 'the'} embedding model")
        assert "Download" in told
        answer = engine.retrieve("银色的河流")
        assert answer[0].path == "chapters/ch002.md"
        assert codes(answer.warnings) == ["EMBEDDING_UNAVAILABLE"]
        pack = engine.assemble(query="银色的河流", model="gpt-4o", budget=4000)
        assert told in map(str, pack.warnings)
        for asked in (lambda: engine.similar("银色的河流"), lambda: engine.recall, engine.reembed):
            with pytest.raises(EmbeddingError, match=r"^EMBEDDING_UNAVAILABLE: .*Download"):
                asked()
    assert main(["doctor", str(novel)]) == 1
    assert f"! {told}" in capsys.readouterr().out
    assert main(["embed", str(novel)]) == 2
    assert f"armarius: {told}" in capsys.readouterr().err


def test_vectors_of_another_model_are_said_in_status_and_by_doctor(novel, capsys):
    with armarius.open(novel, embedder=CountingEmbedder("old")) as engine:
        engine.recall.embed()
    configure(novel, "lexical")
    with armarius.open(novel) as engine:
        (told,) = engine.status().warnings
        assert told.code == "EMBEDDING_UNAVAILABLE"
        assert "old" in told.message
        assert "lexical" in told.message
        assert "reembed" in told.message
    assert main(["doctor", str(novel)]) == 1
    assert f"! {told}" in capsys.readouterr().out


def test_answers_from_half_the_vectors_say_that_embedding_stopped(novel):
    embedder = CountingEmbedder()
    with armarius.open(novel, embedder=embedder) as engine:
        engine.recall.embed()
        embedder.error = MemoryError("too large")
        (novel / "chapters" / "ch003.md").write_text("# 第三章\n\n灯塔在雨里亮着。\n", "utf-8")
        engine.refresh()
        with pytest.raises(EmbeddingError, match="too large"):
            engine.recall.embed()
        assert [str(w) for w in engine.status().warnings] == [
            "EMBEDDING_UNAVAILABLE: embedding stopped: MemoryError: too large; `recall.embed()` tries again"
        ]
        embedder.error = None
        answer = engine.retrieve("银色的河流")
        assert any("embedding stopped" in warning.message for warning in answer.warnings)
        engine.recall.embed()
        assert engine.retrieve("银色的河流").warnings == ()
        assert engine.status().warnings == ()


def test_the_files_of_a_configured_model_are_no_documents(novel, minilm):
    folder = novel / "models [old]" / "english"
    folder.mkdir(parents=True)
    for name in ("vocab.txt", "tokenizer.json"):
        shutil.copy(minilm / name, folder / name)
    (folder / "README.md").write_text("# A model\n\nIt embeds sentences.\n", "utf-8")
    configure(novel, "models [old]/english")
    with armarius.open(novel) as engine:
        assert {document.path for document in engine.documents()} == set(TEXTS)
