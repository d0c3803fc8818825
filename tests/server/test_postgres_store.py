"""The store on a server passes the tests of every store, by the rules of its dialect, also behind a pooler."""

import pytest
from scripts.temporary_postgres import TemporaryPostgres
from tests.server.tracing import ShufflingPool, Trace

from armarius.store.postgres.pool import Pool
from armarius.store.postgres.schema import migrate
from armarius.store.postgres.store import PostgresStore
from armarius.store.protocol import DerivedRow, Put
from armarius.testing import StoreConformance
from armarius.testing.stores import document, fill


class TestPostgresStore(StoreConformance):
    @pytest.fixture
    def open_store(self, server, shared_pool, tenant):
        pool = Pool(server.dsn, size=8)
        trace = Trace(pool)
        yield lambda project_id="p": PostgresStore(pool, project_id, tenant=tenant)
        pool.close()
        assert not trace.broken, trace.broken[:3]


@pytest.fixture(scope="module")
def older():
    with TemporaryPostgres(16) as running:
        pool = Pool(running.dsn, size=12)
        migrate(pool, "armarius")
        yield pool
        pool.close()


@pytest.mark.slow
class TestOnTheOlderServer(StoreConformance):
    @pytest.fixture
    def open_store(self, older, tenant):
        return lambda project_id="p": PostgresStore(older, project_id, tenant=tenant)


@pytest.mark.slow
class TestBehindAPoolerThatShuffles(StoreConformance):
    @pytest.fixture
    def open_store(self, server, shared_pool, tenant):
        pool = ShufflingPool(server.dsn, size=8)
        yield lambda project_id="p": PostgresStore(pool, project_id, tenant=tenant)
        pool.close()


def test_what_is_damaged_on_the_server_is_told(open_store, shared_pool):
    store = fill(open_store())
    assert store.verify() == []
    key = store.session.project
    with shared_pool.lent() as connection:
        update = (
            "UPDATE armarius.pieces SET data = '\\x00' || substr(data, 2) "
            "WHERE project = %s AND area = %s AND path = %s"
        )
        connection.execute(update, (key, "text", "outline.md"))
        connection.execute(update, (key, "learnt", "spec/people.md"))
        connection.execute(
            "UPDATE armarius.documents SET kind = 'note' WHERE project = %s AND path = 'chapters/ch001.md'", (key,)
        )
    wrong = store.verify()
    assert len(wrong) == 3
    for path in ("outline.md", "spec/people.md", "chapters/ch001.md"):
        assert any(path in one for one in wrong)


def test_a_large_document_lies_in_pieces_of_256_kib(open_store, shared_pool):
    import random

    store = open_store()
    chance = random.Random(1)
    text = "".join(chr(chance.randrange(0x4E00, 0x9FA0)) for _ in range(400_000))
    store.apply([Put(document("big.md", text), ""), DerivedRow("big.md", "x", "", bytes(700_000))])
    assert store.document("big.md").text == text
    with shared_pool.lent() as connection:
        query = "SELECT max(length(data)), count(*) FROM armarius.pieces WHERE project = %s"
        most, pieces = connection.execute(query, (store.session.project,)).fetchone()
    assert most == 256 * 1024
    assert pieces > 5
    assert store.verify() == []


@pytest.mark.parametrize("name", ["", "a\0b", "a\ud800", "名" * 200])
def test_what_no_key_can_hold_is_refused_before_it_is_sent(shared_pool, name):
    with pytest.raises(ValueError, match="project id"):
        PostgresStore(shared_pool, name)


@pytest.mark.parametrize(
    "statement",
    ["SET x = 1", "LISTEN a", "SELECT pg_advisory_lock(1)", "SELECT * FROM armarius.io", "PREPARE a AS SELECT 1"],
)
def test_the_trace_sees_what_is_not_allowed(server, statement):
    pool = Pool(server.dsn, size=1)
    trace = Trace(pool)
    trace.judge(statement, ())
    trace.judge("SELECT %s WHERE project = %s", (b"x" * 300_000, 1))
    assert len(trace.broken) == 2
    pool.close()
