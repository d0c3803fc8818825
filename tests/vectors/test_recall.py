from pathlib import Path

import pytest
from tests.vectors.stores import CountingEmbedder

from armarius import embedders
from armarius.cli import main
from armarius.cli.indexing import doctor_lines
from armarius.errors import DimensionMismatch
from armarius.index.project_index import ProjectIndex
from armarius.vectors.recall import ProjectRecall


@pytest.fixture
def novel(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "novel"
    (root / "chapters").mkdir(parents=True)
    (root / "spec").mkdir()
    (root / "chapters" / "ch001.md").write_text(
        "# 第一章\n\n林小雨在窗边写信给远方的哥哥。\n\n夜里下起雨来了。\n", "utf-8"
    )
    (root / "chapters" / "ch002.md").write_text("# 第二章\n\n银色的河流向东流去。\n", "utf-8")
    (root / "spec" / "characters.md").write_text("# 人物\n\n## 林小雨\n\n- 描述：写信的姑娘\n", "utf-8")
    return root


@pytest.fixture
def command(capsys):
    def run(*words):
        status = main(["embed", *map(str, words)])
        captured = capsys.readouterr()
        return status, captured.out + captured.err

    return run


def test_a_project_is_searched_by_meaning_and_follows_its_files(novel):
    with ProjectIndex.open(novel) as index, ProjectRecall(index, embedders.lexical()) as recall:
        recall.embed()
        assert recall.similar("银色的河流", limit=1)[0].path == "chapters/ch002.md"
        (novel / "chapters" / "ch003.md").write_text("# 第三章\n\n钟表铺的主人修好了旧怀表。\n", "utf-8")
        index.refresh()
        recall.embed()
        assert recall.similar("修好了怀表", limit=1)[0].path == "chapters/ch003.md"
        (novel / "chapters" / "ch002.md").unlink()
        index.refresh()
        assert all(hit.path != "chapters/ch002.md" for hit in recall.similar("银色的河流"))


def test_entity_cards_are_embedded_with_the_project(novel):
    with ProjectIndex.open(novel) as index, ProjectRecall(index, embedders.lexical()) as recall:
        recall.embed()
        (found, *_) = recall.similar_entities("写信的姑娘是谁")
        assert found.entity in {entity.id for entity in index.snapshot.codex.entities}


def test_a_rebuilt_index_is_embedded_anew(novel):
    with ProjectIndex.open(novel) as index, ProjectRecall(index, embedders.lexical()) as recall:
        recall.embed()
        Path(index.store.location).unlink()
        index.freshen()
        recall.embed()
        assert recall.similar("银色的河流", limit=1)[0].path == "chapters/ch002.md"


def test_another_model_needs_reembed(novel):
    with ProjectIndex.open(novel) as index, ProjectRecall(index, CountingEmbedder("old")) as recall:
        recall.embed()
    with ProjectIndex.open(novel) as index, ProjectRecall(index, CountingEmbedder("new")) as recall:
        for ask in (lambda: recall.similar("林小雨"), recall.embed):
            with pytest.raises(DimensionMismatch, match="reembed"):
                ask()
        recall.reembed()
        assert recall.embed().done > 0
        assert recall.status().serving.name == "new"


def test_embed_command_embeds_and_resumes_for_free(novel, command):
    code, out = command(novel, "--model", "lexical")
    assert code == 0
    assert "texts embedded with lexical (no model)" in out
    assert command(novel, "--model", "lexical")[0] == 0


def test_embed_command_without_a_model_names_the_default_and_makes_nothing(novel, command):
    code, out = command(novel)
    assert code == 2
    for word in ("shibing624/text2vec-base-chinese", "--model FOLDER", "[models]", "armarius[e5]", "--model lexical"):
        assert word in out
    with ProjectIndex.open(novel) as index:
        assert index.store.vectors.sets() == {}


def test_embed_command_runs_a_model_folder_and_reembeds_on_request(novel, tiny, command):
    assert command(novel, "--model", "lexical")[0] == 0
    code, out = command(novel, "--model", tiny)
    assert (code, "--reembed" in out) == (2, True), out
    code, out = command(novel, "--model", tiny, "--reembed")
    assert code == 0, out
    assert "text2vec-tiny (32 dimensions, mean, 128 tokens, not normalised" in out


def test_embed_command_says_what_is_wrong_with_a_model(novel, tmp_path, command):
    code, out = command(novel, "--model", tmp_path / "nowhere")
    assert code == 2
    assert "no embedding model at" in out


def test_embed_command_reads_the_model_from_the_configuration(novel, tiny, command, tmp_path, monkeypatch):
    config = tmp_path / "config.toml"
    monkeypatch.setenv("ARMARIUS_CONFIG", str(config))
    (novel / "armarius.toml").write_text('[embedding]\nmodel = "tiny"\n', "utf-8")
    config.write_text(f'[models]\ntiny = "{tiny}"\n', "utf-8")
    code, out = command(novel)
    assert (code, "text2vec-tiny" in out) == (0, True), out


def test_doctor_names_model_dimension_number_and_kind_of_search(novel, command):
    with ProjectIndex.open(novel) as index:
        assert doctor_lines(index.store) == [
            "vectors: none; `armarius embed` makes them, everything else works without"
        ]
    command(novel, "--model", "lexical")
    with ProjectIndex.open(novel) as index:
        first, second = doctor_lines(index.store)
    assert "lexical (no model) (1024 dimensions" in first
    assert "embedded" in first
    assert second.startswith("vector index: exact search over")


def test_doctor_samples_the_recall_of_an_approximate_index(novel, monkeypatch, command):
    monkeypatch.setattr("armarius.store.sqlite.vectors.EXACT_BELOW", 2)
    command(novel, "--model", "lexical")
    with ProjectIndex.open(novel) as index:
        assert "recall@10 1.000 in" in doctor_lines(index.store)[1]
