"""What is done with a project: the whole life of an engine, or a session at one of the doors."""

import contextlib
import io
import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from tests.clock import Clock
from tests.hostile.place import CANARY, MARK, MODELS, Place

import armarius
from armarius import cli
from armarius.errors import ArmariusError

SESSION_S = 6.0
"""For all requests of one session together; each of them is allowed two."""


class Steps:
    """Runs one step after the other and keeps how each went; a step that raises does not end the life.

    Attributes:
        faults: What may never be, in words: an error that is not ours, what stands outside, a step that is slow.
        errors: Of ours, by step.
        found: The steps whose answer holds what stands in an untouched chapter.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.errors: dict[str, str] = {}
        self.found: set[str] = set()

    def __call__(self, name: str, call: Callable[[], Any], *, limit_s: float = 2.0) -> Any:
        """The answer of `call`, None when it raised."""
        answer, clock = None, Clock()
        try:
            answer = call()
            said = f"{answer!r}{_text(answer)}"
        except KeyboardInterrupt:
            raise
        except ArmariusError as error:
            said = str(error)
            self.errors[name] = f"{type(error).__name__}: {said[:200]}"
        except BaseException as error:  # whatever comes out is what the test is about
            said = str(error)
            self.faults.append(f"{name}: {type(error).__name__}: {said[:200]} (no error of ours)")
        if (seconds := clock.own_s()) > limit_s:
            self.faults.append(f"{name}: slow, {seconds:.1f} s")
        if CANARY in said:
            self.faults.append(f"{name}: said what stands outside")
        if MARK in said:
            self.found.add(name)
        return answer


def _text(answer: Any) -> str:
    if isinstance(answer, list | tuple):
        return "".join(map(repr, answer))
    wire = getattr(answer, "to_wire", None)
    return f"{getattr(answer, 'prompt', '')}{wire() if wire else ''}"


def api(place: Place, step: Steps, setting: str) -> None:
    """Open, ask everything, write everything, close, look after it, open again."""
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


def innocent(place: Place, step: Steps, setting: str) -> None:
    """A first life that leaves an index, a cache and authored files behind."""
    index_dir = place.shared if setting == "shared" else None
    with armarius.open(place.project, watch=False, index_dir=index_dir) as engine:
        engine.subgraph("strike")
        engine.assemble(query="林默", budget=6000)


def command_line(place: Place, step: Steps, setting: str) -> None:
    """Every command that reads a project, as the shell would call it."""
    project = str(place.project)
    for words in (
        ["assemble", project, "--query", "林默 strike", "--budget", "6000"],
        ["inspect", project, "--query", "小雨", "--document", "chapters/ch001.md", "--budget", "6000"],
        ["find", project, MARK],
        ["retrieve", project, "林默的妹妹是谁"],
        ["index", project],
        ["embed", project],
        ["embed", project, "--model", "lexical"],
        ["doctor", project],
    ):
        status = step(" ".join(words[:1]), lambda words=words: cli.main(words))
        if status not in (0, 1, 2, None):
            step.faults.append(f"{words[0]}: exit status {status}")


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


def channel(place: Place, step: Steps, setting: str) -> None:
    """A host that asks everything over JSON-RPC and goes away."""
    asked = [
        {"jsonrpc": "2.0", "id": number, "method": name, "params": params}
        for number, (name, params) in enumerate(_REQUESTS)
    ]
    answers = _session(step, ["channel", str(place.project)], asked)
    for request in asked if answers else ():
        told = [answer for answer in answers if answer.get("id") == request["id"]]
        if len(told) != 1:
            step.faults.append(f"{request['method']}: {len(told)} answers")
        elif "error" in told[0] and told[0]["error"]["data"]["code"] == "INTERNAL":
            step.faults.append(f"{request['method']}: INTERNAL: {told[0]['error']['message'][:150]}")


_TOOLS = (
    ("context", {"query": "林默 strike", "document": "chapters/ch001.md", "budget": 6000}),
    ("find", {"query": f"“{MARK}”"}),
    ("find", {"query": "林默的妹妹是谁"}),
    ("entities", {"text": "小雨来了"}),
    ("subgraph", {"symbol": "strike"}),
)


def mcp(place: Place, step: Steps, setting: str) -> None:
    """An agent that shakes hands and calls every tool."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    asked: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 100, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    for number, (tool, arguments) in enumerate(_TOOLS):
        call = {"name": tool, "arguments": arguments}
        asked.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
    answers = _session(step, ["serve", str(place.project)], asked)
    for answer in answers:
        if "INTERNAL" in json.dumps(answer):
            step.faults.append(f"MCP: {json.dumps(answer, ensure_ascii=False)[:200]}")
    for request in asked if answers else ():
        if "id" in request and not any(answer.get("id") == request["id"] for answer in answers):
            step.faults.append(f"MCP: {request['method']} {request['id']}: no answer")


def _session(step: Steps, words: list[str], asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
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
    step(words[0], lambda: cli.main(words), limit_s=SESSION_S)
    for stream in (sys.stdin, sys.stdout):
        with contextlib.suppress(OSError, ValueError):  # closed by the server
            stream.close()
    sys.stdin, sys.stdout = before
    reader.join(1.0)
    print(json.dumps(found, ensure_ascii=False))
    return found


LIVES: dict[str, Callable[[Place, Steps, str], None]] = {
    "api": api,
    "innocent": innocent,
    "command line": command_line,
    "channel": channel,
    "MCP": mcp,
}
