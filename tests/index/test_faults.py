import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest
from tests.index.conftest import NOVEL, put
from tests.index.test_index import equals_folder

import armarius
from armarius.errors import SchemaTooNew, StoreBusy, StoreCorrupt, StoreError, StoreFull
from armarius.index.project_index import ProjectIndex
from armarius.io.write import is_remote
from armarius.store.protocol import Note
from armarius.store.sqlite import connection
from armarius.store.sqlite import location as place
from armarius.store.sqlite.location import IndexPlace, place_for

resource = pytest.importorskip("resource", reason="faults of POSIX systems")


def answers(index):
    return [index.search(text, limit=99) for text in ("林默", "小雨", "钟", "第二章", "雨")]


def rounds_of_crashes(tmp_path, rounds, seed):
    root = tmp_path / "novel"
    (root / "chapters").mkdir(parents=True)
    environment = {**os.environ, "ARMARIUS_CACHE": str(tmp_path / "cache"), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.index.crashes", str(root), str(rounds), str(seed)],
        capture_output=True, check=True, env=environment, cwd=Path(__file__).parents[2], timeout=1200,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_crashes(found, rounds):
    assert len(found) == rounds
    for one in found:
        assert one.get("error") is None, one
        assert one["problems"] == []
        assert one["equal"]


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_killed_while_indexing_the_next_opening_finds_a_sound_index(tmp_path):
    check_crashes(rounds_of_crashes(tmp_path, 6, 1), 6)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_killed_five_hundred_times(tmp_path, record_property):
    found = rounds_of_crashes(tmp_path, 500, 2)
    record_property("count", len(found))
    record_property("failures", sum(bool(one.get("error") or one["problems"] or not one["equal"]) for one in found))
    check_crashes(found, 500)
    assert sum(one["acknowledged"] > 0 for one in found) > 20  # some died in the middle, some before, some after


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_acknowledged_documents_are_there_at_the_opening_after_a_kill(novel, cache):
    for i in range(100):
        put(novel, f"notes/{i:03}.md", f"第{i}条")
    read, write = os.pipe()
    script = (
        "import os, sys; from armarius.index.project_index import ProjectIndex\n"
        "def report(step):\n"
        "    os.write(int(sys.argv[2]), step.path.encode() + b'\\n')\n"
        "    if step.done >= 64: os.kill(os.getpid(), 9)\n"
        "ProjectIndex.open(sys.argv[1], progress=report)"
    )
    command = [sys.executable, "-W", "ignore", "-c", script, str(novel), str(write)]
    done = subprocess.run(command, pass_fds=[write], check=False)
    os.close(write)
    with os.fdopen(read) as pipe:
        last = pipe.read().splitlines()[-1]
    assert done.returncode == -signal.SIGKILL
    with ProjectIndex.open(novel) as index:
        assert last in index.store.files()
        assert equals_folder(index)


@pytest.mark.parametrize("keep", [0, 1, 99, 100, 4095, 4096, 10_000, 0.5, 0.9])
@pytest.mark.parametrize("sealed", [True, False])
def test_a_truncated_index_is_built_again(novel, cache, keep, sealed):
    with ProjectIndex.open(novel) as index:
        expected, path = answers(index), Path(index.status().path)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(int(size * keep) if isinstance(keep, float) else keep)
    if not sealed:
        path.with_name("index.seal").unlink()
    with ProjectIndex.open(novel) as index:
        assert answers(index) == expected
        assert equals_folder(index)


def test_damage_while_open_is_repaired_or_refused(index):
    expected = answers(index)
    path = Path(index.status().path)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))
    Path(f"{path}-wal").write_bytes(b"")
    try:
        found = answers(index)
    except StoreCorrupt:
        index.refresh()
        found = answers(index)
    assert found == expected


def test_a_deleted_index_is_built_again_while_open(index):
    expected = answers(index)
    for file in Path(index.status().path).parent.glob("index.sqlite*"):
        file.unlink()
    assert answers(index) == expected
    put(index.root, "new.md", "独角兽")
    index.refresh()
    assert index.search("独角兽")
    assert equals_folder(index)


def test_an_index_replaced_while_open_is_not_trusted(index, tmp_path):
    expected = answers(index)
    path = Path(index.status().path)
    other = put(tmp_path, "other.sqlite", path.read_bytes()[:4096] + b"\xff" * 8192)
    other.replace(path)
    assert answers(index) == expected
    assert equals_folder(index)


def test_the_database_of_another_program_is_never_opened(novel, cache, tmp_path, monkeypatch):
    index = place_for(novel, tmp_path / "chosen").index
    index.parent.mkdir(parents=True)
    crafted = apsw.Connection(str(index))
    crafted.execute("CREATE TABLE documents (x)")
    crafted.close()
    before = index.read_bytes()
    opened = []
    monkeypatch.setattr(connection, "connect", opened.append)
    with pytest.raises(StoreError, match=r"index\.sqlite: the database of another program"):
        ProjectIndex.open(novel, index_dir=tmp_path / "chosen")
    assert opened == []  # SQLite never saw it
    assert index.read_bytes() == before


def test_an_empty_file_in_place_of_the_index_is_not_taken_for_an_empty_index(novel, cache):
    with ProjectIndex.open(novel) as index:
        path = Path(index.status().path)
    path.write_bytes(b"")
    with ProjectIndex.open(novel) as index:
        assert equals_folder(index)


def test_a_newer_index_is_refused_and_left_alone(novel, cache):
    with ProjectIndex.open(novel) as index:
        path = Path(index.status().path)
        index.store._session.writer.execute("PRAGMA user_version = 9999")
        index.store.apply([Note("x", "y")])
    with pytest.raises(SchemaTooNew, match="schema 9999"):
        ProjectIndex.open(novel)
    assert path.exists()


def test_another_project_in_an_index_of_the_cache_is_damage(novel, cache):
    with ProjectIndex.open(novel) as index:
        index.store._session.writer.execute("UPDATE meta SET value = 'zz' WHERE key = 'project_id'")
        index.store.apply([Note("x", "y")])
    with ProjectIndex.open(novel) as index:
        assert equals_folder(index)


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(novel, cache, tmp_path):
    put(tmp_path, "file", "x")
    with pytest.raises(StoreFull, match="file"):
        ProjectIndex.open(novel, index_dir=tmp_path / "file" / "index")
    if sys.platform == "linux":
        with pytest.raises(StoreFull, match="/proc/armarius"):
            ProjectIndex.open(novel, index_dir="/proc/armarius")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on file sizes")
def test_a_full_disk_is_an_error_and_nothing_is_lost(novel, cache):
    ProjectIndex.open(novel).close()
    for i in range(200):
        put(novel, f"notes/{i:03}.md", "".join(chr(0x4E00 + (i * 7919 + j * 104729) % 20000) for j in range(2000)))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, before[1]))
    try:
        with pytest.raises(StoreFull, match="index"):
            ProjectIndex.open(novel)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with ProjectIndex.open(novel) as index:
        assert equals_folder(index)


@pytest.mark.skipif(sys.platform != "linux", reason="stops a process")
def test_a_stopped_writer_makes_writing_busy_and_leaves_reading_alone(index, monkeypatch):
    script = (
        "import apsw, sys, time; c = apsw.Connection(sys.argv[1]); c.execute('BEGIN IMMEDIATE'); "
        "print('locked', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", script, index.status().path], stdout=subprocess.PIPE)
    try:
        assert other.stdout.readline() == b"locked\n"
        other.send_signal(signal.SIGSTOP)
        index.store._session.writer.set_busy_timeout(200)
        put(index.root, "new.md", "独角兽")
        with pytest.raises(StoreBusy, match="held by another process"):
            index.refresh()
        assert [w.code for w in index.freshen()] == ["INDEX_STALE"]
        assert index.search("钟")
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    assert index.freshen() == ()
    assert index.search("独角兽")


def test_a_network_drive_is_recognised(tmp_path):
    mounts = put(
        tmp_path,
        "mountinfo",
        "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:5 / /mnt/team\\040share rw shared:1 - nfs4 server:/x rw\n"
        "3 2 8:2 / /mnt/team\\040share/local rw - ext4 /dev/sdb rw\n",
    )
    for path, remote in (
        ("/home/x", False),
        ("/mnt/team share/novel", True),
        ("/mnt/team share/local/x", False),
        ("/mnt/team shareX", False),
    ):
        assert is_remote(Path(path), str(mounts)) is remote
    assert is_remote(Path("/x"), str(tmp_path / "none")) is False


def test_an_index_folder_on_a_network_drive_is_not_used(novel, cache, tmp_path, monkeypatch):
    monkeypatch.setattr(place, "is_remote", lambda path: str(path).startswith(str(tmp_path / "share")))
    assert place_for(novel, tmp_path / "share").folder.parent == cache


def test_only_the_last_to_close_seals(novel, cache):
    first, second = ProjectIndex.open(novel), ProjectIndex.open(novel)
    seal = IndexPlace(place_for(novel).folder).seal
    first.close()
    assert not seal.exists()
    put(novel, "new.md", "x")
    second.refresh()
    second.close()
    assert place_for(novel).state() == "closed"


@pytest.mark.skipif(sys.platform != "linux", reason="sparse files, pipes, odd names")
def test_hostile_files_neither_hang_nor_leak(novel, cache, tmp_path):
    put(tmp_path, "outside/secret.md", "独角兽")
    (novel / "link.md").symlink_to(tmp_path / "outside/secret.md")
    (novel / "loop").symlink_to(novel)
    os.mkfifo(novel / "pipe.md")
    put(novel, "empty.md")
    put(novel, "a\nb🙂.md", "换行的名字")
    (novel / "bad\udcff.md").touch()
    os.link(novel / "outline.md", novel / "hard.md")
    with (novel / "huge.md").open("wb") as file:
        file.truncate(1 << 30)
    put(novel, "line.txt", "他看着窗外的雨。" * 420_000)  # 10 MB without a line break
    with ProjectIndex.open(novel) as index:
        assert equals_folder(index)
        assert index.search("独角兽") == []
        assert index.search("换行的名字")[0].path == "a\nb🙂.md"
        assert {s.path for s in index.status().skipped} == {"bad\\udcff.md", "huge.md", "link.md", "pipe.md"}
        assert {h.path for h in index.search("钟楼", kinds=("outline",))} | {"hard.md"} == {"outline.md", "hard.md"}


@pytest.mark.slow
def test_twenty_thousand_files_that_come_while_nobody_watches(index, record_property):
    record_property("count", 20_000)
    for i in range(20_000):
        put(index.root, f"notes/{i // 500}/{i}.md", f"第{i}条，独角兽。")
    index.refresh()
    assert index.status().documents == 20_000 + len(NOVEL)
    for i in range(0, 20_000, 2):
        (index.root / f"notes/{i // 500}/{i}.md").unlink()
    index.refresh()
    assert index.status().documents == 10_000 + len(NOVEL)
    assert index.store.verify() == []


@pytest.mark.slow
def test_a_flood_of_files_under_the_watcher_is_all_there_in_the_end(index, record_property):
    record_property("count", 5_000)
    with index.watch():
        for i in range(5_000):
            put(index.root, f"flood/{i // 100}/{i}.md", f"第{i}条")
        end = time.monotonic() + 60
        while index.status().documents < 5_000 + len(NOVEL) and time.monotonic() < end:
            time.sleep(0.1)
    assert index.status().documents == 5_000 + len(NOVEL)


def test_a_recovery_that_failed_is_tried_again_once_its_cause_is_gone(index):
    expected = answers(index)
    folder = Path(index.status().path).parent
    shutil.rmtree(folder)
    folder.write_text("in the way")
    for _ in range(3):
        with pytest.raises(StoreError, match=r"cannot be made|File exists|not a folder|Not a directory"):
            index.search("林默")
        (warning,) = index.freshen()
        assert warning.code == "INDEX_STALE"
        assert str(folder.parent) not in str(warning), "a path of this machine travels with an answer"
    folder.unlink()
    assert answers(index) == expected
    assert index.freshen() == ()
    assert equals_folder(index)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk")
@pytest.mark.parametrize("kilobytes", [8, 40, 80, 120, 160, 240, 400])
def test_a_full_disk_says_that_it_is_full_and_nothing_else(novel, tmp_path, monkeypatch, kilobytes):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a disk")
    monkeypatch.setenv("ARMARIUS_CACHE", str(disk))
    for number in range(100):
        put(novel, f"notes/{number}.md", f"独角兽{number}" * 500)
    try:
        with pytest.raises(StoreFull, match=r"full|space"):
            ProjectIndex.open(novel).close()
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_folder_that_takes_the_place_of_a_watched_project_is_seen_at_the_next_question(novel, cache, monkeypatch):
    from armarius.index import freshness

    monkeypatch.setattr(freshness, "_QUICK_SECONDS", 0.0)  # as in a project where comparing is slow
    with ProjectIndex.open(novel, watch=True) as index:
        while index.freshen() or not index._following.is_current():
            time.sleep(0.05)
        shutil.copytree(novel, novel.with_name("new"))
        put(novel.with_name("new"), "chapters/ch003.md", "# 第三章\n\n青鸾到了。")
        novel.rename(novel.with_name("old"))
        novel.with_name("new").rename(novel)
        index.freshen()
        assert [hit.path for hit in index.search("青鸾")] == ["chapters/ch003.md"]


def test_a_project_that_moved_away_is_said_without_the_place_where_it_was(novel, cache):
    with armarius.open(novel, watch=False) as engine:
        engine.search("林默")
        novel.rename(novel.with_name("gone"))
        said = [str(one) for one in engine.assemble("林默来了吗", budget=6000).warnings]
        with pytest.raises(armarius.ArmariusError):
            engine.constraints.create("规则")
        assert not novel.exists(), "the old folder was made again"
    assert any(one.startswith("DOCUMENT_SKIPPED: .: ") for one in said), said
    assert not [one for one in said if str(novel.parent) in one], "a path of this machine travels with an answer"


def test_damage_to_whose_index_it_is_is_an_index_built_again(novel, cache):
    with ProjectIndex.open(novel) as index:
        path, expected = place_for(novel).index, answers(index)
    connection = sqlite3.connect(path)
    with connection:
        assert connection.execute("UPDATE meta SET value = 'other' WHERE key = 'project_id'").rowcount == 1
    connection.close()
    with ProjectIndex.open(novel) as index:
        assert answers(index) == expected
        assert index.store.verify() == []


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a folder again, to be read only")
def test_a_cache_that_may_only_be_read_is_an_error_of_the_store(novel, tmp_path, monkeypatch):
    place = tmp_path / "held"
    place.mkdir()
    monkeypatch.setenv("ARMARIUS_CACHE", str(place))
    ProjectIndex.open(novel).close()
    if os.geteuid() or subprocess.run(["mount", "--bind", place, place], capture_output=True, check=False).returncode:
        pytest.skip("no right to mount")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(place)], check=True)
        with pytest.raises(StoreFull, match="cannot be written"):
            ProjectIndex.open(novel).close()
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
    ProjectIndex.open(novel).close()
