"""How long after Ctrl-C a long call ends: from the moment the signal is due to the exception, in twenty trials each.

`python -m pytest benches/bench_interrupts.py -m "" -s`. Milliseconds of the clock: where others use it too, they
are upper bounds.
"""

import os
import signal
import statistics
import tempfile
import time
from pathlib import Path

import pytest
from benches.record import record

import armarius
import armarius._core as core

TRIALS = 20
MEGABYTES = 64
LINE = "白鹭来了，又走了。林小雨说：“今天的雨真大，我们回去罢！” Eva said: it rains.\n"
WORD = "白鹭来了又走了林小雨说今天的雨真大"


class _Due(Exception):
    pass


def _repeated(piece):
    return piece * (MEGABYTES * 1_000_000 // len(piece.encode()))


def _calls(folder):
    """Name -> (a call that takes seconds, seconds after which the signal comes at most)."""
    text, word = _repeated(LINE), _repeated(WORD)
    counter = armarius.TokenCounter.for_encoding("o200k")
    matcher = armarius.EntityMatcher([{"id": "a", "name": "白鹭", "aliases": ["Eva"]}, {"id": "b", "name": "林小雨"}])
    names = [{"id": f"e{i}", "name": f"名{i}字", "aliases": [f"别{i}号{j}" for j in range(9)]} for i in range(50_000)]
    project = Path(folder, "p")
    project.mkdir()
    (project / "a.md").write_text("# 题\n\n" + word[: 10_000_000 // 3], "utf-8")
    small = Path(folder, "s")
    small.mkdir()
    armarius.open(small, watch=False).close()  # everything is imported
    opened = iter(range(10**6))

    def open_line():
        os.environ["ARMARIUS_CACHE"] = str(Path(folder, f"cache{next(opened)}"))
        armarius.open(project, watch=False).close()

    return {
        "count one text": lambda: counter.count(text),
        "count one word": lambda: counter.count(word),
        "count a batch of one": lambda: counter.count_batch([text]),
        "cut one text": lambda: armarius.truncate(text, len(text) // 3, keep="tail", counter=counter),
        "find names in one text": lambda: matcher.find_all(text),
        "index one text": lambda: core.index_tokens([text]),
        "build a matcher of 500,000 names": lambda: armarius.EntityMatcher(names),
        "open a line of 10 MB": open_line,
    }


def _latency(call, after):
    """Milliseconds between the signal and the exception; None when the call was done before."""

    def due(_signal, _frame):
        raise _Due

    before = signal.signal(signal.SIGALRM, due)
    try:
        begun = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, after)
        call()
    except _Due:
        return (time.perf_counter() - begun - after) * 1000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return None


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="POSIX systems have these timers")
def test_signals_end_long_calls(tmp_path):
    """Prints and records median, worst and number of trials per call."""
    figures = {}
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        for name, call in _calls(folder).items():
            begun = time.perf_counter()
            call()
            took = time.perf_counter() - begun
            found = [_latency(call, took * (trial + 1) / (TRIALS + 3)) for trial in range(TRIALS)]
            heard = [one for one in found if one is not None]
            assert heard, name
            figures[name] = {
                "call takes s": round(took, 2),
                "median ms": round(statistics.median(heard), 1),
                "worst ms": round(max(heard), 1),
                "trials": len(heard),
            }
            print(name, figures[name])
    record("interrupts", {"unit": "milliseconds from the signal to the exception", "calls": figures})
