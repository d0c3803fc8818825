"""Ctrl-C ends every long call soon and tears nothing; a process ends while work is under way."""

import signal
import subprocess
import sys
import time

import pytest
from tests.clock import Clock
from tests.processes.support import environment

import armarius

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")

# 100 ms are promised. Waiting for a processor does not count; what threads of a busy machine wait for each other does.
SECONDS = 3.0

PREPARE = {
    "walk": """
from armarius.documents.document import walk_files
from armarius.trust.settings import Config
from pathlib import Path
work = lambda: walk_files(Path(root), Config())
""",
    "scan": "work = lambda: armarius.scan(root, '独角兽')",
    "count": """
counter, texts = armarius.TokenCounter.for_encoding('o200k'), ['白鹭来了，又走了。' * 500] * 3000
work = lambda: counter.count_batch(texts)
""",
    "match": """
matcher, texts = armarius.EntityMatcher([{'id': 'a', 'name': '白鹭'}]), ['白鹭来了，又走了。' * 5000] * 3000
work = lambda: matcher.find_packed(texts)
""",
    # First what it imports: an interrupt in the middle of making a dataclass ends CPython with it, caught or not.
    "open": """
import tempfile
with tempfile.TemporaryDirectory() as small:
    armarius.open(small, watch=False).close()
work = lambda: armarius.open(root, watch=False).close()
""",
}
# A shell that runs the tests in the background leaves SIGINT ignored, and so do all that they start.
PROGRAM = """
import os, signal, sys, time, armarius
signal.signal(signal.SIGINT, signal.default_int_handler)
root = sys.argv[1]
{prepare}
print('ready', flush=True)
try:
    while True:
        work()
except KeyboardInterrupt:
    print('ended', flush=True)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Read by every test, written by none: each has a cache of its own."""
    root = tmp_path_factory.mktemp("long") / "novel"
    for number in range(1500):
        page = root / f"part{number % 15}/n{number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"# 题{number}\n\n" + f"白鹭{number}来了，又走了。\n\n" * 20, encoding="utf-8")
    return root


def started(program, root, cache):
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program, str(root)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(ARMARIUS_CACHE=str(cache)), text=True,
    )  # fmt: skip


@pytest.mark.parametrize("call", PREPARE)
def test_ctrl_c_ends_a_long_call_and_leaves_nothing_torn(project, tmp_path, monkeypatch, call):
    cache = tmp_path / "cache"
    child = started(PROGRAM.format(prepare=PREPARE[call]), project, cache)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.4)
        clock = Clock(child.pid)
        child.send_signal(signal.SIGINT)
        ended = child.stdout.readline()
        passed = clock.own_s()
        _, err = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
    assert ended == "ended\n", err
    assert child.returncode == 0, err
    assert passed < SECONDS, f"{passed:.2f} s"
    if call != "open":  # nothing is made, so nothing can be torn
        assert not list(cache.rglob("*.sqlite"))
        return
    monkeypatch.setenv("ARMARIUS_CACHE", str(cache))
    with armarius.open(project, watch=False) as engine:
        assert engine.index.store.verify() == []
        assert len(engine.search("白鹭7来了", limit=99)) == 20


@pytest.mark.parametrize("embedder", ["None", "armarius.embedders.lexical()"])
def test_a_process_ends_while_it_builds_and_embeds(project, tmp_path, monkeypatch, embedder):
    cache = tmp_path / "cache"
    program = (
        "import sys, time, armarius\n"
        f"engine = armarius.open(sys.argv[1], wait=False, embedder={embedder})\n"
        "time.sleep(0.3)\n"  # the index is being built; nothing is closed
    )
    child = started(program, project, cache)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (0, "")
    monkeypatch.setenv("ARMARIUS_CACHE", str(cache))
    with armarius.open(project, watch=False) as engine:
        assert engine.index.store.verify() == []
        assert engine.status().documents == 1500
    assert not list(project.glob("*.tmp"))
