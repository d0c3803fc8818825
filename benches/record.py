"""Write one benchmark's figures to `benches/results/NAME.json`, with machine, versions and date.

Shared by every benchmark. Refuses to record an unoptimised build: such figures mislead.
"""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import armarius._core as _core
from armarius import __version__

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, str]:
    """What the figures were measured on; no host name, no path."""
    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf8").splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    return {
        "cpu": model or platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Installed versions of the peers named, "absent" where one is not installed."""
    found = {"armarius": __version__}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found


def interleaved(
    contestants: Mapping[str, Callable[[], object]], *, rounds: int = 30, inner: int = 1
) -> dict[str, dict[str, float]]:
    """Median, p95 and minimum seconds for each contestant, taking turns so that drift hits all alike."""
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            start = time.perf_counter()
            for _ in range(inner):
                run()
            samples[name].append((time.perf_counter() - start) / inner)
    return {name: summary(values) for name, values in samples.items()}


def summary(values: Sequence[float]) -> dict[str, float]:
    """Median, p95 and minimum of a list of seconds."""
    ordered = sorted(values)
    return {
        "p50": statistics.median(ordered),
        "p95": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))],
        "min": ordered[0],
    }


def record(name: str, figures: Mapping[str, Any], *, peers: Sequence[str] = ()) -> Path:
    """Write the figures of one benchmark; the file is overwritten, its history is in git."""
    if not _core.optimised:
        raise RuntimeError("refusing to record figures of an unoptimised build; run `make bench`")
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    document = {
        "name": name,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "versions": versions(peers),
        "figures": figures,
    }
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2, sort_keys=False) + "\n", encoding="utf8")
    return path
