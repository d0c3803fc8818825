"""What lies in the place of an index: ours is opened and deleted, everything else is refused and left as it is."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from tests.files.conftest import KINDS, plant

from armarius.errors import ProjectError, StoreBusy, StoreCorrupt, StoreError, StoreFull
from armarius.index.project_index import ProjectIndex
from armarius.io.cache import cache_root
from armarius.store.sqlite import claim as claims
from armarius.store.sqlite.location import Place, place_for
from armarius.store.sqlite.lock import PlaceLock
from armarius.store.sqlite.store import SqliteStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")

SIDES = ("index.sqlite-wal", "index.sqlite-shm", "index.sqlite-journal", "index.seal")


@pytest.fixture(autouse=True)
def _nothing_hangs():
    def late(*_):
        raise AssertionError("took more than twenty seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.md").write_text("# 第一章\n\n白鹭来了。\n", "utf-8")
    return root


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine"
    path.write_text("the user's own")
    return path


def photos(path):
    """A database of another program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE photos (x)")
    connection.close()
    return path.read_bytes()


def snapshot(folder):
    """Every name below a folder with what it is."""
    return {
        str(path.relative_to(folder)): (os.lstat(path).st_ino, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
        if not path.is_fifo()
    }


def answers(root, **where):
    with ProjectIndex.open(root, **where) as index:
        return [hit.path for hit in index.search("白鹭")]


@pytest.mark.parametrize("where", ["idx", ".", "idx/deep", "../app"])
def test_a_database_of_another_program_is_refused_untouched(project, where):
    path = (project / where / "index.sqlite").resolve()
    photos(path)
    before = snapshot(path.parent)
    with pytest.raises(StoreError, match=r"index\.sqlite: not made by this installation, .*delete it by hand"):
        ProjectIndex.open(project, index_dir=where)
    assert snapshot(path.parent) == before
    path.unlink()
    assert answers(project, index_dir=where) == ["a.md"]


@pytest.mark.parametrize("content", [b"", b"x", b"x" * 5000])
def test_any_other_file_is_refused_untouched_an_empty_one_too(project, content):
    (project / "idx").mkdir()
    (project / "idx" / "index.sqlite").write_bytes(content)
    before = snapshot(project)
    with pytest.raises(StoreError, match="not made by this installation"):
        ProjectIndex.open(project, index_dir="idx")
    assert snapshot(project) == before


def test_a_file_that_took_the_inode_of_our_deleted_index_is_not_ours(project):
    """File systems give the number of a deleted file to the next one."""
    index = project / "idx" / "index.sqlite"
    answers(project, index_dir="idx")
    inode = index.stat().st_ino
    for path in index.parent.iterdir():
        path.unlink()
    tried = []
    for number in range(200):
        tried.append(project / f"photos-{number}.sqlite")
        tried[-1].touch()
        if tried[-1].stat().st_ino == inode:
            break
    else:
        pytest.skip("this file system does not use a number again")
    content = photos(tried[-1])
    tried[-1].rename(index)
    assert index.stat().st_ino == inode
    with pytest.raises(StoreError, match="not made by this installation"):
        ProjectIndex.open(project, index_dir="idx")
    assert index.read_bytes() == content


def test_another_programs_database_written_over_ours_is_refused_untouched(project, tmp_path):
    """The same file by its claim: `cp photos.sqlite idx/index.sqlite` keeps inode and attributes."""
    answers(project, index_dir="idx")
    index = project / "idx" / "index.sqlite"
    content = photos(tmp_path / "photos.sqlite")
    index.write_bytes(content)
    with pytest.raises(StoreError, match="not made by this installation"):
        ProjectIndex.open(project, index_dir="idx")
    assert index.read_bytes() == content


def test_an_index_that_grew_since_it_was_sealed_is_rebuilt_without_being_read(project):
    answers(project, index_dir="idx")
    index = project / "idx" / "index.sqlite"
    with index.open("r+b") as file:
        file.truncate(1 << 40)
    assert answers(project, index_dir="idx") == ["a.md"]
    assert index.stat().st_size < 1 << 30


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_second_name_of_the_users_file_beside_the_index_is_not_written_through(project, mine, suffix):
    answers(project, index_dir="idx")
    mine.write_bytes(b"")
    os.link(mine, project / "idx" / f"index.sqlite{suffix}")
    assert answers(project, index_dir="idx") == ["a.md"]
    assert mine.read_bytes() == b""


@pytest.mark.parametrize("suffix", ["", "-journal", "-wal"])
def test_what_is_no_file_in_the_place_of_the_lock_is_named_and_not_waited_for(project, suffix):
    answers(project)
    (lock,) = (cache_root() / "claims").glob("*.lock")
    path = lock.with_name(lock.name + suffix)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises(StoreFull, match=rf"{path.name}: not a regular file in the place of a lock"):
        ProjectIndex.open(project)


@pytest.mark.parametrize(
    ("kept", "damage"),
    [(0, b"\xff\xfe"), (0, b"\0" * 4096), (0, b"x" * 99_999), (16, b""), (18, b"\xff"), (47, b"\xff"), (100, b"\xff")],
    ids=["two bytes", "zeros", "long", "cut", "version", "format", "page"],
)
def test_a_damaged_lock_file_is_made_again(project, kept, damage):
    answers(project)
    (lock,) = (cache_root() / "claims").glob("*.lock")
    sound = lock.read_bytes()
    lock.write_bytes(sound[:kept] + damage + (sound[kept + len(damage) :] if kept > 16 else b""))
    assert answers(project) == ["a.md"]
    with ProjectIndex.open(project), ProjectIndex.open(project) as second:
        assert not second.store._place.lock.alone()  # it is a lock again


def test_a_lock_file_that_is_damaged_while_it_is_held_still_holds(project):
    with ProjectIndex.open(project):
        (lock,) = (cache_root() / "claims").glob("*.lock")
        subprocess.run([sys.executable, "-c", f"open({str(lock)!r}, 'w').write('no database')"], check=True)
        with pytest.raises(StoreBusy):
            ProjectIndex.open(project)
    assert answers(project) == ["a.md"]


def test_without_marks_on_files_the_claim_is_device_and_inode(project, monkeypatch):
    monkeypatch.delattr(os, "setxattr", raising=False)
    monkeypatch.delattr(os, "getxattr", raising=False)
    assert answers(project, index_dir="idx") == ["a.md"]
    index = project / "idx" / "index.sqlite"
    made = index.stat().st_ino
    assert answers(project, index_dir="idx") == ["a.md"]
    assert index.stat().st_ino == made
    photos(project / "other.sqlite")
    (project / "other.sqlite").replace(index)
    with pytest.raises(StoreError, match="not made by this installation"):
        ProjectIndex.open(project, index_dir="idx")


@pytest.mark.parametrize("how", ["copied", "restored", "moved with its folder"])
def test_an_index_that_was_copied_or_moved_is_foreign_until_it_is_deleted_by_hand(project, how):
    answers(project, index_dir="idx")
    index, where = project / "idx" / "index.sqlite", "idx"
    if how == "moved with its folder":
        where = "elsewhere"
        (project / "idx").rename(project / where)
        index = project / where / "index.sqlite"
    else:
        content = index.read_bytes()
        other = project / "idx" / "other"
        other.write_bytes(content)
        other.replace(index)
    with pytest.raises(StoreError, match="copied, moved or restored, delete it by hand"):
        ProjectIndex.open(project, index_dir=where)
    for path in index.parent.iterdir():
        path.unlink()
    assert answers(project, index_dir=where) == ["a.md"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["index.sqlite", *SIDES])
@pytest.mark.parametrize("claimed", [True, False])
def test_what_is_no_regular_file_is_refused_untouched(project, mine, name, kind, claimed):
    if claimed:
        answers(project, index_dir="idx")
        (project / "idx" / name).unlink(missing_ok=True)
    plant(project / "idx" / name, kind, mine)
    before = snapshot(project)
    with pytest.raises(StoreError, match=rf"{name}: (symbolic link|not a regular file) in the place of the index"):
        ProjectIndex.open(project, index_dir="idx")
    assert snapshot(project) == before
    assert mine.read_text() == "the user's own"
    assert not mine.with_name("nowhere").exists()


@pytest.mark.parametrize("name", SIDES)
def test_files_of_that_name_beside_no_index_are_the_users_until_there_was_one(project, name):
    (project / "idx").mkdir()
    (project / "idx" / name).write_bytes(b"of the user")
    with pytest.raises(StoreError, match=f"{name}: not made by this installation"):
        ProjectIndex.open(project, index_dir="idx")
    assert (project / "idx" / name).read_bytes() == b"of the user"
    (project / "idx" / name).unlink()
    answers(project, index_dir="idx")
    (project / "idx" / "index.sqlite").unlink()  # only the index was deleted: what is left beside it was ours
    (project / "idx" / name).write_bytes(b"left over")
    assert answers(project, index_dir="idx") == ["a.md"]


@pytest.mark.parametrize("name", ["index.part", "index.lock", "index.sqlite.tmp", "index.lock-journal", ".lock"])
def test_no_name_that_could_be_guessed_is_opened(project, mine, name):
    (project / "idx").mkdir()
    (project / "idx" / name).symlink_to(mine)
    assert answers(project, index_dir="idx") == ["a.md"]
    assert mine.read_text() == "the user's own"
    assert (project / "idx" / name).is_symlink()


def test_a_folder_on_the_way_that_is_a_link_is_refused(project, tmp_path):
    outside = tmp_path / "outside"
    photos(outside / "index.sqlite")
    (outside / "deep").mkdir()
    (project / "idx").symlink_to(outside)
    before = snapshot(outside)
    for where in ("idx", "idx/deep", "./idx", "x/../idx", project / "idx", str(project / "idx" / "deep")):
        with pytest.raises(StoreFull, match="symbolic link"):
            ProjectIndex.open(project, index_dir=where)
    assert snapshot(outside) == before


def test_a_folder_that_is_a_pipe_or_a_file_is_refused(project):
    os.mkfifo(project / "pipe")
    for where in ("pipe", "a.md", "a.md/deep"):
        with pytest.raises(StoreFull, match="not a folder"):
            ProjectIndex.open(project, index_dir=where)
    with pytest.raises(ProjectError, match=r"index_dir: .* NUL"):
        ProjectIndex.open(project, index_dir="a\0b")


def test_the_caller_may_choose_a_folder_through_a_link_outside_of_the_project(project, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    assert answers(project, index_dir=tmp_path / "link" / "idx") == ["a.md"]
    assert (tmp_path / "disk" / "idx" / "index.sqlite").exists()


def test_damage_to_what_we_claimed_is_repaired_wherever_it_lies(project):
    index = project / "idx" / "index.sqlite"
    assert answers(project, index_dir="idx") == ["a.md"]
    sound = index.read_bytes()
    for damaged in (b"", b"x", sound[:5000], b"\xff" * len(sound), sound[:4096] + b"\xff" * (len(sound) - 4096)):
        index.write_bytes(damaged)  # the same file, other bytes
        assert answers(project, index_dir="idx") == ["a.md"]


def test_a_journal_or_a_log_that_is_not_ours_is_never_played_into_the_index(project):
    """SQLite believes what lies beside a database; whoever can add a file to the project could rewrite the index."""
    index = project / "idx" / "index.sqlite"
    answers(project, index_dir="idx")
    made = index.stat().st_ino
    (project / "idx" / "index.sqlite-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\0" * 1000)
    assert answers(project, index_dir="idx") == ["a.md"]
    assert index.stat().st_ino != made or not (project / "idx" / "index.sqlite-journal").exists()

    forged = project / "forged"
    forged.mkdir()
    writer = apsw.Connection(str(index))
    writer.execute("UPDATE notes SET value = '999' WHERE key = 'generation'")
    (forged / "wal").write_bytes((project / "idx" / "index.sqlite-wal").read_bytes())
    writer.execute("UPDATE notes SET value = '1' WHERE key = 'generation'")
    writer.close()
    (project / "idx" / "index.seal").unlink()
    (forged / "wal").replace(project / "idx" / "index.sqlite-wal")
    with ProjectIndex.open(project, index_dir="idx") as opened:
        assert opened.status().generation < 999
        assert [hit.path for hit in opened.search("白鹭")] == ["a.md"]


KILLED = """
import os, sys
from pathlib import Path
from armarius.store.sqlite import claim
from armarius.store.sqlite import location as place
from armarius.index.project_index import ProjectIndex
step = sys.argv[3]
def die(*_, **__): os.kill(os.getpid(), 9)
if step == "announced": place.create_empty = die
if step == "made": claim.Claim.take = die
if step == "claimed": place.Place.mark_log = die
ProjectIndex.open(sys.argv[1], index_dir=sys.argv[2])
"""


@pytest.mark.parametrize("step", ["announced", "made", "claimed"])
def test_killed_while_making_its_index_the_next_one_needs_no_help(project, step):
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(project), "idx", step]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert answers(project, index_dir="idx") == ["a.md"]


def test_a_foreign_file_after_a_crash_in_the_making_is_still_foreign(project):
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(project), "idx", "announced"]
    subprocess.run(command, check=False)
    content = photos(project / "idx" / "index.sqlite")
    with pytest.raises(StoreError, match="not made by this installation"):
        ProjectIndex.open(project, index_dir="idx")
    assert (project / "idx" / "index.sqlite").read_bytes() == content


def test_a_log_left_by_a_kill_is_ours_and_is_believed(project):
    script = (
        "import os, sys; from armarius.index.project_index import ProjectIndex; from armarius.store.rows import Note\n"
        "index = ProjectIndex.open(sys.argv[1], index_dir='idx'); index.store.apply([Note('kept', 'yes')])\n"
        "os.kill(os.getpid(), 9)"
    )
    for _ in range(2):  # made anew, and opened again
        subprocess.run([sys.executable, "-W", "ignore", "-c", script, str(project)], check=False)
        assert (project / "idx" / "index.sqlite-wal").stat().st_size
    with ProjectIndex.open(project, index_dir="idx") as index:
        assert index.store.note("kept") == "yes"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["index.sqlite", *SIDES])
def test_in_the_users_cache_what_lies_in_the_place_is_replaced_or_named(project, mine, name, kind):
    answers(project)
    place = place_for(project)
    (place.folder / name).unlink(missing_ok=True)
    plant(place.folder / name, kind, mine)
    if kind == "folder":
        with pytest.raises(StoreFull, match=f"{name}: cannot be deleted: .*not empty"):
            ProjectIndex.open(project)
        (place.folder / name / "kept").unlink()
    assert answers(project) == ["a.md"]
    assert place_for(project).index.is_file()
    assert mine.read_text() == "the user's own"


@pytest.mark.parametrize("content", [b"\xff\xfe\xfa", b"", b"1:2", b"new", b"x" * 100_000])
def test_a_damaged_claim_is_an_index_built_again_in_the_cache_and_a_refusal_elsewhere(project, content):
    for where, good in ((None, True), ("idx", False)):
        answers(project, index_dir=where)
        for claim in (cache_root() / "claims").iterdir():
            if claim.suffix != ".lock":
                claim.write_bytes(content)
        if good:
            assert answers(project, index_dir=where) == ["a.md"]
        else:
            with pytest.raises(StoreError, match="not made by this installation"):
                ProjectIndex.open(project, index_dir=where)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_claim_that_is_no_file_is_no_claim(project, mine, kind):
    answers(project, index_dir="idx")
    (claim,) = (path for path in (cache_root() / "claims").iterdir() if path.suffix != ".lock")
    claim.unlink()
    plant(claim, kind, mine)
    with pytest.raises(StoreError, match="not made by this installation"):
        ProjectIndex.open(project, index_dir="idx")
    assert mine.read_text() == "the user's own"


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_lock_that_is_no_file_is_an_error_of_the_store(project, mine, kind):
    answers(project, index_dir="idx")
    (lock,) = (path for path in (cache_root() / "claims").iterdir() if path.suffix == ".lock")
    lock.unlink()
    plant(lock, kind, mine)
    with pytest.raises(StoreError, match=r"\.lock: "):
        ProjectIndex.open(project, index_dir="idx")
    assert mine.read_text() == "the user's own"


def test_a_claim_of_an_earlier_version_holds(project):
    answers(project, index_dir="idx")
    (claim,) = (path for path in (cache_root() / "claims").iterdir() if path.suffix != ".lock")
    claim.write_text(claims.identity_of((project / "idx" / "index.sqlite").stat()))
    made = (project / "idx" / "index.sqlite").stat().st_ino
    assert answers(project, index_dir="idx") == ["a.md"]
    assert (project / "idx" / "index.sqlite").stat().st_ino == made


def test_a_foreign_file_put_there_while_open_is_left_alone(project):
    with ProjectIndex.open(project, index_dir="idx") as index:
        content = photos(project / "photos.sqlite")
        (project / "photos.sqlite").replace(project / "idx" / "index.sqlite")
        with pytest.raises(StoreError):
            index.search("白鹭")
    assert (project / "idx" / "index.sqlite").read_bytes() == content


def test_a_file_that_comes_while_ours_is_being_made_is_left_alone(project, monkeypatch):
    from armarius.store.sqlite import location as place

    plain = place.create_empty

    def late(path, **keywords):
        photos(path)
        return plain(path, **keywords)

    monkeypatch.setattr(place, "create_empty", late)
    with pytest.raises(StoreError, match="not made by this installation"):
        ProjectIndex.open(project, index_dir="idx")
    assert sqlite3.connect(project / "idx" / "index.sqlite").execute("SELECT name FROM sqlite_master").fetchall() == [
        ("photos",)
    ]


def test_a_file_swapped_in_between_look_and_opening_is_let_go_unchanged(project, monkeypatch):
    from armarius.store.sqlite import session

    answers(project, index_dir="idx")
    content = photos(project / "photos.sqlite")
    plain = session.Connections

    def late(path):
        (project / "photos.sqlite").replace(path)
        return plain(path)

    monkeypatch.setattr(session, "Connections", late)
    with pytest.raises(StoreCorrupt, match="replaced while it was being opened"):
        SqliteStore.open(place_for(project, "idx"), project_id="project")
    assert (project / "idx" / "index.sqlite").read_bytes() == content


def test_a_folder_that_cannot_be_written_is_an_error_of_the_store(project, monkeypatch):
    from armarius.store.sqlite import location as place

    answers(project)

    def read_only(*_, **__):
        raise OSError(30, "Read-only file system")

    (place_for(project).folder / "index.seal").write_text("wrong")
    monkeypatch.setattr(place, "remove_file", read_only)
    with pytest.raises(StoreFull, match="cannot be deleted: Read-only file system"):
        ProjectIndex.open(project)


def test_the_temporary_place_of_the_cache_must_be_our_own(tmp_path, monkeypatch):
    from armarius.io import cache

    monkeypatch.delenv("ARMARIUS_CACHE")
    monkeypatch.setattr(cache, "is_remote", lambda _: True)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    root = cache_root()
    assert root.parent == tmp_path
    assert root.stat().st_mode & 0o077 == 0
    root.chmod(0o777)
    with pytest.raises(StoreFull, match="others may write to it"):
        cache_root()


def test_a_place_says_where_it_is_trusted_from(project, tmp_path):
    assert place_for(project, "idx").below == project.resolve()
    assert place_for(project, project / "idx").below == project.resolve()
    assert place_for(project, ".").folder == project.resolve()
    assert place_for(project, "../app").below is None
    assert place_for(project, tmp_path / "app").below is None
    assert place_for(project).below == cache_root()
    assert Place(Path("x")).below is None


def test_two_that_come_at_the_same_instant_and_find_each_other_come_again(project, monkeypatch):
    taken, take = [], PlaceLock._take

    def met(lock):
        taken.append(lock)
        if len(taken) == 1:  # as if another had been at the lock in that moment
            lock._share()
            return False
        return take(lock)

    monkeypatch.setattr(PlaceLock, "_take", met)
    with ProjectIndex.open(project, watch=False) as index:
        assert len(taken) == 2
        assert index.search("白鹭")


def test_a_lock_that_cannot_be_given_back_for_lack_of_room_is_an_error_of_ours(tmp_path):
    class Full:
        in_transaction = True

        def execute(self, statement):
            raise apsw.FullError(f"{statement}: database or disk is full")

        def close(self):
            return None

    lock = PlaceLock(tmp_path / "index.lock")
    assert lock.enter()
    held, lock._lock = lock._lock, Full()
    held.close()
    with pytest.raises(StoreFull, match=r"index\.lock: cannot be written: COMMIT: database or disk is full"):
        lock.settle()
    lock.leave()
