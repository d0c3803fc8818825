"""Vectors on a server pass the tests of every vector store, with pgvector and without."""

import itertools

import pytest
from tests.server.novels import NOVEL, files_of, requests
from tests.server.tracing import Trace

import armarius
from armarius.store.postgres.pool import Pool
from armarius.store.postgres.schema import check_schema, migrate
from armarius.store.postgres.store import PostgresStore
from armarius.testing import VectorStoreConformance

_numbers = itertools.count()


class TestByPgvector(VectorStoreConformance):
    @pytest.fixture
    def store(self, server, shared_pool, tenant):
        pool = Pool(server.dsn, size=8)
        assert check_schema(pool, "armarius").vectors == "pgvector"
        trace = Trace(pool)
        yield PostgresStore(pool, "p", tenant=tenant, pgvector=True)
        pool.close()
        assert not trace.broken, trace.broken[:3]


@pytest.fixture(scope="module")
def plain(server, shared_pool):
    """The same tables with bytes in the column, as `migrate` makes them where the extension is missing."""
    pool = Pool(server.dsn, size=8)
    migrate(pool, "plain", pgvector=False)
    assert check_schema(pool, "plain").vectors == "bytea"
    yield pool
    pool.close()


@pytest.mark.slow
class TestInTheWorker(VectorStoreConformance):
    @pytest.fixture
    def store(self, plain):
        return PostgresStore(plain, f"p{next(_numbers)}", schema="plain", pgvector=False)


def test_prompts_with_vectors_are_the_same_bytes_as_over_a_folder(open_shelf, tenant):
    embedder = armarius.embedders.lexical()
    novel = open_shelf(embedder=embedder).project("novel", tenant=tenant)
    novel.write(files_of())
    with armarius.open(NOVEL, project_id="novel", watch=False, embedder=embedder) as folder:
        for engine in (novel, folder):
            engine.recall.embed()
        for request in requests(12):
            assert novel.assemble(**request).prompt == folder.assemble(**request).prompt
        here, there = ([(hit.path, hit.paragraph) for hit in one.similar("照片里的人")] for one in (folder, novel))
        assert here == there
        assert len(here) > 3
    assert novel.index.store.verify() == []
