"""A cursor that remembers what is sent to the server, and the rules of the dialect that it is held to."""

import re

import psycopg

from armarius.store.postgres.pool import Pool
from armarius.store.postgres.schema import PIECE

# one project to a statement, or what has to do with none
_ABOUT_ONE = re.compile(r"\bproject = (%s|[a-z]\.project)|\(project, |\(project\) ")
_FREE = re.compile(
    r"(BEGIN|COMMIT|ROLLBACK|SELECT 1$|SAVEPOINT|RELEASE|SELECT key, value FROM \w+\.meta$|"
    r"SELECT set_config\('\w+', '\w+', true\)|SELECT name, tenant, .* WHERE \(%s OR tenant = %s\) )"
)
_FORBIDDEN = re.compile(
    r"^\s*(SET|LISTEN|NOTIFY|UNLISTEN|PREPARE|DEALLOCATE|DISCARD|CREATE|ALTER|DROP|DECLARE|LOCK)\b|"
    r"pg_(try_)?advisory_(lock|unlock)|nextval|WITH HOLD|set_config\([^)]*false\)",
    re.IGNORECASE,
)


class Trace:
    """Hands a pool connections whose statements are remembered and judged."""

    def __init__(self, pool: Pool) -> None:
        self.statements: list[str] = []
        self.broken: list[str] = []
        trace = self

        class Cursor(psycopg.Cursor):
            def execute(self, query, params=None, **keywords):
                trace.judge(query, params)
                return super().execute(query, params, **keywords)

            def executemany(self, query, params_seq, **keywords):
                rows = list(params_seq)
                for row in rows:
                    trace.judge(query, row)
                return super().executemany(query, rows, **keywords)

        def hook(connection) -> None:
            connection.driver.cursor_factory = Cursor

        pool.hook = hook

    def judge(self, query: str, params) -> None:
        self.statements.append(query)
        if _FORBIDDEN.search(query) and not _FREE.match(query):
            self.broken.append(f"forbidden: {query}")
        elif not _ABOUT_ONE.search(query) and not _FREE.match(query):
            self.broken.append(f"about no project: {query}")
        for value in params or ():
            if isinstance(value, (bytes, str)) and len(value) > PIECE:
                self.broken.append(f"a value of {len(value)} bytes: {query}")


class ShufflingPool(Pool):
    """As a pooler in transaction mode: every transaction on another connection, nothing left on any of them."""

    def _give_back(self, connection) -> None:
        if connection.is_idle:
            driver = connection.driver
            factory, driver.cursor_factory = driver.cursor_factory, psycopg.Cursor
            connection.execute("DISCARD ALL")
            driver.cursor_factory = factory
        super()._give_back(connection)
        with self._lock:
            self._idle.reverse()
            self._idle.append(self._idle.pop(0))
