"""A TLS endpoint before a temporary PostgreSQL, whose programs are built without OpenSSL."""

import select
import socket
import ssl
import struct
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

_SSL_REQUEST = struct.pack("!II", 8, 80877103)
_DEMAND = 'no pg_hba.conf entry for host "127.0.0.1", user "guarded", database "postgres", no encryption'


def write_certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key, made by `openssl`."""
    certificate, key = folder / f"{host}.pem", folder / f"{host}.key"
    subprocess.run(
        [
            "openssl", "req", "-x509", "-nodes", "-days", "2", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1", "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}",
            "-keyout", str(key), "-out", str(certificate),
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


class TLSEndpoint:
    """Listens on 127.0.0.1 and relays to the socket of a server; refuses who asks without TLS, as PostgreSQL does.

    Attributes:
        port: Where it listens.
    """

    def __init__(self, behind: Path, certificate: Path, key: Path) -> None:
        self._behind = behind
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                threading.Thread(target=self._serve, args=self._listening.accept()[:1], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client:  # also of a client that does not trust the certificate
            start = client.recv(8, socket.MSG_WAITALL)
            if start != _SSL_REQUEST:
                client.recv(4096)
                client.sendall(_fatal("28000", _DEMAND))
                return
            client.sendall(b"S")
            with self._context.wrap_socket(client, server_side=True) as secure, socket.socket(socket.AF_UNIX) as server:
                server.connect(str(self._behind))
                _relay(secure, server)


def _fatal(state: str, message: str) -> bytes:
    fields = b"".join(f"{kind}{text}\0".encode() for kind, text in (("S", "FATAL"), ("C", state), ("M", message)))
    return b"E" + struct.pack("!I", len(fields) + 5) + fields + b"\0"


def _relay(secure: ssl.SSLSocket, server: socket.socket) -> None:
    while True:
        for source in [secure] if secure.pending() else select.select([secure, server], [], [])[0]:
            data = source.recv(65536)
            if not data:
                return
            (server if source is secure else secure).sendall(data)
