"""Resources of a process: created again in a forked child, closed when garbage collected; the C++ locale."""

import _thread
import ctypes
import os
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from armarius.errors import ArmariusError

Thing = TypeVar("Thing")


class PerProcess(Generic[Thing]):
    """One resource per process; `first` is that of the present one.

    A forked child keeps the inherited resource without using or closing it, because the parent may share it.
    """

    def __init__(self, first: Thing) -> None:
        self._process = os.getpid()
        self._thing = first
        self._inherited: list[Thing] = []
        self._locks: dict[int, threading.Lock] = {}  # one per process: an inherited lock may never be released

    def mine(self) -> Thing | None:
        """The resource of this process, or None."""
        return self._thing if self._process == os.getpid() else None

    def here(self, make: Callable[[], Thing]) -> Thing:
        """The resource of this process; created with `make` if there is none.

        Cost: one system call.
        """
        process = os.getpid()
        if self._process == process:
            return self._thing
        with self._locks.setdefault(process, threading.Lock()):
            if self._process != process:
                made = make()
                self._inherited.append(self._thing)
                self._thing, self._process = made, process
            return self._thing


def let_go_unclosed(holder: object, *ends: Callable[[], None]) -> "weakref.finalize[..., Any]":
    """Call `ends`, in order and in a new thread, when `holder` is garbage collected; not at interpreter exit.

    Garbage collection may interrupt a thread that holds the locks which `ends` need, so it only starts a thread. In a
    forked child nothing is called: the resources belong to the parent.

    Args:
        holder: Owner of the resources.
        ends: Functions without a reference to `holder`; each may be called again.
    """
    finalizer = weakref.finalize(holder, _begin, os.getpid(), ends)
    finalizer.atexit = False
    return finalizer


def _begin(process: int, ends: tuple[Callable[[], None], ...]) -> None:
    if process == os.getpid():
        # Not `threading.Thread`: the interrupted thread may hold the locks of that module.
        with suppress(RuntimeError):  # no thread available, or the interpreter exits
            _thread.start_new_thread(_run, (ends,))


def _run(ends: tuple[Callable[[], None], ...]) -> None:
    def close() -> None:
        for end in ends:
            with suppress(ArmariusError, OSError):  # no caller to report to; the next open checks the files
                end()

    threading.Thread(target=close, name="armarius-closer", daemon=True).start()


_LIBRARY = "libstdc++.so.6"
_CLASSIC = "_ZNSt6locale7classicEv"  # std::locale::classic(), which sets it up; shared by all, never freed
_HAS_COLLATE = "_ZSt9has_facetINSt7__cxx117collateIcEEEbRKSt6locale"  # what regular expressions ask for first


def set_up_locale() -> None:
    """Have the system's C++ library set up its default locale; once is enough. Call before USearch is imported.

    Cost: 1 ms the first time, when the library is loaded.
    """
    _classic()


def is_locale_usable() -> bool:
    """Whether the default locale finds what belongs to it; True where that cannot be asked."""
    found = _classic()
    if found is None:
        return True
    library, locale = found
    ask = getattr(library, _HAS_COLLATE, None)
    if ask is None:
        return True
    ask.restype, ask.argtypes = ctypes.c_bool, [ctypes.c_void_p]
    return bool(ask(locale))


def _classic() -> tuple[ctypes.CDLL, int] | None:
    """The library and its default locale; None where there is no such library."""
    if sys.platform != "linux":
        return None
    try:
        library = ctypes.CDLL(_LIBRARY)
        classic = getattr(library, _CLASSIC)
    except (OSError, AttributeError):
        return None
    classic.restype = ctypes.c_void_p
    return library, classic()
