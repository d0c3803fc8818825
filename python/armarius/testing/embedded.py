"""Test data for vector stores: texts, and random vectors in place of two models."""

import zlib
from collections.abc import Sequence

import numpy as np

from armarius.documents.document import make_document
from armarius.store.protocol import Store
from armarius.store.rows import EntityRow, GraphRows, Put
from armarius.store.vectors_protocol import (
    Fingerprint,
    Owner,
    SetState,
    VectorFilter,
    Vectors,
    VectorSet,
    VectorStore,
)

__all__ = [
    "DIMENSION", "NEW", "NOTHING", "OLD", "answers", "chapter", "embed", "embed_all", "owners_of", "people", "serving",
    "setting", "vectors_of",
]  # fmt: skip

DIMENSION = 16
OLD = Fingerprint("old", "sha-of-old", DIMENSION)
NEW = Fingerprint("new", "sha-of-new", 8)
NOTHING = "NOTHING"  # a text that holds this word has no vector

Holds = dict[Owner, Vectors]


def embed(fingerprint: Fingerprint, texts: Sequence[str]) -> Vectors:
    """A random vector for each text, the same in every run; zeros for a text that contains `NOTHING`."""
    out = np.zeros((len(texts), fingerprint.dimension), np.float32)
    for row, text in zip(out, texts, strict=True):
        if NOTHING not in text:
            seed = zlib.crc32((fingerprint.name + text).encode())
            row[:] = np.random.default_rng(seed).normal(size=fingerprint.dimension)
    return out


def embed_all(store: VectorStore, fingerprint: Fingerprint, state: SetState = "serving") -> list[str]:
    """Embed all pending texts; returns them in the order in which the store gave them."""
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
    """A settings file; its heading is embedded with each paragraph."""
    text = "# 人物\n\n" + "\n\n".join(paragraphs) + "\n"
    return Put(make_document("spec/people.md", text.encode()), "s")


def people(*names: str) -> GraphRows:
    """A graph of these entities."""
    return GraphRows(tuple(EntityRow(name, name, "character", "when_detected") for name in names), ())


def vectors_of(store: Store) -> VectorStore:
    """The vector store of a store that must have one."""
    assert isinstance(store.vectors, VectorStore)
    return store.vectors


def serving(vectors: VectorStore) -> VectorSet:
    """The serving vector set."""
    return vectors.sets()["serving"]


def owners_of(vectors: VectorStore, which: VectorFilter | None = None) -> set[Owner]:
    """All owners of a vector."""
    found = vectors.nearest(serving(vectors), np.ones(serving(vectors).fingerprint.dimension, np.float32), 900, which)
    assert [value for _, value in found] == sorted((value for _, value in found), reverse=True)
    return {owner for owner, _ in found}


def answers(vectors: VectorStore, owner: Owner, text: str) -> None:
    """Assert that searching for exactly this text finds `owner`."""
    fingerprint = serving(vectors).fingerprint
    which = VectorFilter(entities=isinstance(owner, str))
    ((first, value), *_) = vectors.nearest(serving(vectors), embed(fingerprint, [text])[0], 1, which)
    assert first == owner
    assert abs(value - 1.0) < 1e-2
