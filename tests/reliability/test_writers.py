"""Several processes that write into one project: what was acknowledged is there once, and nothing else is."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.index.test_index import equals_folder

import armarius

ROOT = Path(__file__).resolve().parents[2]
NAMES = "甲乙丙丁戊己庚辛"


@pytest.mark.parametrize(("processes", "writes"), [(3, 8), pytest.param(8, 500, marks=pytest.mark.slow)])
def test_what_several_processes_write_is_there_once_and_whole(tmp_path, record_property, processes, writes):
    root = tmp_path / "novel"
    (root / "chapters").mkdir(parents=True)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
        "PYTHONWARNINGS": "ignore",
    }
    program = [sys.executable, "-m", "tests.reliability.writer", str(root)]
    running = [
        subprocess.Popen([*program, name, str(writes)], env=environment, stdout=subprocess.PIPE, text=True)
        for name in NAMES[:processes]
    ]
    said = [json.loads(line) for one in running for line in one.communicate()[0].splitlines()]
    assert [one.returncode for one in running] == [0] * processes
    acknowledged = Counter((kind, name) for kind, name, _ in said)
    record_property("count", acknowledged.total())
    with armarius.open(root, watch=False) as engine:
        found = Counter(("rule", rule.text) for rule in engine.constraints.list())
        found += Counter(("memory", memory.text) for memory in engine.memories.list())
        found += Counter(("entity", entity.name) for entity in engine.codex.list())
        found += Counter(("chapter", row.path) for row in engine.documents())
        record_property("failures", ((found - acknowledged) + (acknowledged - found)).total())
        assert found == acknowledged
        assert acknowledged.total() == len(acknowledged) == processes * writes
        with armarius.open(root, watch=False, index_dir=tmp_path / "fresh") as fresh:
            assert equals_folder(engine.index, fresh.documents())
        for name in NAMES[:processes]:
            assert [hit.path for hit in engine.search(f"独角兽{name}3")][:1] == [f"chapters/{name}-3.md"]
    assert not list(root.rglob("*.tmp"))
