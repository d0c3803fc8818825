"""Many processes over many projects at once: nobody misses what he has just written, nothing is lost."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

WORKER = Path(__file__).with_name("load_worker.py")


@pytest.mark.slow
def test_eight_processes_over_many_projects_miss_and_lose_nothing(server, shared_pool, open_shelf, tenant):
    words = [sys.executable, "-W", "ignore", str(WORKER), server.dsn, tenant]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    processes = [
        subprocess.Popen([*words, who, "40", "30"], stdout=subprocess.PIPE, text=True, env=environment)
        for who in "甲乙丙丁戊己庚辛"
    ]
    told = [json.loads(process.communicate(timeout=300)[0]) for process in processes]
    assert [one["stale"] for one in told] == [0] * 8
    assert [one["failed"] for one in told] == [[]] * 8
    written = defaultdict(set)
    for one in told:
        for project, path in one["acknowledged"]:
            written[project].add(path)
    assert sum(map(len, written.values())) > 100
    shelf = open_shelf()
    for project, paths in written.items():
        assert {row.path for row in shelf.project(project, tenant=tenant).documents()} == paths
        assert shelf.verify(project, tenant=tenant) == []
    times = sorted(second for one in told for second in one["times"])
    print(f"{len(times)} rounds, median {times[len(times) // 2]:.3f} s, p95 {times[len(times) * 95 // 100]:.3f} s")
