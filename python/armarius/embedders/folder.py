"""The files of an embedding model: where they are, what is missing, and how to recover.

Nothing is downloaded here. Every refusal names the folder, the file and the way out. Pickled weights
are refused, because loading them runs whatever code they carry.
"""

import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armarius.errors import EmbeddingError
from armarius.files import is_regular, names_in, open_file, read_file
from armarius.trust.inside import way

__all__ = ["ModelFolder"]

_PICKLES = frozenset({".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt"})
_NEEDED = "config.json, tokenizer.json (or vocab.txt) and model.safetensors (or onnx/model.onnx)"


# Above what the largest encoders need: a sparse file of terabytes is no model. ONNX is protobuf, which ends at 2 GiB.
_MAX_BYTES = 16 << 30
_MAX_BYTES_WITHIN = 4 << 30  # of a model that came with a project
_MAX_ONNX_BYTES = 2 << 30
_MAX_SETTINGS_BYTES = 64 << 20
_LIMITS = {".onnx": _MAX_ONNX_BYTES, ".json": _MAX_SETTINGS_BYTES, ".txt": _MAX_SETTINGS_BYTES}


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that holds one embedding model.

    Attributes:
        path: The folder.
        below: The project that the model came with, resolved: no file of it is reached from elsewhere, whatever comes
            to lie there meanwhile. None for a folder that the user chose, whose links are followed: model caches are
            made of them.
    """

    path: Path
    below: Path | None = None

    @classmethod
    def open(cls, path: str | Path, *, below: Path | None = None) -> "ModelFolder":
        """Check that `path` is a folder that can hold a model.

        Raises:
            EmbeddingError: Absent, a file, or nothing but pickles.
        """
        folder = Path(path) if below is not None else Path(path).expanduser()
        if folder.suffix.lower() in _PICKLES:
            raise _pickled(folder)
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
            EmbeddingError: None does, and the message names them, and a pickle that lies there instead; or it is larger
                than a file of its kind can be.
        """
        found = self.first(*names)
        if found is not None:
            with self.opened(found):
                return found
        for name in names_in(self.path, below=self.below):
            pickled = Path(name).suffix.lower() in _PICKLES
            if pickled and any(wanted.endswith((".safetensors", ".onnx")) for wanted in names):
                raise _pickled(self.path / name)
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
        """A settings file of the folder; links are followed, for model caches are made of them.

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
        """A file of the folder.

        Raises:
            EmbeddingError: Not a regular file, larger than one of its kind can be, not readable, or it leads out of the
                project that the model came with.
        """
        most = _MAX_BYTES if self.below is None else _MAX_BYTES_WITHIN
        limit = min(most, _LIMITS.get(path.suffix.lower(), most))
        try:
            with open_file(self._end(path), limit=limit, below=self.below, follow=self.below is None) as file:
                yield file
        except OSError as error:
            raise self.broken(path, f"cannot be read ({error.strerror})") from error

    @contextmanager
    def steady(self, path: Path) -> Iterator[str]:
        """A path for a library that opens files by path: it leads to the file that lies there now.

        Where a project could put another in its place (`below`), it names an open descriptor; Windows has no such
        names.
        """
        with self.opened(path) as file:
            folder = Path("/dev/fd")
            yield str(path if self.below is None or not folder.is_dir() else folder / str(file.fileno()))

    def beside(self, path: Path) -> list[Path]:
        """Files with weights that an ONNX file keeps outside itself, sorted."""
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
        """Where a path leads: within a project, links from file to file of it are read before anything is opened.

        Raises:
            EmbeddingError: Out of the project.
        """
        if self.below is None:
            return path
        found = way(self.below, path)
        if not found.within:
            raise self.broken(path, "leads out of the project")
        return found.end

    def says(self, word: str) -> bool:
        """Whether `modules.json` names a module with `word` in it; False without one."""
        modules = self.first("modules.json")
        return modules is not None and word.encode() in self.read(modules)

    def broken(self, path: Path, problem: str) -> EmbeddingError:
        """The error for a file that exists and cannot be used."""
        name = path.relative_to(self.path) if path.is_relative_to(self.path) else path
        return EmbeddingError(
            f"the embedding model in {self.path} is broken: {name} {problem}. "
            f"Download {name} again and re-initialise with `armarius embed`"
        )

    def unsupported(self, problem: str, way_out: str) -> EmbeddingError:
        """The error for a model that is whole but of a kind this embedder cannot run."""
        return EmbeddingError(f"the embedding model in {self.path} cannot be used: {problem}. {way_out}")


def _pickled(path: Path) -> EmbeddingError:
    return EmbeddingError(
        f"{path} holds pickled weights, which run code when they are loaded: refused. "
        "Download model.safetensors or onnx/model.onnx of the same model instead"
    )
