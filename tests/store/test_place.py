"""An index is believed when its seal fits, joined when somebody has it open, and else built again."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from tests.io.conftest import KINDS, plant

from armarius.errors import ProjectError, StoreBusy, StoreCorrupt, StoreError, StoreFull
from armarius.index.project_index import ProjectIndex
from armarius.io.write import cache_root
from armarius.store.sqlite import location as locks
from armarius.store.sqlite.location import IndexPlace, PlaceLock, place_for
from armarius.store.sqlite.store import SqliteStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")

SIDES = ("index.sqlite-wal", "index.sqlite-shm", "index.sqlite-journal", "index.seal", "index.lock")


@pytest.fixture(autouse=True)
def _nothing_hangs():
    def late(*_):
        raise AssertionError("took more than two minutes")

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


def killed(project, script):
    """A process that opens the index, does something and is killed."""
    begin = "import os, sys; from armarius.index.project_index import ProjectIndex as P; index = P.open(sys.argv[1])\n"
    command = [sys.executable, "-W", "ignore", "-c", f"{begin}{script}\nos.kill(os.getpid(), 9)", str(project)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL


@pytest.mark.parametrize("where", ["idx", ".", "idx/deep", "../app"])
def test_what_lies_in_a_chosen_folder_is_left_alone(project, where):
    folder = (project / where).resolve()
    photos(folder / "index.sqlite")
    before = snapshot(folder)
    assert answers(project, index_dir=where) == ["a.md"]
    (made,) = (folder / "armarius-index").iterdir()
    assert {name: there for name, there in snapshot(folder).items() if "armarius-index" not in name} == before
    assert made.samefile(place_for(project, where).folder)
    assert made.name.startswith("project-")
    assert (made / "index.sqlite").is_file()


def test_projects_of_one_chosen_folder_have_an_index_each(project, tmp_path):
    other = tmp_path / "other" / "project"
    other.mkdir(parents=True)
    (other / "b.md").write_text("白鹭", "utf-8")
    assert answers(project, index_dir=tmp_path / "idx") == ["a.md"]
    assert answers(other, index_dir=tmp_path / "idx") == ["b.md"]
    assert len(list((tmp_path / "idx" / "armarius-index").iterdir())) == 2


@pytest.fixture(params=["put there", "written over ours"])
def foreign(request, project, tmp_path):
    """Puts the database of another program in the place of an index, and returns the path and the bytes."""

    def put(where):
        index = place_for(project, where).index
        if request.param == "written over ours":
            answers(project, index_dir=where)
        content = photos(tmp_path / "photos.sqlite")
        index.parent.mkdir(parents=True, exist_ok=True)
        index.write_bytes(content)
        return index, content

    return put


def test_the_database_of_another_program_in_a_chosen_folder_is_refused_untouched(project, foreign):
    index, content = foreign("idx")
    with pytest.raises(StoreError, match=r"index\.sqlite: the database of another program"):
        ProjectIndex.open(project, index_dir="idx")
    assert index.read_bytes() == content
    index.unlink()
    assert answers(project, index_dir="idx") == ["a.md"]


def test_the_database_of_another_program_in_the_cache_is_replaced_by_a_new_index(project, foreign):
    index, content = foreign(None)
    assert answers(project) == ["a.md"]
    assert index.read_bytes() != content


@pytest.mark.parametrize("content", [b"", b"x", b"x" * 5000, b"SQLite format 3\0" + b"x" * 5000])
@pytest.mark.parametrize("where", [None, "idx"])
def test_any_other_file_is_replaced(project, content, where):
    place = place_for(project, where)
    place.folder.mkdir(parents=True)
    place.index.write_bytes(content)
    assert answers(project, index_dir=where) == ["a.md"]


def test_an_index_that_grew_since_it_was_sealed_is_rebuilt_without_being_read(project):
    answers(project)
    index = place_for(project).index
    with index.open("r+b") as file:
        file.truncate(1 << 40)
    assert answers(project) == ["a.md"]
    assert index.stat().st_size < 1 << 30


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_second_name_of_the_users_file_beside_the_index_is_not_written_through(project, mine, suffix):
    answers(project, index_dir="idx")
    mine.write_bytes(b"")
    os.link(mine, f"{place_for(project, 'idx').index}{suffix}")
    assert answers(project, index_dir="idx") == ["a.md"]
    assert mine.read_bytes() == b""


def test_an_index_that_was_copied_with_its_seal_is_believed(project, tmp_path):
    with ProjectIndex.open(project) as index:
        generation = index.status().generation
    place = place_for(project)
    (tmp_path / "copy").write_bytes(place.index.read_bytes())
    (tmp_path / "copy").replace(place.index)
    with ProjectIndex.open(project) as index:
        assert index.status().generation == generation


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["index.sqlite", *SIDES])
@pytest.mark.parametrize("where", [None, "idx"])
def test_what_is_no_regular_file_in_our_folder_is_replaced_and_never_followed(project, mine, name, kind, where):
    answers(project, index_dir=where)
    place = place_for(project, where)
    (place.folder / name).unlink(missing_ok=True)
    plant(place.folder / name, kind, mine)
    assert answers(project, index_dir=where) == ["a.md"]
    assert place.index.is_file()
    assert place.state() == "closed"
    assert mine.read_text() == "the user's own"
    assert not mine.with_name("nowhere").exists()


def test_a_folder_on_the_way_that_is_a_link_is_refused(project, tmp_path):
    outside = tmp_path / "outside"
    photos(outside / "index.sqlite")
    (outside / "deep").mkdir()
    (project / "idx").symlink_to(outside)
    (project / "real").mkdir()
    (project / "real" / "armarius-index").symlink_to(outside)
    (tmp_path / "chosen").mkdir()
    (tmp_path / "chosen" / "armarius-index").symlink_to(outside)
    before = snapshot(outside)
    ways = ("idx", "idx/deep", "./idx", "x/../idx", project / "idx", str(project / "idx" / "deep"), "real")
    for where in (*ways, tmp_path / "chosen"):
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
    assert list((tmp_path / "disk" / "idx" / "armarius-index").glob("*/index.sqlite"))


def test_damage_is_repaired_wherever_the_index_lies(project):
    index = place_for(project, "idx").index
    assert answers(project, index_dir="idx") == ["a.md"]
    sound = index.read_bytes()
    for damaged in (b"", b"x", sound[:5000], b"\xff" * len(sound), sound[:4096] + b"\xff" * (len(sound) - 4096)):
        index.write_bytes(damaged)  # the same file, other bytes
        assert answers(project, index_dir="idx") == ["a.md"]


def test_a_journal_or_a_log_that_a_sealed_index_did_not_have_is_never_played_into_it(project):
    """SQLite believes what lies beside a database."""
    index = place_for(project).index
    answers(project)
    made = index.stat().st_ino
    Path(f"{index}-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\0" * 1000)
    assert answers(project) == ["a.md"]
    assert index.stat().st_ino != made
    assert not Path(f"{index}-journal").exists()

    writer = apsw.Connection(str(index))
    writer.execute("UPDATE meta SET value = '999' WHERE key = 'generation'")
    log = Path(f"{index}-wal").read_bytes()
    writer.execute("UPDATE meta SET value = '1' WHERE key = 'generation'")
    writer.close()
    Path(f"{index}-wal").write_bytes(log)
    with ProjectIndex.open(project) as opened:
        assert opened.status().generation < 999
        assert [hit.path for hit in opened.search("白鹭")] == ["a.md"]


def test_an_index_that_a_kill_left_is_built_again(project):
    """Also where nothing shows that it is damaged: F12, rows of what was learnt that are gone."""
    answers(project)
    place = place_for(project)
    made = place.index.stat().st_ino
    killed(project, "with index.store._session.writing() as c: c.execute('DELETE FROM learnt')")
    assert place.state() == "left"
    with ProjectIndex.open(project) as index:
        assert index.store.learnt("mentions").keys() == {"a.md"}
    assert place.index.stat().st_ino != made


def test_an_index_that_was_only_read_is_believed_after_a_kill(project):
    answers(project)
    made = place_for(project).index.stat().st_ino
    script = (
        "import os, sys; from pathlib import Path; from armarius.store.sqlite.store import SqliteStore\n"
        "from armarius.store.sqlite.location import place_for\n"
        "SqliteStore.open(place_for(Path(sys.argv[1])), project_id='project').files(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script, str(project)], check=False)
    assert answers(project) == ["a.md"]
    assert place_for(project).index.stat().st_ino == made


def test_a_program_that_ends_without_closing_its_index_leaves_it_closed(project):
    script = "import sys; from armarius.index.project_index import ProjectIndex; i = ProjectIndex.open(sys.argv[1])"
    subprocess.run([sys.executable, "-W", "ignore", "-c", script, str(project)], check=True)
    assert place_for(project).state() == "closed"


def test_an_index_that_is_open_is_joined_and_what_each_writes_is_believed(project):
    with ProjectIndex.open(project) as first, ProjectIndex.open(project) as second:
        made = place_for(project).index.stat().st_ino
        (project / "b.md").write_text("白鹭又来了。", "utf-8")
        second.refresh()
        assert first.store.files().keys() == {"a.md", "b.md"}
    with ProjectIndex.open(project) as again:
        assert again.store.files().keys() == {"a.md", "b.md"}
    assert place_for(project).index.stat().st_ino == made


def test_who_read_only_and_closes_last_seals_what_another_wrote(project):
    answers(project)
    reader, writer = ProjectIndex.open(project), ProjectIndex.open(project)
    (project / "b.md").write_text("白鹭又来了。", "utf-8")
    writer.refresh()
    writer.close()
    reader.close()
    assert place_for(project).state() == "closed"


def test_a_draft_that_a_kill_left_is_gone_after_the_next_rebuild(project):
    place = place_for(project)
    place.folder.mkdir(parents=True)
    place.draft()
    assert answers(project) == ["a.md"]
    assert sorted(path.name for path in place.folder.iterdir()) == ["index.lock", "index.seal", "index.sqlite"]


def test_a_foreign_file_put_there_while_open_is_left_alone_in_a_chosen_folder(project):
    with ProjectIndex.open(project, index_dir="idx") as index:
        content = photos(project / "photos.sqlite")
        (project / "photos.sqlite").replace(place_for(project, "idx").index)
        with pytest.raises(StoreError):
            index.search("白鹭")
    assert place_for(project, "idx").index.read_bytes() == content


def test_a_foreign_file_put_in_the_cache_while_open_is_replaced(project):
    with ProjectIndex.open(project) as index:
        photos(project / "photos.sqlite")
        (project / "photos.sqlite").replace(place_for(project).index)
        assert [hit.path for hit in index.search("白鹭")] == ["a.md"]


def test_a_file_swapped_in_between_look_and_opening_is_let_go_unchanged(project, monkeypatch):
    from armarius.store.sqlite import connection

    answers(project)
    content = photos(project / "photos.sqlite")
    plain = connection.connect

    def late(path):
        (project / "photos.sqlite").replace(path)
        return plain(path)

    monkeypatch.setattr(connection, "connect", late)
    with pytest.raises(StoreCorrupt, match="not an armarius index"):
        SqliteStore.open(place_for(project), project_id="project")
    assert place_for(project).index.read_bytes() == content


def test_a_folder_that_cannot_be_written_is_an_error_of_the_store(project, monkeypatch):
    from armarius.store.sqlite import location

    answers(project)

    def read_only(*_, **__):
        raise OSError(30, "Read-only file system")

    (place_for(project).folder / "index.seal").write_text("wrong")
    monkeypatch.setattr(location, "remove_any", read_only)
    with pytest.raises(StoreFull, match="cannot be deleted: Read-only file system"):
        ProjectIndex.open(project)


def test_the_temporary_place_of_the_cache_must_be_our_own(tmp_path, monkeypatch):
    from armarius.io import write

    monkeypatch.delenv("ARMARIUS_CACHE")
    monkeypatch.setattr(write, "is_remote", lambda _: True)
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
    assert place_for(project, ".").folder.parent == project.resolve() / "armarius-index"
    assert place_for(project, "../app").below.resolve() == tmp_path / "app"
    assert place_for(project, tmp_path / "app").below == tmp_path / "app"
    assert place_for(project).below == cache_root()
    assert IndexPlace(Path("/x/y")).below == Path("/x")


def test_the_lock_is_exclusive_for_one_and_shared_by_the_rest(tmp_path):
    first, second, third = (PlaceLock(tmp_path / "index.lock") for _ in range(3))
    assert first.enter()
    first.share_lock()
    assert not second.enter()
    assert not second.is_alone()
    second.leave()
    assert first.is_alone()
    first.leave()
    assert third.enter()
    third.leave()
    assert (tmp_path / "index.lock").read_bytes() == b""


def test_an_index_that_another_process_opens_for_too_long_is_busy(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "_PATIENCE_SECONDS", 0.05)
    first, second = PlaceLock(tmp_path / "index.lock"), PlaceLock(tmp_path / "index.lock")
    assert first.enter()
    with pytest.raises(StoreBusy, match="another process has been opening the index"):
        second.enter()
    first.leave()


def test_who_meets_somebody_that_leaves_without_an_index_enters_again(project, monkeypatch):
    entered, enter = [], PlaceLock.enter

    def met(lock):
        alone = enter(lock)
        entered.append(lock)
        if len(entered) == 1:  # as if another had held the lock in that moment
            lock.share_lock()
            return False
        return alone

    monkeypatch.setattr(PlaceLock, "enter", met)
    with ProjectIndex.open(project, watch=False) as index:
        assert len(entered) == 2
        assert index.search("白鹭")
