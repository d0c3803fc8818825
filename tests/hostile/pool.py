"""Two zygotes side by side, asked by name; a case that was slow beside others is tried again alone."""

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_TIMES = (": hangs", ": slow, ")


class Zygotes:
    """A context manager; `run` may be called as often as one likes."""

    def __init__(self, count: int = 2) -> None:
        self._base = Path(tempfile.mkdtemp(prefix="hostile-"))
        top = Path(__file__).parents[2]
        self._processes = []
        for number in range(count):
            folder = self._base / str(number)
            folder.mkdir()
            command = [sys.executable, "-W", "ignore", "-m", "tests.hostile.zygote", str(folder)]
            process = subprocess.Popen(
                command,
                cwd=top,
                env=dict(os.environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
            self._processes.append(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            with contextlib.suppress(BrokenPipeError):  # it has ended already
                process.stdin.close()
            process.wait(60)
            process.stdout.close()
        shutil.rmtree(self._base, ignore_errors=True)

    def run(self, names: Iterable[str], *, again: bool = True) -> list[dict[str, Any]]:
        """The verdict over each case, in the order of `names`; with `again`, of a slow one the second."""
        names = list(names)
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        for name in names:
            waiting.put(name)
        verdicts: dict[str, dict[str, Any]] = {}

        def serve(process: subprocess.Popen[str]) -> None:
            while True:
                try:
                    name = waiting.get_nowait()
                except queue.Empty:
                    return
                verdicts[name] = _ask(process, name)

        threads = [threading.Thread(target=serve, args=(process,)) for process in self._processes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name in names if again else ():
            if any(sign in fault for fault in verdicts[name]["faults"] for sign in _TIMES):
                verdicts[name] = _ask(self._processes[0], name)
        return [verdicts[name] for name in names]


def _ask(process: "subprocess.Popen[str]", name: str) -> dict[str, Any]:
    try:
        print(name, file=process.stdin, flush=True)
        line = process.stdout.readline()
    except BrokenPipeError:
        line = ""
    if not line:
        return {"case": name, "faults": ["the test itself: the process that runs the cases has ended"]}
    verdict: dict[str, Any] = json.loads(line)
    return verdict
