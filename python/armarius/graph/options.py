"""The table `graph` of `armarius.toml`.

[graph]
store = "nervusdb"               # "project" (the default): what the files say, and nothing else
path = ".armarius/nervusdb"      # the database, inside the project unless that is trusted
timeout_s = 2.0                  # that a request waits; then KG_UNAVAILABLE and the answer from the files
max_entities = 200               # of one answer; then KG_TRUNCATED

A project cannot choose the program: `NERVUSDB_BIN`, the user's configuration or the PATH does. The program reads and
writes files of the project, so it is run only for trusted projects; otherwise the graph returns the reason.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armarius.config import CONFIG_NAME, Config
from armarius.errors import ConfigError
from armarius.graph.entity_cache import GraphGuard
from armarius.graph.nervusdb import NervusDBGraph
from armarius.graph.protocol import GraphStore
from armarius.trust.settings import Permissions

_KEYS: dict[str, tuple[type, ...]] = {
    "store": (str,),
    "path": (str,),
    "timeout_s": (int, float),
    "max_entities": (int,),
}
_LONGEST_S = 86_400
_PATH = ".armarius/nervusdb"


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """The table `graph`, checked; `store` is None for the project's own graph."""

    store: GraphStore | None = None
    timeout_s: float = 2.0
    max_entities: int = 200

    def guard(self, store: GraphStore) -> GraphGuard:
        """`store` with these limits."""
        return GraphGuard(store, timeout_s=self.timeout_s, max_entities=self.max_entities)


def read_graph_options(config: Config, root: Path | None, *, permissions: Permissions | None = None) -> GraphOptions:
    """The table `graph` of a project's configuration; does not look for a program.

    Args:
        config: The project's configuration.
        root: The project folder, None where there is none.
        permissions: Permissions of the project; None reads the user's configuration.

    Raises:
        ConfigError: An unknown key, a value of the wrong kind, or a database in the folder of a project that has none;
            names file and key.
    """
    table = config.table("graph")
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KEYS:
            raise ConfigError(f"{CONFIG_NAME}: unknown key graph.{key}; known: {', '.join(_KEYS)}")
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
            names = " or ".join(kind.__name__ for kind in _KEYS[key])
            raise ConfigError(f"{CONFIG_NAME}: graph.{key} must be {names}, got {value!r}")
        most = _LONGEST_S if key == "timeout_s" else float("inf")
        if isinstance(value, int | float) and not 0 < value <= most:
            upto = f" and <= {most:,}" if key == "timeout_s" else ""
            raise ConfigError(f"{CONFIG_NAME}: graph.{key} must be > 0{upto}, got {value!r}")
        found[key] = value
    name, path = found.pop("store", "project"), found.pop("path", None)
    if name not in ("project", "nervusdb"):
        raise ConfigError(f"{CONFIG_NAME}: graph.store must be project or nervusdb, got {name!r}")
    if root is None:
        if name == "nervusdb":
            raise ConfigError(f"{CONFIG_NAME}: graph.store is nervusdb, which needs a project folder")
        return GraphOptions(None, **found)
    permissions = Permissions.of(root) if permissions is None else permissions
    heeded = permissions.heeded(config).table("graph")
    path = heeded.get("path")
    where = None if path is None else permissions.place("graph.path", path)
    if where is not None and where.resolve() == root.resolve():
        raise ConfigError(f"{CONFIG_NAME}: graph.path must be a folder of its own, got {path!r}")
    if heeded.get("store", "project") == "project":
        return GraphOptions(None, **found)
    return GraphOptions(NervusDBGraph(where or root / _PATH, project=root), **found)
