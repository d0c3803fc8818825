"""Run the Python tests in two processes, one a core: `python scripts/run_tests.py [--record] [PYTEST_ARGUMENT...]`.

Each process has its folders, the same on every machine and in every run: the longest first, each to the process that
has the least to do, by the seconds of `tests/seconds.json`, which `--record` writes anew. A folder that is not in there
counts as one of middle length. The first process prints as it goes, the second when it has ended. Exits with 1 when
either fails, as pytest alone would. `python -m pytest` runs the same tests in one process.
"""

import compileall
import json
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
SECONDS = ROOT / "tests" / "seconds.json"
STUCK_SECONDS = 300
"""A test that takes longer ends its process with the stacks of all threads: a deadlock must not use up CI's time."""


def halves(names: Iterable[str], seconds: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """The folders and files of `tests/` for each process, in order.

    Args:
        names: Of all of them.
        seconds: How long some of them take.
    """
    usual = statistics.median(seconds.values()) if seconds else 1.0
    lengths = {name: seconds.get(name, usual) for name in names}
    found: tuple[list[str], list[str]] = ([], [])
    for name in sorted(lengths, key=lambda name: (-lengths[name], name)):
        min(found, key=lambda half: sum(lengths[one] for one in half)).append(name)
    for half in found:
        half.sort()
    return found


def everything() -> list[str]:
    """Each folder with tests, and each file of tests beside them."""
    found = [path for path in (ROOT / "tests").iterdir() if path.is_dir() or path.name.startswith("test_")]
    return [path.name for path in found if path.is_file() or any(path.rglob("test_*.py"))]


def took(reports: Iterable[Path]) -> dict[str, float]:
    """Seconds of each folder or file, from the reports of pytest."""
    found: Counter[str] = Counter()
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            name = str(case.get("classname")).split(".")[1]
            found[f"{name}.py" if (ROOT / "tests" / f"{name}.py").is_file() else name] += float(case.get("time") or 0)
    return {name: round(found[name], 1) for name in sorted(found)}


def main(arguments: list[str]) -> int:
    """Run both halves; the exit status."""
    # Many tests start programs: where Python is told to write no bytecode, each of them would compile the package anew.
    compileall.compile_dir(ROOT / "python", quiet=1)
    recording = "--record" in arguments
    arguments = [argument for argument in arguments if argument != "--record"]
    seconds = json.loads(SECONDS.read_text(encoding="utf-8")) if SECONDS.exists() else {}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        reports = [Path(folder, f"{number}.xml") for number in range(2)]
        one, other = (
            [
                *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junit-xml={report}"),
                *("-o", f"faulthandler_timeout={STUCK_SECONDS}", "-o", "faulthandler_exit_on_timeout=true"),
                *(f"tests/{name}" for name in half),
                *arguments,
            ]
            for half, report in zip(halves(everything(), seconds), reports, strict=True)
        )
        beside = subprocess.Popen(other, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        failed = subprocess.call(one, cwd=ROOT) != 0
        failed |= beside.wait() != 0
        output.seek(0)
        sys.stdout.write(output.read())
        if recording:
            SECONDS.write_text(json.dumps(took(reports), indent=1) + "\n", encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
