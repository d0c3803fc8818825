"""The code graph from CKB: a server is started, asked for every reference, and stopped again."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from armarius.code.rpc import Disconnected, McpProcess, TimedOut
from armarius.code.source import Reference
from armarius.errors import ConfigError, SourceReason, SourceUnavailable
from armarius.files import remove_file, remove_folder
from armarius.trust.programs import child_path, find_program, named_by_user

__all__ = ["CkbSource", "find_ckb"]

_LITTER_FOLDER = ".ckb"
_LITTER_FILE = ".codecartographer_cache.json"
LIMIT = 100_000  # of every listing: a smaller one truncates without saying how much


def find_ckb(explicit: str | None = None, project: Path | None = None) -> str:
    """The CKB program: `explicit`, else `CKB_BIN`, else the user's configuration, else `ckb` on the PATH.

    A bare name is never one inside of `project`.

    Raises:
        SourceUnavailable: `no_binary`, with what to do.
    """
    try:
        named = ("the configuration", explicit) if explicit else named_by_user("ckb", "CKB_BIN", project=project)
    except ConfigError as error:
        raise SourceUnavailable("no_binary", str(error)) from None
    if named is not None:
        origin, name = named
        if found := find_program(name, project=project):
            return str(Path(found).absolute())
        raise SourceUnavailable("no_binary", f"{origin} names {name!r}, which is no program")
    if found := find_program("ckb", project=project):
        return str(Path(found).absolute())
    raise SourceUnavailable(
        "no_binary", "ckb is neither named by CKB_BIN nor on the PATH: npm install -g @tastehub/ckb (see its licence)"
    )


class CkbSource:
    """CKB's MCP server over one repository; a context manager that owns the process.

    The server is checked before it is believed: it must serve this very folder and have an index. It is restarted
    once when it dies; the second time it is given up. Its own call graph is not used: references are exact, it is not.

    Args:
        root: The repository.
        binary: The CKB program; see `find_ckb`.
        timeout: Seconds for the handshake and for each answer.
        env: Environment variables beside the few that a child needs.

    Raises:
        SourceUnavailable: From `__enter__` and every question.
    """

    name = "ckb"

    def __init__(
        self,
        root: str | Path,
        *,
        binary: str | None = None,
        timeout: float = 20.0,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.root = Path(root).resolve()
        self.binary = find_ckb(binary, self.root)
        self.timeout = timeout
        self.restarts = 0
        self._env = {"CKB_NO_UPDATE_CHECK": "1", "PATH": child_path(self.root), **(env or {})}
        self._litter = [name for name in (_LITTER_FOLDER, _LITTER_FILE) if not os.path.lexists(self.root / name)]
        self._process: McpProcess | None = None

    def __enter__(self) -> Self:
        try:
            self._connect()
        except (Disconnected, TimedOut) as error:
            self._restart(error)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server and remove what it left in a folder that had none of it before."""
        if self._process is not None:
            self._process.close()
            self._process = None
            # What was there before is the user's, a link to nowhere included; what is a link now is nobody's litter.
            with suppress(OSError):
                if _LITTER_FOLDER in self._litter:
                    remove_folder(self.root / _LITTER_FOLDER, below=self.root)
            with suppress(OSError):
                if _LITTER_FILE in self._litter:
                    remove_file(self.root / _LITTER_FILE, below=self.root)

    @property
    def pid(self) -> int | None:
        """Process id of the server, while it runs and the SDK lets it be known."""
        return self._process.pid if self._process else None

    def symbols(self) -> Sequence[str]:
        """Ids of the symbols that the server lists."""
        data = self._ask([("searchSymbols", {"query": "", "limit": LIMIT})])[0]
        listed = data.get("symbols") or []
        return [str(item["stableId"]) for item in listed if str(item.get("stableId", "")).count(" ") >= 4]

    def references(self, symbol: str, /) -> Sequence[Reference]:
        """Every occurrence of `symbol`; () when the server does not know it."""
        return self.references_of([symbol])[0]

    def references_of(self, symbols: Sequence[str], /) -> Sequence[Sequence[Reference]]:
        """Occurrences of each of `symbols`, asked for in one go."""
        answers = self._ask([("findReferences", {"symbolId": symbol, "limit": LIMIT}) for symbol in symbols])
        return [_references(data) for data in answers]

    def _connect(self) -> None:
        self.close()
        args = ["mcp", "--preset=core", "--repo", str(self.root)]
        self._process = McpProcess(self.binary, args, cwd=self.root, env=self._env, timeout=self.timeout)
        answers = self._process.call_many([("getActiveRepo", {}), ("getStatus", {})])
        served = self._data(answers[0])
        path = served.get("path")
        if not path or not _same_folder(path, self.root):
            raise SourceUnavailable("wrong_repo", f"CKB serves {path!r}, not {str(self.root)!r}")
        status = self._data(answers[1])
        scip: dict[str, Any] = next((b for b in status.get("backends") or [] if b.get("id") == "scip"), {})
        if not scip.get("available"):
            details = scip.get("details", "no SCIP backend")
            if (self.root / "index.scip").exists():
                raise SourceUnavailable("crashed", f"CKB cannot read index.scip: {details}")
            raise SourceUnavailable("no_index", f"CKB has no index of the project: {details}")

    def _restart(self, error: Exception) -> None:
        """Once: of two servers that start on one repository, one crashes, and comes up the second time."""
        if self.restarts:
            self._give_up(error)
        self.restarts += 1
        try:
            self._connect()
        except (Disconnected, TimedOut) as again:
            self._give_up(again)
        except BaseException:
            self.close()
            raise

    def _give_up(self, error: Exception) -> NoReturn:
        self.close()
        reason: SourceReason = "timeout" if isinstance(error, TimedOut) else "crashed"
        raise SourceUnavailable(reason, f"CKB failed twice: {error}") from None

    def _ask(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        while True:
            try:
                if self._process is None:
                    self._connect()
                assert self._process is not None
                return [self._data(text) for text in self._process.call_many(calls)]
            except (Disconnected, TimedOut) as error:
                self._restart(error)

    def _data(self, text: str) -> dict[str, Any]:
        """The payload of an answer; errors are inside of it, never flagged outside."""
        try:
            answer = json.loads(text)
            data, error = answer.get("data"), answer.get("error")
        except (ValueError, AttributeError):
            raise SourceUnavailable("crashed", f"CKB answered no JSON object: {text[:200]!r}") from None
        if data is None and "SYMBOL_NOT_FOUND" in str(error):
            return {}
        if not isinstance(data, dict):
            raise SourceUnavailable("crashed", f"CKB answered an error: {error}")
        if data.get("isTruncated") or data.get("truncated"):
            raise SourceUnavailable("crashed", f"CKB truncated a list at {LIMIT}")
        return data


def _references(data: Mapping[str, Any]) -> list[Reference]:
    found = []
    for item in data.get("references") or []:
        at = item["location"]
        one_line = at.get("endLine", at["startLine"]) == at["startLine"]
        end = at.get("endColumn", at["startColumn"]) if one_line else at["startColumn"]
        definition = item.get("kind") == "definition"
        found.append(Reference(at["fileId"], at["startLine"], at["startColumn"], end, definition))
    return found


def _same_folder(path: str, root: Path) -> bool:
    try:
        return Path(path).resolve() == root
    except OSError:
        return False
