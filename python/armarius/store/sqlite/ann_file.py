"""The approximate index on disk: a file that is never loaded unless every byte is the one that was written.

The file is named after its SHA-256 and the hash is kept in the store. Order of a save: the file, atomically and
durably; commit of the hash; removal of older files. A crash between any two leaves either the old
pair or the new one; anything else is refused and the index is built again from the store.
"""

import contextlib
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from armarius.errors import StoreCorrupt
from armarius.io import read_file, remove_file, stat_of, write_atomic
from armarius.store.sqlite.ann import AnnIndex

__all__ = ["AnnFile", "load", "save", "sweep"]

_SUFFIX = ".usearch"
_OURS = re.compile(r"vectors-[0-9a-f]{16}\.usearch")
_MOST_PER_VECTOR = 16_384  # bytes of links and padding beside twice its float32 values: far above what usearch writes


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


def save(index: AnnIndex, folder: Path, sequence: int, *, below: Path | None = None) -> AnnFile:
    """Write the index durably; the answer goes into the store, after that `sweep`.

    Args:
        index: What to save.
        folder: Where.
        sequence: See `AnnFile`.
        below: The trusted folder that `folder` is reached from; see `armarius.io`.

    Raises:
        StoreFull: It cannot be written; the old file is untouched.
    """
    data = index.to_bytes()
    saved = AnnFile(hashlib.sha256(data).hexdigest(), index.dimension, len(index), index.expansion, sequence)
    write_atomic(_path(folder, saved), data, below=below)
    return saved


def load(folder: Path, saved: AnnFile, *, below: Path | None = None) -> AnnIndex:
    """Read an index back, after its bytes were compared with the hash.

    Raises:
        StoreCorrupt: Missing, unreadable, larger than it can be, or not byte for byte what was saved.

    Cost: one read of the file, about 1 s per GB for the hash.
    """
    path = _path(folder, saved)
    limit = (1 << 20) + saved.count * (8 * saved.dimension + _MOST_PER_VECTOR)
    try:
        data = read_file(path, limit=limit, below=below)
    except OSError as error:
        raise StoreCorrupt(f"{path}: the approximate index cannot be read ({error})") from error
    if hashlib.sha256(data).hexdigest() != saved.sha256:
        raise StoreCorrupt(
            f"{path}: the approximate index is damaged ({len(data)} bytes); it is built again from the store"
        )
    return AnnIndex.from_verified_bytes(data, saved.dimension, saved.count, expansion=saved.expansion)


def sweep(folder: Path, keep: AnnFile | None, *, below: Path | None = None) -> None:
    """Remove the index files that `save` left in the folder but `keep`; others of that suffix are the user's."""
    kept = _path(folder, keep) if keep else None
    for path in folder.glob(f"*{_SUFFIX}"):
        if path != kept and _OURS.fullmatch(path.name):
            with contextlib.suppress(OSError):
                remove_file(path, below=below)


def size_on_disk(folder: Path, saved: AnnFile, *, below: Path | None = None) -> int:
    """Bytes of the saved file, 0 when it is gone."""
    info = stat_of(_path(folder, saved), below=below)
    return 0 if info is None else info.st_size


def _path(folder: Path, saved: AnnFile) -> Path:
    return folder / f"vectors-{saved.sha256[:16]}{_SUFFIX}"
