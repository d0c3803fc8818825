"""What is done with a project, in a child process: the whole life of an engine, or a session at one of the doors."""

import contextlib
import io
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.clock import Clock
from tests.hostile.place import CANARY, MARK, MODELS, Place

import armarius
from armarius import cli
from armarius.errors import ArmariusError

Tell = Callable[[dict[str, Any]], None]

SESSION_S = 6.0
"""For all requests of one session together; each of them is allowed two."""


class Steps:
    """Runs one step after the other and tells how each went; a step that raises does not end the life."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def __call__(self, name: str, call: Callable[[], Any], *, limit_s: float = 2.0) -> Any:
        """The answer of `call`, None when it raised."""
        self._tell({"begins": name, "limit_s": limit_s})
        answer, error = None, None
        clock = Clock()
        try:
            answer = call()
        except BaseException as raised:  # whatever comes out is what the test is about
            error = raised
        told: dict[str, Any] = {"ends": name, "seconds": clock.own_s()}
        said = f"{answer!r}{_text(answer)}" if error is None else str(error)
        if error is not None:
            told |= {"error": type(error).__name__, "says": str(error)[:200], "ours": isinstance(error, ArmariusError)}
        self._tell({**told, "leaks": CANARY in said, "found": MARK in said})
        return answer


def _text(answer: Any) -> str:
    if isinstance(answer, list | tuple):
        return "".join(map(repr, answer))
    wire = getattr(answer, "to_wire", None)
    return f"{getattr(answer, 'prompt', '')}{wire() if wire else ''}"


def api(place: Place, tell: Tell, setting: str) -> None:
    """Open, ask everything, write everything, close, look after it, open again."""
    step = Steps(tell)
    index_dir = place.shared if setting == "shared" else None
    engine = step("open", lambda: armarius.open(place.project, watch=True, index_dir=index_dir))
    if engine is not None:
        step("refresh", engine.refresh)
        step("search", lambda: engine.search(MARK))
        step("retrieve", lambda: engine.retrieve("林默的妹妹是谁"))
        step("detect", lambda: engine.detect("小雨来了"))
        step("assemble a document", lambda: engine.assemble(document="chapters/ch001.md", cursor=5, budget=6000))
        step("assemble a query", lambda: engine.assemble(query="strike 林默怎么了", budget=6000))
        step("inspect", lambda: engine.inspect(query="小雨", document="chapters/ch001.md", cursor=3, budget=6000))
        step("subgraph", lambda: engine.subgraph("strike"))
        if setting in MODELS:
            step("similar", lambda: engine.similar("林默"))
        step("constraint", lambda: engine.constraints.create("不得杀人。"))
        step("memory", lambda: engine.memories.create("爱用短句。"))
        step("entity", lambda: engine.codex.create("白鹭"))
        profile = step("profile", engine.budget_profile)
        if profile is not None:
            step("update the profile", lambda: engine.update_budget_profile(profile, version=profile.version))
        step("status", engine.status)
        step("close", engine.close)
    folder = [] if index_dir is None else ["--index-dir", str(index_dir)]
    step("doctor", lambda: cli.main(["doctor", str(place.project), *folder]))
    engine = step("reopen", lambda: armarius.open(place.project, watch=False, index_dir=index_dir))
    if engine is not None:
        step("assemble again", lambda: engine.assemble(query="林默", budget=6000))
        step("close again", engine.close)


def innocent(place: Place, tell: Tell, setting: str) -> None:
    """A first life that leaves an index, a cache and authored files behind."""
    index_dir = place.shared if setting == "shared" else None
    with armarius.open(place.project, watch=False, index_dir=index_dir) as engine:
        engine.subgraph("strike")
        engine.assemble(query="林默", budget=6000)


def command_line(place: Place, tell: Tell, setting: str) -> None:
    """Every command that reads a project, as the shell would call it."""
    step, project = Steps(tell), str(place.project)
    for words in (
        ["assemble", project, "--query", "林默 strike", "--budget", "6000"],
        ["inspect", project, "--query", "小雨", "--document", "chapters/ch001.md", "--budget", "6000"],
        ["search", project, MARK],
        ["retrieve", project, "林默的妹妹是谁"],
        ["index", project],
        ["embed", project],
        ["embed", project, "--model", "lexical"],
        ["doctor", project],
    ):
        status = step(" ".join(words[:1]), lambda words=words: cli.main(words))
        if status not in (0, 1, 2, None):
            tell({"did": f"{words[0]}: exit status {status}"})


_REQUESTS = (
    (
        "context:prompt:assemble",
        {"projectId": "", "documentId": "chapters/ch001.md", "cursorPosition": 3, "skillId": ""},
    ),
    (
        "context:prompt:inspect",
        {"query": "林默 strike", "projectId": "", "documentId": "", "cursorPosition": 0, "skillId": ""},
    ),
    ("documents:search", {"query": MARK}),
    ("documents:retrieve", {"query": "林默的妹妹是谁"}),
    ("entities:detect", {"text": "小雨来了"}),
    ("constraints:create", {"text": "不得杀人。"}),
    ("constraints:list", {}),
    ("context:budget:get", {}),
    ("index:status", {}),
)


def channel(place: Place, tell: Tell, setting: str) -> None:
    """A host that asks everything over newline-delimited JSON and goes away."""
    asked = [{"id": number, "method": name, "params": params} for number, (name, params) in enumerate(_REQUESTS)]
    answers = _session(tell, ["channel", str(place.project)], asked)
    for request in asked if answers else ():
        told = [answer for answer in answers if answer.get("id") == request["id"]]
        if len(told) != 1:
            tell({"did": f"{request['method']}: {len(told)} answers"})
        elif not told[0]["ok"] and told[0]["error"]["code"] == "INTERNAL":
            tell({"did": f"{request['method']}: INTERNAL: {told[0]['error']['message'][:150]}"})


_TOOLS = (
    ("assemble_context", {"query": "林默 strike", "document": "chapters/ch001.md", "cursor": 3, "budget": 6000}),
    ("search", {"query": MARK}),
    ("retrieve", {"query": "林默的妹妹是谁"}),
    ("detect_entities", {"text": "小雨来了"}),
    ("subgraph", {"symbol": "strike"}),
)


def mcp(place: Place, tell: Tell, setting: str) -> None:
    """An agent that shakes hands and calls every tool."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    asked: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 100, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    for number, (tool, arguments) in enumerate(_TOOLS):
        call = {"name": tool, "arguments": arguments}
        asked.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
    answers = _session(tell, ["serve", str(place.project)], asked)
    for answer in answers:
        if "INTERNAL" in json.dumps(answer):
            tell({"did": f"MCP: {json.dumps(answer, ensure_ascii=False)[:200]}"})
    for request in asked if answers else ():
        if "id" in request and not any(answer.get("id") == request["id"] for answer in answers):
            tell({"did": f"MCP: {request['method']} {request['id']}: no answer"})


def _session(tell: Tell, words: list[str], asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run a command that serves standard input; the input ends when every request is answered."""
    source, requests = os.pipe()
    answers, output = os.pipe()
    found: list[dict[str, Any]] = []
    waiting = {request["id"] for request in asked if "id" in request}

    def read() -> None:
        with os.fdopen(answers, "rb") as stream:
            for line in stream:
                found.append(json.loads(line))
                waiting.discard(found[-1].get("id"))
                if not waiting and not closed.is_set():
                    closed.set()
                    os.close(requests)

    closed = threading.Event()
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    os.write(requests, b"".join(json.dumps(request).encode() + b"\n" for request in asked))
    before = sys.stdin, sys.stdout
    sys.stdin, sys.stdout = io.TextIOWrapper(os.fdopen(source, "rb")), io.TextIOWrapper(os.fdopen(output, "wb"))
    Steps(tell)(words[0], lambda: cli.main(words), limit_s=SESSION_S)
    with contextlib.suppress(OSError, ValueError):  # closed by the server
        sys.stdout.close()
    sys.stdin, sys.stdout = before
    reader.join(1.0)
    print(json.dumps(found, ensure_ascii=False))
    return found


LIVES: dict[str, Callable[[Place, Tell, str], None]] = {
    "api": api,
    "innocent": innocent,
    "command line": command_line,
    "channel": channel,
    "MCP": mcp,
}


def guilty(place: Place) -> dict[str, Callable[[], Any]]:
    """What a package must not do, done on purpose: proves that it would be noticed. Name to deed."""
    import socket
    import subprocess

    link = place.project / "innocent.md"

    def through_a_link() -> str:
        link.symlink_to(place.outside / "mine.txt")
        return link.read_bytes().decode()[:0]

    def listed() -> None:
        link.symlink_to(place.outside)
        assert [*link.iterdir()]

    return {
        "list through a link": listed,
        "write outside": lambda: Path(place.outside, "mine.txt").write_text("x"),
        "make outside": lambda: Path(place.outside, "more").mkdir(),
        "delete outside": lambda: Path(place.outside, "secret.md").unlink(),
        "write in the home": lambda: Path(place.home, "x").write_text("x"),
        "write where it stands": lambda: Path("x").write_text("x"),
        "read through a link": through_a_link,
        "change a chapter": lambda: Path(place.project, "chapters/ch002.md").write_text("x"),
        "run a program": lambda: subprocess.run([str(place.project / "ckb")], check=False),
        "run a shell": lambda: os.system("true"),
        "connect": lambda: socket.create_connection(("127.0.0.1", 9), timeout=0.1),
        "hang": lambda: time.sleep(60),
        "work without end": lambda: sum(1 for _ in iter(int, 1)),
        "raise OSError": lambda: Path("/nowhere").read_text(),
        "raise RecursionError": lambda: json.loads("[" * 100_000),
        "use memory": lambda: len(bytearray(2 << 30)),
        "say a secret": lambda: CANARY,
        "die": lambda: os.abort(),
        "leave a process": lambda: subprocess.Popen(["sleep", "30"]),
        "a thread dies": lambda: threading.Thread(target=lambda: 1 / 0).start(),
        "nothing": lambda: None,
    }
