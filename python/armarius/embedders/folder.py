"""Model folders: find and read their files, open ONNX sessions.

Nothing is downloaded. Every error names the folder, the file and what to do. Pickled weights are refused, because
unpickling executes code.
"""

import hashlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarius.errors import EmbeddingError, MissingExtra
from armarius.io import is_regular, names_in, open_file, read_file
from armarius.io.processes import PerProcess, is_locale_usable
from armarius.trust.folders import way

_PICKLES = frozenset({".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt"})
_NEEDED = "config.json, tokenizer.json (or vocab.txt) and model.safetensors (or onnx/model.onnx)"


# More than the largest encoders need; refuses sparse files of terabytes. ONNX is protobuf, which is limited to 2 GiB.
_MAX_BYTES = 16 << 30
_MAX_BYTES_WITHIN = 4 << 30  # for a model in an untrusted project
_MAX_ONNX_BYTES = 2 << 30
_MAX_SETTINGS_BYTES = 64 << 20
_LIMITS = {".onnx": _MAX_ONNX_BYTES, ".json": _MAX_SETTINGS_BYTES, ".txt": _MAX_SETTINGS_BYTES}


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder with one embedding model.

    Attributes:
        path: The folder.
        below: Resolved root of the project that contains the model; no link is followed out of it. None for a folder
            that the user chose: there links are followed, because model caches consist of symbolic links.
    """

    path: Path
    below: Path | None = None

    @classmethod
    def open(cls, path: str | Path, *, below: Path | None = None) -> "ModelFolder":
        """Check that `path` is a folder.

        Raises:
            EmbeddingError: It does not exist, is a file, or is a pickle.
        """
        folder = Path(path) if below is not None else Path(path).expanduser()
        if folder.suffix.lower() in _PICKLES:
            raise _pickle_error(folder)
        if not folder.exists():
            raise EmbeddingError(
                f"no embedding model at {folder}: the folder does not exist. "
                f"Download {_NEEDED} of the model into it and try again"
            )
        if not folder.is_dir():
            raise EmbeddingError(f"no embedding model at {folder}: it is a file. Give the folder that holds {_NEEDED}")
        return cls(folder, below)

    def first(self, *names: str) -> Path | None:
        """The first of `names` (relative paths) that exists, or None."""
        return next((path for name in names if self._is_file(path := self.path / name)), None)

    def require(self, *names: str) -> Path:
        """The first of `names` that exists.

        Raises:
            EmbeddingError: None exists (the message names them, or a pickle found instead), or the file is too large.
        """
        file = self.first(*names)
        if file is not None:
            with self.opened(file):
                return file
        for name in names_in(self.path, below=self.below):
            pickled = Path(name).suffix.lower() in _PICKLES
            if pickled and any(wanted.endswith((".safetensors", ".onnx")) for wanted in names):
                raise _pickle_error(self.path / name)
        raise EmbeddingError(
            f"the embedding model in {self.path} is incomplete: {' or '.join(names)} is missing. "
            "Download it into that folder and try again"
        )

    def json(self, *names: str) -> dict[str, Any]:
        """The first of `names` as a JSON object, {} when none exists.

        Raises:
            EmbeddingError: The file is not a JSON object.
        """
        path = self.first(*names)
        if path is None:
            return {}
        try:
            content = json.loads(self.read(path))
        except (ValueError, RecursionError) as error:
            raise self.broken(path, f"is not readable JSON ({error})") from error
        if not isinstance(content, dict):
            raise self.broken(path, "is not a JSON object")
        return content

    def read(self, path: Path) -> bytes:
        """Read a settings file of the folder. Links are followed unless `below` is set.

        Raises:
            EmbeddingError: Not a regular file of at most 64 MiB, or not readable.
        """
        try:
            follow = self.below is None
            return read_file(self._end(path), limit=_MAX_SETTINGS_BYTES, below=self.below, follow=follow)
        except OSError as error:
            raise self.broken(path, f"cannot be read ({error.strerror})") from error

    @contextmanager
    def opened(self, path: Path) -> Iterator[io.BufferedReader]:
        """Open a file of the folder.

        Raises:
            EmbeddingError: Not a regular file, too large for its type, not readable, or a link out of the project.
        """
        most = _MAX_BYTES if self.below is None else _MAX_BYTES_WITHIN
        limit = min(most, _LIMITS.get(path.suffix.lower(), most))
        try:
            with open_file(self._end(path), limit=limit, below=self.below, follow=self.below is None) as file:
                yield file
        except OSError as error:
            raise self.broken(path, f"cannot be read ({error.strerror})") from error

    def checked(self, path: Path) -> str:
        """The path for a library that opens files itself, once `opened` has checked it; raises as `opened`."""
        with self.opened(path):
            return str(self._end(path))

    def external_data(self, path: Path) -> list[Path]:
        """External data files of an ONNX model, sorted."""
        names = names_in(path.parent, below=self.below)
        data = [path.parent / name for name in names if name.startswith(path.name) and "data" in name]
        return [item for item in data if self._is_file(item)]

    def sha256(self, paths: Iterable[Path]) -> str:
        """SHA-256 (hex) over the contents of `paths`, in order. Cost: about 0.7 s per GB, releases the GIL."""
        digest = hashlib.sha256()
        for path in paths:
            with self.opened(path) as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()

    def _is_file(self, path: Path) -> bool:
        return path.is_file() if self.below is None else is_regular(self._end(path), below=self.below)

    def _end(self, path: Path) -> Path:
        """The path to open. With `below`, links are resolved first and must stay inside the project.

        Raises:
            EmbeddingError: A link leads out of the project.
        """
        if self.below is None:
            return path
        place = way(self.below, path)
        if not place.within:
            raise self.broken(path, "leads out of the project")
        return place.end

    def says(self, word: str) -> bool:
        """Whether `modules.json` exists and contains `word`."""
        modules = self.first("modules.json")
        return modules is not None and word.encode() in self.read(modules)

    def broken(self, path: Path, problem: str) -> EmbeddingError:
        """The error for a damaged file."""
        name = path.relative_to(self.path) if path.is_relative_to(self.path) else path
        return EmbeddingError(
            f"the embedding model in {self.path} is broken: {name} {problem}. "
            f"Download {name} again and re-initialise with `armarius embed`"
        )

    def unsupported(self, problem: str, way_out: str) -> EmbeddingError:
        """The error for an intact model of an unsupported type."""
        return EmbeddingError(f"the embedding model in {self.path} cannot be used: {problem}. {way_out}")


def _pickle_error(path: Path) -> EmbeddingError:
    return EmbeddingError(
        f"{path} holds pickled weights, which run code when they are loaded: refused. "
        "Download model.safetensors or onnx/model.onnx of the same model instead"
    )


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
        weights: External initializers of a ModelProto. The caller must keep the arrays alive as long as the session,
            because onnxruntime reads them in place.
        threads: Threads of one forward pass; None is one per core. They sleep between passes: spinning was measured
            no faster, and it takes CPU from other threads.

    Raises:
        EmbeddingError: onnxruntime cannot run the model, or loading onnxruntime now would crash the process.
        MissingExtra: onnxruntime is not installed.
    """
    if "onnxruntime" not in sys.modules and not is_locale_usable():
        raise EmbeddingError(
            "onnxruntime would end this process, where other code has loaded usearch: import onnxruntime before usearch"
        )
    # Read when it is imported: 1.32 keeps a device id in the home and sends events to its maker otherwise.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
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
            source = model if isinstance(model, bytes) else folder.checked(model)
            return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except EmbeddingError:
            raise
        except Exception as error:  # onnxruntime's exceptions share no base but Exception
            where = model if isinstance(model, Path) else folder.path / "model.safetensors"
            why = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
            raise folder.broken(where, f"cannot be run by onnxruntime ({why})") from error

    return _Session(made)


class _Session:
    """A session that is created again in a forked child, because threads do not survive a fork."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made = PerProcess(make())

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - onnxruntime has no types
        return getattr(self._made.here(self._make), name)


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
        tensors: Mapping[str, NDArray[np.generic]] = load_file(folder.checked(path))
    except (SafetensorError, OSError, MemoryError, ValueError, TypeError, KeyError) as error:
        raise folder.broken(path, f"is truncated or not a safetensors file ({error})") from error
    return dict(tensors)


def read_safetensors(folder: ModelFolder, path: Path) -> Weights:
    """All floating-point tensors of a file as float32; raises as `read_tensors`."""
    tensors = read_tensors(folder, path)
    return {
        name: np.ascontiguousarray(array, np.float32) for name, array in tensors.items() if array.dtype.name in _FLOATS
    }
