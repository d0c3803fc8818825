import threading

import pytest
from tests.vectors.stores import CountingEmbedder

import armarius
from armarius import embedders
from armarius.errors import DimensionMismatch, EmbeddingError

TEXTS = {
    "chapters/ch001.md": "# 第一章\n\n林小雨在窗边写信给远方的哥哥。\n\n夜里下起雨来了。\n",
    "chapters/ch002.md": "# 第二章\n\n银色的河流向东流去。\n",
    "spec/characters.md": "# 人物\n\n## 林小雨\n\n- 描述：写信的姑娘\n",
}


@pytest.fixture
def novel(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    for path, text in TEXTS.items():
        (tmp_path / "novel" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "novel" / path).write_text(text, "utf-8")
    return tmp_path / "novel"


def test_similar_passages_of_an_open_project(novel):
    with armarius.open(novel, embedder=embedders.lexical()) as engine:
        engine.recall.embed()
        (hit, *_) = engine.similar("银色的河流", limit=3)
    assert (hit.path, hit.text) == ("chapters/ch002.md", "银色的河流向东流去。")


def test_without_an_embedder_everything_else_works_and_similar_says_so(novel):
    with armarius.open(novel) as engine:
        assert engine.retrieve("银色的河流")
        with pytest.raises(EmbeddingError, match=r"EMBEDDING_UNAVAILABLE.*embedders\.text2vec"):
            engine.similar("银色的河流")


def test_an_engine_without_an_embedder_has_no_attribute_recall(novel):
    with armarius.open(novel, embedder=embedders.lexical()) as engine:
        assert hasattr(engine, "recall")
    with armarius.open(novel) as engine:
        assert not hasattr(engine, "recall")
        assert getattr(engine, "recall", None) is None


def test_a_failing_embedder_is_a_warning_of_the_answer_not_an_error(novel):
    failing = CountingEmbedder(error=RuntimeError("no memory"))
    with armarius.open(novel, embedder=failing) as engine:
        answer = engine.retrieve("银色的河流")
        assert answer[0].path == "chapters/ch002.md"
        assert [warning.code for warning in answer.warnings] == ["EMBEDDING_UNAVAILABLE"]
        pack = engine.assemble(query="银色的河流", model="gpt-4o", budget=4000)
        assert any(str(warning).startswith("EMBEDDING_UNAVAILABLE: ") for warning in pack.warnings)


class Silent:
    """An embedder that is a property and two methods, all of which fail."""

    @property
    def fingerprint(self):
        raise RuntimeError("no such device")

    def embed_queries(self, texts):
        raise RuntimeError("no such device")

    embed_documents = embed_queries


def broken(texts):
    raise RuntimeError("no such device")


@pytest.mark.parametrize("embedder", [broken, Silent()])
def test_an_embedder_that_fails_from_the_start_leaves_an_open_project_that_says_so(novel, embedder):
    why = "the embedder failed: RuntimeError: no such device"
    with armarius.open(novel, embedder=embedder) as engine:
        answer = engine.retrieve("银色的河流")
        assert answer[0].path == "chapters/ch002.md"
        assert [str(one) for one in answer.warnings] == [f"EMBEDDING_UNAVAILABLE: {why}"]
        assert f"EMBEDDING_UNAVAILABLE: {why}" in engine.assemble("银色的河流", budget=4000).warnings
        assert [str(one) for one in engine.status().warnings] == [f"EMBEDDING_UNAVAILABLE: {why}"]
        assert engine.recall.model == why
        for ask in (lambda: engine.similar("银色的河流"), engine.recall.embed, engine.reembed):
            with pytest.raises(EmbeddingError, match=f"^EMBEDDING_UNAVAILABLE: {why}$"):
                ask()


def test_an_embedder_that_fails_at_a_question_is_an_error_of_similar_that_is_ours(novel):
    failing = CountingEmbedder(error=RuntimeError("no memory"))
    said = "the embedder failed: RuntimeError: no memory"
    with armarius.open(novel, embedder=failing) as engine, pytest.raises(EmbeddingError, match=said):
        engine.similar("银色的河流")


def test_an_embedder_whose_fingerprint_is_none_of_ours_says_so(novel):
    class Named(CountingEmbedder):
        fingerprint = "my model, the second"

    with armarius.open(novel, embedder=Named()) as engine:
        (told,) = engine.status().warnings
        assert "Named is no Fingerprint: 'my model, the second'" in str(told)


def test_reembed_migrates_while_the_old_vectors_answer(novel):
    with armarius.open(novel, embedder=CountingEmbedder("old")) as engine:
        engine.recall.embed()
        new = CountingEmbedder("new", dimension=8, gate=threading.Event())
        engine.reembed(new)
        assert engine.similar("林小雨")
        new.gate.set()
        engine.recall.embed()
        assert engine.recall.status().serving.name == "new"
        assert engine.similar("林小雨")


def test_an_index_of_another_model_is_refused_naming_both(novel):
    with armarius.open(novel, embedder=CountingEmbedder("old")) as engine:
        engine.recall.embed()
    with armarius.open(novel, embedder=CountingEmbedder("new", dimension=8)) as engine:
        with pytest.raises(DimensionMismatch, match=r"old.*16.*new.*8.*engine\.reembed"):
            engine.similar("林小雨")
        assert engine.retrieve("银色的河流")[0].path == "chapters/ch002.md"
        engine.reembed(wait=True)
        assert engine.similar("林小雨")


def test_vectors_of_wording_never_answer_for_another_model_in_silence(novel):
    with armarius.open(novel, embedder=embedders.lexical()) as engine:
        engine.recall.embed()
        assert engine.similar("银色的河流").warnings == ()
    with armarius.open(novel, embedder=CountingEmbedder("mine")) as engine:
        (said,) = map(str, engine.status().warnings)
        assert said.startswith("EMBEDDING_UNAVAILABLE: the index holds vectors of lexical")
        assert "the embedder is mine" in said
        hits = engine.similar("银色的河流")
        assert hits
        assert [str(one) for one in hits.warnings] == [said]
        assert repr(hits).endswith("; 1 warning>")
        assert [str(one) for one in engine.retrieve("银色的河流").warnings] == [said]
        assert said in engine.assemble("银色的河流", budget=4000).warnings
        engine.reembed(wait=True)
        assert engine.similar("银色的河流").warnings == ()
        assert engine.retrieve("银色的河流").warnings == ()


def test_embedding_does_not_make_the_project_look_changed(novel):
    with armarius.open(novel, embedder=embedders.lexical()) as engine:
        before = engine.index.status().generation
        engine.recall.embed()
        assert engine.index.status().generation == before


def test_a_passage_found_by_meaning_stands_in_the_prompt_with_its_similarity(tmp_path, monkeypatch, minilm):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    from tests.vectors.test_real_model import PARAGRAPHS

    for number, text in enumerate(PARAGRAPHS, 1):
        path = tmp_path / "book" / "chapters" / f"ch{number:03}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Chapter {number}\n\n{text}\n", "utf-8")
    with armarius.open(tmp_path / "book", embedder=embedders.safetensors(minilm)) as engine:
        engine.recall.embed()
        answer = engine.retrieve("siblings squabbling about inheritance")
        hit = next(hit for hit in answer if hit.path == "chapters/ch005.md")
        assert any(e.kind == "vector" and "similarity 0." in e.detail for e in hit.evidence)
        pack = engine.assemble(query="siblings squabbling about inheritance", model="gpt-4o", budget=4000)
    assert "quarrelled over their father's land" in pack.prompt
