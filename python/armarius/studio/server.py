"""`serve`: the studio until it is interrupted."""

import secrets
import socket
import webbrowser
from collections.abc import Callable

from armarius.engine.engine import ContextEngine
from armarius.errors import ContractError, MissingExtra

_LOOPBACK = "127.0.0.1"


def serve(engine: ContextEngine, *, port: int = 0, browser: bool = True, say: Callable[[str], None] = print) -> None:
    """Serve until interrupted.

    Args:
        engine: An open engine; the caller closes it.
        port: Port on the loopback address; 0 takes a free one.
        browser: Whether to open a browser.
        say: Called with the URL, token included.

    Raises:
        MissingExtra: pip install 'armarius[studio]'.
        ContractError: The port is in use or out of range.
    """
    try:
        import uvicorn

        from armarius.studio.app import build_app
    except ImportError:
        raise MissingExtra("armarius.studio", "studio") from None
    if not 0 <= port <= 65_535:
        raise ContractError(f"port must be 0 to 65535, got {port}")
    # asyncio sets TCP_NODELAY only if the protocol is given; without it a page takes 40 ms more.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((_LOOPBACK, port))
            listening.listen()  # before the URL is printed, so that an early request waits instead of failing
        except OSError as error:
            raise ContractError(f"port {port} of {_LOOPBACK}: {error.strerror}") from None
        bound = listening.getsockname()[1]
        token = secrets.token_urlsafe(32)
        address = f"http://{_LOOPBACK}:{bound}/?token={token}"
        say(address)
        if browser:
            webbrowser.open(address)
        config = uvicorn.Config(
            build_app(engine, token, bound),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(config).run(sockets=[listening])
