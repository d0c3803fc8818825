"""What happens when a server goes away, stands still or is restarted; and when several processes write at once."""

import itertools
import os
import re
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from scripts.temporary_postgres import NotInstalled, TemporaryPostgres
from tests.server.novels import files_of, requests

from armarius.errors import SchemaTooNew, StoreBusy, StoreConflict, StoreError, StoreUnavailable
from armarius.store.postgres.pool import Pool
from armarius.store.postgres.schema import SCHEMA_VERSION, migrate
from armarius.workspace.folder import connect

WORKER = Path(__file__).with_name("worker.py")


@pytest.fixture
def own_server():
    """A server of this test alone, that may be killed; a commit waits for the disk."""
    try:
        running = TemporaryPostgres(durable=True)
    except NotInstalled as why:
        pytest.skip(str(why))
    running.start()
    pool = Pool(running.dsn, size=1)
    migrate(pool, "armarius")
    pool.close()
    yield running
    running.close()


@pytest.fixture
def open_own(own_server):
    """A function that connects to `own_server`."""
    with ExitStack() as opened:
        yield lambda **keywords: opened.enter_context(connect(own_server.dsn, **keywords))


@pytest.fixture
def novel(own_server):
    with connect(own_server.dsn, wait_s=2.0) as shelf:
        novel = shelf.project("novel")
        novel.write(files_of())
        yield novel


def worker(dsn, tenant, who, count, how):
    words = [sys.executable, "-W", "ignore", str(WORKER), dsn, tenant, who, str(count), how]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def test_a_warm_project_answers_while_the_server_is_away_and_a_cold_one_says_so(own_server, novel):
    request = requests(1)[0]
    expected = novel.assemble(**request)
    own_server.kill()
    began = time.monotonic()
    for _ in range(20):
        pack = novel.assemble(**request)
        assert pack.prompt == expected.prompt
        assert [one.split(":")[0] for one in pack.warnings].count("INDEX_STALE") >= 1
    assert time.monotonic() - began < 20
    with pytest.raises(StoreUnavailable):
        novel._shelf.project("another").assemble("林默", document="a.md")
    with pytest.raises(StoreUnavailable):
        novel.write({"a.md": "丢不得"})
    assert not novel._shelf.health().ok
    assert novel._shelf.status().stale >= 20
    own_server.start()
    until = time.monotonic() + 30
    while time.monotonic() < until and novel.assemble(**request).warnings != expected.warnings:
        time.sleep(0.05)
    assert novel.assemble(**request).warnings == expected.warnings
    assert novel._shelf.health().ok
    with pytest.raises(KeyError):
        novel.document("a.md")
    assert novel.write({"a.md": "这次成了"}) == novel.version
    assert novel.index.store.verify() == []


@pytest.mark.slow
def test_a_restart_between_two_questions_is_not_noticed(own_server, novel):
    request = requests(1)[0]
    expected = novel.assemble(**request)
    own_server.stop()
    own_server.start()
    pack = novel.assemble(**request)
    assert (pack.prompt, pack.warnings) == (expected.prompt, expected.warnings)
    own_server.stop()
    own_server.start()
    assert novel.write({"a.md": "又一章"}) == novel.version


@pytest.mark.slow
def test_a_view_that_is_too_old_is_no_answer(own_server):
    with connect(own_server.dsn, wait_s=2.0, stale_s=0.2) as shelf:
        novel = shelf.project("novel")
        novel.write({"a.md": "# 甲\n\n林默来了。\n"})
        novel.assemble("林默", document="a.md")
        own_server.kill()
        novel.assemble("林默", document="a.md")
        time.sleep(0.8)
        with pytest.raises(StoreUnavailable):
            novel.assemble("林默", document="a.md")


@pytest.mark.slow
def test_a_server_that_stands_still_frees_its_callers(own_server, novel):
    request = requests(1)[0]
    expected = novel.assemble(**request).prompt
    own_server.freeze()
    began = time.monotonic()
    assert novel.assemble(**request).prompt == expected
    assert time.monotonic() - began < 10
    own_server.freeze(frozen=False)
    until = time.monotonic() + 30
    while time.monotonic() < until and novel.assemble(**request).warnings:
        time.sleep(0.05)
    assert not novel.assemble(**request).warnings


@pytest.mark.slow
def test_acknowledged_writes_survive_a_kill_in_the_middle(own_server):
    processes = [worker(own_server.dsn, "kill", who, 30, "write") for who in "ab"]
    first = processes[0].stdout
    for _ in range(6):
        first.readline()
    own_server.kill()
    time.sleep(0.3)
    own_server.start()
    acknowledged = set()
    for who, process in zip("ab", processes, strict=True):
        out, complaints = process.communicate(timeout=120)
        assert process.returncode == 0, complaints
        assert "done 30" in out
        acknowledged |= {f"{who}/{number:04}.md" for number in range(30)}
    with connect(own_server.dsn) as shelf:
        novel = shelf.project("p", tenant="kill")
        assert {one.path for one in novel.documents()} == acknowledged
        assert novel.index.store.verify() == []


def test_two_processes_that_compare_and_write_count_exactly(server, shared_pool, tenant, open_shelf):
    processes = [worker(server.dsn, tenant, who, 3, "count") for who in "ab"]
    for process in processes:
        _, complaints = process.communicate(timeout=120)
        assert process.returncode == 0, complaints
    assert open_shelf().project("p", tenant=tenant).document("count.md").text == "6"


def test_a_pool_that_is_exhausted_says_so_in_time(server, shared_pool):
    pool = Pool(server.dsn, size=1, wait_s=0.2)
    with pool.lent():
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match="in use"), pool.lent():
            pass
        assert time.monotonic() - began < 10
    with pool.lent() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    pool.close()
    with pytest.raises(StoreUnavailable, match="closed"), pool.lent():
        pass


def test_every_cause_of_no_connection_is_said_without_user_and_password(own_server):
    rules = own_server.folder / "data" / "pg_hba.conf"
    rules.write_text(f"local all guarded scram-sha-256\n{rules.read_text('utf-8')}", "utf-8")
    own_server.stop()
    own_server.start()
    administrator = Pool(own_server.dsn, size=1)
    with administrator.lent() as connection:
        connection.execute("CREATE USER guarded PASSWORD 'right'")
        connection.execute("CREATE USER limited CONNECTION LIMIT 0")
    administrator.close()
    there = f"?host={own_server.folder}"
    causes = {
        "guarded:sekrit@127.0.0.1:1/postgres": "nothing listens at this host and port",
        "guarded:sekrit@/postgres?host=/nowhere": "nothing listens at this host and port",
        "guarded:sekrit@no-such-host.invalid/postgres": "there is no such host",
        "guarded:with@sekrit@no-such-host.invalid/postgres": "there is no such host",  # @ is %40 in a password
        "guarded:with/sekrit@no-such-host.invalid/postgres": "no connection",
        f"guarded:sekrit@/postgres{there}": "the password is wrong, or there is no such user",
        f"guarded@/postgres{there}": "the password is wrong, or there is no such user",
        f"unknown:sekrit@/postgres{there}": "there is no such user",
        f"guarded:right@/missing{there}": "there is no such database",
        f"limited:sekrit@/postgres{there}": "all connections are taken",
    }
    for dsn, cause in causes.items():
        pool = Pool(f"postgresql://{dsn}", size=1)
        for _ in range(2):  # who comes right after a failed attempt is told the same
            with pytest.raises(StoreUnavailable, match=r"^postgresql .* no connection") as told, pool.lent():
                pass
            if cause != "no connection":
                assert str(told.value).endswith(f": {cause}"), dsn
            assert not re.search("sekrit|right|guarded|unknown|limited|//", str(told.value))
        pool.close()


def test_a_server_whose_connections_are_all_taken_says_so(own_server):
    own_server.stop()
    own_server.start("max_connections=4", "superuser_reserved_connections=1")
    everything = Pool(own_server.dsn, size=8)
    with ExitStack() as taken, pytest.raises(StoreUnavailable, match="all connections are taken"):
        [taken.enter_context(everything.lent()) for _ in range(8)]
    everything.close()


def test_a_statement_that_takes_too_long_is_ended_and_the_next_one_works(server, shared_pool):
    pool = Pool(server.dsn, size=1)
    with pytest.raises(StoreUnavailable), pool.lent(answer_s=0.3) as connection:
        connection.execute("SELECT pg_sleep(30)")
    time.sleep(0.6)
    with pool.lent() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    pool.close()


def test_a_server_that_may_not_be_written_is_full_and_still_answers(open_store, shared_pool):
    from armarius.errors import StoreFull
    from armarius.store.protocol import Note

    store = open_store()
    store.apply([Note("n", "1")])

    def read_only(connection):
        connection.execute("SET default_transaction_read_only = on")

    shared_pool.hook = read_only
    try:
        with pytest.raises(StoreFull):
            store.apply([Note("n", "2")])
        assert store.note("n") == "1"
    finally:
        shared_pool.hook = lambda connection: connection.execute("SET default_transaction_read_only = off")
        store.note("n")
        with shared_pool.lent():
            pass
        shared_pool.hook = None
        shared_pool.lose()


def test_who_waits_for_a_writer_too_long_is_told_that_it_is_busy(server, open_store, monkeypatch):
    from armarius.store.postgres import session
    from armarius.store.protocol import Note

    monkeypatch.setattr(session, "_TIMES", "SELECT set_config('lock_timeout', '200ms', true)")
    mine, theirs = open_store(), open_store()
    mine.apply([Note("n", "1")])
    with mine.writing():
        failure = []

        def other():
            try:
                theirs.apply([Note("n", "2")])
            except StoreError as error:
                failure.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert isinstance(failure[0], StoreBusy)
    assert mine.note("n") == "1"


def test_eight_processes_that_migrate_at_once_make_the_tables_once(server):
    pools = [Pool(server.dsn, size=1) for _ in range(8)]
    states, failures = [], []

    def run(pool):
        try:
            states.append(migrate(pool, "at_once"))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(pool,)) for pool in pools]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for pool in pools:
        pool.close()
    assert not failures
    assert {state.schema for state in states} == {SCHEMA_VERSION}


def test_tables_of_a_later_armarius_are_served_by_one_version_and_no_more(server):
    pool = Pool(server.dsn, size=1)
    migrate(pool, "later")
    for version, fits in ((SCHEMA_VERSION + 1, True), (SCHEMA_VERSION + 2, False)):
        with pool.lent() as connection:
            connection.execute("UPDATE later.meta SET value = %s WHERE key = 'schema'", (str(version),))
        with connect(server.dsn, schema="later") as shelf:
            novel = shelf.project("p")
            if fits:
                novel.write({"a.md": "甲"})
                continue
            with pytest.raises(SchemaTooNew):
                novel.document("a.md")
        with pytest.raises(SchemaTooNew):
            migrate(pool, "later")
    pool.close()


@pytest.mark.parametrize("arrived", [True, False])
def test_a_connection_lost_in_commit_is_looked_up(open_store, monkeypatch, arrived):
    from armarius.store.postgres.session import Transaction
    from armarius.store.protocol import Note

    store, real = open_store(), Transaction.commit
    store.apply([Note("n", "1")])

    def lost(tx):
        if arrived:
            real(tx)
        tx.connection.close()
        raise StoreUnavailable("the connection was closed")

    monkeypatch.setattr(Transaction, "commit", lost)
    before = store.generation()
    if arrived:
        assert store.apply([Note("n", "2")]) == before + 1
    else:
        with pytest.raises(StoreUnavailable):
            store.apply([Note("n", "2")])
    monkeypatch.undo()
    again = open_store()
    assert again.note("n") == ("2" if arrived else "1")
    assert store.generation() == again.generation() == before + arrived
    store.session.pool._away_since = 0.0


def test_a_commit_of_which_nobody_can_tell_is_said_to_be_one(open_store, monkeypatch):
    from armarius.store.postgres.session import Transaction
    from armarius.store.protocol import Note

    store, other, real = open_store(), open_store(), Transaction.commit
    store.apply([Note("n", "1")])

    def lost(tx):
        monkeypatch.setattr(Transaction, "commit", real)
        real(tx)
        other.apply([Note("n", "somebody else's")])
        tx.connection.close()
        raise StoreUnavailable("the connection was closed")

    monkeypatch.setattr(Transaction, "commit", lost)
    with pytest.raises(StoreUnavailable, match="cannot be known") as told:
        store.apply([Note("n", "2")])
    assert told.value.written is None
    assert other.note("n") == "somebody else's"


@pytest.mark.parametrize("arrived", [True, False])
@pytest.mark.parametrize("expect", [None, 1])
def test_a_write_of_which_nobody_can_tell_may_be_made_again(open_shelf, tenant, monkeypatch, arrived, expect):
    from armarius.store.postgres.session import PostgresSession, Transaction

    novel, real = open_shelf().project("p", tenant=tenant), Transaction.commit
    novel.write({"a.md": "甲", "old.md": "旧"})

    def lost(tx):
        if arrived:
            real(tx)
        tx.connection.close()
        raise StoreUnavailable("the connection was closed")

    def unknown(session, row):
        raise StoreUnavailable("cannot be known", written=None)

    monkeypatch.setattr(Transaction, "commit", lost)
    monkeypatch.setattr(PostgresSession, "_is_committed", unknown)
    call = {"files": {"a.md": "乙"}, "remove": ["old.md"], "expect": expect}
    with pytest.raises(StoreUnavailable) as told:
        novel.write(**call)
    assert told.value.written is None
    monkeypatch.undo()
    if arrived and expect:
        with pytest.raises(StoreConflict):  # another caller that writes the same from the same version is none of it
            open_shelf().project("p", tenant=tenant).write(**call)
    assert novel.write(**call) == 2 == novel.version
    assert [one.path for one in novel.documents()] == ["a.md"]
    for late in ({**call, "expect": 1}, {"files": {"a.md": "丙"}, "expect": 1}):
        with pytest.raises(StoreConflict):
            novel.write(**late)


def check_terminated(server, open_shelf, tenant, seconds, record_property):
    """Every backend is ended each 30 ms while three threads ask and write: what reaches them is `StoreUnavailable`."""
    names = [f"p{number}" for number in range(6)]
    for name in names:
        open_shelf().project(name, tenant=tenant).write(files_of())
    shelf, others = open_shelf(memory="16 MiB"), []
    shelf._hot.limit = 2_000_000  # engines are made again and again
    counts = dict.fromkeys(("answered", "away"), 0)
    over = threading.Event()

    def ask(number):
        for turn in itertools.count(number):
            novel = shelf.project(names[turn % len(names)], tenant=tenant)
            try:
                match turn % 5:
                    case 0:
                        novel.search("钟楼")
                    case 1:
                        novel.assemble("照片在谁手里", document="chapters/ch003.md", budget=4000)
                    case 2:
                        novel.entities()
                    case 3:
                        novel.write({f"notes/{number}.md": f"# {turn}\n"})
                    case 4:
                        novel.memories.list()
                counts["answered"] += 1
            except StoreUnavailable as error:
                counts["away"] += 1
                if re.search("psycopg|Pipeline", str(error)):
                    others.append(error)
            except Exception as error:
                others.append(error)
            if over.is_set():
                return

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    with psycopg.connect(server.dsn, autocommit=True) as outside:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            outside.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
            time.sleep(0.03)
        over.set()
        for thread in threads:
            thread.join()
    record_property("count", sum(counts.values()))
    assert others == []
    assert counts["away"] > 0
    for name in names:
        assert open_shelf().verify(name, tenant=tenant) == []


def test_connections_that_are_ended_all_the_time_are_one_type_of_error(own_server, open_own, record_property):
    check_terminated(own_server, open_own, "", 3, record_property)


@pytest.mark.slow
def test_connections_that_are_ended_for_long_are_one_type_of_error(own_server, open_own, record_property):
    check_terminated(own_server, open_own, "", 25, record_property)


@pytest.mark.slow
def test_a_killed_worker_holds_nobody_up_and_leaves_no_half(server, shared_pool, open_shelf, tenant):
    novel = open_shelf().project("p", tenant=tenant)
    for turn in range(5):
        process = worker(server.dsn, tenant, f"w{turn}", 1_000, "write")
        for _ in range(3 + turn):
            process.stdout.readline()
        process.kill()
        out, _ = process.communicate()
        began = time.monotonic()
        assert novel.write({f"mine/{turn}.md": "我的一页"}) == novel.version
        assert time.monotonic() - began < 15
        done = 3 + turn + out.count("done")
        assert len([one for one in novel.documents() if one.path.startswith(f"w{turn}/")]) in (done, done + 1)
    assert novel.index.store.verify() == []
