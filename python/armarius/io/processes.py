"""Between processes: the lock of a folder's writers; what is made anew after a fork and closed when it is dropped.

The system releases a lock when its holder ends. The C++ locale is set up here, once for a process.
"""

import _thread
import ctypes
import os
import stat
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

from armarius.errors import ArmariusError, ProjectGone, StoreBusy
from armarius.io.files import Folder, Refused, opened_folder
from armarius.io.write import write_error

LOCK_NAME = ".lock"
_RETRY_S = 0.02
_LOCKS = threading.local()  # paths of lock files, of this thread


@contextmanager
def folder_lock(
    folder: Path, *, name: str = LOCK_NAME, timeout: float = 5.0, below: Path | None = None
) -> Iterator[None]:
    """Hold a lock of `folder`, by default that of its writers; the system releases it when the process ends.

    The lock file is made when it is not there, stays behind empty, and is never written to. A thread that holds the
    lock may take it again.

    Args:
        folder: Made when it is not there.
        name: Of the lock file.
        timeout: Seconds to wait for others.
        below: A trusted folder that must be there; see `opened_folder`.

    Raises:
        StoreBusy: Another process holds it for longer than `timeout` seconds.
        ProjectGone: `below` is not there.
        StoreFull: The folder cannot be written, or what lies in the place of the lock is not a regular file.
    """
    locks: set[Path] = vars(_LOCKS).setdefault("paths", set())
    if folder / name in locks:
        yield
        return
    deadline = time.monotonic() + timeout
    lock = None
    while lock is None:
        try:
            with opened_folder(folder, below=below, make=True) as opened:
                lock = acquire(opened, name)
        except OSError as error:
            if below is not None and isinstance(error, FileNotFoundError) and not below.exists():
                raise ProjectGone(f"{folder.name}: not written: the folder {below.name} is gone") from error
            raise write_error(f"{folder.name}/{name}", error, below) from error
        if lock is None:
            if time.monotonic() >= deadline:
                raise StoreBusy(f"{folder.name}: another process has been writing for {timeout:g} s")
            time.sleep(_RETRY_S)
    locks.add(folder / name)
    try:
        yield
    finally:
        locks.discard(folder / name)
        unlock(lock[0])
        os.close(lock[0])


def acquire(folder: Folder, name: str, modes: Iterable[bool] = (True,)) -> tuple[int, bool] | None:
    """Lock a file, made empty when it is not there; None while others hold it.

    Args:
        folder: That it lies in.
        name: Its name.
        modes: What to try: True is exclusively, False shared.

    Returns:
        A descriptor that holds the lock, and how.

    Raises:
        Refused: What lies there is not a regular file.
        OSError: It cannot be made or opened.
    """
    folder.regular(name)
    descriptor = folder.open(name, os.O_RDWR | os.O_CREAT)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):  # put there after the look; opening did not wait
            raise Refused("not a regular file", name)
        exclusive = next((mode for mode in modes if try_lock(descriptor, exclusive=mode)), None)
        if exclusive is not None:
            now = folder.lstat(name)
            if now is not None and (now.st_dev, now.st_ino) == (info.st_dev, info.st_ino):
                return descriptor, exclusive
            unlock(descriptor)  # deleted or replaced meanwhile: others would lock another file
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


if sys.platform == "win32":
    import msvcrt

    _KERNEL = ctypes.WinDLL("kernel32", use_last_error=True)

    def try_lock(descriptor: int, *, exclusive: bool) -> bool:
        """LockFileEx, because `msvcrt.locking` has no shared lock; 32 zero bytes are an OVERLAPPED at offset 0."""
        unlock(descriptor)  # a handle does not convert its lock
        flags = 0x1 | (0x2 if exclusive else 0)  # LOCKFILE_FAIL_IMMEDIATELY, LOCKFILE_EXCLUSIVE_LOCK
        handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
        return bool(_KERNEL.LockFileEx(handle, flags, 0, 1, 0, ctypes.create_string_buffer(32)))

    def unlock(descriptor: int) -> None:
        """Release the lock."""
        handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
        _KERNEL.UnlockFileEx(handle, 0, 1, 0, ctypes.create_string_buffer(32))
else:
    import fcntl

    def try_lock(descriptor: int, *, exclusive: bool) -> bool:
        """`flock`: it belongs to the open file, so that two users in one process exclude each other too."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Release the lock."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)


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

    def current(self) -> Thing | None:
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


def close_abandoned(holder: object, *ends: Callable[[], None]) -> "weakref.finalize[..., Any]":
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
    pair = _classic()
    if pair is None:
        return True
    library, locale = pair
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
