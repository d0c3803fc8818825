"""`CodeSource`, the protocol of sources of references; an `index.scip`, read directly; which files have changed."""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import armarius._core as _core
from armarius.documents.document import walk_files
from armarius.errors import CodeGraphError, SourceUnavailable, StoreError
from armarius.io import move_atomic, open_file, read_file, refusal, remove_file, scratch_folder, stat_of, write_atomic
from armarius.trust.folders import child_path, find_program, is_file_within, is_trusted, named_by_user, way
from armarius.trust.settings import load_config

MAX_SOURCE_BYTES = 32 * 1024 * 1024
_MAX_INDEX_BYTES = 2 * 1024 * 1024 * 1024
_MAX_MANIFEST_BYTES = 256 * 1024 * 1024

Stamp = tuple[int, int, int]  # modification time in ns, size in bytes, inode


def stamp(path: Path, *, below: Path | None = None) -> Stamp | None:
    """File metadata of a file or folder; None when it is gone, a link, or reached through one."""
    info = stat_of(path, below=below)
    if info is None or refusal(info) == "symbolic link":
        return None
    return info.st_mtime_ns, info.st_size, info.st_ino


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
    data = {"index": digest(index, limit=_MAX_INDEX_BYTES), "files": dict(sorted(files.items()))}
    write_atomic(manifest, json.dumps(data, indent=0).encode("ascii"))


def baseline(
    manifest: Path, index: Path, root: Path, documents: Iterable[str], *, moved: Iterable[str], grown: Iterable[str]
) -> dict[str, str]:
    """Hashes of the files at the time of indexing.

    Read from the manifest if it belongs to this index. Otherwise the current files count as indexed, except those that
    `moved` (text at other places than in the index) and newer ones that have `grown` (definitions missing from the
    index); the result is written as a manifest if there is an index file.
    """
    try:
        data = json.loads(read_file(manifest, limit=_MAX_MANIFEST_BYTES))
        if data["index"] and data["index"] == digest(index, limit=_MAX_INDEX_BYTES):
            return {str(path): str(value) for path, value in data["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        data = None  # no manifest, or a damaged one
    made = stamp(index)
    suspicious = set(moved)
    for path in grown:
        now = stamp(root / path, below=root)
        if made is not None and now is not None and now[0] > made[0]:
            suspicious.add(path)
    files = {path: "" if path in suspicious else digest(root / path, below=root) for path in documents}
    if made is not None:
        with suppress(StoreError):  # an unwritable cache only means hashing again
            write_manifest(manifest, index, files)
    return files


def changed(files: Mapping[str, str], root: Path, seen: dict[str, tuple[Stamp | None, str]]) -> list[str]:
    """Paths of files with other content than indexed, sorted; `seen` avoids hashing unchanged files again.

    Cost: one stat per file, plus reading those with a new stamp.
    """
    stale = []
    for path, indexed in files.items():
        now = stamp(root / path, below=root)
        entry = seen.get(path)
        if entry is None or entry[0] != now or now is None:
            entry = (now, digest(root / path, below=root))
            seen[path] = entry
        if entry[1] != indexed or not indexed:
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


def collect(source: CodeSource) -> _core.Occurrences:
    """Query a source for all listed symbols and for ids derived from the results.

    Indexers do not list every symbol (classes without a description, modules under other names); a second round queries
    ids derived from the first.

    Cost: at most two queries per symbol.
    """
    listed = [symbol for symbol in dict.fromkeys(source.symbols()) if _core.is_symbol(symbol)]
    tool = source.name
    rows = _rows(source, listed)
    derived = _check_paths(_core.Occurrences.from_rows(tool, rows), source.root).companions(source.root)
    names = set(listed)
    rows += _rows(source, [symbol for symbol in derived if symbol not in names])
    return _core.Occurrences.from_rows(tool, rows)


def _rows(source: CodeSource, symbols: Sequence[str]) -> list[_core.Occurrence]:
    if isinstance(source, BatchSource):
        answers = source.references_of(symbols)
    else:
        answers = [source.references(symbol) for symbol in symbols]
    return [
        _core.Occurrence(ref.path, symbol, ref.line, ref.column, ref.end_column, ref.is_definition)
        for symbol, references in zip(symbols, answers, strict=True)
        for ref in references
    ]


def build_graph(source: "CodeSource | ScipSource") -> _core.CodeGraph:
    """Build the graph of a source.

    A reference in a class header is `inherits`, on an import line `imports`, before an opening bracket `calls`,
    else `refs`; a method with the name of one in the nearest base `overrides` it. The definition that encloses a
    reference is read from the text for Python, from the index for other languages; a guess is marked heuristic.

    Args:
        source: An index file, or a source that answers queries.

    Raises:
        SourceUnavailable: The source failed, or names a file outside the project.

    Cost: the queries of the source, plus one pass over its files in the core without the GIL.
    """
    occurrences = source.occurrences() if isinstance(source, ScipSource) else collect(source)
    return _core.CodeGraph(_check_paths(occurrences, source.root), source.root)


def _check_paths(occurrences: _core.Occurrences, root: Path) -> _core.Occurrences:
    """Refuse an index with files outside the project, special or large ones: the core reads and prompts quote them.

    Missing files are fine. The core opens by path, so a file replaced by a link after this check is followed.

    Raises:
        SourceUnavailable: `untrusted`, or `stale` for a large file; names the path.
    """
    resolved = root.resolve()
    for path in occurrences.documents():
        if not is_file_within(resolved, path):
            raise SourceUnavailable("untrusted", f"the index describes {path!r}, which is no file of the project")
        with suppress(OSError):  # gone
            if (root / path).stat().st_size > MAX_SOURCE_BYTES:
                raise SourceUnavailable("stale", f"the index describes {path!r}, which is larger than source code")
    return occurrences


class ScipSource:
    """A SCIP index file and the folder it describes.

    Old and typed ranges (schema 0.9) are both understood. The concatenated output of several indexers is one index.

    Args:
        index: The `index.scip`.
        root: The folder that its paths are relative to.

    Raises:
        SourceUnavailable: `no_index` when there is no such file, `crashed` when it is damaged.

    Cost: reads the file once, as a stream; 24 bytes of memory per occurrence.
    """

    name = "scip"

    def __init__(self, index: str | Path, root: str | Path) -> None:
        self.index = Path(index)
        self.root = Path(root)
        if not self.index.is_file():  # opening a pipe would block; links are checked by the caller
            raise SourceUnavailable("no_index", f"{self.index}: no such file, or not a regular one")
        try:
            self._occurrences = _core.Occurrences.open(self.index)
        except OSError as error:
            raise SourceUnavailable("no_index", f"{self.index}: {error.strerror or error}") from None
        except ValueError as error:
            raise SourceUnavailable("crashed", f"the index cannot be read: {error}; build it again") from None

    def occurrences(self) -> _core.Occurrences:
        """All occurrences of all symbols."""
        return self._occurrences


_MAX_BYTES = 2 * 1024 * 1024 * 1024
TOOLS_ENV = "ARMARIUS_TOOLS"  # folder of an npm installation of the indexers


@dataclass(frozen=True, slots=True)
class Indexer:
    """A SCIP indexer: its files, its command line, its installation.

    Attributes:
        program: Its name on the PATH.
        variable: Environment variable that names it instead.
        suffixes: Files that it indexes.
        package: The npm package.
    """

    program: str
    variable: str
    suffixes: frozenset[str]
    package: str

    def arguments(self, name: str, output: Path, environment: Path) -> list[str]:
        """Arguments for a run in the repository's root with a result that depends only on its files."""
        if self.program == "scip-python":
            # a constant version, else every id has the commit; an empty environment, else ids have our packages
            fixed = ["--project-name", name, "--project-version", "_", "--environment", str(environment), "--quiet"]
            return ["index", ".", *fixed, "--output", str(output)]
        return ["index", "--infer-tsconfig", "--no-progress-bar", "--output", str(output)]


INDEXERS = (
    Indexer("scip-python", "SCIP_PYTHON_BIN", frozenset({".py", ".pyi"}), "@sourcegraph/scip-python"),
    Indexer(
        "scip-typescript",
        "SCIP_TYPESCRIPT_BIN",
        frozenset({".ts", ".tsx", ".js", ".jsx", ".mjs"}),
        "@sourcegraph/scip-typescript",
    ),
)


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The result of indexing.

    Attributes:
        index: The index file, or None when no indexer could run.
        ran: Names of the indexers that ran.
        missing: Advice on indexers to install for the remaining files, one line each.
        documents: Number of files in the index.
        symbols: Number of symbols in it.
    """

    index: Path | None
    ran: tuple[str, ...]
    missing: tuple[str, ...]
    documents: int = 0
    symbols: int = 0


def find_indexer(indexer: Indexer, root: Path) -> str | None:
    """The indexer's program: its variable, the user's configuration, the PATH, `ARMARIUS_TOOLS`.

    Last, the repository's own node_modules, if it is trusted.

    Raises:
        ConfigError: The user's configuration is wrong, or a variable holds a relative path.
    """
    if named := named_by_user(indexer.program, indexer.variable, project=root):
        return find_program(named[1], project=root)
    if program := find_program(indexer.program, project=root):
        return program
    folders = [Path(tools)] if (tools := os.environ.get(TOOLS_ENV)) and Path(tools).is_absolute() else []
    for folder in (*folders, *([root.absolute()] if is_trusted(root) else [])):
        if program := find_program(indexer.program, path=str(folder / "node_modules" / ".bin")):
            return program
    return None


def build_index(root: Path, cache_dir: Path, *, timeout: float = 900.0) -> IndexReport:
    """Index a repository with the installed indexers.

    The index is written atomically to `cache_dir/index.scip`, with a manifest of file hashes; nothing stays in the
    repository.

    Args:
        root: The repository.
        cache_dir: See `CodeIndex`.
        timeout: Seconds for each indexer.

    Raises:
        CodeGraphError: An indexer failed; the message is the end of its output.
        StoreFull: The cache folder cannot be written.

    Cost: the run of the indexers; about ten seconds for click.
    """
    root = root.resolve()
    stamps, _ = walk_files(root, load_config(root))
    suffixes = {Path(stamp.path).suffix.lower() for stamp in stamps}
    wanted = [indexer for indexer in INDEXERS if indexer.suffixes & suffixes]
    if not wanted:
        return IndexReport(None, (), (f"{root} has no files that an indexer is for: .py, .ts, .js",))
    ran, missing, parts = [], [], []
    with scratch_folder(cache_dir) as scratch:
        environment = scratch / "environment.json"
        write_atomic(environment, b"[]")
        for indexer in wanted:
            program = find_indexer(indexer, root)
            if program is None:
                kinds = " ".join(sorted(indexer.suffixes & suffixes))
                missing.append(f"{kinds} files need {indexer.program}: npm install -g {indexer.package}")
                continue
            output = scratch / f"{indexer.program}.scip"
            _run(program, indexer.arguments(root.name, output, environment), root, timeout)
            parts.append(output)
            ran.append(indexer.program)
        if not parts:
            return IndexReport(None, (), tuple(missing))
        joined = scratch / "index.scip"
        # concatenated protobuf messages are one message
        write_atomic(joined, b"".join(read_file(part, limit=_MAX_BYTES) for part in parts))
        occurrences = ScipSource(joined, root).occurrences()
        files = {path: digest(root / path, below=root) for path in occurrences.documents()}
        write_manifest(cache_dir / "scip-files.json", joined, files)
        move_atomic(joined, cache_dir / "index.scip")
    return IndexReport(
        cache_dir / "index.scip", tuple(ran), tuple(missing), len(occurrences.documents()), len(occurrences.symbols())
    )


def _run(program: str, arguments: Sequence[str], root: Path, timeout: float) -> None:
    """Run an indexer in the repository and remove files that it writes there (scip-typescript: a tsconfig.json).

    The repository may be untrusted: programs that the indexer starts (node, python) are not resolved there, and Python
    imports nothing from there.
    """
    before = {entry.name for entry in root.iterdir()}
    if not way(root, "tsconfig.json").within and not is_trusted(root):
        raise CodeGraphError(f"tsconfig.json leads out of {root}: an indexer would read or write what is there")
    environment = {**os.environ, "PATH": child_path(root), "PYTHONSAFEPATH": "1"}
    try:
        done = subprocess.run(  # noqa: S603 - a program the user installed, our arguments
            [program, *arguments],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CodeGraphError(f"{program} did not finish within {timeout:g} s") from None
    except OSError as error:
        raise CodeGraphError(f"{program} cannot be started: {error}") from None
    finally:
        for name in {"tsconfig.json", "index.scip"} - before:
            with suppress(OSError):  # a link or a folder was not written by the indexer
                remove_file(root / name, below=root)
    output = Path(arguments[arguments.index("--output") + 1])
    if done.returncode or not output.is_file():
        words = (done.stderr or done.stdout).strip().splitlines()
        raise CodeGraphError(f"{Path(program).name} failed with status {done.returncode}: {' / '.join(words[-3:])}")
