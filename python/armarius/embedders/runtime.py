"""onnxruntime sessions, set up one way: in this process, on the CPU, without network or telemetry."""

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarius.cxx_locale import is_locale_usable
from armarius.embedders.folder import ModelFolder
from armarius.errors import EmbeddingError, MissingExtra
from armarius.processes import PerProcess

__all__ = ["open_session"]


def open_session(
    folder: ModelFolder,
    model: Path | bytes,
    *,
    weights: Mapping[str, NDArray[np.generic]] | None = None,
    threads: int | None = None,
) -> Any:  # noqa: ANN401
    """An `onnxruntime.InferenceSession` for a file or for serialised bytes.

    Args:
        folder: The model's folder, for messages.
        model: Path of an ONNX file, or a ModelProto.
        weights: External initializers of a ModelProto. The caller keeps the arrays alive as long as
            the session: onnxruntime reads them in place.
        threads: Threads of one forward pass; None is one per core. They sleep between passes
            (spinning was measured no faster from the second run on, and it starves everyone else).

    Raises:
        EmbeddingError: The file is not a model onnxruntime can run, or onnxruntime would end the process.
        MissingExtra: onnxruntime is not installed.
    """
    if "onnxruntime" not in sys.modules and not is_locale_usable():
        raise EmbeddingError(
            "onnxruntime would end this process, where other code has loaded usearch: import onnxruntime before usearch"
        )
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra("an embedding model", "semantic") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or os.cpu_count() or 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if weights:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
        options.add_external_initializers(list(weights), values)

    def made() -> Any:  # noqa: ANN401
        try:
            with contextlib.nullcontext(model) if isinstance(model, bytes) else _steady(folder, model) as source:
                return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except EmbeddingError:
            raise
        except Exception as error:  # onnxruntime's exceptions share no base but Exception
            where = model if isinstance(model, Path) else folder.path / "model.safetensors"
            raise folder.broken(where, f"cannot be run by onnxruntime ({_first_line(error)})") from error

    return _Session(made)


class _Session:
    """A session whose threads are of this process: a forked child makes its own, from the same model."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made = PerProcess(make())

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - onnxruntime has no types
        return getattr(self._made.here(self._make), name)


def _steady(folder: ModelFolder, model: Path) -> contextlib.AbstractContextManager[str]:
    """The file that lies there now; with weights beside it, which onnxruntime finds by path, the path itself."""
    return contextlib.nullcontext(str(model)) if folder.beside(model) else folder.steady(model)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
