"""A child process before it lives: where it stands, what it may use, and who listens."""

import contextlib
import ctypes
import os
import resource
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

from tests.hostile.kinds import Swapper
from tests.hostile.place import Place

MEMORY = 1 << 30
"""Bytes that a case may add to what the process had before it."""

_ADDRESS_SPACE = 4 << 30  # of threads and libraries much is reserved and never used
_PROGRAMS = frozenset(
    {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.fork", "os.forkpty"}
)
_NETWORK = frozenset({"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind", "socket.sendto"})
_ASKED_FOR = frozenset({"open", "os.rename", "os.mkdir", "os.link", "os.symlink"})
_OVERRIDES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def confine(place: Place, tell: Callable[[dict[str, Any]], None], *, inside: bool, swapper: Swapper | None) -> None:
    """Make this process the user of `place`: its home, its working directory, no more rights than anybody has."""
    os.setsid()
    output = os.open(place.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, source in ((0, nothing), (1, output), (2, output)):
        os.dup2(source, descriptor)
    os.chdir(place.project if inside else place.cwd)
    for name in [name for name in os.environ if name.startswith(("XDG_", "ARMARIUS_", "CKB_", "NERVUSDB_"))]:
        del os.environ[name]
    os.environ |= {
        "HOME": str(place.home),
        "ARMARIUS_CACHE": str(place.cache),
        "TMPDIR": str(place.temporary),
        "PATH": "/usr/bin:/bin",
    }
    tempfile.tempdir = None
    _give_up_overrides()
    with open("/proc/self/statm") if sys.platform.startswith("linux") else contextlib.nullcontext() as pages:  # noqa: PTH123
        if pages is not None:
            limit = int(pages.read().split()[0]) * resource.getpagesize() + _ADDRESS_SPACE
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    threading.excepthook = lambda hooked: tell(
        {"did": f"a thread died of {hooked.exc_type.__name__}: {hooked.exc_value}"}
    )
    sys.addaudithook(_listener(tell, swapper))


def _listener(
    tell: Callable[[dict[str, Any]], None], swapper: Swapper | None
) -> Callable[[str, tuple[Any, ...]], None]:
    def listen(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _ASKED_FOR:
            if swapper is not None:
                for name in arguments[:2]:
                    swapper.seen(name)
        elif event in _PROGRAMS:
            tell({"did": f"ran a program: {event} {str(arguments[:2])[:200]}"})
        elif event in _NETWORK:
            tell({"did": f"used the network: {event} {str(arguments[1:])[:200]}"})

    return listen


def _give_up_overrides() -> None:
    """Root reads what nobody may read; without these two capabilities it is a user like others."""
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    if libc.capget(header, sets):
        raise OSError(ctypes.get_errno(), "capget")
    for which in range(3):  # effective, permitted, inheritable; the second three are for numbers from 32
        for number in _OVERRIDES:
            sets[which] &= ~(1 << number)
    if libc.capset(header, sets):
        raise OSError(ctypes.get_errno(), "capset")
