"""What `armarius.toml` may say about code.

[code]
source = "auto"            # auto, scip or ckb
index = "build/index.scip" # relative to the project; default: the cache folder's, then the root's index.scip
ckb = "/opt/ckb"           # default: CKB_BIN, then the PATH
timeout_s = 20.0           # for one answer of CKB
max_depth = 5
max_nodes = 200
max_edges = 600
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from armarius.config import CONFIG_NAME, Config
from armarius.errors import ConfigError

__all__ = ["CodeOptions", "read_options"]


@dataclass(frozen=True, slots=True)
class CodeOptions:
    """How a code graph is made and walked.

    Attributes:
        source: `scip` reads an index file, `ckb` asks the server, `auto` the first that can serve, in this order:
            both give the same edges, the file a hundred times faster.
        index: The index file; None looks for `index.scip` in the cache folder, then in the repository.
        ckb: The CKB program; None looks at `CKB_BIN`, then the PATH.
        timeout: Seconds that CKB may take for one answer, and for another process to free the repository.
        max_depth: Steps that no walk exceeds.
        max_nodes: Node budget of a walk.
        max_edges: Edge budget of a walk.
    """

    source: Literal["auto", "scip", "ckb"] = "auto"
    index: str | None = None
    ckb: str | None = None
    timeout: float = 20.0
    max_depth: int = 5
    max_nodes: int = 200
    max_edges: int = 600


_KEYS: dict[str, tuple[type, ...]] = {
    "source": (str,),
    "index": (str,),
    "ckb": (str,),
    "timeout_s": (int, float),
    "max_depth": (int,),
    "max_nodes": (int,),
    "max_edges": (int,),
}


def read_options(config: Config, root: Path) -> CodeOptions:
    """The table `code` of a project's configuration.

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
        if isinstance(value, int | float) and value <= 0:
            raise ConfigError(f"{CONFIG_NAME}: code.{key} must be > 0, got {value!r}")
        found[key.removesuffix("_s")] = value
    if found.get("source", "auto") not in ("auto", "scip", "ckb"):
        raise ConfigError(f"{CONFIG_NAME}: code.source must be auto, scip or ckb, got {found['source']!r}")
    if "index" in found:
        found["index"] = str(root / found["index"])
    return CodeOptions(**found)
