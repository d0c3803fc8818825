"""Servers and workers that are killed; `benches/bench_server.py` does it 50 and 200 times."""

import pytest
from scripts.temporary_postgres import NotInstalled, TemporaryPostgres
from tests.server.kills import kill_server, kill_workers, soak

from armarius.store.postgres.pool import Pool
from armarius.store.postgres.schema import migrate

pytestmark = pytest.mark.slow


@pytest.fixture
def durable():
    """A server of this test alone, whose commits wait for the disk."""
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


def test_a_server_killed_again_and_again_loses_no_acknowledged_write(durable, tmp_path):
    found = kill_server(durable, tmp_path, 5)
    assert found["writes acknowledged"] > 5
    for name in (
        "acknowledged writes lost",
        "things wrong in the rows",
        "of them failed",
        "of them without INDEX_STALE",
    ):
        assert found[name] == 0, found
    assert found["questions while the server was away"] > 0


def test_workers_killed_in_whatever_they_do_leave_no_half_and_hold_nobody_up(durable, tmp_path):
    found = kill_workers(durable.dsn, tmp_path, 12)
    assert found["files acknowledged"] > 0
    for name in ("acknowledged files lost", "of them halves", "things wrong in the rows"):
        assert found[name] == 0, found
    done, _, total = found["texts embedded in the end"].split()
    assert done == total


def test_workers_and_servers_killed_under_400_projects_lose_nothing_and_answer_what_was_written(durable, tmp_path):
    found = soak(durable, tmp_path, 0.8)
    assert found["kills of the server"] > 0
    assert found["acknowledged pages"] > 100
    for name in ("stale", "leaks", "of them lost", "things wrong in the rows"):
        assert found[name] == 0, found
    assert found["errors"] == {}
    assert found["MB above a process with three projects"] <= 1.3 * found["MB of projects that a worker may hold"]
