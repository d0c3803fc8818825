"""What must not be done through any surface: read outside the project, break it, learn its place."""

import io
import itertools
import json
import os
import re
import socket
from pathlib import Path

import pytest

import armarius
from armarius.channel import Channel
from armarius.errors import ArmariusError
from armarius.verbs import methods_of

ROWS = json.loads(Path(__file__).parents[1].joinpath("cases/hostile_hosts.json").read_text("utf-8"))
SECRET = "TOP-SECRET-7f3a"
SQL = re.compile(r"\b(SELECT|INSERT|sqlite|apsw|fts5)\b", re.IGNORECASE)
SEEDS = [row if isinstance(row, str) else row[0] * row[1] for row in ROWS["texts"]]
TEXTS = [text for seed in SEEDS for text in (seed, f"小雨{seed}", f"{seed} 检查第3章")]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A project with a secret beside it and links to it inside; and every climb to every target in every form."""
    root = tmp_path_factory.mktemp("safety") / "novel"
    (root.parent / "outside").mkdir()
    root.mkdir()
    (root / "a.md").write_text("# 第一章\n\n小雨来了。\n", "utf-8")
    (root / "codex.json").write_text('{"entities": [{"id": "yu", "name": "小雨"}]}', "utf-8")
    for name in ("secret.md", "outside/secret.md"):
        (root.parent / name).write_text(f"# {SECRET}\n", "utf-8")
    (root / "link.md").symlink_to(root.parent / "secret.md")
    (root / "linked").symlink_to(root.parent / "outside", target_is_directory=True)
    os.mkfifo(root / "fifo.md")
    climbs = itertools.product(ROWS["forms"], ROWS["climbs"], (1, 3), ROWS["targets"])
    paths = [form.format(climb * depth + target) for form, climb, depth, target in climbs]
    with armarius.open(root, watch=False) as engine:
        yield engine, [*paths, *ROWS["paths"], str(root.parent / "secret.md"), f"//{root.parent / 'secret.md'}"]


def leaks(said, engine):
    return SECRET in said or str(engine.root.resolve().parent) in said


def test_there_are_enough_hostile_cases(guarded):
    assert len(set(guarded[1])) >= 200
    assert len(set(TEXTS)) >= 100


def test_no_path_and_no_text_gets_through_the_channel(guarded):
    engine, paths = guarded
    asked = {"projectId": "", "documentId": "", "cursorPosition": 0, "skillId": "s", "query": "小雨"}
    calls = [("context:prompt:assemble", {**asked, "documentId": path}) for path in paths]
    calls += [("documents:retrieve", {"query": "小雨", "documentId": path}) for path in paths]
    for text in TEXTS:
        calls.append(("context:prompt:assemble", {**asked, "query": text, "additionalInput": text}))
        calls.append(("entities:detect", {"text": text}))
        calls += [(method, {"query": text}) for method in ("documents:search", "documents:retrieve")]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": what})
        for n, (method, what) in enumerate(calls)
    ]
    output = io.BytesIO()
    channel = Channel(methods_of(engine), root=engine.root.resolve(), workers=2)
    channel.serve(io.BytesIO("\n".join(lines).encode() + b"\n"), output)
    answers = [json.loads(line) for line in output.getvalue().splitlines()]
    assert len(answers) == len(calls)
    for answer in answers:
        text = json.dumps(answer, ensure_ascii=False)
        assert SECRET not in text
        if "error" in answer:
            assert not leaks(text, engine)
            assert answer["error"]["data"]["code"] != "INTERNAL", text
            assert not SQL.search(answer["error"]["message"]), text


async def test_no_path_and_no_text_gets_through_the_mcp_server(guarded):
    pytest.importorskip("mcp.server", reason="the mcp extra is not installed")
    from mcp import Client

    from armarius.mcp import build_server

    engine, paths = guarded
    surrogates = re.compile("[\ud800-\udfff]")  # the client cannot put them on the wire
    async with Client(build_server(engine)) as client:
        for path in (path for path in paths if not surrogates.search(path)):
            answer = await client.call_tool("context", {"query": "x", "document": path})
            text = answer.model_dump_json()
            assert SECRET not in text
            assert not answer.is_error or not (leaks(text, engine) or "INTERNAL" in text)
            try:
                read = (await client.read_resource(f"armarius://documents/{path}")).model_dump_json()
            except Exception as error:
                read = str(error)
            assert SECRET not in read
        for text in (text for text in TEXTS if not surrogates.search(text)):
            for tool, key in (("find", "query"), ("entities", "text")):
                answer = await client.call_tool(tool, {key: text})
                assert not answer.is_error, (tool, text[:40], answer.content)


def langgraph_node(engine):
    pytest.importorskip("langgraph", reason="the langgraph extra is not installed")
    from langchain_core.messages import HumanMessage
    from langgraph.graph import END, START, StateGraph

    from armarius.frameworks.langgraph import ArmariusContext, ContextState, inject_context

    graph = StateGraph(ContextState, context_schema=ArmariusContext)
    graph.add_node("context", inject_context)
    graph.add_edge(START, "context")
    graph.add_edge("context", END)
    compiled, context = graph.compile(), ArmariusContext(engine)
    return lambda text, **state: compiled.invoke({"messages": [HumanMessage(text)], **state}, context=context)[
        "context"
    ]


def langchain_retriever(engine):
    pytest.importorskip("langchain_core", reason="the langchain extra is not installed")
    from armarius.frameworks.langchain import ArmariusRetriever

    return ArmariusRetriever(engine=engine).invoke


def llama_index_retriever(engine):
    pytest.importorskip("llama_index.core", reason="the llama-index extra is not installed")
    from armarius.frameworks.llama_index import ArmariusRetriever

    return ArmariusRetriever(engine).retrieve


@pytest.mark.parametrize("adapter", [langgraph_node, langchain_retriever, llama_index_retriever])
def test_no_path_and_no_text_gets_through_an_adapter(guarded, adapter):
    engine, paths = guarded
    call = adapter(engine)
    asked = [(text, {}) for text in TEXTS]
    if adapter == langgraph_node:
        asked += [("小雨", {"document": path}) for path in paths]
    for text, state in asked:
        try:
            said = repr(call(text, **state))
        except ArmariusError as error:
            said = f"{type(error).__name__}: {error}".replace(state.get("document") or "?", "")  # what was asked
        assert not leaks(said, engine), ascii((text, state))


def test_nothing_reaches_for_the_network(novel, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a socket was opened")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    with armarius.open(novel) as engine:
        engine.assemble(query="检查第3章的角色一致性", document="chapters/ch003.md", model="claude-opus-4")
        engine.search("小雨")
        engine.retrieve("白鹭洲的灯塔")
