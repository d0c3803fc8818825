"""Whether files are still what was indexed: by content, since neither SCIP nor CKB says so."""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = ["Stamp", "baseline", "changed", "digest", "stamp", "write_manifest"]

Stamp = tuple[int, int, int]  # modification time in ns, size in bytes, inode


def stamp(path: Path) -> Stamp | None:
    """What the file system says about a file; None when it is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def digest(path: Path) -> str:
    """BLAKE2b-128 of a file's bytes, hexadecimal; "" when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError:
        return ""


def write_manifest(manifest: Path, index: Path, files: Mapping[str, str]) -> None:
    """Remember what was indexed: the index's hash and that of each of its files, atomically."""
    manifest.parent.mkdir(parents=True, exist_ok=True)
    temporary = manifest.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps({"index": digest(index), "files": dict(sorted(files.items()))}, indent=0))
    temporary.replace(manifest)


def baseline(
    manifest: Path, index: Path, root: Path, documents: Iterable[str], *, moved: Iterable[str], grown: Iterable[str]
) -> dict[str, str]:
    """Hashes of the files as they were indexed.

    They come from the manifest when it belongs to this very index. Otherwise the files as they are now are taken for
    what was indexed, but for those that `moved` (their text is not where the index says) and those that are newer than
    the index and have `grown` (definitions that the index has not); that is remembered, unless there is no index file.
    """
    try:
        known = json.loads(manifest.read_text())
        if index.is_file() and known["index"] == digest(index):
            return {str(path): str(value) for path, value in known["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        known = None  # no manifest, or a damaged one
    made = stamp(index)
    suspicious = set(moved)
    for path in grown:
        now = stamp(root / path)
        if made is not None and now is not None and now[0] > made[0]:
            suspicious.add(path)
    files = {path: "" if path in suspicious else digest(root / path) for path in documents}
    if made is not None:
        with contextlib.suppress(OSError):  # a cache that cannot be written costs only the memory of it
            write_manifest(manifest, index, files)
    return files


def changed(files: Mapping[str, str], root: Path, seen: dict[str, tuple[Stamp | None, str]]) -> list[str]:
    """Paths whose content is not what was indexed, sorted; `seen` saves hashing what did not move.

    Cost: one stat per file, plus reading those whose stamp differs from the last time.
    """
    stale = []
    for path, indexed in files.items():
        now = stamp(root / path)
        known = seen.get(path)
        if known is None or known[0] != now or now is None:
            known = (now, digest(root / path))
            seen[path] = known
        if known[1] != indexed or not indexed:
            stale.append(path)
    return sorted(stale)
