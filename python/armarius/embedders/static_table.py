"""Static embeddings (model2vec) and the built-in lexical embedder; neither has a forward pass.

A static vector is the mean of the rows of the text's tokens, without unknown tokens. A model may scale each token
(`weights`) and, with a quantised vocabulary, map tokens to shared rows (`mapping`). 1,000 paragraphs take about 0.15 s.
Source: model2vec (Tulkens & van Dongen 2024), `StaticModel.encode`; equal to it up to float32 rounding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import armarius._core as _core
from armarius.embedders.folder import ModelFolder, read_tensors
from armarius.embedders.preprocess import MOST_TOKENS, EmbeddingPrompts, PromptedEmbedder, Tokens
from armarius.errors import ContractError
from armarius.store.vectors_protocol import Fingerprint, Vectors, unit_rows
from armarius.validation import cleaned

_TABLES = ("embeddings", "embedding.weight")
_FILES = ("model.safetensors", "0_StaticEmbedding/model.safetensors")
_DEFAULT_MAX_LENGTH = 512


@dataclass(frozen=True, slots=True)
class StaticEmbedder(PromptedEmbedder):
    """An embedder from a table of token vectors.

    Attributes:
        fingerprint: Identifies model and settings.
        tokens: The tokenizer.
        table: float32, shape (rows, d).
        mapping: Row of each token, int64, shape (vocabulary,); None is the identity.
        weights: Factor of each token, float32, shape (vocabulary,); None is 1.
        unknown: Id of the unknown token, which is left out of the mean.
        characters: Characters kept of a text before tokenization; 0 keeps all.
        query_prompt: Prefix of each query.
    """

    fingerprint: Fingerprint
    tokens: Tokens
    table: NDArray[np.float32]
    mapping: NDArray[np.int64] | None
    weights: NDArray[np.float32] | None
    unknown: int | None
    characters: int
    query_prompt: str = ""

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """The mean of each text's token vectors; zeros if no token is known.

        Returns:
            float32, shape (n, dimension), normalised if the fingerprint says so.
        """
        out = np.zeros((len(texts), self.fingerprint.dimension), np.float32)
        cut = [text[: self.characters or None] for text in texts]
        for row, ids in enumerate(self.tokens.encode(cut, special=False)):
            tokens = [token for token in ids if token != self.unknown]
            if tokens:
                out[row] = self._rows(tokens).mean(axis=0)
        return unit_rows(out) if self.fingerprint.normalise else out

    def _rows(self, ids: list[int]) -> NDArray[np.float32]:
        rows = self.table[ids if self.mapping is None else self.mapping[ids]]
        return rows if self.weights is None else rows * self.weights[ids, None]


def is_static(folder: ModelFolder) -> bool:
    """Whether the folder contains a static model, in the layout of model2vec or sentence-transformers."""
    config = folder.json("config.json")
    if config.get("model_type") == "model2vec" or "embedding_dtype" in config:
        return True
    return folder.says("StaticEmbedding")


def load_static(
    folder: ModelFolder,
    *,
    max_length: int | None = None,
    prompts: EmbeddingPrompts = EmbeddingPrompts(),  # noqa: B008 - frozen
) -> StaticEmbedder:
    """Load a static model: `model.safetensors`, `tokenizer.json` and `config.json`, or sentence-transformers' layout.

    Args:
        folder: The model's folder.
        max_length: Tokens kept of each text, 0 keeps all; None reads `config.json`, else 512.
        prompts: Prefixes of queries and documents.

    Raises:
        EmbeddingError: Missing or broken files, or tensors of inconsistent shapes.
    """
    path = folder.require(*_FILES)
    tensors = read_tensors(folder, path)
    name = next((name for name in _TABLES if name in tensors), None)
    if name is None:
        raise folder.broken(path, f"has no table of token vectors ({' or '.join(_TABLES)}): not a static model")
    table = np.ascontiguousarray(tensors[name], np.float32)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise folder.broken(path, f"has a table of shape {table.shape} with values that are not all finite")
    config = folder.json("config.json")
    if max_length is None:
        max_length = _max_length(folder, config)
    tokens = Tokens.read(folder, max_length, inside=path.parent)
    mapping, weights = _mapping(folder, path, tensors, len(table)), _weights(folder, path, tensors)
    sized = {"table": table} if mapping is None else {"mapping": mapping}
    for what, rows in (sized | ({} if weights is None else {"weights": weights})).items():
        if tokens.vocabulary > len(rows):
            counts = f"has {tokens.vocabulary} tokens, the {what} {len(rows)}"
            raise folder.broken(tokens.path, f"{counts}: it belongs to another model")
    fingerprint = Fingerprint(
        name=folder.path.resolve().name,
        model=folder.sha256([path, tokens.path]),
        dimension=table.shape[1],
        max_length=max_length,
        normalise=bool(config["normalize"]) if "normalize" in config else folder.says("Normalize"),
        document_prompt=prompts.document,
    )
    characters = max_length * tokens.median_length
    return StaticEmbedder(fingerprint, tokens, table, mapping, weights, tokens.unknown, characters, prompts.query)


def _max_length(folder: ModelFolder, config: Mapping[str, Any]) -> int:
    value = config.get("max_length", _DEFAULT_MAX_LENGTH)
    if value is None:
        return 0
    if not isinstance(value, int) or not 1 <= value <= MOST_TOKENS:
        wanted = f"a number from 1 to {MOST_TOKENS:,} or null"
        raise folder.broken(folder.path / "config.json", f"says max_length {value!r}, expected {wanted}")
    return value


def _mapping(
    folder: ModelFolder, path: Path, tensors: Mapping[str, NDArray[np.generic]], rows: int
) -> NDArray[np.int64] | None:
    tensor = tensors.get("mapping")
    if tensor is None:
        return None
    if tensor.ndim != 1 or tensor.dtype.kind not in "iu":
        raise folder.broken(path, f"has a mapping of {tensor.dtype.name} and shape {tensor.shape}, expected integers")
    mapping = np.ascontiguousarray(tensor, np.int64)
    if len(mapping) and not 0 <= int(mapping.min()) <= int(mapping.max()) < rows:
        raise folder.broken(path, f"maps tokens to rows up to {int(mapping.max())}, the table has {rows}")
    return mapping


def _weights(folder: ModelFolder, path: Path, tensors: Mapping[str, NDArray[np.generic]]) -> NDArray[np.float32] | None:
    tensor = tensors.get("weights")
    if tensor is None:
        return None
    weights = np.ascontiguousarray(tensor, np.float32).reshape(-1)
    if not np.isfinite(weights).all():
        raise folder.broken(path, "has weights that are not all finite")
    return weights


_SCHEME = "lexical-ngrams-1"
_SLICE = 256


@dataclass(frozen=True, slots=True)
class LexicalEmbedder:
    """Hashed n-grams of characters (Chinese, Japanese) and of words and letters (other scripts).

    Attributes:
        dimension: Number of hash buckets; more means fewer collisions. 1,024 was measured best (docs/decisions/0080).
    """

    dimension: int = 1024

    def __post_init__(self) -> None:
        if self.dimension < 1:
            raise ContractError(f"dimension must be >= 1, got {self.dimension}")

    @classmethod
    def of(cls, fingerprint: Fingerprint) -> "LexicalEmbedder | None":
        """The lexical embedder with this fingerprint; None for the fingerprint of another model."""
        return cls(fingerprint.dimension) if fingerprint.model == _SCHEME else None

    @property
    def fingerprint(self) -> Fingerprint:
        """Name, version and dimension of the hash."""
        return Fingerprint("lexical (no model)", _SCHEME, self.dimension, pooling="sum of n-grams", normalise=True)

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """One vector per text; zeros for a text without letters or digits.

        Returns:
            float32, shape (n, dimension), L2-normalised, equal on every machine.

        Cost: about 20 MB of text a second; releases the GIL.
        """
        out = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _SLICE):
            part = [cleaned(text) for text in texts[start : start + _SLICE]]
            rows = np.frombuffer(_core.lexical_embed(part, self.dimension), dtype="<f4")
            out[start : start + len(part)] = rows.reshape(len(part), self.dimension)
        return out

    embed_queries = embed_documents = embed
