"""Long lists opened for the first time and again: an entity of many aliases, many entities, many files, a process each.

Seconds of processor beside those of the clock: on a machine that others use only the first can be compared.
"""

import json
import os
import subprocess
import sys

import pytest
from benches.record import record

# What is opened, and how much of it.
LISTS = {"one entity": 100_000, "entities of ten aliases": 100_000, "files of two paragraphs": 10_000}

_OPEN = """
import json, resource, sys, time
from pathlib import Path
import armarius, armarius.engine

kind, count, root = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
root.mkdir()
(root / "a.md").write_text("# 第一章\\n\\n白鹭来了。顾长明也来了。\\n", "utf-8")
if kind == "one entity":
    entities = [{"id": "bai", "name": "白鹭", "aliases": [f"别名{i}" for i in range(count)]}]
elif kind == "entities of ten aliases":
    entities = [
        {"id": f"e{i}", "name": f"人物{i}", "type": "character", "aliases": [f"别名{i}之{j}" for j in range(10)]}
        for i in range(count)
    ]
else:
    entities = []
    for i in range(count):
        page = root / f"c{i // 1000:03}" / f"n{i}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"# 题{i}\\n\\n白鹭第{i}次来，雨停了。\\n\\n顾长明看见船{i % 977}回港。\\n", "utf-8")
(root / "codex.json").write_text(json.dumps({"entities": entities}, ensure_ascii=False), "utf-8")
wall, processor = time.perf_counter(), time.process_time()
with armarius.open(root, watch=False) as engine:
    took = time.perf_counter() - wall, time.process_time() - processor
    assert len(engine.entities()) == len(entities), kind
    assert engine.status().documents == (count + 1 if not entities else 1), kind
wall, processor = time.perf_counter(), time.process_time()
with armarius.open(root, watch=False) as engine:
    again = time.perf_counter() - wall, time.process_time() - processor
    assert len(engine.entities()) == len(entities), kind
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
seconds = {"seconds": took[0], "processor": took[1], "again, seconds": again[0], "again, processor": again[1]}
print(json.dumps({name: round(value, 2) for name, value in seconds.items()} | {"peak MB": round(peak / 1024)}))
"""


@pytest.mark.parametrize("kind", LISTS)
def test_a_long_list_opens(kind, tmp_path, request):
    """One line of figures; the last of them writes the file."""
    environment = {**os.environ, "ARMARIUS_CACHE": str(tmp_path / "cache"), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", _OPEN, kind, str(LISTS[kind]), str(tmp_path / "p")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    figures = request.config.stash.setdefault(_FIGURES, {})
    figures[f"{LISTS[kind]:,} {kind}"] = json.loads(done.stdout)
    if len(figures) == len(LISTS):
        unit = "seconds to open for the first time, and again in the same process, imports apart"
        record("limits", {"unit": unit, "opened": figures})


_FIGURES = pytest.StashKey[dict[str, dict[str, float]]]()
