"""`CodeSource`, the protocol of sources of references; detection of changed files; building a graph."""

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

MAX_SOURCE_BYTES = 32 * 1024 * 1024
_MAX_INDEX_BYTES = 2 * 1024 * 1024 * 1024
_MAX_MANIFEST_BYTES = 256 * 1024 * 1024

Stamp = tuple[int, int, int]  # modification time in ns, size in bytes, inode


def stamp(path: Path, *, below: Path | None = None) -> Stamp | None:
    """File metadata of a file or folder; None when it is gone, a link, or reached through one."""
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
    """Write the hashes of the index and of each indexed file.

    Raises:
        StoreFull: As `write_atomic`.
    """
    held = {"index": digest(index, limit=_MAX_INDEX_BYTES), "files": dict(sorted(files.items()))}
    write_atomic(manifest, json.dumps(held, indent=0).encode("ascii"))


def baseline(
    manifest: Path, index: Path, root: Path, documents: Iterable[str], *, moved: Iterable[str], grown: Iterable[str]
) -> dict[str, str]:
    """Hashes of the files at the time of indexing.

    Read from the manifest if it belongs to this index. Otherwise the current files count as indexed, except those that
    `moved` (text at other places than in the index) and newer ones that have `grown` (definitions missing from the
    index); the result is written as a manifest if there is an index file.
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
        with contextlib.suppress(StoreError):  # an unwritable cache only means hashing again
            write_manifest(manifest, index, files)
    return files


def changed(files: Mapping[str, str], root: Path, seen: dict[str, tuple[Stamp | None, str]]) -> list[str]:
    """Paths of files with other content than indexed, sorted; `seen` avoids hashing unchanged files again.

    Cost: one stat per file, plus reading those with a new stamp.
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
    """A source of a code graph: symbols and their occurrences."""

    @property
    def name(self) -> str:
        """First part of node ids: `ckb`, `scip`."""

    @property
    def root(self) -> Path:
        """The folder that paths are relative to."""

    def symbols(self) -> Sequence[str]:
        """SCIP ids of the project's symbols; parameters and locals may be among them and are ignored."""

    def references(self, symbol: str, /) -> Sequence[Reference]:
        """Every occurrence of `symbol`, with its definition; () for an unknown id."""


@runtime_checkable
class BatchSource(Protocol):
    """A source with a cheaper query for many ids at once."""

    def references_of(self, symbols: Sequence[str], /) -> Sequence[Sequence[Reference]]:
        """One list for each id, in order."""


@runtime_checkable
class _WholeSource(Protocol):
    def occurrences(self) -> _core.Occurrences: ...


def collect(source: CodeSource) -> _core.Occurrences:
    """Query a source for all listed symbols and for ids derived from the results.

    Indexers do not list every symbol (classes without a description, modules under other names); a second round queries
    ids derived from the first.

    Cost: at most two queries per symbol.
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
    """Refuse an index with files outside the project, because its documents are read and quoted.

    Raises:
        SourceUnavailable: `untrusted`; names the path.
    """
    resolved = root.resolve()
    for path in paths:
        if not is_file_within(resolved, path):
            raise SourceUnavailable("untrusted", f"the index describes {path!r}, which is no file of the project")


def build_graph(source: CodeSource) -> _core.CodeGraph:
    """Build the graph of a source.

    A reference in a class header is `inherits`, on an import line `imports`, before an opening bracket `calls`,
    else `refs`; a method with the name of one in the nearest base `overrides` it. The definition that encloses a
    reference is read from the text for Python, from the index for other languages; a guess is marked heuristic.

    Args:
        source: A `CodeSource`; `occurrences()`, if it has that, replaces single queries.

    Raises:
        SourceUnavailable: The source failed, or names a file outside the project.

    Cost: the queries of the source, plus one pass over its files in the core without the GIL.
    """
    occurrences = source.occurrences() if isinstance(source, _WholeSource) else collect(source)
    require_within(occurrences.documents(), source.root)
    return _core.CodeGraph(_checked(occurrences, source.root), source.root)


def _checked(occurrences: _core.Occurrences, root: Path) -> _core.Occurrences:
    """Refuse paths outside the project and special files, which the core would read; missing files are fine.

    The core opens by path, so a file replaced by a link after this check is followed.
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
    except (OSError, ValueError, RuntimeError):  # a loop of links, an invalid name
        return False
