"""BERT from safetensors: the forward pass as an ONNX graph of fused nodes, built in memory.

Devlin et al. 2018, encoder only. The graph has eight nodes a layer (fused attention, GELU with bias,
layer normalisation with residual), which onnxruntime runs as written. Same vectors as
sentence-transformers to 2e-7, and no slower (docs/decisions/0081).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armarius.embedders.folder import ModelFolder
from armarius.embedders.onnx_graph import (
    FLOAT,
    INT32,
    Graph,
    Value,
)
from armarius.embedders.preprocess import Pooling, Tokens
from armarius.embedders.prompts import Prompts
from armarius.embedders.protocol import Fingerprint, Vectors
from armarius.embedders.runtime import open_session
from armarius.embedders.transformer import Forward, TransformerEmbedder
from armarius.embedders.weights import Weights, read_safetensors

__all__ = ["BERT_TYPES", "BertShape", "load_bert"]

_COUNTED_FROM_PADDING = ("roberta", "xlm-roberta")
BERT_TYPES = ("bert", *_COUNTED_FROM_PADDING)
"""What `config.json` may call the architecture; RoBERTa's differs in where positions begin."""

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
    """The numbers of `config.json` that decide the forward pass.

    Attributes:
        positions: Of a text at most.
        skipped: Rows before that of the first position: RoBERTa counts positions from its padding token's id + 1.
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
        """From `config.json`.

        Raises:
            EmbeddingError: Not a BERT encoder this forward pass can run, or a number is missing.
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
    prompts: Prompts = Prompts(),  # noqa: B008 - frozen
    threads: int | None = None,
) -> TransformerEmbedder:
    """An embedder from `model.safetensors`.

    Raises:
        EmbeddingError: Anything missing, truncated, of another architecture or of inconsistent shape.
    """
    shape = BertShape.read(folder)
    path = folder.require("model.safetensors")
    weights = _graph_weights(read_safetensors(folder, path), shape, folder, path)
    tokens = Tokens(folder, min(max_length, shape.positions), pooling=pooling)
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
    return TransformerEmbedder(fingerprint, tokens, _forward(folder, shape, weights, threads), prompts.query)


def _forward(folder: ModelFolder, shape: BertShape, weights: Weights, threads: int | None) -> Forward:
    model = _graph(shape).to_bytes([Value(f"x{shape.layers}", FLOAT, ("n", "length", shape.hidden))], weights)
    session = open_session(folder, model, weights=weights, threads=threads)

    def forward(ids: NDArray[np.int64], mask: NDArray[np.int64], weights: Weights = weights) -> Vectors:
        # `weights` is held here because onnxruntime reads the arrays in place
        hidden: Vectors = session.run(None, {"ids": ids.astype(np.int32), "mask": mask.astype(np.int32)})[0]
        return hidden

    return forward


def _graph(shape: BertShape) -> Graph:
    graph = Graph("bert", [Value("ids", INT32, ("n", "length")), Value("mask", INT32, ("n", "length"))])
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
        # every token is of type 0, so its embedding is a constant of the position
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
