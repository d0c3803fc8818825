"""How far a model is listened to: by what it finds of what the project itself says belongs together."""

import hashlib

import numpy as np
import pytest
from tests.vectors.stores import CountingEmbedder, chapter

from armarius import embedders
from armarius.documents.document import make_document
from armarius.store.protocol import Put
from armarius.vectors.project_vectors import Semantic

TOPICS = ["harbour", "mill", "orchard", "chapel", "forge", "tannery", "quarry", "brewery", "school", "weir"]
TOLD = ["ships", "flour", "apples", "prayers", "iron", "leather", "stone", "beer", "lessons", "water"]


class Understanding(CountingEmbedder):
    """Knows which word goes with which: a chapter and the line that tells of it share a direction."""

    def vector(self, text):
        for number, words in enumerate(zip(TOPICS, TOLD, strict=True)):
            if any(word in text for word in words):
                noise = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) / 2**32
                return np.eye(self.dimension)[number] + 0.1 * noise
        return np.ones(self.dimension)


def outline():
    lines = "\n".join(f"- Chapter {n}: of {told}" for n, told in enumerate(TOLD, 1))
    return Put(make_document("outline.md", f"# Outline\n\n{lines}\n".encode()), stamp="o")


def chapters():
    return [chapter(n, *(f"Day {day} at the {topic}." for day in range(9))) for n, topic in enumerate(TOPICS, 1)]


@pytest.fixture
def trust(open_store):
    made = []

    def of(embedder, *changes):
        store = open_store()
        store.apply(list(changes))
        made.append(Semantic(store, embedder, background=False))
        made[-1].embed_pending(60)
        return made[-1].nearby("what was done with the apples").trust

    yield of
    for semantic in made:
        semantic.close()


def test_a_model_that_finds_the_chapter_of_each_line_of_the_outline_counts_in_full(trust):
    assert trust(Understanding(dimension=16), outline(), *chapters()) == 1.0


def test_without_an_outline_its_own_paragraphs_tell_whether_a_model_knows_the_text(trust):
    assert trust(Understanding(dimension=16), *chapters()) == 1.0


def test_a_model_that_knows_nothing_counts_for_nothing(trust):
    assert trust(CountingEmbedder(dimension=64), outline(), *chapters()) < 0.5


def test_an_embedder_that_compares_letters_counts_for_nothing(trust):
    assert trust(embedders.lexical(), outline(), *chapters()) == 0.0


def test_a_project_of_a_few_chapters_is_too_small_to_judge_by(trust):
    assert trust(Understanding(dimension=16), *chapters()[:5]) == 0.0
