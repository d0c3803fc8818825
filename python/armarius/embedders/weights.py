"""Tensors of a model from `model.safetensors`, never from a pickle."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armarius.embedders.folder import ModelFolder
from armarius.errors import MissingExtra

__all__ = ["Weights", "read_safetensors", "read_tensors"]

Weights = dict[str, NDArray[np.float32]]

_FLOATS = frozenset({"float32", "float16", "bfloat16", "float64"})


def read_tensors(folder: ModelFolder, path: Path) -> dict[str, NDArray[np.generic]]:
    """All tensors of a file, in the types they are stored in.

    Raises:
        EmbeddingError: Truncated, or not a safetensors file (a renamed pickle, say).
        MissingExtra: pip install 'armarius[semantic]'.
    """
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError as error:
        raise MissingExtra("an embedding model", "semantic") from error
    try:
        with folder.steady(path) as name:
            tensors: Mapping[str, NDArray[np.generic]] = load_file(name)
    except (SafetensorError, OSError, MemoryError, ValueError, TypeError, KeyError) as error:
        raise folder.broken(path, f"is truncated or not a safetensors file ({error})") from error
    return dict(tensors)


def read_safetensors(folder: ModelFolder, path: Path) -> Weights:
    """All floating-point tensors of a file as float32; raises as `read_tensors`."""
    tensors = read_tensors(folder, path)
    return {
        name: np.ascontiguousarray(array, np.float32) for name, array in tensors.items() if array.dtype.name in _FLOATS
    }
