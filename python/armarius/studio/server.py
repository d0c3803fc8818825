"""`serve`: the studio until it is interrupted; a folder keeps its port and token, so that bookmarks work."""

import json
import secrets
import socket
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack, suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from armarius.engine.engine import ContextEngine
from armarius.errors import ContractError, MissingExtra, StoreBusy, StoreFull
from armarius.io import folder_lock, make_folder, read_file, write_atomic
from armarius.io.write import cache_of

_LOOPBACK = "127.0.0.1"
_SESSION = "session.json"
_MOST_BYTES = 4096
_FIRST_PORT, _PORTS = 20_000, 10_000  # below those that systems give away


class Session(NamedTuple):
    """Port and token of the studio of a folder, kept in the user's cache for this user alone."""

    port: int
    token: str

    @property
    def address(self) -> str:
        """With the token: whoever has it may read and change the project."""
        return f"http://{_LOOPBACK}:{self.port}/?token={self.token}"


def join(root: Path, *, browser: bool = True, say: Callable[[str], None] = print) -> bool:
    """Say and open the address of the studio that serves a folder already; False where none does.

    Args:
        root: The folder of a project.
        browser: Whether to open a browser.
        say: Called with the address, token included.
    """
    folder = cache_of(root, "studio")
    if not folder.is_dir():
        return False
    try:
        with folder_lock(folder, timeout=0):  # held as long as a studio runs
            return False
    except StoreFull:
        return False
    except StoreBusy:
        session = _kept_session(folder)
    if session is None:
        return False
    _show_address(session, browser, say)
    return True


def serve(
    engine: ContextEngine,
    *,
    port: int = 0,
    browser: bool = True,
    say: Callable[[str], None] = print,
    new_token: bool = False,
) -> None:
    """Serve until interrupted.

    Args:
        engine: An open engine; the caller closes it.
        port: Port on the loopback address; 0 takes that of the folder, or a free one.
        browser: Whether to open a browser.
        say: Called with the URL, token included.
        new_token: Whether pages that were open before are shut out.

    Raises:
        MissingExtra: pip install 'armarius[studio]'.
        ContractError: The port is in use or out of range; or a new token is asked for while another studio runs.
    """
    try:
        import uvicorn

        from armarius.studio.app import build_app
    except ImportError:
        raise MissingExtra("armarius.studio", "studio") from None
    if not 0 <= port <= 65_535:
        raise ContractError(f"port must be 0 to 65535, got {port}")
    folder = None if engine.root is None else cache_of(engine.root, "studio")
    # asyncio sets TCP_NODELAY only if the protocol is given; without it a page takes 40 ms more.
    with ExitStack() as stack, socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        try:
            if folder is not None:
                make_folder(folder, mode=0o700)
                stack.enter_context(folder_lock(folder, timeout=0))
        except (StoreBusy, StoreFull) as error:  # another studio has the port and the token of the folder
            folder = None
            if new_token and isinstance(error, StoreBusy):
                raise ContractError("a studio is running for this folder: end it first") from None
        kept = None if folder is None else _kept_session(folder)
        token = secrets.token_urlsafe(32) if kept is None or new_token else kept.token
        usual = 0 if folder is None else _port_of(folder) if kept is None else kept.port
        session = Session(_listen_on_port(listening, port, usual), token)
        if folder is not None:
            write_atomic(folder / _SESSION, json.dumps(session._asdict()).encode(), below=folder, mode=0o600)
        _show_address(session, browser, say)
        config = uvicorn.Config(
            build_app(engine, token, session.port),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(config).run(sockets=[listening])


def _listen_on_port(listening: socket.socket, port: int, usual: int) -> int:
    """Listen on `port`; for 0 on the usual one if it is free, else on any. The port."""
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with suppress(OSError):
        if not port and usual:
            listening.bind((_LOOPBACK, usual))
    try:
        if listening.getsockname()[1] == 0:
            listening.bind((_LOOPBACK, port))
        listening.listen()  # before the URL is printed, so that an early request waits instead of failing
    except OSError as error:
        raise ContractError(f"port {port} of {_LOOPBACK}: {error.strerror}") from None
    return int(listening.getsockname()[1])


def _port_of(folder: Path) -> int:
    return _FIRST_PORT + int.from_bytes(blake2b(folder.name.encode("utf-8", "replace")).digest()[:4]) % _PORTS


def _kept_session(folder: Path) -> Session | None:
    try:
        kept = json.loads(read_file(folder / _SESSION, limit=_MOST_BYTES, below=folder))
        session = Session(int(kept["port"]), str(kept["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return session if 0 < session.port <= 65_535 and len(session.token) >= 32 else None


def _show_address(session: Session, browser: bool, say: Callable[[str], None]) -> None:
    say(session.address)
    if browser:
        webbrowser.open(session.address)
