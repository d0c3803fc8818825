"""One HTTP endpoint that takes and gives JSON: bounded in time, size and attempts; it follows no redirection.

A redirection would carry the key to another host, so a 3xx is an error that says so. Proxies of the environment are not
asked: an address is contacted as it is written.
"""

import http.client
import json
import ssl
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from armarius.errors import ContractError, EmbeddingError

__all__ = ["Endpoint"]

_MOST_BYTES = 256 << 20
_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 8.0


class Endpoint:
    """An address to which JSON is posted. Threads may share it: each call has a connection of its own.

    Args:
        base_url: http or https, without name or password in it.
        path: Of the endpoint, below it.
        key: Sent as a bearer token; "" sends none. No message ever shows it.

    Raises:
        ContractError: No such address.
    """

    def __init__(self, base_url: str, path: str, key: str) -> None:
        try:
            parts = urlsplit(base_url.rstrip("/") + path)
            self._host, self._port = parts.hostname, parts.port
        except ValueError as error:
            raise ContractError(f"base_url {base_url!r} is no address: {error}") from None
        if parts.scheme not in ("http", "https") or not self._host:
            raise ContractError(f"base_url must begin with http:// or https:// and name a host, got {base_url!r}")
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            raise ContractError(
                "base_url must have no name, password, query or fragment in it; the key goes to api_key"
            )
        if not all(" " < char <= "~" for char in key):
            raise ContractError("api_key must be visible ASCII characters")
        self._secure = parts.scheme == "https"
        self._path = parts.path
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self.name = f"{parts.scheme}://{parts.netloc}"

    def post(self, body: Mapping[str, object], *, attempts: int, deadline: float) -> object:
        """The answer to `body`, tried again where the server is away or busy, with growing pauses between.

        Args:
            body: What is sent, as JSON.
            attempts: At most so many.
            deadline: Of `time.monotonic`; no attempt or pause goes on after it.

        Raises:
            EmbeddingError: No answer, a refusal, or one that is no JSON; names host and reason.
        """
        sent = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        pause = _FIRST_PAUSE_S
        for attempt in range(1, attempts + 1):
            left = deadline - time.monotonic()
            if left <= 0:
                why = "no time was left to ask it"
                break
            try:
                status, asked_pause, answer = self._ask(sent, left, deadline)
            except (OSError, http.client.HTTPException, ssl.SSLError) as error:
                why = f"it did not answer ({type(error).__name__}: {error})"
            else:
                if status == http.client.OK:
                    return self._read(answer)
                why = f"it answered {status}: {_reason(answer)}"
                if status not in _BUSY:
                    raise EmbeddingError(f"{self.name}: {why}")
                pause = max(pause, min(asked_pause, _LONGEST_PAUSE_S))
            if attempt < attempts and time.monotonic() + pause < deadline:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
            else:
                break
        raise EmbeddingError(f"{self.name}: {why}")

    def _ask(self, sent: bytes, timeout: float, deadline: float) -> tuple[int, float, bytes]:
        """Status, the pause that the server asks for in seconds, and the body."""
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host or "", self._port, timeout=timeout)
        try:
            connection.request("POST", self._path, sent, self._headers)
            response = connection.getresponse()
            body = bytearray()
            while part := response.read1(1 << 20):
                body += part
                if len(body) > _MOST_BYTES:
                    raise EmbeddingError(f"{self.name}: it answered with more than {_MOST_BYTES:,} bytes")
                if time.monotonic() > deadline:  # a timeout of the socket holds for each read alone
                    raise TimeoutError("the answer took too long")
            asked = response.headers.get("Retry-After", "")
            return response.status, float(asked) if asked.isdecimal() else 0.0, bytes(body)
        finally:
            connection.close()

    def _read(self, answer: bytes) -> object:
        try:
            found: object = json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise EmbeddingError(f"{self.name}: it answered with what is no JSON ({error})") from error
        return found


def _reason(answer: bytes) -> str:
    """What a server says of an error: OpenAI's form, else the beginning of the text."""
    text = answer[:2_000].decode("utf-8", "replace")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if isinstance(said, dict):
        inner = said.get("error", said.get("detail", text))
        text = str(inner.get("message", inner) if isinstance(inner, dict) else inner)
    return "".join(char for char in text[:200] if char.isprintable()) or "nothing more"
