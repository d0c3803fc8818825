"""Transformer embedders: BERT from safetensors, and any text encoder from ONNX, both run by onnxruntime.

The BERT encoder (Devlin et al. 2018) is built in memory as an ONNX graph with eight fused nodes per layer (attention,
GELU with bias, layer normalisation with residual). Its vectors equal those of sentence-transformers to 2e-7, and it is
no slower (docs/decisions/0081).
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armarius.embedders.folder import ModelFolder, Weights, open_session, read_safetensors
from armarius.embedders.preprocess import (
    EmbeddingPrompts,
    Pooling,
    Tokens,
    pool,
    prompted,
)
from armarius.embedders.protocol import Fingerprint, Vectors
from armarius.errors import EmbeddingError
from armarius.store.vectors_protocol import unit_rows

Forward = Callable[[NDArray[np.int64], NDArray[np.int64]], Vectors]
"""(ids, mask), each int64 of shape (n, length), to token vectors: float32, shape (n, length, d)."""


@dataclass(frozen=True, slots=True)
class TransformerEmbedder:
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

    @property
    def _pooling(self) -> Pooling:
        pooling: Pooling = self.fingerprint.pooling  # type: ignore[assignment]
        return pooling

    def embed_queries(self, texts: Sequence[str], /) -> Vectors:
        """As `embed`, with the query prompt before each text."""
        return self.embed(prompted(self.query_prompt, texts))

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """As `embed`, with the document prompt before each text."""
        return self.embed(prompted(self.fingerprint.document_prompt, texts))

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """One vector per text, without a prompt. An empty text is embedded by its special tokens.

        Returns:
            float32, shape (n, dimension), rows in the order of `texts`.

        Raises:
            EmbeddingError: The model produced NaN, infinity or an unexpected shape.
        """
        out = np.zeros((len(texts), self.fingerprint.dimension), np.float32)
        for batch in self.tokens.batches(texts):
            hidden = self.forward(batch.ids, batch.mask)
            if hidden.shape != (*batch.ids.shape, self.fingerprint.dimension):
                raise EmbeddingError(
                    f"{self.fingerprint.name} answered with shape {hidden.shape} for {batch.ids.shape} tokens, "
                    f"expected dimension {self.fingerprint.dimension}"
                )
            out[batch.rows] = pool(hidden, batch.mask, self._pooling)
        if not np.isfinite(out).all():
            raise EmbeddingError(
                f"{self.fingerprint.name} produced NaN or infinity: its weights are damaged, download them again"
            )
        return unit_rows(out) if self.fingerprint.normalise else out


FLOAT, INT32 = 1, 6
_EXTERNAL = 1
_IR_VERSION = 10
_CONTRIB = "com.microsoft"

Attribute = int | float


@dataclass(frozen=True, slots=True)
class OnnxValue:
    """A named input or output; each dimension is a number, or a name if it is dynamic."""

    name: str
    element_type: int
    shape: tuple[int | str, ...]


@dataclass(slots=True)
class OnnxGraph:
    """An ONNX graph: `node` appends in execution order, `to_bytes` serialises."""

    name: str
    inputs: Sequence[OnnxValue]
    opset: int = 17
    nodes: list[bytes] = field(default_factory=list)
    domains: set[str] = field(default_factory=set)

    def node(self, op: str, inputs: Sequence[str], *outputs: str, domain: str = "", **attributes: Attribute) -> str:
        """Append one node and return the name of its first output; "" in `inputs` is an absent optional input."""
        body = b"".join(_text(1, name) for name in inputs) + b"".join(_text(2, name) for name in outputs)
        body += _text(3, outputs[0]) + _text(4, op)
        body += b"".join(_bytes(5, _attribute(key, value)) for key, value in attributes.items())
        if domain:
            body += _text(7, domain)
            self.domains.add(domain)
        self.nodes.append(body)
        return outputs[0]

    def contrib(self, op: str, inputs: Sequence[str], *outputs: str, **attributes: Attribute) -> str:
        """Append one node of onnxruntime's own operator set."""
        return self.node(op, inputs, *outputs, domain=_CONTRIB, **attributes)

    def to_bytes(self, outputs: Sequence[OnnxValue], weights: Mapping[str, NDArray[np.float32]]) -> bytes:
        """The serialised ModelProto.

        Args:
            outputs: The graph's outputs.
            weights: C-contiguous arrays by initializer name; onnxruntime reads them in place, as external data.
        """
        graph = b"".join(_bytes(1, node) for node in self.nodes) + _text(2, self.name)
        graph += b"".join(_bytes(5, _tensor(name, array)) for name, array in weights.items())
        graph += b"".join(_bytes(11, _value(value)) for value in self.inputs)
        graph += b"".join(_bytes(12, _value(value)) for value in outputs)
        model = _number(1, _IR_VERSION) + _text(2, "armarius") + _bytes(7, graph)
        model += _bytes(8, _text(1, "") + _number(2, self.opset))
        return model + b"".join(_bytes(8, _text(1, domain) + _number(2, 1)) for domain in sorted(self.domains))


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


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    return _text(1, name) + _number(3, value) + _number(20, 2)


def _tensor(name: str, array: NDArray[np.float32]) -> bytes:
    body = b"".join(_number(1, size) for size in array.shape) + _number(2, FLOAT) + _text(8, name)
    entries = {"location": "in-memory", "offset": "0", "length": str(array.nbytes)}
    body += b"".join(_bytes(13, _text(1, key) + _text(2, value)) for key, value in entries.items())
    return body + _number(14, _EXTERNAL)


def _value(value: OnnxValue) -> bytes:
    dims = b"".join(_bytes(1, _text(2, d) if isinstance(d, str) else _number(1, d)) for d in value.shape)
    return _text(1, value.name) + _bytes(2, _bytes(1, _number(1, value.element_type) + _bytes(2, dims)))


_COUNTED_FROM_PADDING = ("roberta", "xlm-roberta")
BERT_TYPES = ("bert", *_COUNTED_FROM_PADDING)
"""Accepted values of `model_type` in `config.json`; RoBERTa models differ in the offset of positions."""

_NUMBERS = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "vocab_size",
)


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


def load_bert(
    folder: ModelFolder,
    *,
    max_length: int,
    pooling: Pooling,
    normalise: bool,
    prompts: EmbeddingPrompts = EmbeddingPrompts(),  # noqa: B008 - frozen
    threads: int | None = None,
) -> TransformerEmbedder:
    """Load an embedder from `model.safetensors`.

    Raises:
        EmbeddingError: Files are missing or truncated, the architecture is not supported, or shapes do not match.
    """
    shape = BertShape.read(folder)
    path = folder.require("model.safetensors")
    forward = encoder(folder, path, shape, read_safetensors(folder, path), threads)
    tokens = Tokens.read(folder, min(max_length, shape.positions), pooling=pooling)
    if tokens.vocabulary > shape.vocabulary:
        raise folder.broken(
            tokens.path,
            f"has {tokens.vocabulary} tokens, the weights know {shape.vocabulary}: it belongs to another model",
        )
    fingerprint = Fingerprint(
        name=folder.path.resolve().name,
        model=folder.sha256([path, tokens.path]),
        dimension=shape.hidden,
        max_length=min(max_length, shape.positions),
        pooling=pooling,
        normalise=normalise,
        document_prompt=prompts.document,
    )
    return TransformerEmbedder(fingerprint, tokens, forward, prompts.query)


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
    model = _graph(shape).to_bytes([OnnxValue(f"x{shape.layers}", FLOAT, ("n", "length", shape.hidden))], weights)
    session = open_session(folder, model, weights=weights, threads=threads)

    def forward(ids: NDArray[np.int64], mask: NDArray[np.int64], weights: Weights = weights) -> Vectors:
        # keeps `weights` alive, because onnxruntime reads the arrays in place
        hidden: Vectors = session.run(None, {"ids": ids.astype(np.int32), "mask": mask.astype(np.int32)})[0]
        return hidden

    return forward


def _graph(shape: BertShape) -> OnnxGraph:
    graph = OnnxGraph("bert", [OnnxValue("ids", INT32, ("n", "length")), OnnxValue("mask", INT32, ("n", "length"))])
    epsilon = shape.epsilon
    x = graph.contrib(
        "EmbedLayerNormalization",
        ["ids", "", "words", "positions", "", "scale", "shift"],
        "x0",
        "unused",
        epsilon=epsilon,
    )
    for i in range(shape.layers):
        attended = graph.contrib(
            "Attention", [x, f"qkv{i}", f"qkv_bias{i}", "mask"], f"attended{i}", num_heads=shape.heads
        )
        mixed = graph.node("MatMul", [attended, f"mix{i}"], f"mixed{i}")
        norm = [f"mix_scale{i}", f"mix_shift{i}", f"mix_bias{i}"]
        y = graph.contrib("SkipLayerNormalization", [mixed, x, *norm], f"y{i}", epsilon=epsilon)
        wide = graph.node("MatMul", [y, f"up{i}"], f"wide{i}")
        active = graph.contrib("BiasGelu", [wide, f"up_bias{i}"], f"active{i}")
        narrow = graph.node("MatMul", [active, f"down{i}"], f"narrow{i}")
        norm = [f"down_scale{i}", f"down_shift{i}", f"down_bias{i}"]
        x = graph.contrib("SkipLayerNormalization", [narrow, y, *norm], f"x{i + 1}", epsilon=epsilon)
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
    folder: ModelFolder,
    *,
    file: str | None = None,
    max_length: int,
    pooling: Pooling,
    normalise: bool,
    prompts: EmbeddingPrompts = EmbeddingPrompts(),  # noqa: B008 - frozen
    threads: int | None = None,
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
        given = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.maximum(mask.cumsum(axis=1) - 1, 0),
        }
        feed: dict[str, NDArray[np.generic]] = {
            name: given[name].astype(_INTEGERS[item.type], copy=False) for name, item in inputs.items()
        }
        for name, item in past.items():
            feed[name] = np.zeros((len(ids), item.shape[1], 0, item.shape[3]), _FLOATS[item.type])
        hidden: Vectors = session.run([output], feed)[0]
        return hidden.astype(np.float32, copy=False)

    tokens = Tokens.read(folder, max_length, pooling=pooling)
    dimension = _dimension(forward, folder, path)
    fingerprint = Fingerprint(
        name=folder.path.resolve().name,
        model=folder.sha256([path, *folder.external_data(path), tokens.path]),
        dimension=dimension,
        max_length=max_length,
        pooling=pooling,
        normalise=normalise,
        document_prompt=prompts.document,
    )
    return TransformerEmbedder(fingerprint, tokens, forward, prompts.query)


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
