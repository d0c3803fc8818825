"""PgBouncer in transaction mode before a temporary server: few connections of the server, shared by every client."""

import contextlib
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Self

from scripts.temporary_postgres import NotInstalled, TemporaryPostgres

__all__ = ["PgBouncer"]

_PORT = 6432
_START_SECONDS = 15.0


class PgBouncer:
    """A pooler on a socket in a folder of its own.

    Args:
        server: It stands before.
        connections: To the server, for all clients together.

    Attributes:
        dsn: Through the pooler.
    """

    def __init__(self, server: TemporaryPostgres, *, connections: int = 5) -> None:
        program = shutil.which("pgbouncer", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin")))
        if program is None:
            raise NotInstalled("pgbouncer is not installed")
        self._folder = Path(server.folder) / "pooler"
        self._folder.mkdir()
        user = "nobody" if os.geteuid() == 0 else None
        settings = self._folder / "pgbouncer.ini"
        settings.write_text(
            f"[databases]\npostgres = host={server.folder} dbname=postgres user=postgres\n"
            f"[pgbouncer]\nlisten_addr =\nlisten_port = {_PORT}\nunix_socket_dir = {self._folder}\nauth_type = any\n"
            f"pool_mode = transaction\nmax_client_conn = 200\ndefault_pool_size = {connections}\n"
            f"server_reset_query = DISCARD ALL\nserver_reset_query_always = 1\nlogfile = {self._folder}/log\n"
        )
        if user is not None:
            for path in (self._folder, settings):
                shutil.chown(path, user)
        self.dsn = f"postgresql://postgres@/postgres?host={self._folder}&port={_PORT}"
        self._process = subprocess.Popen([program, "-q", str(settings)], user=user, start_new_session=True)
        until = time.monotonic() + _START_SECONDS
        while not (self._folder / f".s.PGSQL.{_PORT}").exists():
            if self._process.poll() is not None or time.monotonic() > until:
                raise NotInstalled("pgbouncer did not start")
            time.sleep(0.02)

    def close(self) -> None:
        """Stop it."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
            return
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
