import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.io.conftest import KINDS, plant

from armarius.errors import StoreBusy, StoreFull
from armarius.io import folder_lock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_no_lock_and_nothing_waits_for_it(tmp_path, mine, kind):
    plant(tmp_path / "project" / ".armarius" / ".lock", kind, mine)
    with (
        pytest.raises(StoreFull, match=r"\.armarius/\.lock: not written: (symbolic link|not a regular file)"),
        folder_lock(tmp_path / "project" / ".armarius", below=tmp_path / "project"),
    ):
        pass
    assert mine.read_text() == "the user's own"
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_is_a_link_is_not_locked(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "project" / ".armarius").symlink_to(tmp_path / "outside")
    with (
        pytest.raises(StoreFull, match="symbolic link"),
        folder_lock(tmp_path / "project" / ".armarius", below=tmp_path / "project"),
    ):
        pass
    assert list((tmp_path / "outside").iterdir()) == []


def taken_by_another(folder, timeout):
    """Take the lock of a folder in another thread."""

    def take():
        with folder_lock(folder, timeout=timeout):
            pass

    with ThreadPoolExecutor(1) as pool:
        pool.submit(take).result()


def test_a_lock_is_held_by_one_at_a_time_and_is_never_written_to(tmp_path, mine):
    os.link(mine, tmp_path / ".lock")  # even where it is another name of a file of the user's
    with folder_lock(tmp_path):
        with pytest.raises(StoreBusy, match=r"another process has been writing for 0\.1 s"):
            taken_by_another(tmp_path, 0.1)
        with folder_lock(tmp_path, name="other.lock", timeout=0):
            pass
        with folder_lock(tmp_path, timeout=0):  # the same thread
            pass
        with pytest.raises(StoreBusy):
            taken_by_another(tmp_path, 0)
    with folder_lock(tmp_path, timeout=0):
        pass
    assert mine.read_text() == "the user's own"


def test_a_lock_file_deleted_by_its_waiter_admits_no_second_holder(tmp_path):
    """A waiter that gets the lock of a deleted file takes the one that is there now."""
    inside, most = [], []

    def work():
        for _ in range(50):
            with folder_lock(tmp_path, timeout=20):
                inside.append(1)
                most.append(len(inside))
                (tmp_path / ".lock").unlink(missing_ok=True) if len(most) % 5 == 0 else None
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 200


def test_locks_leave_no_descriptor_open(tmp_path):
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        pytest.skip("needs /proc")
    before = len(list(folder.iterdir()))
    for _ in range(20):
        with folder_lock(tmp_path), pytest.raises(StoreBusy):
            taken_by_another(tmp_path, 0)
    assert len(list(folder.iterdir())) == before
