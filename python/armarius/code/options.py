"""The table `code` of `armarius.toml`.

[code]
source = "auto"            # auto, scip or ckb
index = "build/index.scip" # a file of the project; default: the cache folder's, then the root's index.scip
timeout_s = 20.0           # for one answer of CKB
max_depth = 5
max_nodes = 200
max_edges = 600

CKB is run over trusted projects only, and only the `armarius.toml` of one may name the program (`ckb = "tools/ckb"`);
else `CKB_BIN`, the user's configuration or the PATH does. What such a project may not say is ignored with a warning.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from armarius.config import CONFIG_NAME, Config
from armarius.errors import ConfigError
from armarius.trust.settings import Permissions

__all__ = ["CodeOptions", "read_options"]


@dataclass(frozen=True, slots=True)
class CodeOptions:
    """Options for building and walking a code graph.

    Attributes:
        source: `scip` reads an index file, `ckb` queries the server, `auto` takes the first available in this order:
            the edges are equal, the file is a hundred times faster.
        index: The index file; None looks for `index.scip` in the cache folder, then in the repository.
        ckb: The CKB program; None looks up `CKB_BIN`, the user's configuration, then the PATH.
        timeout: Seconds for one answer of CKB, and for the lock of the repository.
        max_depth: Maximum depth of a walk.
        max_nodes: Node budget of a walk.
        max_edges: Edge budget of a walk.
        withheld: Why CKB is not run over the folder, for a project that is not trusted; "" when it may be.
    """

    source: Literal["auto", "scip", "ckb"] = "auto"
    index: str | None = None
    ckb: str | None = None
    timeout: float = 20.0
    max_depth: int = 5
    max_nodes: int = 200
    max_edges: int = 600
    withheld: str = ""


_LONGEST_S = 86_400
_KEYS: dict[str, tuple[type, ...]] = {
    "source": (str,),
    "index": (str,),
    "ckb": (str,),
    "timeout_s": (int, float),
    "max_depth": (int,),
    "max_nodes": (int,),
    "max_edges": (int,),
}


def read_options(config: Config, root: Path, *, permissions: Permissions | None = None) -> CodeOptions:
    """The table `code` of a project's configuration.

    Args:
        config: The project's configuration.
        root: The project folder.
        permissions: Permissions of the project; None reads the user's configuration.

    Raises:
        ConfigError: An unknown key or a value of the wrong kind; names file and key.
    """
    found: dict[str, Any] = {}
    for key, value in config.table("code").items():
        if key not in _KEYS:
            raise ConfigError(f"{CONFIG_NAME}: unknown key code.{key}; known: {', '.join(_KEYS)}")
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
            names = " or ".join(kind.__name__ for kind in _KEYS[key])
            raise ConfigError(f"{CONFIG_NAME}: code.{key} must be {names}, got {value!r}")
        most = _LONGEST_S if key == "timeout_s" else float("inf")
        if isinstance(value, int | float) and not 0 < value <= most:
            upto = f" and <= {most:,}" if key == "timeout_s" else ""
            raise ConfigError(f"{CONFIG_NAME}: code.{key} must be > 0{upto}, got {value!r}")
        found[key.removesuffix("_s")] = value
    if found.get("source", "auto") not in ("auto", "scip", "ckb"):
        raise ConfigError(f"{CONFIG_NAME}: code.source must be auto, scip or ckb, got {found['source']!r}")
    permissions = Permissions.of(root) if permissions is None else permissions
    heeded = permissions.heeded(config).table("code")
    index, ckb = heeded.get("index"), heeded.get("ckb")
    found["index"] = None if index is None else str(permissions.place("code.index", index))
    found["ckb"] = permissions.ckb(ckb) if ckb else None
    return CodeOptions(**found, withheld=permissions.to_run_ckb())
