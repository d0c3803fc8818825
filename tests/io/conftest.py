import os
import signal
from pathlib import Path

import pytest

KINDS = ("link", "link to nowhere", "pipe", "folder", "socket", "device")


@pytest.fixture(autouse=True)
def _nothing_hangs():
    """A call that waits for a pipe is interrupted and fails."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def late(*_):
        raise AssertionError("took more than two minutes")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def mine(tmp_path):
    """A file of the user's outside of everything."""
    path = tmp_path / "mine"
    path.write_text("the user's own")
    return path


def plant(path, kind, mine):
    """Put something that is no regular file at `path`; skips where the system has no such thing."""
    import socket

    path.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "link":
            path.symlink_to(mine)
        case "link to nowhere":
            path.symlink_to(mine.with_name("nowhere"))
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
            (path / "kept").write_text("kept")
        case "socket":
            here = Path.cwd()
            os.chdir(path.parent)  # the name of a socket may not be long
            try:
                with socket.socket(socket.AF_UNIX) as server:
                    server.bind(path.name)
            finally:
                os.chdir(here)
        case "device":
            try:
                os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero never ends
            except PermissionError:
                pytest.skip("devices are made by root only")
