"""What nobody closed and nobody holds any longer."""

import gc
import sys
import threading
import time
from pathlib import Path

import pytest

import armarius

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts open files by /proc")


def held():
    """Descriptors, instances of inotify, threads."""
    gc.collect()
    files = []
    for one in Path("/proc/self/fd").iterdir():
        try:
            files.append(str(one.readlink()))
        except OSError:
            continue
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("armarius") or not thread.daemon]
    return len(files), files.count("anon_inode:inotify"), len(threads)


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "novel"
    root.mkdir()
    (root / "a.md").write_text("# 第一章\n\n林默走进钟楼。\n", encoding="utf-8")
    return root


def test_thirty_engines_dropped_without_close_give_back_files_threads_and_watches(project):
    for _ in range(2):  # what the first of all makes for the whole process
        armarius.open(project, embedder=armarius.embedders.lexical()).close()
    before = held()
    kept = [armarius.open(project, embedder=armarius.embedders.lexical()) for _ in range(30)]
    most = held()
    assert most[0] >= before[0] + 90, "the test holds nothing"
    assert before[1] + 30 <= most[1] <= before[1] + 46  # of the watchers, and of at most sixteen queues
    assert most[2] == before[2] + 60
    kept.clear()
    end = time.monotonic() + 60
    while any(now > then for now, then in zip(held(), before, strict=True)) and time.monotonic() < end:
        time.sleep(0.1)
    assert all(now <= then for now, then in zip(held(), before, strict=True))
    with armarius.open(project) as engine:
        assert engine.search("钟楼")


def test_a_part_that_is_held_keeps_what_it_needs_open(project):
    index = armarius.open(project).index
    assert armarius.open(project).graph.snapshot() is not None
    gc.collect()
    (project / "b.md").write_text("# 第二章\n\n白鹭来了。\n", encoding="utf-8")
    index.refresh()
    assert [hit.path for hit in index.search("白鹭")] == ["b.md"]
    index.close()


def test_an_engine_dropped_while_it_builds_leaves_a_sound_index(project):
    for number in range(300):
        (project / f"{number}.md").write_text(f"# 第{number}章\n\n独角兽。\n", encoding="utf-8")
    armarius.open(project, wait=False)
    gc.collect()
    with armarius.open(project) as engine:
        assert engine.index.store.verify() == []
        assert len(engine.documents()) == 301
