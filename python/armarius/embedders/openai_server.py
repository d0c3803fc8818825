"""Client for servers with OpenAI's `/v1/embeddings`. Texts are sent to the server."""

import http.client
import json
import os
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

import numpy as np

from armarius.embedders.preprocess import prompted
from armarius.errors import ContractError, EmbeddingError
from armarius.store.vectors_protocol import Fingerprint, Vectors
from armarius.vectors.embedder import PROBE, checked_vectors, fingerprint_by

_MOST_BYTES = 256 << 20
_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 8.0


class Endpoint:
    """An HTTP endpoint for JSON. Thread-safe: each call opens its own connection.

    Args:
        base_url: http or https, without user name or password.
        path: Path of the endpoint, appended to `base_url`.
        key: Sent as a bearer token; "" sends none. Error messages never contain it.

    Raises:
        ContractError: The address or the key is invalid.
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
        """Post `body` and return the parsed answer; retried with exponential backoff if the server is down or busy.

        Args:
            body: Sent as JSON.
            attempts: Maximum number of attempts.
            deadline: In seconds of `time.monotonic`; no attempt or pause lasts longer.

        Raises:
            EmbeddingError: No answer, an error status, or an answer that is not JSON; names host and reason.
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
                    try:
                        return json.loads(answer)
                    except (ValueError, RecursionError) as error:
                        raise EmbeddingError(f"{self.name}: it answered with what is no JSON ({error})") from error
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
        """HTTP status, `Retry-After` in seconds, and body."""
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
                if time.monotonic() > deadline:  # the socket timeout applies to each read, not to the whole answer
                    raise TimeoutError("the answer took too long")
            delay = response.headers.get("Retry-After", "")
            return response.status, float(delay) if delay.isdecimal() else 0.0, bytes(body)
        finally:
            connection.close()


def _reason(answer: bytes) -> str:
    """The error message of an answer: OpenAI's field, else the beginning of the text."""
    text = answer[:2_000].decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        inner = data.get("error", data.get("detail", text))
        text = str(inner.get("message", inner) if isinstance(inner, dict) else inner)
    return "".join(char for char in text[:200] if char.isprintable()) or "nothing more"


_BATCH, _BATCH_CHARACTERS = 64, 100_000
_QUERY_ATTEMPTS, _DOCUMENT_ATTEMPTS = 2, 5
_DOCUMENTS_S = 120.0  # for one batch, retries included
_REST_S = 5.0  # after a failed query no request is sent for this time
_OURS = frozenset({"input", "model", "encoding_format"})


class ServerEmbedder:
    """An `Embedder` over HTTP; see `armarius.embedders.openai` for the arguments. Thread-safe.

    The fingerprint is made of the model's name, the extra fields, the document prompt and the vector of a fixed text,
    not of the address: stored vectors stay valid when the server moves, but not when the model behind the name changes.
    """

    def __init__(
        self, base_url: str | None, query_model: str | None, document_model: str | None,
        extra: Mapping[str, object] | None, api_key: str | None, query_prompt: str, document_prompt: str,
        timeout_s: float,
    ) -> None:  # fmt: skip
        address = base_url or os.environ.get("OPENAI_BASE_URL", "")
        if not address:
            raise ContractError("no base_url: give one, such as http://127.0.0.1:8000/v1, or set OPENAI_BASE_URL")
        self._query_model = query_model or document_model or ""
        self._document_model = document_model or query_model or ""
        if not self._document_model:
            raise ContractError("no model: give query_model or document_model")
        if not timeout_s > 0:
            raise ContractError(f"timeout_s must be > 0, got {timeout_s}")
        self._extra = dict(extra or {})
        if ours := sorted(_OURS & self._extra.keys()):
            raise ContractError(f"extra must not have {ours[0]!r}, which is sent anyway")
        try:
            self._said = json.dumps(self._extra, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ContractError(f"extra is no JSON: {error}") from None
        key = os.environ.get("OPENAI_API_KEY", "") if api_key is None else api_key
        self._endpoint = Endpoint(address, "/embeddings", key)
        self._query_prompt, self._document_prompt = query_prompt, document_prompt
        self._timeout = timeout_s
        self._lock = threading.Lock()
        self._made: Fingerprint | None = None
        self._rest_until, self._why = 0.0, ""

    def __repr__(self) -> str:
        return f"ServerEmbedder({self._endpoint.name}, {self._document_model!r})"

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint; the first call asks the server for the vector of a fixed text.

        Raises:
            EmbeddingError: The server does not answer, or not with a vector.
        """
        with self._lock:
            if self._made is None:
                vector = self._embed([PROBE], self._document_model, _QUERY_ATTEMPTS, self._timeout, None)[0]
                identity = f"{self._document_model}\n{self._said}\n"
                made = fingerprint_by(vector, self._document_model, identity, "the server's")
                self._made = replace(made, document_prompt=self._document_prompt)
            return self._made

    def embed_queries(self, texts: Sequence[str], /) -> Vectors:
        """One vector per query, within `timeout_s`. After a failure no request is sent for five seconds.

        Raises:
            EmbeddingError: No answer in time, an error status, or vectors of another dimension than before.
        """
        seconds = min(self._timeout * len(texts), max(self._timeout, _DOCUMENTS_S))
        return self._vectors(prompted(self._query_prompt, texts), self._query_model, _QUERY_ATTEMPTS, seconds)

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """One vector per text, in batches of 64, with up to five attempts per batch within two minutes.

        Raises:
            EmbeddingError: As `embed_queries`.
        """
        return self._vectors(prompted(self._document_prompt, texts), self._document_model, _DOCUMENT_ATTEMPTS, None)

    def _vectors(self, texts: Sequence[str], model: str, attempts: int, seconds: float | None) -> Vectors:
        """The vectors of texts, within `seconds` in all; None is `_DOCUMENTS_S` for each batch."""
        dimension, deadline = self.fingerprint.dimension, time.monotonic() + (seconds or 0)
        out = np.zeros((len(texts), dimension), np.float32)
        for start, part in _batches(texts):
            left = _DOCUMENTS_S if seconds is None else max(deadline - time.monotonic(), 0.001)
            out[start : start + len(part)] = self._embed(part, model, attempts, left, dimension)
        return out

    def _embed(self, texts: Sequence[str], model: str, attempts: int, seconds: float, dimension: int | None) -> Vectors:
        now = time.monotonic()
        if now < self._rest_until and attempts == _QUERY_ATTEMPTS:
            raise EmbeddingError(f"{self._why}; asked again in {self._rest_until - now:.0f} s")
        body = {**self._extra, "model": model, "input": list(texts), "encoding_format": "float"}
        try:
            answer = self._endpoint.post(body, attempts=attempts, deadline=now + seconds)
            who = f"{self._endpoint.name}, model {model!r},"
            vectors = checked_vectors(self._rows(answer, len(texts)), len(texts), dimension, who)
        except EmbeddingError as error:
            self._why, self._rest_until = error.message, time.monotonic() + _REST_S
            raise
        self._rest_until = 0.0
        return vectors

    def _rows(self, answer: object, count: int) -> list[list[float]]:
        """The vectors of an answer, in the order of the texts."""
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            raise EmbeddingError(f"{self._endpoint.name}: the answer has no list of embeddings under data")
        placed = {item.get("index", at): item.get("embedding") for at, item in enumerate(data)}
        if len(data) != count or set(placed) != set(range(count)):
            raise EmbeddingError(f"{self._endpoint.name}: {len(data)} embeddings came back for {count} texts")
        rows = [placed[at] for at in range(count)]
        for row in rows:
            is_alike = isinstance(row, list) and len(row) == len(rows[0])
            if not is_alike or not all(type(value) in (int, float) for value in row):
                raise EmbeddingError(f"{self._endpoint.name}: an embedding is no list of numbers as long as the others")
        return rows


def _batches(texts: Sequence[str]) -> "list[tuple[int, Sequence[str]]]":
    """Offset and texts of each batch: at most 64 texts and 100,000 characters, but at least one text."""
    batches: list[tuple[int, Sequence[str]]] = []
    start = size = 0
    for at, text in enumerate(texts):
        if at > start and (at - start >= _BATCH or size + len(text) > _BATCH_CHARACTERS):
            batches.append((start, texts[start:at]))
            start, size = at, 0
        size += len(text)
    return [*batches, (start, texts[start:])] if start < len(texts) else batches
