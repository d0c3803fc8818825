"""`python -m tests.processes.soak --minutes M`: one engine at work; memory, open files and threads must stay flat.

A page is edited, a question searched, retrieved and assembled, a rule written and deleted, an engine opened and closed
beside it, over and over. Before that everything that remembers is filled: as many different texts are counted as
the memory of counts holds twice over, every page has had its full length, and the turns themselves have renewed that
memory several times (`WARM`): until then the holes of the heap grow. From then on nothing may: the last fifth of the
time is held against the first (`LEEWAY`), what the process has and, of that, what is in use.
"""

import argparse
import array
import ctypes
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
WARM = 10_000  # turns; they bring some 500 code points each, the memory of counts drops half of its 2.5 million at once
# Pages of a heap; a third of what the memory of counts goes up and down by; a reader more; a timer.
LEEWAY = {"memory": 3_000_000, "in use": 1_500_000, "files": 2, "threads": 1}


class _Heap(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def holes():
    """Bytes of the heap that nobody uses and that the allocator keeps; 0 where it does not say."""
    told = getattr(ctypes.CDLL(None), "mallinfo2", None)  # glibc 2.33 and later
    if told is None:
        return 0
    told.restype = _Heap
    return told().fordblks


def resident():
    """Bytes of memory that this process has now; Linux."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measured():
    memory = resident()
    return {
        "memory": memory,
        "in use": memory - holes(),
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


def filled(engine, warm=WARM):
    """Ask with texts that come once, until whatever remembers has had more than it keeps; then the turns to make.

    numpy keeps seven freed blocks of each size below 1,024 bytes, which an index of pages of all lengths meets in time.
    """
    for size in range(1, 1_024):
        del [np.empty(size, np.uint8) for _ in range(8)][:]
    for number in range(SLIPS // AT_ONCE):
        assert len(engine.assemble(f"{SLIP}{number}", budget=300_000).items) > AT_ONCE
    yield from range(1, warm + 1)


def middle(samples, start, stop):
    return {name: sorted(column[start:stop])[(stop - start) // 2] for name, column in samples.items()}


def run(seconds, warm=WARM, seen=print):
    """Figures of the first and the last fifth, after `warm` turns; raises when something grew."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ARMARIUS_CACHE"] = f"{folder}/cache"
        root = Path(folder, "novel")
        (root / "chapters").mkdir(parents=True)
        (root / "codex.json").write_text('{"entities": [{"id": "bai", "name": "白鹭"}]}', "utf-8")
        samples = {name: array.array("q") for name in LEEWAY}  # numbers alone: a dict a turn would be 7 MB at the end
        turns, number = 0, 0
        with armarius.ContextEngine(root, watch=True, more_fetchers=[Slips()]) as engine:
            at_first = measured()
            for number in filled(engine, warm):
                turn(engine, root, number)
            begun = time.monotonic()
            while time.monotonic() - begun < seconds or turns < 50:
                number, turns = number + 1, turns + 1
                turn(engine, root, number)
                for name, value in measured().items():
                    samples[name].append(value)
            assert engine.index.store.verify() == []
        fifth = turns // 5
        fifths = [middle(samples, at, at + fifth) for at in range(0, 5 * fifth, fifth)]
        warm, end = fifths[0], fifths[-1]
        course = {name: [one[name] for one in fifths] for name in ("memory", "in use")}
        figures = {"turns": turns, "seconds": round(seconds), "opened": at_first, "warm": warm, "end": end}
        seen(json.dumps({**figures, "by fifths": course}))
        for name, more in LEEWAY.items():
            assert end[name] <= warm[name] + more, (name, figures)
        return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.processes.soak")
    parser.add_argument("--minutes", type=float, default=20, help="after the first turns")
    parser.add_argument("--warm", type=int, default=WARM, help=f"first turns; at least {LENGTHS}, for every length")
    given = parser.parse_args()
    run(given.minutes * 60, max(LENGTHS, given.warm))
    sys.exit(0)
