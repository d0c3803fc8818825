"""`python -m tests.processes.soak --minutes M`: one engine at work; memory, open files and threads must stay flat.

A page is edited, a question searched, retrieved and assembled, a rule written and deleted, an engine opened and closed
beside it, over and over. Before that everything that remembers is filled: as many different texts are counted as
the memory of counts holds twice over, and every page has had its full length. From then on nothing may grow: the last
fifth of the time is held against the first (`LEEWAY`).
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import armarius

PAGES = 60
PATIENCE = 30.0  # seconds
LENGTHS = 300  # of a page; after as many turns it has had each
SLIPS, AT_ONCE = 30_000, 500  # texts that are counted to fill the memory of counts: half as much again as it holds
SLIP = "纸条"
LEEWAY = {"memory": 3_000_000, "files": 2, "threads": 1}  # pages of a heap, a reader more, a timer


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
    page.write_text(
        f"# 第{number % PAGES + 1}章\n\n白鹭第{number}次来。\n\n" + "雨停了。" * (number % LENGTHS), "utf-8"
    )
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


class Slips:
    """Texts that come but once, up to 400 code points, for whoever asks for them."""

    name, layer = "slips", "retrieved"

    def fetch(self, request):
        if not request.query.startswith(SLIP):
            return armarius.Fetched()
        return armarius.Fetched(tuple(self._slip(f"{request.query}之{number}", number) for number in range(AT_ONCE)))

    def _slip(self, name, number):
        return armarius.Candidate(name, "retrieved", "slip", f"{name}：" + "雨停了。" * (number % 100))


def filled(engine):
    """Ask with texts that come once, until whatever remembers has had more than it keeps; then the turns to make.

    numpy keeps seven freed blocks of each size below 1,024 bytes, which an index of pages of all lengths meets in time.
    """
    for size in range(1, 1_024):
        del [np.empty(size, np.uint8) for _ in range(8)][:]
    for number in range(SLIPS // AT_ONCE):
        assert len(engine.assemble(f"{SLIP}{number}", budget=300_000).items) > AT_ONCE
    for number in range(1, LENGTHS + 1):
        yield number


def middle(samples):
    return {name: sorted(one[name] for one in samples)[len(samples) // 2] for name in LEEWAY}


def run(seconds, seen=print):
    """Figures of the first and the last fifth; raises when something grew."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ARMARIUS_CACHE"] = f"{folder}/cache"
        root = Path(folder, "novel")
        (root / "chapters").mkdir(parents=True)
        (root / "codex.json").write_text('{"entities": [{"id": "bai", "name": "白鹭"}]}', "utf-8")
        samples, number = [], 0
        with armarius.ContextEngine(root, watch=True, more_fetchers=[Slips()]) as engine:
            at_first = measured()
            for number in filled(engine):
                turn(engine, root, number)
            begun = time.monotonic()
            while time.monotonic() - begun < seconds or len(samples) < 50:
                number += 1
                turn(engine, root, number)
                samples.append(measured())
            assert engine.index.store.verify() == []
        fifth = len(samples) // 5
        warm, end = middle(samples[:fifth]), middle(samples[-fifth:])
        course = [middle(samples[at : at + fifth])["memory"] for at in range(0, 5 * fifth, fifth)]
        figures = {"turns": len(samples), "seconds": round(seconds), "opened": at_first, "warm": warm, "end": end}
        seen(json.dumps({**figures, "memory by fifths": course}))
        for name, more in LEEWAY.items():
            assert end[name] <= warm[name] + more, (name, figures)
        return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.processes.soak")
    parser.add_argument("--minutes", type=float, default=20)
    run(parser.parse_args().minutes * 60)
    sys.exit(0)
