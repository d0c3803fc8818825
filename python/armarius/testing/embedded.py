"""Texts and vectors of two models that nobody has to load: what the tests of vectors begin with."""

import zlib
from collections.abc import Sequence

import numpy as np

from armarius.documents.document import make_document
from armarius.store.fingerprint import Fingerprint
from armarius.store.protocol import Store
from armarius.store.rows import EntityRow, Graph, Put
from armarius.store.vectors_protocol import (
    Owner,
    SetState,
    VectorFilter,
    Vectors,
    VectorSet,
    VectorStore,
)

__all__ = [
    "DIMENSION", "NEW", "NOTHING", "OLD", "answers", "chapter", "embed", "embed_all", "held", "people", "serving",
    "setting", "vectors_of",
]  # fmt: skip

DIMENSION = 16
OLD = Fingerprint("old", "sha-of-old", DIMENSION)
NEW = Fingerprint("new", "sha-of-new", 8)
NOTHING = "NOTHING"  # a text that holds this word has no vector

Holds = dict[Owner, Vectors]


def embed(fingerprint: Fingerprint, texts: Sequence[str]) -> Vectors:
    """A fixed random vector for each text, zeros for one that has none."""
    out = np.zeros((len(texts), fingerprint.dimension), np.float32)
    for row, text in zip(out, texts, strict=True):
        if NOTHING not in text:
            seed = zlib.crc32((fingerprint.name + text).encode())
            row[:] = np.random.default_rng(seed).normal(size=fingerprint.dimension)
    return out


def embed_all(store: VectorStore, fingerprint: Fingerprint, state: SetState = "serving") -> list[str]:
    """Embed everything that is pending; the texts in the order they were asked for."""
    asked: list[str] = []
    while rows := store.pending(store.sets()[state].id, limit=7):
        texts = [row.text for row in rows]
        asked += texts
        store.put(store.sets()[state], fingerprint, rows, embed(fingerprint, texts))
    store.refresh()
    return asked


def chapter(number: int, *paragraphs: str) -> Put:
    """A chapter of these paragraphs, the first at index 1."""
    text = f"# 第{number}章\n\n" + "\n\n".join(paragraphs) + "\n"
    return Put(make_document(f"chapters/ch{number:03}.md", text.encode()), str(number))


def setting(*paragraphs: str) -> Put:
    """A settings file; the heading stands before what is embedded of each paragraph."""
    text = "# 人物\n\n" + "\n\n".join(paragraphs) + "\n"
    return Put(make_document("spec/people.md", text.encode()), "s")


def people(*names: str) -> Graph:
    """A codex of these."""
    return Graph(tuple(EntityRow(name, name, "character", "when_detected") for name in names), ())


def vectors_of(store: Store) -> VectorStore:
    """Those of a store that must have some."""
    assert isinstance(store.vectors, VectorStore)
    return store.vectors


def serving(vectors: VectorStore) -> VectorSet:
    """The set that answers."""
    return vectors.sets()["serving"]


def held(vectors: VectorStore, which: VectorFilter | None = None) -> set[Owner]:
    """Everybody who has a vector."""
    found = vectors.nearest(serving(vectors), np.ones(serving(vectors).fingerprint.dimension, np.float32), 900, which)
    assert [value for _, value in found] == sorted((value for _, value in found), reverse=True)
    return {owner for owner, _ in found}


def answers(vectors: VectorStore, owner: Owner, text: str) -> None:
    """`owner` is who is found for exactly this text."""
    fingerprint = serving(vectors).fingerprint
    which = VectorFilter(entities=isinstance(owner, str))
    ((first, value), *_) = vectors.nearest(serving(vectors), embed(fingerprint, [text])[0], 1, which)
    assert first == owner
    assert abs(value - 1.0) < 1e-2
