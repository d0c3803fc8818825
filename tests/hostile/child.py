"""One life in a process of its own, followed to its end."""

import contextlib
import gc
import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

from tests.clock import Clock
from tests.hostile.lives import Tell

_GRACE_S = 0.5
_BETWEEN_S = 10.0  # for what is no step: confining, ending
_LOOK_S = 0.1  # how often it is looked at after its time is up on the wall, when the machine is busy


class Child:
    """A fork of this process that lives and tells how it goes.

    Attributes:
        told: What it told, in order; see `lives.Steps`.
        faults: What is wrong with how it ended: `hangs`, a signal, a process left behind.
        memory: The most that it used at once, in bytes.
        seconds: Of processor time.
    """

    def __init__(self, live: Callable[[Tell], None]) -> None:
        self.told: list[dict[str, Any]] = []
        self.faults: list[str] = []
        self._step, self._limit_s = "the start", _BETWEEN_S
        reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _be_child(live, reading, writing)
        os.close(writing)
        self._clock = Clock(self.pid)
        with os.fdopen(reading, "rb", buffering=0) as stream:
            self._follow(stream)
        _, status, used = os.wait4(self.pid, 0)
        self.memory = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        self.seconds = used.ru_utime + used.ru_stime
        if os.WIFSIGNALED(status) and not self.faults:
            self.faults.append(f"{self._step}: died of {signal.Signals(os.WTERMSIG(status)).name}")
        elif os.WIFEXITED(status) and os.WEXITSTATUS(status):
            self.faults.append(f"{self._step}: ended with status {os.WEXITSTATUS(status)}")
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
            self.faults.append("left a process behind")

    def _follow(self, stream: Any) -> None:
        rest = b""
        while True:
            patience = max(_LOOK_S, self._limit_s - self._clock.own_s())
            if not select.select([stream], [], [], patience)[0]:
                if self._clock.own_s() >= self._limit_s:
                    self.faults.append(f"{self._step}: hangs")
                    os.kill(self.pid, signal.SIGKILL)
                    return
                continue
            data = stream.read(1 << 16)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                told = json.loads(line)
                self.told.append(told)
                if "begins" in told:
                    self._step, self._limit_s = told["begins"], told["limit_s"] + _GRACE_S
                    self._clock = Clock(self.pid)
                elif "ends" in told:
                    self._limit_s, self._clock = _BETWEEN_S, Clock(self.pid)


def _be_child(live: Callable[[Tell], None], reading: int, writing: int) -> None:
    status = 1
    try:
        os.close(reading)
        gc.disable()

        def tell(told: dict[str, Any]) -> None:
            os.write(writing, json.dumps(told).encode() + b"\n")

        live(tell)
        status = 0
    except BaseException:  # the harness itself: seen in the verdict as the status and in the output
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)
