"""An embeddings server that answers as told and keeps what it was sent."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np


class FakeServer:
    """Attributes: `answers`, taken one by one before it answers as it should: a status, (status, headers), or a body;
    `requests`, what came in: path, headers, body."""

    def __init__(self) -> None:
        self.answers: list[object] = []
        self.requests: list[tuple[str, dict[str, str], dict]] = []
        self.delay = 0.0
        self.url = ""

    def vector(self, text: str) -> list[float]:
        out = np.zeros(32)
        for char in text:
            out[ord(char) % 32] += 1
        return out.tolist()


@contextmanager
def serving() -> Iterator[FakeServer]:
    fake = FakeServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fake.requests.append((self.path, dict(self.headers), body))
            time.sleep(fake.delay)
            answer = fake.answers.pop(0) if fake.answers else None
            status, headers = 200, {}
            if isinstance(answer, int):
                status, answer = answer, {"error": {"message": "as told"}}
            elif isinstance(answer, tuple):
                (status, headers), answer = answer, {}
            if answer is None:
                data = [
                    {"index": at, "embedding": fake.vector(text), "object": "embedding"}
                    for at, text in enumerate(body["input"])
                ]
                answer = {"object": "list", "data": data[::-1], "model": body["model"]}
            sent = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(sent))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    fake.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
