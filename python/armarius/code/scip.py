"""The code graph from an `index.scip`, read directly."""

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import armarius._core as _core
from armarius.code import source as freshness
from armarius.code.source import Reference
from armarius.config import load_config
from armarius.documents.document import walk_files
from armarius.errors import CodeGraphError, SourceUnavailable
from armarius.io import move_atomic, read_file, remove_file, scratch_folder, write_atomic
from armarius.trust.folders import is_trusted, way
from armarius.trust.user_config import child_path, find_program, named_by_user


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

    def symbols(self) -> Sequence[str]:
        """Ids of all symbols, also outside the project, without locals and parameters."""
        return self._occurrences.symbols()

    def references(self, symbol: str, /) -> Sequence[Reference]:
        """Every occurrence of `symbol`; () when unknown. Cost: O(occurrences)."""
        return [
            Reference(found.path, found.line, found.column, found.end_column, found.is_definition)
            for found in self._occurrences.references(symbol)
        ]

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
    if found := find_program(indexer.program, project=root):
        return found
    folders = [Path(tools)] if (tools := os.environ.get(TOOLS_ENV)) and Path(tools).is_absolute() else []
    for folder in (*folders, *([root.absolute()] if is_trusted(root) else [])):
        if found := find_program(indexer.program, path=str(folder / "node_modules" / ".bin")):
            return found
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
        files = {path: freshness.digest(root / path, below=root) for path in occurrences.documents()}
        freshness.write_manifest(cache_dir / "scip-files.json", joined, files)
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
