"""What a slow test ran, kept in `benches/results/reliability.json` for the table of docs/reliability.md.

A test says how much it ran with pytest's own `record_property`: `count` (1 when it says nothing) and, before it fails,
`failures`. Seconds, memory, outcome, version and date are added here. `scripts/write_reliability.py` writes the table.
"""

import datetime
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import armarius

RESULTS = Path(__file__).resolve().parents[1] / "benches" / "results" / "reliability.json"


def forget_peak() -> None:
    """Let the memory that `record` gives be that of what runs from now on."""
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5", "ascii")


def record(
    name: str, properties: Mapping[str, object], *, passed: bool, seconds: float, results: Path = RESULTS
) -> None:
    """Add what a test ran to the results, in the place of what was there of it.

    Args:
        name: Its node id.
        properties: What it recorded of itself.
        passed: Whether it passed; one that failed without a number of failures has one.
        seconds: Wall time.
        results: The file; others may write it at the same time.
    """
    failures = int(str(properties.get("failures", 0)))
    row = {
        "count": int(str(properties.get("count", 1))),
        "failures": failures if passed else max(1, failures),
        "seconds": round(seconds, 1),
        "megabytes": _peak(),
        "version": armarius.__version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    with results.open("a+", encoding="utf-8") as file:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        rows = {**json.loads(file.read() or "{}"), name: row}
        file.truncate(0)
        file.write(json.dumps(rows, indent=1, sort_keys=True) + "\n")


def _peak() -> int | None:
    """The most memory of this process since `forget_peak`, in MB of resident pages; None where that is not told."""
    if sys.platform != "linux":
        return None
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))
