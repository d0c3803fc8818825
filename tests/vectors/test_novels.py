"""Retrieval on whole novels: vectors never take a found document away, and a real model finds paraphrases."""

from pathlib import Path

import pytest
from benches.eval_recall import ask, evaluate

from armarius import embedders

DATA = Path(__file__).parents[1] / "data"


def by_kind(novel, embedder):
    return evaluate(DATA / novel, codex=True, embedder=embedder, ways={"asked": ask})["asked"]


@pytest.mark.parametrize("novel", ["wintermere", "saltern"])
def test_no_novel_is_answered_worse_with_vectors(novel, minilm):
    words, meaning = by_kind(novel, None), by_kind(novel, embedders.load(minilm))
    assert meaning["all"]["recall2"] >= words["all"]["recall2"]
    assert by_kind(novel, embedders.lexical()) == words  # alike in letters, which words know better


def test_a_real_model_finds_paraphrases_that_words_do_not(minilm):
    words, meaning = by_kind("wintermere", None), by_kind("wintermere", embedders.load(minilm))
    assert meaning["paraphrase"]["recall2"] >= words["paraphrase"]["recall2"] + 0.15
