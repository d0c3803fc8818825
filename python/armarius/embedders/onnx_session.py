"""A transformer from an ONNX file, as exported by optimum, sentence-transformers or torch."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armarius.embedders.folder import ModelFolder
from armarius.embedders.preprocess import Pooling, Tokens
from armarius.embedders.protocol import Fingerprint, Vectors
from armarius.embedders.runtime import open_session
from armarius.embedders.transformer import TransformerEmbedder
from armarius.errors import EmbeddingError

__all__ = ["load_onnx"]

_KNOWN_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


def load_onnx(
    folder: ModelFolder,
    *,
    file: str | None = None,
    max_length: int,
    pooling: Pooling,
    normalise: bool,
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
    if not {"input_ids", "attention_mask"} <= set(inputs) <= _KNOWN_INPUTS:
        raise folder.broken(path, f"takes {sorted(inputs)}, expected {sorted(_KNOWN_INPUTS)}: not a text encoder")
    if any(item.type not in _INTEGERS for item in inputs.values()):
        raise folder.broken(
            path, f"takes inputs of {sorted({item.type for item in inputs.values()})}, expected integers"
        )
    outputs = [item for item in session.get_outputs() if len(item.shape) == 3]
    if not outputs:
        raise folder.broken(
            path, f"has no output of token vectors, only {[item.name for item in session.get_outputs()]}"
        )
    output = outputs[0].name

    def forward(ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Vectors:
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: given[name].astype(_INTEGERS[item.type], copy=False) for name, item in inputs.items()}
        hidden: Vectors = session.run([output], feed)[0]
        return hidden.astype(np.float32, copy=False)

    tokens = Tokens(folder, max_length)
    dimension = _dimension(forward, folder, path)
    fingerprint = Fingerprint(
        name=folder.path.resolve().name,
        model=folder.sha256([path, *folder.beside(path), tokens.path]),
        dimension=dimension,
        max_length=max_length,
        pooling=pooling,
        normalise=normalise,
    )
    return TransformerEmbedder(fingerprint, tokens, forward)


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
