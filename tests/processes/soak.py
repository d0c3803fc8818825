"""`python -m tests.processes.soak --minutes M`: one engine at work; memory, open files and threads must stay flat.

A page is edited, a question searched, retrieved and assembled, a rule written and deleted, an engine opened and closed
beside it, over and over. The first fifth warms up; the last fifth may hold at most a tenth, and 8 MB, more than that.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import armarius

PAGES = 60
PATIENCE = 30.0  # seconds


def resident():
    """Bytes of memory that this process has now; Linux."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measured():
    return {
        "memory": resident(),
        "files": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
    }


def turn(engine, root, number):
    page = root / f"chapters/{number % PAGES:02}.md"
    page.write_text(f"# 第{number % PAGES + 1}章\n\n白鹭第{number}次来。\n\n" + "雨停了。" * (number % 300), "utf-8")
    late = time.monotonic() + PATIENCE
    while not any(hit.path == f"chapters/{page.name}" for hit in engine.search(f"白鹭第{number}次来", limit=50)):
        assert time.monotonic() < late, number  # where the machine is busy, a search may come before the refresh
    engine.retrieve(f"第{number % PAGES + 1}章谁来了")
    pack = engine.assemble("白鹭来了几次", document=f"chapters/{page.name}", budget=3000 + number % 1000)
    assert pack.token_count <= 4000
    rule = engine.constraints.create(f"不可写第{number}次")
    engine.constraints.delete(rule.id)
    if number % 10 == 0:
        with armarius.open(root, watch=False) as other:
            other.search("白鹭")


def run(seconds, seen=print):
    """Figures of the warm-up and of the end; raises when something grew."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ARMARIUS_CACHE"] = f"{folder}/cache"
        root = Path(folder, "novel")
        (root / "chapters").mkdir(parents=True)
        (root / "codex.json").write_text('{"entities": [{"id": "bai", "name": "白鹭"}]}', "utf-8")
        begun, number, warm, last = time.monotonic(), 0, None, []
        with armarius.open(root) as engine:
            while (passed := time.monotonic() - begun) < seconds:
                number += 1
                turn(engine, root, number)
                if warm is None and passed > seconds / 5:
                    warm = measured()
                if passed > seconds * 4 / 5:
                    last.append(measured())
            assert engine.index.store.verify() == []
        end = {name: sorted(one[name] for one in last)[len(last) // 2] for name in warm}
        figures = {"turns": number, "seconds": round(seconds), "warm": warm, "end": end}
        seen(json.dumps(figures))
        assert end["memory"] <= max(warm["memory"] * 1.1, warm["memory"] + 8_000_000), figures
        assert end["files"] <= warm["files"] + 8, figures
        assert end["threads"] <= warm["threads"] + 4, figures
        return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.processes.soak")
    parser.add_argument("--minutes", type=float, default=20)
    run(parser.parse_args().minutes * 60)
    sys.exit(0)
