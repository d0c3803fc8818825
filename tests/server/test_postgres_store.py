"""The store on a server passes the tests of every store."""

from armarius.testing import StoreConformance


class TestPostgresStore(StoreConformance):
    pass
