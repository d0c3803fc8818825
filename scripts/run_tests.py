"""Run the Python tests in two processes, one a core: `python scripts/run_tests.py [PYTEST_ARGUMENT...]`.

Half of the folders each, of about the same length; a new folder is in the second half. The first prints as it goes,
the second when it has ended. Exits with 1 when either fails, as pytest alone would. `python -m pytest` runs the same
tests in one process.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIRST = (
    *("assembly", "books", "cli", "code", "codex", "contract", "corpus"),
    *("counting", "docs", "engine", "fetchers", "files", "graph", "index"),
)


def halves() -> tuple[list[str], list[str]]:
    """The test folders and files of each process."""
    tests = ROOT / "tests"
    everything = {path for path in tests.iterdir() if path.is_dir() or path.name.startswith("test_")}
    everything -= {path for path in everything if path.is_dir() and not any(path.rglob("test_*.py"))}
    first = {tests / name for name in FIRST} & everything
    one, other = ([str(path.relative_to(ROOT)) for path in sorted(half)] for half in (first, everything - first))
    return one, other


def main(arguments: list[str]) -> int:
    """Run both halves; the exit status."""
    one, other = ([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *half, *arguments] for half in halves())
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        beside = subprocess.Popen(other, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        failed = subprocess.call(one, cwd=ROOT) != 0
        failed |= beside.wait() != 0
        output.seek(0)
        sys.stdout.write(output.read())
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
