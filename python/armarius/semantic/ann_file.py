"""The approximate index on disk: a file that is never loaded unless every byte is the one that was written.

The file is named after its SHA-256 and the hash is kept in the store. Order of a save: temporary file,
fsync, rename, commit of the hash, removal of older files. A crash between any two leaves either the old
pair or the new one; anything else is refused and the index is built again from the store.
"""

import contextlib
import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from armarius.errors import StoreCorrupt
from armarius.semantic.ann import AnnIndex

__all__ = ["AnnFile", "load", "save", "sweep"]

_SUFFIX = ".usearch"


@dataclass(frozen=True, slots=True)
class AnnFile:
    """What the store remembers of a saved index.

    `sequence` is the last change of the vector table that it contains; later ones are applied after loading.
    `recall` is what was sampled at this expansion, over `queries` questions (0: not sampled).
    """

    sha256: str
    dimension: int
    count: int
    expansion: int
    sequence: int
    recall: float = 0.0
    queries: int = 0


def save(index: AnnIndex, folder: Path, sequence: int) -> AnnFile:
    """Write the index durably; the answer goes into the store, after that `sweep`."""
    data = index.to_bytes()
    saved = AnnFile(hashlib.sha256(data).hexdigest(), index.dimension, len(index), index.expansion, sequence)
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix="writing-", suffix=_SUFFIX)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(_path(folder, saved))
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    _sync_folder(folder)
    return saved


def load(folder: Path, saved: AnnFile) -> AnnIndex:
    """Read an index back, after its bytes were compared with the hash.

    Raises:
        StoreCorrupt: Missing, unreadable, or not byte for byte what was saved.

    Cost: one read of the file, about 1 s per GB for the hash.
    """
    path = _path(folder, saved)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StoreCorrupt(f"{path}: the approximate index cannot be read ({error})") from error
    if hashlib.sha256(data).hexdigest() != saved.sha256:
        raise StoreCorrupt(
            f"{path}: the approximate index is damaged ({len(data)} bytes); it is built again from the store"
        )
    return AnnIndex.from_verified_bytes(data, saved.dimension, saved.count, expansion=saved.expansion)


def sweep(folder: Path, keep: AnnFile | None) -> None:
    """Remove every index file of the folder but `keep`."""
    kept = _path(folder, keep) if keep else None
    for path in folder.glob(f"*{_SUFFIX}"):
        if path != kept:
            with contextlib.suppress(OSError):
                path.unlink()


def size_on_disk(folder: Path, saved: AnnFile) -> int:
    """Bytes of the saved file, 0 when it is gone."""
    try:
        return _path(folder, saved).stat().st_size
    except OSError:
        return 0


def _path(folder: Path, saved: AnnFile) -> Path:
    return folder / f"vectors-{saved.sha256[:16]}{_SUFFIX}"


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # no way to open a folder there; renames are journaled by NTFS
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
