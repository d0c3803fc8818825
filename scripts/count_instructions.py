"""Count the instructions of the core's hot paths under valgrind, and compare them with the committed counts.

    count_instructions.py            compare; exit status 1 when a path differs by more than 5 %
    count_instructions.py --record   write benches/results/instructions.json

Each path is a function of `rust/instructions/paths.rs`, run once. Counts depend on the compiler, not on how busy the
machine is: counts of another compiler, processor family, C library or valgrind are shown and not judged, and without
valgrind (Debian: `apt-get install valgrind`) nothing is counted; either is said in one line, with exit status 0. A path
that has become faster by more than 5 % is to be recorded too, or the next change could lose it again unseen.
docs/decisions/0175.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / "benches" / "results" / "instructions.json"
ALLOWED = 0.05
_TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
_PROGRAM = _TARGET / "quick" / f"instructions{'.exe' if os.name == 'nt' else ''}"
Counted: TypeAlias = Mapping[str, int]
"""Instructions, bytes read, answer."""
# One unit of code, not incremental: else what is inlined would change with unrelated lines.
_BUILD = (
    *("cargo", "build", "--quiet", "--profile", "quick", "--bin", "instructions", "--features", "instructions"),
    *("--config", "profile.quick.package.armarius.codegen-units=1"),
)


def main(argv: list[str] | None = None) -> int:
    """Count, then compare or record.

    Args:
        argv: The words of the command line; those of the process when not given.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the counts in place of the committed ones")
    arguments = parser.parse_args(argv)
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        print("instructions: skipped, there is no valgrind (Debian: apt-get install valgrind)")
        return 0
    subprocess.run(_BUILD, check=True, cwd=ROOT, env=os.environ | {"CARGO_INCREMENTAL": "0"})
    counted, where = counts(valgrind), environment(valgrind)
    if arguments.record:
        document = {"name": "instructions", "date": datetime.now(UTC).date().isoformat(), "environment": where}
        RECORDED.write_text(json.dumps(document | {"figures": counted}, indent=2) + "\n", encoding="utf8")
        print(f"instructions: {len(counted)} paths written to {RECORDED.relative_to(ROOT)}")
        return 0
    recorded = json.loads(RECORDED.read_text(encoding="utf8"))
    lines, failures = compared(recorded["figures"], counted)
    print("\n".join(lines))
    other = [f"{key} {where[key]}, recorded with {value}" for key, value in judged(recorded["environment"], where)]
    if other:
        print(f"instructions: not judged, since the counts are of another machine: {'; '.join(other)}")
        return 0
    for failure in failures:
        print(f"instructions: {failure}", file=sys.stderr)
    return 1 if failures else 0


def counts(valgrind: str) -> dict[str, Counted]:
    """Instructions, bytes read and answer of every path, by name."""
    said = subprocess.run([_PROGRAM], check=True, capture_output=True, text=True).stdout
    answers = {name: (int(size), int(answer)) for name, size, answer in map(str.split, said.splitlines())}
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "counted"
        command = [valgrind, "--tool=callgrind", "--quiet", "--compress-strings=no", "--compress-pos=no"]
        command += [f"--callgrind-out-file={output}", str(_PROGRAM)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # A call, and on the line below where it was made and what was done in it.
        called = r"^cfn=instructions::paths::(\w+)\ncalls=1 .*\n\S+ (\d+)$"
        found = re.findall(called, output.read_text(encoding="utf8"), re.MULTILINE)
    instructions = {name: int(count) for name, count in found if int(count)}
    if missing := answers.keys() - instructions.keys():
        raise SystemExit(f"instructions: valgrind did not see {', '.join(sorted(missing))}; were they inlined?")
    return {
        name: {"instructions": instructions[name], "bytes": size, "answer": answer}
        for name, (size, answer) in answers.items()
    }


def compared(recorded: Mapping[str, Counted], counted: Mapping[str, Counted]) -> tuple[list[str], list[str]]:
    """A line for each path, and what is wrong: one more than 5 % off, one with another answer, one that is missing."""
    lines, failures = [], []
    for name in [*recorded, *(name for name in counted if name not in recorded)]:
        before, after = recorded.get(name), counted.get(name)
        if before is None or after is None:
            failures.append(f"{name}: {'not recorded' if before is None else 'no longer counted'}")
            continue
        ratio = after["instructions"] / before["instructions"]
        lines.append(f"{name:16} {after['instructions']:>12,} instructions, {ratio:.3f} of the recorded")
        if (before["bytes"], before["answer"]) != (after["bytes"], after["answer"]):
            failures.append(f"{name}: other input or another answer; --record if that is meant")
        elif ratio > 1 + ALLOWED:
            failures.append(
                f"{name}: {ratio:.3f} of the recorded instructions; --record if that is the price of the change"
            )
        elif ratio < 1 - ALLOWED:
            failures.append(f"{name}: {ratio:.3f} of the recorded instructions; --record, so that it stays so")
    return lines, failures


def judged(recorded: Mapping[str, str], now: Mapping[str, str]) -> list[tuple[str, str]]:
    """What must be the same for counts to be compared, and is not: name, recorded value."""
    return [(key, recorded[key]) for key in ("compiler", "processor", "libc", "valgrind") if recorded[key] != now[key]]


def environment(valgrind: str) -> dict[str, Any]:
    """What counts depend on, as far as it can be asked for."""
    features = Path("/proc/cpuinfo").read_text(encoding="utf8") if Path("/proc/cpuinfo").exists() else ""
    vectors = "avx2" if re.search(r"^flags.*\bavx2\b", features, re.MULTILINE) else "no avx2"
    return {
        "compiler": _said("rustc", "--version"),
        "processor": f"{platform.machine()}, {vectors}",
        "system": platform.system(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "valgrind": _said(valgrind, "--version"),
    }


def _said(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
