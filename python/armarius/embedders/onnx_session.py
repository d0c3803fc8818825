"""A transformer from an ONNX file, as exported by optimum, sentence-transformers or torch."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armarius.embedders.folder import ModelFolder
from armarius.embedders.preprocess import Pooling, Tokens
from armarius.embedders.prompts import Prompts
from armarius.embedders.protocol import Fingerprint, Vectors
from armarius.embedders.runtime import open_session
from armarius.embedders.transformer import TransformerEmbedder
from armarius.errors import EmbeddingError

__all__ = ["load_onnx"]

_KNOWN_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids", "position_ids"})
_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_FLOATS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
_PAST = "past_key_values."  # of a decoder that was exported to go on from there; empty here


def load_onnx(
    folder: ModelFolder,
    *,
    file: str | None = None,
    max_length: int,
    pooling: Pooling,
    normalise: bool,
    prompts: Prompts = Prompts(),  # noqa: B008 - frozen
    threads: int | None = None,
) -> TransformerEmbedder:
    """An embedder from `onnx/model.onnx` or `model.onnx`, or from the named file of the folder.

    A quantised file (`model_qint8_*.onnx`) gives other vectors and is only used when it is named.

    Raises:
        EmbeddingError: Missing, truncated, with inputs or outputs of another kind of model.
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

    tokens = Tokens(folder, max_length, pooling=pooling)
    dimension = _dimension(forward, folder, path)
    fingerprint = Fingerprint(
        name=folder.path.resolve().name,
        model=folder.sha256([path, *folder.beside(path), tokens.path]),
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
