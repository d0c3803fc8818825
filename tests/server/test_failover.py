"""A standby takes over: nothing acknowledged is lost, and writers go on by themselves."""

import time

import psycopg
import pytest
from scripts.temporary_postgres import NotInstalled, TemporaryPostgres
from tests.server.kills import acknowledged, started

from armarius.store.postgres.pool import Pool
from armarius.store.postgres.schema import migrate
from armarius.workspace.folder import connect

pytestmark = pytest.mark.slow


def said(server, words):
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        return connection.execute(words).fetchone() if words.startswith("SELECT") else connection.execute(words)


@pytest.fixture
def pair():
    """A primary whose commits wait for its standby, and the DSN of whoever of them may be written."""
    try:
        primary = TemporaryPostgres(durable=True).start()
        pool = Pool(primary.dsn, size=1)
        migrate(pool, "armarius")
        pool.close()
        standby = TemporaryPostgres(durable=True, behind=primary).start()
    except NotInstalled as why:
        pytest.skip(str(why))
    said(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    said(primary, "SELECT pg_reload_conf()")
    both = f"{primary.folder},{standby.folder}"
    yield primary, standby, f"postgresql://postgres@/postgres?host={both}&target_session_attrs=read-write"
    primary.close()
    standby.close()


def test_writers_go_on_at_the_standby_and_nothing_acknowledged_is_lost(pair, tmp_path):
    primary, standby, dsn = pair
    workers = [started(dsn, "write", who, tmp_path / f"{who}.log") for who in "ab"]
    with connect(dsn, wait_s=1.0) as shelf:
        novel = shelf.project("warm", tenant="kill")
        novel.write({"a.md": "# 第一章\n\n林默走进钟楼。\n"})
        expected = novel.assemble("钟楼", document="a.md")
        until = time.monotonic() + 60
        while len(acknowledged(tmp_path)) < 10 and time.monotonic() < until:
            time.sleep(0.05)
        primary.kill()
        pack = novel.assemble("钟楼", document="a.md")
        assert pack.prompt == expected.prompt
        assert any(one.startswith("INDEX_STALE") for one in pack.warnings)
        known = acknowledged(tmp_path)
        assert said(standby, "SELECT pg_promote()") == (True,)
        began = time.monotonic()
        while not acknowledged(tmp_path) - known and time.monotonic() - began < 30:
            time.sleep(0.01)
        outage = time.monotonic() - began
        for one in workers:
            one.kill()
            one.join()
        print(f"{outage:.2f} s from the promotion to the next write")
        assert outage < 10  # 2 s on a machine that nobody shares
        here = {one.path for one in shelf.project("p", tenant="kill").documents()}
        assert known <= here
        assert shelf.verify("p", tenant="kill") == []
        assert novel.assemble("钟楼", document="a.md").warnings == expected.warnings
