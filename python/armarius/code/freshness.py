"""Whether files are still what was indexed: by content, since neither SCIP nor CKB says so."""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from armarius.errors import StoreError
from armarius.files import open_file, read_file, refusal, stat_of, write_atomic

__all__ = ["MAX_SOURCE_BYTES", "Stamp", "baseline", "changed", "digest", "stamp", "write_manifest"]

MAX_SOURCE_BYTES = 32 * 1024 * 1024
_MAX_INDEX_BYTES = 2 * 1024 * 1024 * 1024
_MAX_MANIFEST_BYTES = 256 * 1024 * 1024

Stamp = tuple[int, int, int]  # modification time in ns, size in bytes, inode


def stamp(path: Path, *, below: Path | None = None) -> Stamp | None:
    """What the file system says about a file or folder; None when it is gone, is a link, or one leads to it."""
    found = stat_of(path, below=below)
    if found is None or refusal(found) == "symbolic link":
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def digest(path: Path, *, below: Path | None = None, limit: int = MAX_SOURCE_BYTES) -> str:
    """BLAKE2b-128 of a file's bytes, hexadecimal; "" when it is no regular file of at most `limit` bytes."""
    try:
        with open_file(path, limit=limit, below=below) as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except (OSError, ValueError):
        return ""


def write_manifest(manifest: Path, index: Path, files: Mapping[str, str]) -> None:
    """Remember what was indexed: the index's hash and that of each of its files.

    Raises:
        StoreFull: As `write_atomic`.
    """
    held = {"index": digest(index, limit=_MAX_INDEX_BYTES), "files": dict(sorted(files.items()))}
    write_atomic(manifest, json.dumps(held, indent=0).encode("ascii"))


def baseline(
    manifest: Path, index: Path, root: Path, documents: Iterable[str], *, moved: Iterable[str], grown: Iterable[str]
) -> dict[str, str]:
    """Hashes of the files as they were indexed.

    They come from the manifest when it belongs to this very index. Otherwise the files as they are now are taken for
    what was indexed, but for those that `moved` (their text is not where the index says) and those that are newer than
    the index and have `grown` (definitions that the index has not); that is remembered, unless there is no index file.
    """
    try:
        known = json.loads(read_file(manifest, limit=_MAX_MANIFEST_BYTES))
        if known["index"] and known["index"] == digest(index, limit=_MAX_INDEX_BYTES):
            return {str(path): str(value) for path, value in known["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        known = None  # no manifest, or a damaged one
    made = stamp(index)
    suspicious = set(moved)
    for path in grown:
        now = stamp(root / path, below=root)
        if made is not None and now is not None and now[0] > made[0]:
            suspicious.add(path)
    files = {path: "" if path in suspicious else digest(root / path, below=root) for path in documents}
    if made is not None:
        with contextlib.suppress(StoreError):  # a cache that cannot be written costs only the memory of it
            write_manifest(manifest, index, files)
    return files


def changed(files: Mapping[str, str], root: Path, seen: dict[str, tuple[Stamp | None, str]]) -> list[str]:
    """Paths whose content is not what was indexed, sorted; `seen` saves hashing what did not move.

    Cost: one stat per file, plus reading those whose stamp differs from the last time.
    """
    stale = []
    for path, indexed in files.items():
        now = stamp(root / path, below=root)
        known = seen.get(path)
        if known is None or known[0] != now or now is None:
            known = (now, digest(root / path, below=root))
            seen[path] = known
        if known[1] != indexed or not indexed:
            stale.append(path)
    return sorted(stale)
