"""The verdict over one case: what a life in it answered, touched, ran and used, against what may be."""

import contextlib
import ctypes
import os
import re
import resource
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.cases import Case
from tests.hostile.lives import LIVES, Steps
from tests.hostile.place import CANARY, ROWS, Place, describe, differences, forget_reading, read_since, snapshot
from tests.recorded import forget_peak

MEMORY = 1 << 30
"""Bytes that a case may add to what the process had before it."""

_ADDRESS_SPACE = 4 << 30  # of threads and libraries much is reserved and never used
_PROGRAMS = {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.fork", "os.forkpty"}
_NETWORK = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind", "socket.sendto"}
_ASKED_FOR = {"open", "os.rename", "os.mkdir", "os.link", "os.symlink", "sqlite3.connect"}
_MAY_WRITE = ("graph.path",)
"""Cases that name a folder of the project to write into."""

_DRAFT = re.compile(r"\.?[\w.-]+[.-][0-9a-z_]{6,}\.(tmp|part|usearch)")  # a random name, made exclusively

_listeners: list[Callable[[str, tuple[Any, ...]], None]] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    for listener in _listeners:
        listener(event, arguments)


sys.addaudithook(_hear)  # can never be taken away again


def judge(case: Case, place: Place, output: Callable[[], str], live: Callable[..., object] | None = None) -> list[str]:
    """Let a life happen in `place`, which is built, and say what it did wrong.

    Args:
        case: What happens.
        place: Where.
        output: Everything that was printed since it was last called.
        live: Instead of the case's life.
    """
    with _user_of(place, case, faults := []):
        if case.prior:
            LIVES["innocent"](place, Steps(), case.setting)
    case.sabotage(place)
    inside = (place.cache, place.temporary, *([place.shared] if case.setting == "shared" else []))
    kept = describe(place.path(case.keeps)) if case.keeps else ()
    own, before = _of_the_writer(place, case), snapshot(place.base, (*inside, place.project))
    theirs = [path for path in before if path != place.base and place.marks not in (path, *path.parents)]
    theirs = forget_reading(theirs)
    base_memory = _memory("VmRSS")
    step = Steps()
    output()
    with _user_of(place, case, faults), contextlib.ExitStack() as stack:
        if case.swap is not None and case.swap.flickers:
            stack.enter_context(case.swap.flickering(place))
        elif case.swap is not None:
            seen = case.swap.watcher(place)
            stack.enter_context(_listening(lambda event, names: event in _ASKED_FOR and [*map(seen, names[:2])]))
        (live or LIVES[case.life])(place, step, case.setting)
    faults += step.faults
    read = read_since(theirs)
    if case.swap is not None and case.swap.flickers:  # watchdog walks by name: docs/reliability.md, "not guaranteed"
        read = [path for path in read if not path.is_dir()]
    faults += [f"read {path}" for path in read]
    faults += [f"outside: {what}" for what in differences(before, snapshot(place.base, (*inside, place.project)))]
    changes = differences(own, _of_the_writer(place, case))
    if any(key in f"{case.group} {case.kind}" for key in _MAY_WRITE):
        changes = [what for what in changes if not what.startswith("made ")]
    faults += [f"the writer's own: {what}" for what in changes]
    if case.keeps and describe(place.path(case.keeps)) != kept:
        faults.append(f"somebody else's {case.keeps} was changed or deleted")
    if (grown := _memory("VmHWM") - base_memory) > MEMORY:
        faults.append(f"memory: {grown >> 20} MiB")
    if case.quiet:
        faults += [f"{name}: {what}" for name, what in step.errors.items() if name not in case.may_fail]
        if (
            case.life == "api"
            and not live
            and not case.swap
            and case.group != "chapters"
            and "search" not in step.found
        ):
            faults.append("search: does not find what stands in an untouched chapter")
    printed = output()
    signs = (CANARY, "Traceback (most recent call last)", "this should not happen")
    return faults + [f"printed {sign!r}" for sign in signs if sign in printed]


def strays(case: Case, place: Place) -> list[str]:
    """Files that an innocent life reads, makes or opens and for which there are no cases.

    Documents stand for each other, and the text search reads every file that is not hidden.
    """
    known = set()
    for row in ROWS["targets"]:
        with contextlib.suppress(StopIteration):  # there only with another setting
            known.add(place.path(row["path"]))
    paths = [path for path in snapshot(place.base) if {place.project, place.cache, place.shared} & {*path.parents}]
    names: set[str] = set()

    def listen(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _ASKED_FOR:
            names.update(Path(os.fsdecode(name)).name for name in arguments[:2] if isinstance(name, str | bytes))

    with _user_of(place, case, []), _listening(listen):
        paths = forget_reading(paths)
        LIVES["api"](place, Steps(), case.setting)
        touched = {*read_since(paths), *(path for path in snapshot(place.base) if path.name in names)}
    found = []
    for path in sorted(touched - known):
        where, *parts = path.relative_to(place.base).parts or ("",)
        hidden = not parts or parts[0] in ("idx", "models") or any(part.startswith(".") for part in parts)
        if where in ("project", "cache", "shared") and not (where == "project" and not hidden) and not path.is_dir():
            found += [str(path.relative_to(place.base))] if not _DRAFT.fullmatch(path.name) else []
    return found


def _of_the_writer(place: Place, case: Case) -> dict[Path, tuple[object, ...]]:
    """The project but for what the package writes there and what the case itself swaps."""
    without = [place.project / name for name in (".armarius", ".git")]
    if case.swap is not None:
        with contextlib.suppress(StopIteration):
            path = place.path(case.swap.pattern)
            without += [path, *(path.with_name(name) for name in (".kept", ".hostile", f"{path.name}.was"))]
    return snapshot(place.project, tuple(without))


@contextlib.contextmanager
def _user_of(place: Place, case: Case, faults: list[str]) -> Iterator[None]:
    """Be the user of `place`: its home, its working directory, no more rights and memory than anybody has."""

    def listen(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _PROGRAMS:
            faults.append(f"ran a program: {event} {str(arguments[:2])[:200]}")
        elif event in _NETWORK:
            faults.append(f"used the network: {event} {str(arguments[1:])[:200]}")

    def died(hooked: threading.ExceptHookArgs) -> None:
        faults.append(f"a thread died of {hooked.exc_type.__name__}: {hooked.exc_value}")

    with pytest.MonkeyPatch.context() as patch, _as_anybody(), _listening(listen):
        patch.chdir(place.project if case.inside else place.cwd)
        for name in [name for name in os.environ if name.startswith(("XDG_", "ARMARIUS_", "CKB_", "NERVUSDB_"))]:
            patch.delenv(name)
        values = {"HOME": place.home, "ARMARIUS_CACHE": place.cache, "TMPDIR": place.temporary, "PATH": "/usr/bin:/bin"}
        for name, value in values.items():
            patch.setenv(name, str(value))
        patch.setattr(tempfile, "tempdir", None)
        patch.setattr(threading, "excepthook", died)
        yield


@contextlib.contextmanager
def _listening(listener: Callable[[str, tuple[Any, ...]], object]) -> Iterator[None]:
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextlib.contextmanager
def _as_anybody() -> Iterator[None]:
    """Limit the address space; and root, who reads what nobody may read, is a user like others for this thread."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    sets, header = (ctypes.c_uint32 * 6)(), (ctypes.c_uint32 * 2)(0x20080522, 0)
    root = sys.platform == "linux" and os.geteuid() == 0
    if size := _memory("VmSize"):
        resource.setrlimit(resource.RLIMIT_AS, (size + _ADDRESS_SPACE, before[1]))
    if root:
        libc = ctypes.CDLL(None)
        libc.capget(header, sets)
        effective, sets[0] = sets[0], sets[0] & ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.capset(header, sets)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
        if root:
            sets[0] = effective
            libc.capset(header, sets)


def _memory(line: str) -> int:
    """A size of this process in bytes, of `/proc/self/status`; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    if line == "VmRSS":
        forget_peak()
    return int(re.search(rf"{line}:\s*(\d+)", Path("/proc/self/status").read_text())[1]) << 10
