"""A process that has imported the package and used nothing of it; each case lives in a child of it.

    python -m tests.hostile.zygote FOLDER      names of cases on standard input, a verdict for each on standard output

The package is never used here: what has started threads does not survive a fork.
"""

import contextlib
import functools
import gc
import hashlib
import importlib
import inspect
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from tests.hostile.cases import Case, all_cases
from tests.hostile.place import MODELS, Place
from tests.hostile.sentinel import Watch
from tests.hostile.verdict import judge

_MODELS = ("numpy", "onnxruntime", "safetensors.numpy", "tokenizers")


class Zygote:
    """Runs cases below `base`."""

    def __init__(self, base: Path) -> None:
        self._base = Path(os.path.realpath(base))
        self._number = 0
        self._watch = Watch()

    def run(self, name: str) -> dict[str, Any]:
        """The verdict over a case, as `verdict.judge` gives it, and its name."""
        if name.startswith("guilty: "):  # proves that the oracle sees
            case = Case("guilty", name.removeprefix("guilty: "), lambda place: None)
        else:
            case = all_cases()[name]
        self._number += 1
        place = Place(self._base / str(self._number), self._base / "seeds")
        try:
            _prepare(case)
            place.build(case.setting)
            return {"case": name, **judge(case, place, self._watch)}
        except Exception:
            return {"case": name, "faults": [f"the test itself: {traceback.format_exc(limit=-3)}"]}
        finally:
            try:
                place.remove()
            except Exception:
                traceback.print_exc()


@functools.cache
def _imported(names: tuple[str, ...]) -> None:
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def _prepare(case: Case) -> None:
    """Import here what every child would import again."""
    if case.setting in MODELS:
        _imported(_MODELS)
    if case.life == "MCP":
        _imported(("armarius.mcp", "anyio._backends._asyncio", "anyio.abc", "rich.logging"))
    if case.life == "command line":
        _imported(("rich._emoji_codes",))


def warm() -> list[object]:
    """Read tables and import modules once for all children; what is returned is to be kept. Starts no thread."""
    from armarius import cli
    from armarius.text.tokens import TokenCounter

    cli.build_parser()
    hashlib.sha256()
    _imported(("rich.table", "watchdog.observers", "platformdirs.unix", "armarius.index.watcher"))
    _imported(("armarius.store.sqlite.vectors", "encodings.utf_32_le", "encodings.utf_8_sig"))
    counters = [TokenCounter.for_encoding(name) for name in ("o200k_base", "deepseek_v3")]
    for counter in counters:
        counter.count("林默")
    for name, module in sorted(sys.modules.items()):
        for table in list(vars(module).values()) if name.startswith("armarius") else ():
            if isinstance(table, functools._lru_cache_wrapper) and not inspect.signature(table).parameters:
                table()
    gc.collect()
    gc.freeze()
    return [*counters]


def main() -> None:
    """Serve cases until the input ends."""
    zygote = Zygote(Path(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    kept = warm()
    for line in sys.stdin:
        print(json.dumps(zygote.run(line.rstrip("\n"))), file=answers, flush=True)
    del kept


if __name__ == "__main__":
    main()
