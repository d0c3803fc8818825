"""One real server for the session, from a Python package; without it these tests skip and say why."""

import itertools

import pytest

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")

from scripts.temporary_postgres import NotInstalled, TemporaryPostgres

from armarius.store.postgres.pool import Pool
from armarius.store.postgres.schema import check_schema, migrate
from armarius.store.postgres.store import PostgresStore

_numbers = itertools.count()


@pytest.fixture(scope="session")
def server():
    try:
        running = TemporaryPostgres().start("max_connections=60")
    except NotInstalled as why:
        pytest.skip(str(why))
    yield running
    running.close()


@pytest.fixture(scope="session")
def shared_pool(server):
    pool = Pool(server.dsn, size=12)
    migrate(pool, "armarius")
    yield pool
    pool.close()


@pytest.fixture
def tenant():
    """A tenant of this test alone: nothing of another test is seen."""
    return f"tenant-{next(_numbers)}"


@pytest.fixture
def open_store(shared_pool, tenant):
    pgvector = check_schema(shared_pool, "armarius").vectors == "pgvector"
    return lambda project_id="p": PostgresStore(shared_pool, project_id, tenant=tenant, pgvector=pgvector)


@pytest.fixture
def open_shelf(server, shared_pool):
    """A function that connects, as another process would: nothing is shared with an earlier one."""
    from armarius.workspace.folder import connect

    made = []

    def opened(**keywords):
        made.append(connect(server.dsn, **keywords))
        return made[-1]

    yield opened
    for shelf in made:
        shelf.close()


@pytest.fixture
def shelf(open_shelf):
    return open_shelf()
