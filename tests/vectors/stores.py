"""A store with vectors, documents to put into it, and an embedder whose every call is counted."""

import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from armarius.documents.document import make_document
from armarius.store.protocol import EntityIds, Put, Remove
from armarius.store.sqlite.vectors_rows import changes_since, owners_named, read_vectors
from armarius.vectors.embedder import Fingerprint

DIMENSION = 16


@dataclass
class CountingEmbedder:
    """Random but fixed vectors by text, a record of every text embedded, and a gate to hold it at."""

    name: str = "counting"
    dimension: int = DIMENSION
    seen: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    gate: threading.Event | None = None
    error: Exception | None = None

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(self.name, f"sha-of-{self.name}", self.dimension)

    def embed_queries(self, texts: Sequence[str], /) -> np.ndarray:
        return self.embed(texts)

    def embed_documents(self, texts: Sequence[str], /) -> np.ndarray:
        return self.embed(texts)

    def embed(self, texts: Sequence[str], /) -> np.ndarray:
        if self.gate is not None:
            assert self.gate.wait(60)
        if self.error is not None:
            raise self.error
        self.seen += texts
        self.sizes.append(len(texts))
        return np.array([self.vector(text) for text in texts], np.float32).reshape(len(texts), self.dimension)

    def vector(self, text: str) -> np.ndarray:
        if "NOTHING" in text:
            return np.zeros(self.dimension, np.float32)
        rng = np.random.default_rng(zlib.crc32(text.encode("utf-8", "surrogatepass")))
        return rng.normal(size=self.dimension).astype(np.float32)


def chapter(number: int, *paragraphs: str) -> Put:
    text = f"# 第{number}章\n\n" + "\n\n".join(paragraphs) + "\n"
    return Put(make_document(f"chapters/ch{number:03}.md", text.encode()), stamp=str(number))


def setting(text: str, path: str = "spec/people.md") -> Put:
    return Put(make_document(path, text.encode()), stamp="s")


def removal(number: int) -> Remove:
    return Remove(f"chapters/ch{number:03}.md")


def people(*names: str) -> EntityIds:
    return EntityIds(names)


def embed_all(storage, embedder, state="serving", batch=7):
    """Embed everything that is pending; the texts in the order they were asked for."""
    asked = []
    while rows := storage.pending(storage.sets()[state].id, limit=batch):
        texts = [row.text for row in rows]
        asked += texts
        storage.put(storage.sets()[state], embedder.fingerprint, rows, embedder.embed(texts))
    return asked


def stored_vectors(storage, state="serving"):
    """Owner to vector, for everything embedded."""
    vector_set = storage.sets()[state]
    slots = {owner: slot for owner, slot in slots_of(storage, vector_set).items() if slot is not None}
    with storage._session.reading() as connection:
        vectors = read_vectors(connection, vector_set, list(slots.values()))
        owners = owners_named(connection, list(slots))
    return {owners[owner]: vector for owner, vector in zip(slots, vectors, strict=True)}


def slots_of(storage, vector_set):
    """Number of each owner to its slot, None for one that is gone."""
    with storage._session.reading() as connection:
        return dict(changes_since(connection, vector_set.id, 0))
