import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.files.conftest import KINDS, plant

from armarius.errors import StoreFull
from armarius.io import (
    Refused,
    create_empty,
    make_folder,
    move_atomic,
    private_folder,
    scratch_folder,
    write_atomic,
)
from armarius.io import write as module
from armarius.io.folder import Folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")


def test_what_was_written_is_there_and_nothing_else(tmp_path):
    path = tmp_path / "project" / ".armarius" / "a.toml"
    (tmp_path / "project").mkdir()
    for data in (b"one", b"", b"three" * 100_000):
        write_atomic(path, data, below=tmp_path / "project")
        assert path.read_bytes() == data
    assert [one.name for one in path.parent.iterdir()] == ["a.toml"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_not_replaced(tmp_path, mine, kind):
    path = tmp_path / "project" / "a.json"
    plant(path, kind, mine)
    before = os.lstat(path)
    with pytest.raises(StoreFull, match=r"^a\.json: not written: (symbolic link|not a regular file)"):
        write_atomic(path, b"new", below=tmp_path / "project")
    assert os.lstat(path).st_ino == before.st_ino
    assert mine.read_text() == "the user's own"
    assert [one.name for one in path.parent.iterdir()] == ["a.json"]


@pytest.mark.parametrize("place", ["one", "one/two", "one/two/three"])
@pytest.mark.parametrize("kind", KINDS[:3])
def test_no_folder_below_the_trusted_one_may_be_a_link(tmp_path, mine, place, kind):
    root, outside = tmp_path / "project", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    plant(root / place, kind, outside)
    for act in (
        lambda: write_atomic(root / place / "a.json", b"new", below=root),
        lambda: make_folder(root / place / "more", below=root),
        lambda: write_atomic(root / "one/two/three/a.json", b"new", below=root),
    ):
        with pytest.raises(StoreFull, match=r"symbolic link|not a folder"):
            act()
    assert list(outside.iterdir()) == []
    assert sorted(one.name for one in tmp_path.iterdir()) == ["mine", "outside", "project"]


def test_the_trusted_folder_itself_may_be_reached_through_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    write_atomic(tmp_path / "home" / "x" / "a", b"1", below=tmp_path / "home")
    assert (tmp_path / "disk" / "x" / "a").read_bytes() == b"1"


@pytest.mark.parametrize("path", ["../a", "x/../../a", "/etc/armarius-was-here"])
def test_a_path_out_of_the_trusted_folder_is_refused(tmp_path, path):
    (tmp_path / "project" / "x").mkdir(parents=True)
    with pytest.raises(StoreFull, match="not a path inside the folder"):
        write_atomic(tmp_path / "project" / path, b"1", below=tmp_path / "project")


def test_a_trusted_folder_that_is_gone_is_not_made_again(tmp_path):
    with pytest.raises(StoreFull, match=r"a\.toml: not written: the folder gone is gone"):
        write_atomic(tmp_path / "gone" / ".armarius" / "a.toml", b"1", below=tmp_path / "gone")
    assert list(tmp_path.iterdir()) == []


def test_the_name_of_a_draft_cannot_be_guessed_and_is_made_exclusively(tmp_path, monkeypatch):
    opened = []
    plain = Folder.open
    monkeypatch.setattr(
        Folder,
        "open",
        lambda self, name, flags, mode=0o666: opened.append((name, flags)) or plain(self, name, flags, mode),
    )
    for _ in range(3):
        write_atomic(tmp_path / "a", b"1")
    assert len({name for name, _ in opened}) == 3
    assert all(flags & os.O_EXCL and flags & os.O_CREAT for _, flags in opened)


def test_a_link_in_the_place_of_the_draft_is_not_followed(tmp_path, mine, monkeypatch):
    monkeypatch.setattr(module.os, "urandom", bytes)
    (tmp_path / ".a.0000000000000000.tmp").symlink_to(mine)
    with pytest.raises(StoreFull):
        write_atomic(tmp_path / "a", b"new")
    assert mine.read_text() == "the user's own"
    assert (tmp_path / ".a.0000000000000000.tmp").is_symlink()


@pytest.mark.parametrize("step", ["fsync", "replace", "write"])
def test_a_failure_at_any_step_leaves_the_old_file_and_no_draft(tmp_path, monkeypatch, step):
    path = tmp_path / "a"
    write_atomic(path, b"old")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    elif step == "replace":
        monkeypatch.setattr(Folder, "replace", full)
    else:
        monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(StoreFull, match="a: not written: No space left on device"):
        write_atomic(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_file_and_folder_are_synced_before_it_returns(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(Path(f"/proc/self/fd/{descriptor}").is_dir()))
    write_atomic(tmp_path / "a", b"1")
    if sys.platform == "linux":
        assert synced == [False, True]


def test_a_folder_swapped_for_a_link_all_the_time_never_leads_outside(tmp_path):
    root, outside = tmp_path / "project", tmp_path / "outside"
    way, away = root / "way", root / "away"
    way.mkdir(parents=True)
    outside.mkdir()
    over = threading.Event()

    def swap():
        while not over.is_set():
            way.rename(away)
            way.symlink_to(outside)
            time.sleep(0)
            way.unlink()
            away.rename(way)
            time.sleep(0)

    written = refused = 0
    with ThreadPoolExecutor(1) as pool:
        swapping = pool.submit(swap)
        end = time.monotonic() + 20
        while time.monotonic() < end and min(written, refused) < 100:
            try:
                write_atomic(way / "a", b"x", below=root, make=False)
                written += 1
            except StoreFull:
                refused += 1
        over.set()
        swapping.result()
    assert list(outside.iterdir()) == []
    assert written
    assert refused


def test_nothing_is_made_where_something_is(tmp_path, mine):
    for kind in ("link", "link to nowhere", "folder", "pipe"):
        path = tmp_path / kind.replace(" ", "-")
        plant(path, kind, mine)
        with pytest.raises((FileExistsError, Refused)):
            create_empty(path)
    os.close(create_empty(tmp_path / "new"))
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "nowhere").exists()


def test_a_finished_file_takes_the_place_of_another_and_of_no_link(tmp_path, mine):
    with scratch_folder(tmp_path / "cache") as scratch:
        assert scratch.stat().st_mode & 0o077 == 0
        for _ in range(2):
            write_atomic(scratch / "done", b"index")
            move_atomic(scratch / "done", tmp_path / "cache" / "index.scip")
        write_atomic(scratch / "done", b"index")
        (tmp_path / "cache" / "link").symlink_to(mine)
        with pytest.raises(StoreFull, match="symbolic link"):
            move_atomic(scratch / "done", tmp_path / "cache" / "link")
    assert sorted(one.name for one in (tmp_path / "cache").iterdir()) == ["index.scip", "link"]
    assert mine.read_text() == "the user's own"


def test_a_temporary_folder_of_somebody_else_is_not_used(tmp_path):
    private_folder(tmp_path / "ours")
    private_folder(tmp_path / "ours")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "ours")
    for name in ("open", "link"):
        with pytest.raises(StoreFull, match=f"{name}: not used"):
            private_folder(tmp_path / name)
