"""Find what in the package opens, writes, deletes, starts or connects outside the rooms that may; part of `make lint`.

One writer, one reader, one place that deletes: `python/armarius/io/`. Another file that does one of these things
stands in `ALLOWED` with what it does and why. An entry that nothing needs any more is an error too.

And who takes a name from the flat namespace inside the package: `from armarius import X` loads whatever room X is in,
past the order of the rooms that `lint-imports` holds (pyproject.toml), which cannot see through it.

This reads the syntax tree, not the mind: a call that is put together at run time (`getattr(os, name)`) passes. It keeps
honest code honest.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "armarius"

FILES = frozenset({"read", "write", "delete", "folder"})
ALLOWED: dict[str, tuple[frozenset[str], str]] = {
    "io/files.py": (
        FILES,
        "the room itself: names of an open folder; the reader; zip archives in memory, within limits",
    ),
    "io/write.py": (FILES, "the room itself: the writer, which deletes too; mounts in /proc, for network drives"),
    "store/sqlite/connection.py": (frozenset({"database"}), "SQLite opens the index by path, its place checked before"),
    "cli/starting.py": (frozenset({"read"}), "the example and the completions that the package carries"),
    "studio/changes.py": (frozenset({"write"}), "a temporary folder, for a book that is uploaded"),
    "mcp/server.py": (frozenset({"network"}), "listens where --http says, for the user who started it"),
    "studio/server.py": (frozenset({"network"}), "listens on the loopback address, for the user who started it"),
    "lexicon/__init__.py": (frozenset({"read"}), "the word files that the package carries"),
    "store/sqlite/schema.py": (frozenset({"read"}), "the schema that the package carries"),
    "code/ckb.py": (
        frozenset({"process", "read", "write"}),
        "CKB's server, for one build; its id in /proc; a pipe for what it complains of",
    ),
    "trust/folders.py": (frozenset({"process"}), "ends what another room has started; starts nothing"),
    "code/scip.py": (frozenset({"process"}), "the SCIP indexers, on the user's word"),
    "graph/nervusdb.py": (frozenset({"process"}), "the graph program that the user named, limited in time and output"),
    "cli/prompts.py": (
        frozenset({"process"}),
        "the command that the user typed behind --reword, limited in time and output",
    ),
    "embedders/openai_server.py": (frozenset({"network"}), "a server of embeddings that the caller or the user named"),
    "cli/entry.py": (frozenset({"write"}), "the null device in the place of a standard stream that is gone"),
}
"""Path in the package: what it may do, and why. Locks (`io/processes.py`) are not here: they open by `io/files.py`."""

_OF_MODULES = {
    "os": {
        "read": {"open", "fdopen"},
        "write": {
            "write", "pwrite", "truncate", "ftruncate", "rename", "renames", "replace", "link", "symlink", "mkfifo",
            "mknod", "chmod", "fchmod", "lchmod", "chown", "fchown", "lchown", "utime", "setxattr", "removexattr",
            "copy_file_range", "sendfile",
        },
        "delete": {"remove", "unlink", "rmdir", "removedirs"},
        "folder": {"mkdir", "makedirs"},
        "process": {"system", "popen", "posix_spawn", "posix_spawnp", "fork", "forkpty", "startfile"},
    },
    "shutil": {
        "write": {
            "move", "copy", "copy2", "copyfile", "copyfileobj", "copymode", "copystat", "copytree", "make_archive",
            "unpack_archive", "chown",
        },
        "delete": {"rmtree"},
    },
    "tempfile": {
        "write": {
            "mkstemp", "mkdtemp", "mktemp", "NamedTemporaryFile", "TemporaryDirectory", "TemporaryFile",
            "SpooledTemporaryFile",
        },
    },
    "io": {"read": {"open", "open_code", "FileIO"}},
    "codecs": {"read": {"open"}},
    "mmap": {"write": {"mmap"}},
    "asyncio": {
        "process": {"create_subprocess_exec", "create_subprocess_shell"},
        "network": {"open_connection", "start_server", "open_unix_connection", "start_unix_server"},
    },
    "numpy": {
        "write": {"save", "savez", "savez_compressed", "savetxt", "memmap"},
        "read": {"load", "fromfile", "loadtxt"},
    },
    "logging": {"write": {"FileHandler"}},
}  # fmt: skip
_CALLED = {"apsw.Connection": "database"}  # also the type of an argument, which does nothing
_MODULES = {
    "process": {"subprocess", "multiprocessing", "pty", "mcp.client.stdio"},
    "network": {
        "socket", "socketserver", "ssl", "urllib.request", "urllib3", "http", "ftplib", "smtplib", "telnetlib",
        "xmlrpc", "requests", "httpx", "aiohttp", "websockets", "webbrowser",
    },
    "write": {"zipfile", "tarfile", "shelve", "dbm", "pickle", "fileinput"},
    "database": {"sqlite3"},
}  # fmt: skip
_METHODS = {
    "read": {"read_text", "read_bytes"},
    "write": {"write_text", "write_bytes", "touch", "symlink_to", "hardlink_to", "rename", "chmod", "lchmod", "tofile"},
    "delete": {"unlink", "rmdir"},
    "folder": {"mkdir"},
}
_MODE_LETTERS = frozenset("rwaxbt+U")
_WRITE_FLAGS = frozenset({"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_EXCL", "O_TMPFILE"})


class Finding(NamedTuple):
    """One thing that a file does: where, which kind, and the words it is done with."""

    line: int
    kind: str
    words: str


def findings(source: str) -> list[Finding]:
    """What a source text opens, writes, deletes, starts or connects, in the order of its lines."""
    tree = ast.parse(source)
    names = _imported(tree)
    found = set(_imports(tree))
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found |= {Finding(node.lineno, kind, ast.unparse(node.func)) for kind in _kinds_of(node, names)}
        elif isinstance(node, ast.Name | ast.Attribute) and id(node) not in called:
            # handed on instead of called: `run = os.unlink`, `map(os.remove, paths)`
            found |= {Finding(node.lineno, kind, ast.unparse(node)) for kind in _kinds_of_name(node, names)}
    return sorted(found)


def flat(source: str) -> list[int]:
    """Lines that take a name from the package's own flat namespace, or say where it is from relative to here."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.ImportFrom) and (node.level or node.module == "armarius"))
        or (isinstance(node, ast.Import) and any(_binds_flat(alias) for alias in node.names))
    ]


def _binds_flat(alias: ast.alias) -> bool:
    return alias.name == "armarius" or (alias.name.startswith("armarius.") and not alias.asname)


def check(package: Path = PACKAGE, allowed: dict[str, tuple[frozenset[str], str]] = ALLOWED) -> list[str]:
    """What is wrong with a package, a line each; empty when nothing is."""
    wrong = []
    used: dict[str, set[str]] = {path: set() for path in allowed}
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package).as_posix()
        source = file.read_text("utf-8")
        if path != "__init__.py":
            wrong += [f"{path}:{line}: from armarius import: name the room: armarius.room" for line in flat(source)]
        may = allowed.get(path, (frozenset(), ""))[0]
        for line, kind, words in findings(source):
            if kind in may:
                used[path].add(kind)
            else:
                wrong.append(
                    f"{path}:{line}: {kind}: {words}: goes through armarius.io or, with a reason, into ALLOWED"
                )
    for path, (may, reason) in allowed.items():
        if not reason.strip():
            wrong.append(f"ALLOWED[{path!r}]: no reason")
        if idle := sorted(may - used[path] - (FILES if path.startswith("io/") and used[path] else frozenset())):
            wrong.append(f"ALLOWED[{path!r}]: {', '.join(idle)}: not needed any more")
    return wrong


def _imported(tree: ast.Module) -> dict[str, str]:
    """Local name to the dotted name that was imported."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _imports(tree: ast.Module) -> Iterator[Finding]:
    """Modules that are there for nothing else."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for module in modules:
            for kind, banned in _MODULES.items():
                if any(module == name or module.startswith(f"{name}.") for name in banned):
                    yield Finding(node.lineno, kind, f"import {module}")


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    """The full name of what an expression names: `os.open` for `o.open` after `import os as o`."""
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value, names)
        return f"{head}.{node.attr}" if head else ""
    return names.get(node.id, "") if isinstance(node, ast.Name) else ""


def _kinds_of_name(node: ast.expr, names: dict[str, str]) -> set[str]:
    module, _, function = _dotted(node, names).rpartition(".")
    kinds = {kind for kind, functions in _OF_MODULES.get(module, {}).items() if function in functions}
    if module == "os" and function.startswith(("exec", "spawn")):
        kinds.add("process")
    return kinds


def _kinds_of(call: ast.Call, names: dict[str, str]) -> set[str]:
    function = call.func
    dotted = _dotted(function, names)
    if dotted == "os.open":
        flags = {node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute)}
        plain = "O_RDONLY" in flags and not flags & _WRITE_FLAGS  # flags that are not written out may be any
        return {"read"} if plain else {"write"}
    builtin = isinstance(function, ast.Name) and function.id == "open" and "open" not in names
    if builtin or dotted in ("io.open", "codecs.open", "os.fdopen"):
        return {_opening(call, 1)}
    if dotted in _CALLED:
        return {_CALLED[dotted]}
    if not isinstance(function, ast.Attribute) or dotted.rpartition(".")[0] in _OF_MODULES:
        return _kinds_of_name(function, names)
    kinds = {kind for kind, methods in _METHODS.items() if function.attr in methods}
    if kinds == {"read"} and _is_packaged(function.value, names):
        return set()
    if function.attr == "replace" and len(call.args) == 1 and not call.keywords:
        kinds.add("write")  # of a path: that of a string takes two
    if function.attr == "open":
        mode = _argument(call, 0, "mode")
        if isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set(mode.value) <= _MODE_LETTERS:
            kinds.add(_opening(call, 0))
        elif not call.args and not call.keywords:
            kinds.add("read")
    return kinds


def _opening(call: ast.Call, place: int) -> str:
    """Whether a mode reads or writes; one that is not written out may be anything."""
    mode = _argument(call, place, "mode")
    if mode is None:
        return "read"
    if isinstance(mode, ast.Constant) and isinstance(mode.value, str):
        return "write" if set(mode.value) & set("wax+") else "read"
    return "write"


def _argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return named if named is not None else call.args[place] if len(call.args) > place else None


def _is_packaged(node: ast.expr, names: dict[str, str]) -> bool:
    """Whether a path begins with `importlib.resources.files(...)`: data of the package itself."""
    while True:
        if isinstance(node, ast.Call):
            if _dotted(node.func, names) == "importlib.resources.files":
                return True
            node = node.func
        elif isinstance(node, ast.Attribute):
            node = node.value
        elif isinstance(node, ast.BinOp):
            node = node.left
        else:
            return False


if __name__ == "__main__":
    problems = check()
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(1 if problems else 0)
