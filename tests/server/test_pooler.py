"""Behind PgBouncer itself, in transaction mode: 5 connections of the server for everybody, each discarded after use."""

import asyncio

import pytest
from scripts.temporary_postgres import NotInstalled
from tests.server.novels import files_of, requests
from tests.server.pooler import PgBouncer

import armarius
from armarius.store.postgres.pool import Pool
from armarius.store.postgres.store import PostgresStore
from armarius.testing import StoreConformance
from armarius.workspace.folder import connect

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pooler(server, shared_pool):
    try:
        running = PgBouncer(server)
    except NotInstalled as why:
        pytest.skip(str(why))
    yield running
    running.close()


class TestBehindPgBouncer(StoreConformance):
    @pytest.fixture
    def open_store(self, pooler, tenant):
        pool = Pool(pooler.dsn, size=8)
        yield lambda project_id="p": PostgresStore(pool, project_id, tenant=tenant)
        pool.close()


def test_prompts_are_the_bytes_that_the_server_itself_gives(pooler, server, tenant):
    with connect(server.dsn) as direct, connect(pooler.dsn) as through:
        direct.project("novel", tenant=tenant).write(files_of())
        one, other = (shelf.project("novel", tenant=tenant) for shelf in (direct, through))
        for request in requests(12):
            assert other.assemble(**request).prompt == one.assemble(**request).prompt


async def test_forty_clients_over_five_connections_miss_nothing_they_wrote(pooler, tenant):
    shelves = [connect(pooler.dsn, connections=2, memory="64 MiB") for _ in range(20)]

    async def one(number):
        novel = shelves[number % 20].project(f"p{number % 7}", tenant=tenant)
        for page in range(5):
            mark = f"第{number}人的第{page}页"
            version = await novel.awrite({f"{number}/{page}.md": f"# 页\n\n林默写下了{mark}。\n"})
            other = shelves[(number + 1) % 20].project(f"p{number % 7}", tenant=tenant)
            found = await other.asearch(mark, limit=50, at_least=version)
            assert f"{number}/{page}.md" in {hit.path for hit in found}

    await asyncio.gather(*(one(number) for number in range(40)))
    for shelf in shelves:
        shelf.close()
    with connect(pooler.dsn) as shelf:
        assert sum(len(shelf.project(f"p{number}", tenant=tenant).documents()) for number in range(7)) == 200


def test_leases_and_vectors_need_no_session(pooler, tenant):
    with connect(pooler.dsn, embedder=armarius.embedders.lexical()) as shelf:
        novel = shelf.project("novel", tenant=tenant)
        novel.write(files_of())
        done = novel.recall.embed()
        assert done.done == done.total > 0
        assert novel.similar("钟楼")
