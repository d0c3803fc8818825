"""The C library of a process, made to fail at the n-th call below one folder; `shim.c` says how."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ONCE_EIO, ONCE_FULL, LASTING_EIO, LASTING_FULL = 1, 0, 3, 2
MODES = {
    ONCE_EIO: "EIO once",
    ONCE_FULL: "ENOSPC once",
    LASTING_EIO: "EIO from then on",
    LASTING_FULL: "ENOSPC from then on",
}


def built(folder: Path) -> Path:
    """The shim as a library in `folder`; skips where there is nothing to build it with."""
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("needs Linux and a C compiler")
    library = folder / "shim.so"
    source = Path(__file__).with_name("shim.c")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True, capture_output=True
    )
    return library


class Shim:
    """That of this process, which was started with it preloaded."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(os.environ["LD_PRELOAD"])
        self._library.arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int]
        self._library.disarm.restype = self._library.failed.restype = ctypes.c_long
        self._library.what.restype = ctypes.c_char_p

    def arm(self, folder: Path, at: int, mode: int) -> None:
        """From here on count the calls on files below `folder`, and fail the one of number `at`; -1 fails none."""
        self._library.arm(os.fsencode(f"{folder}/"), at, mode)

    def disarm(self) -> int:
        """Nothing fails any more; how many calls were counted."""
        return int(self._library.disarm())

    def resume(self) -> None:
        """Go on counting after `disarm`."""
        self._library.resume()

    @property
    def what(self) -> str:
        """The first call that failed, "" when none has."""
        return os.fsdecode(self._library.what())
