import os
import stat
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.io.conftest import KINDS, plant

from armarius.errors import StoreConflict, StoreFull
from armarius.io import (
    Refused,
    create_empty,
    make_folder,
    move_atomic,
    private_folder,
    rewrite_file,
    scratch_folder,
    write_atomic,
)
from armarius.io import write as module
from armarius.io.files import Folder

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
    made = [(name, flags) for name, flags in opened if flags & os.O_CREAT]
    assert len({name for name, _ in made}) == len(made) == 3
    assert all(flags & os.O_EXCL for _, flags in made)


@pytest.mark.parametrize("mode", [0o600, 0o660, 0o755, 0o444, 0o711])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomic(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


def test_a_draft_of_a_private_file_is_private_while_it_is_written(tmp_path, monkeypatch):
    path, modes = tmp_path / "a", []
    path.write_bytes(b"old")
    path.chmod(0o600)
    plain = os.fsync
    monkeypatch.setattr(os, "fsync", lambda one: modes.append(stat.S_IMODE(os.fstat(one).st_mode)) or plain(one))
    write_atomic(path, b"new")
    assert modes[0] == 0o600


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_that_is_replaced_keeps_its_owner(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 1234, 4321)
    write_atomic(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)


def test_a_file_of_somebody_else_is_replaced_with_what_may_be_kept(tmp_path, monkeypatch):
    asked = []

    def refuse(_, user, group):
        asked.append((user, group))
        raise PermissionError(1, "Operation not permitted")

    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    monkeypatch.setattr(os, "fchown", refuse)
    write_atomic(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)
    assert asked == [(os.geteuid(), path.stat().st_gid), (-1, path.stat().st_gid)]


@pytest.mark.skipif(sys.platform != "linux", reason="extended attributes of Linux")
def test_a_file_that_is_replaced_keeps_its_extended_attributes(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.tag", b"draft")
    except OSError:
        pytest.skip("a file system without extended attributes")
    write_atomic(path, b"new")
    assert os.getxattr(path, "user.tag") == b"draft"


def test_a_file_of_the_users_is_changed_by_what_it_holds_when_it_is_replaced(tmp_path, monkeypatch):
    path, plain, saves = tmp_path / "a", os.fsync, [b"second", b"third"]
    path.write_bytes(b"first")

    def save(descriptor):
        plain(descriptor)
        if saves:  # an editor saves by renaming while the draft is written
            (tmp_path / "b").write_bytes(saves.pop(0))
            (tmp_path / "b").rename(path)

    monkeypatch.setattr(os, "fsync", save)
    rewrite_file(path, lambda data: data + b", and more", limit=99, below=tmp_path)
    assert path.read_bytes() == b"third, and more"
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_a_file_that_is_saved_all_the_time_is_given_up(tmp_path, monkeypatch):
    path, plain = tmp_path / "a", os.fsync
    monkeypatch.setattr(os, "fsync", lambda one: plain(one) or path.write_bytes(os.urandom(8)))
    with pytest.raises(StoreConflict, match="a: changed meanwhile, so nothing was written"):
        rewrite_file(path, lambda data: data + b"more", limit=99, below=tmp_path)
    assert len(path.read_bytes()) == 8
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_a_change_that_changes_nothing_and_one_that_fails_write_nothing(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    before = path.stat()
    rewrite_file(path, bytes, limit=99, below=tmp_path)
    with pytest.raises(ZeroDivisionError):
        rewrite_file(path, lambda _: bytes(1 // 0), limit=99, below=tmp_path)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("why", ["read-only", "it has a second hard link, which would keep the old text"])
def test_a_file_that_the_user_protects_is_refused_with_the_reason(tmp_path, why):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    if why == "read-only":
        path.chmod(0o444)
    else:
        os.link(path, tmp_path / "b")
    with pytest.raises(StoreFull, match=f"^a: not written: {why}$"):
        rewrite_file(path, lambda _: b"new", limit=99, below=tmp_path)
    assert path.read_bytes() == b"old"
    assert not list(tmp_path.glob("*.tmp"))


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
