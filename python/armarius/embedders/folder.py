"""The files of an embedding model: where they are, what is missing, and how to recover.

Nothing is downloaded here. Every refusal names the folder, the file and the way out. Pickled weights
are refused, because loading them runs whatever code they carry.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armarius.errors import EmbeddingError
from armarius.files import open_file, read_file

__all__ = ["ModelFolder", "sha256_of"]

_PICKLES = frozenset({".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt"})
_NEEDED = "config.json, tokenizer.json (or vocab.txt) and model.safetensors (or onnx/model.onnx)"


# Above what the largest encoders need: a sparse file of terabytes is no model. ONNX is protobuf, which ends at 2 GiB.
_MAX_BYTES = 16 << 30
_MAX_ONNX_BYTES = 2 << 30
_MAX_SETTINGS_BYTES = 64 << 20
_LIMITS = {".onnx": _MAX_ONNX_BYTES, ".json": _MAX_SETTINGS_BYTES, ".txt": _MAX_SETTINGS_BYTES}


def sha256_of(paths: Iterable[Path]) -> str:
    """SHA-256 (hex) over the contents of `paths`, in order. Cost: about 0.7 s per GB, releases the GIL."""
    digest = hashlib.sha256()
    for path in paths:
        with open_file(path, limit=_MAX_BYTES, follow=True) as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that holds one embedding model."""

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> "ModelFolder":
        """Check that `path` is a folder that can hold a model.

        Raises:
            EmbeddingError: Absent, a file, or nothing but pickles.
        """
        folder = Path(path).expanduser()
        if folder.suffix.lower() in _PICKLES:
            raise _pickled(folder)
        if not folder.exists():
            raise EmbeddingError(
                f"no embedding model at {folder}: the folder does not exist. "
                f"Download {_NEEDED} of the model into it and try again"
            )
        if not folder.is_dir():
            raise EmbeddingError(f"no embedding model at {folder}: it is a file. Give the folder that holds {_NEEDED}")
        return cls(folder)

    def first(self, *names: str) -> Path | None:
        """The first of `names` (relative paths) that exists, or None."""
        return next((self.path / name for name in names if (self.path / name).is_file()), None)

    def require(self, *names: str) -> Path:
        """The first of `names` that exists.

        Raises:
            EmbeddingError: None does, and the message names them, and a pickle that lies there instead; or it is larger
                than a file of its kind can be.
        """
        found = self.first(*names)
        if found is not None:
            limit = _LIMITS.get(found.suffix.lower(), _MAX_BYTES)
            if (size := found.stat().st_size) > limit:
                raise self.broken(found, f"has {size} bytes, at most {limit} are read")
            return found
        for pickled in sorted(item for item in self.path.iterdir() if item.suffix.lower() in _PICKLES):
            if any(name.endswith((".safetensors", ".onnx")) for name in names):
                raise _pickled(pickled)
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
            return read_file(path, limit=_MAX_SETTINGS_BYTES, follow=True)
        except OSError as error:
            raise self.broken(path, f"cannot be read ({error.strerror})") from error

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
