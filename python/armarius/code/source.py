"""Where a code graph comes from: one protocol for CKB, SCIP files and whatever else knows references."""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import armarius._core as _core
from armarius.errors import SourceUnavailable, StoreError
from armarius.io import open_file, read_file, refusal, stat_of, write_atomic
from armarius.trust.folders import is_file_within

__all__ = [
    "MAX_SOURCE_BYTES",
    "BatchSource",
    "CodeSource",
    "Reference",
    "Stamp",
    "baseline",
    "build_graph",
    "changed",
    "collect",
    "digest",
    "require_within",
    "stamp",
    "write_manifest",
]

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


class Reference(NamedTuple):
    """One occurrence of a symbol; lines and columns are 1-based, columns in UTF-16 units as language servers count."""

    path: str
    line: int
    column: int
    end_column: int
    is_definition: bool


@runtime_checkable
class CodeSource(Protocol):
    """What a graph is built from: which symbols there are, and where each stands."""

    @property
    def name(self) -> str:
        """First part of the ids of nodes: `ckb`, `scip`."""
        ...

    @property
    def root(self) -> Path:
        """The folder that paths are relative to."""
        ...

    def symbols(self) -> Sequence[str]:
        """SCIP ids of the project's symbols; parameters and locals may be among them and are ignored."""
        ...

    def references(self, symbol: str, /) -> Sequence[Reference]:
        """Every occurrence of `symbol`, its definition included; () for an id that is unknown."""
        ...


@runtime_checkable
class BatchSource(Protocol):
    """A source that answers many ids at once more cheaply than one by one."""

    def references_of(self, symbols: Sequence[str], /) -> Sequence[Sequence[Reference]]:
        """One list for each id, in order."""
        ...


@runtime_checkable
class _WholeSource(Protocol):
    def occurrences(self) -> _core.Occurrences: ...


def collect(source: CodeSource) -> _core.Occurrences:
    """Ask a source about every symbol it lists, and about those that follow from them.

    Indexers do not list every symbol (classes without a description, modules under their other names); the ids of
    those are derived from what the first round found and asked for in a second.

    Cost: one question per symbol, twice at most.
    """
    listed = [symbol for symbol in dict.fromkeys(source.symbols()) if _core.is_symbol(symbol)]
    tool = source.name
    rows = _rows(source, listed)
    require_within({row.path for row in rows}, source.root)
    derived = _checked(_core.Occurrences.from_rows(tool, rows), source.root).companions(source.root)
    asked = set(listed)
    rows += _rows(source, [symbol for symbol in derived if symbol not in asked])
    return _core.Occurrences.from_rows(tool, rows)


def _rows(source: CodeSource, symbols: Sequence[str]) -> list[_core.Occurrence]:
    if isinstance(source, BatchSource):
        answers = source.references_of(symbols)
    else:
        answers = [source.references(symbol) for symbol in symbols]
    return [
        _core.Occurrence(found.path, symbol, found.line, found.column, found.end_column, found.is_definition)
        for symbol, references in zip(symbols, answers, strict=True)
        for found in references
    ]


def require_within(paths: Iterable[str], root: Path) -> None:
    """Refuse an index that describes anything but files of the project: each of its documents is read, and quoted.

    Raises:
        SourceUnavailable: `untrusted`; names the path.
    """
    resolved = root.resolve()
    for path in paths:
        if not is_file_within(resolved, path):
            raise SourceUnavailable("untrusted", f"the index describes {path!r}, which is no file of the project")


def build_graph(source: CodeSource) -> _core.CodeGraph:
    """The graph of everything a source knows: the same builder, whatever the source.

    A reference in a class header is `inherits`, on an import line `imports`, before an opening bracket `calls`,
    else `refs`; a method of the name of one in the nearest base `overrides` it. What encloses a reference is read
    from the text for Python, from the index for other languages; a guess is marked heuristic.

    Args:
        source: A `CodeSource`; one with `occurrences()` hands everything over at once.

    Raises:
        SourceUnavailable: The source gave up, or names a file that is none of the project's.

    Cost: what the source takes, plus one pass over its files in the core; the GIL is released.
    """
    occurrences = source.occurrences() if isinstance(source, _WholeSource) else collect(source)
    require_within(occurrences.documents(), source.root)
    return _core.CodeGraph(_checked(occurrences, source.root), source.root)


def _checked(occurrences: _core.Occurrences, root: Path) -> _core.Occurrences:
    """Refuse what the core would read outside of the project or wait for; a file that is gone is nothing to it.

    The core opens by path: a file that is swapped for a link between this look and its own is read through it.
    """
    for path in occurrences.documents():
        if not _is_readable(root, path):
            raise SourceUnavailable("stale", f"the index names {path!r}, which is no source file inside the project")
    return occurrences


def _is_readable(root: Path, path: str) -> bool:
    try:
        place = root / path
        info = stat_of(place, below=root)
        if info is None or refusal(info) == "symbolic link":
            place = place.resolve()
            if not place.is_relative_to(root.resolve()):
                return False
            if not place.exists():
                return True  # gone
            info = place.stat()  # a link to another file of the project
        return not refusal(info) and info.st_size <= MAX_SOURCE_BYTES
    except (OSError, ValueError, RuntimeError):  # a loop of links, a name that is none
        return False
