"""What a shelf keeps of the engines that it lets go: shared by the tests of folders and of servers."""

import gc
import json
import subprocess
import sys
import time
import weakref
from contextlib import contextmanager
from pathlib import Path

VERBS = {
    "assemble": lambda novel: novel.assemble("林默是谁", document="a.md", budget=4000),
    "inspect": lambda novel: novel.inspect("林默是谁", document="a.md", budget=4000),
    "search": lambda novel: novel.search("林默"),
    "retrieve": lambda novel: novel.retrieve("林默"),
    "evidence": lambda novel: novel.evidence("林默"),
    "entities": lambda novel: novel.entities(),
    "documents": lambda novel: novel.documents(),
    "map": lambda novel: novel.map(),
    "mentions": lambda novel: novel.mentions("林默"),
    "active": lambda novel: novel.active(text="林默"),
    "status": lambda novel: novel.status(),
    "codex": lambda novel: (novel.codex.list(), novel.codex.create("石爷爷", type="character")),
    "records": lambda novel: (novel.memories.create("作者爱用短句"), novel.constraints.list(), novel.pins.add("林默")),
}
"""What a host asks, by name."""


@contextmanager
def without_collector():
    """No garbage collection inside: what is freed is freed by its last reference."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def parts_left(novel, ask):
    """The parts of an engine that are still there after it was asked and let go."""
    with without_collector():
        ask(novel)
        parts = novel._parts
        names = ("index", "project", "prompts", "codex")
        left = {name: weakref.ref(getattr(parts, name, None) or parts.project.codex) for name in names}
        left |= {"store": weakref.ref(parts.index.store), "view": weakref.ref(parts.project.view().corpus)}
        del parts
        novel.close()
        end = time.monotonic() + 20  # the store is closed by a thread
        while (kept := [name for name, one in left.items() if one() is not None]) and time.monotonic() < end:
            time.sleep(0.01)
        return kept


def check_sizes(place, evictions, record_property):
    """A process that lets `evictions` engines go is no larger than 1.3 times its `memory` above what it was."""
    words = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("churn.py")), str(place), str(evictions)]
    sizes = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    record_property("count", sizes["evicted"])
    assert sizes["evicted"] >= evictions
    assert sizes["with"] <= sizes["without"] + 1.3 * sizes["memory"], sizes
