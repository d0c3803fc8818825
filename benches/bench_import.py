"""What it costs to begin: importing the package, the version, a search on a warm index from process start to answer.

Every figure is a process of its own, started from a shell's point of view; a bare interpreter is measured beside them,
in turns, because that is what the machine takes before any of our code runs. Modules are those that a bare interpreter
has not. The novel is the shipped one; its index is made before anything is timed.
"""

import os
import subprocess
import sys
from pathlib import Path

from benches.record import interleaved, record

ROOT = Path(__file__).parents[1]
NOVEL, WORD = "examples/novel", "第十八页"
ROUNDS = 25


def test_import(tmp_path):
    environment = {**os.environ, "ARMARIUS_CACHE": str(tmp_path)}

    def run(*words):
        done = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, check=True, cwd=ROOT, env=environment
        )
        return done.stdout

    def modules(code):
        return len(
            run("-c", f"import sys; before = set(sys.modules)\n{code}\nprint(*(set(sys.modules) - before))").split()
        )

    search = ("-m", "armarius", "search", NOVEL, WORD)
    assert WORD in run(*search)
    assert run("-m", "armarius", "--version").startswith("armarius ")
    contestants = {
        "bare interpreter": lambda: run("-c", "pass"),
        "import armarius": lambda: run("-c", "import armarius"),
        "armarius --version": lambda: run("-m", "armarius", "--version"),
        "armarius search, warm": lambda: run(*search),
        "armarius search --json, warm": lambda: run(*search, "--json"),
    }
    times = interleaved(contestants, rounds=ROUNDS)
    figures = {
        name: {statistic: round(1000 * seconds, 1) for statistic, seconds in measured.items()}
        for name, measured in times.items()
    }
    begun = times["bare interpreter"]["p50"]
    record(
        "import",
        {
            "unit": "milliseconds from process start to exit",
            "rounds": ROUNDS,
            "processes": figures,
            "import armarius beyond the interpreter": round(1000 * (times["import armarius"]["p50"] - begun), 1),
            "modules of import armarius": modules("import armarius"),
            "modules of engine = armarius.open": modules(f"import armarius; armarius.open({NOVEL!r}).close()"),
        },
        peers=("numpy", "apsw", "pydantic", "rich", "platformdirs"),
    )
