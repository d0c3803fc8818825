"""What agents must not be able to do through any surface: read outside the project, break it, learn its place."""

import json
import os
import re
import socket

import pytest
from tests.integrations.hostile import SECRET, inputs, paths

import armarius
from armarius.channel.server import Channel
from armarius.verbs import methods_of

SQL = re.compile(r"\b(SELECT|INSERT|sqlite|apsw|fts5)\b", re.IGNORECASE)


@pytest.fixture
def guarded(novel):
    """The novel with a secret beside it and links to it inside."""
    outside = novel.parent / "secret.md"
    outside.write_text(f"# {SECRET}\n", encoding="utf8")
    (novel.parent / "outside").mkdir()
    (novel.parent / "outside" / "secret.md").write_text(SECRET, encoding="utf8")
    (novel / "link.md").symlink_to(outside)
    (novel / "linked").symlink_to(novel.parent / "outside", target_is_directory=True)
    os.mkfifo(novel / "fifo.md")
    with armarius.open(novel, watch=False) as engine:
        yield engine, paths(outside)


def channel_answers(engine, calls):
    import io

    lines = b"".join(
        json.dumps({"id": n, "method": method, "params": params}).encode() + b"\n"
        for n, (method, params) in enumerate(calls)
    )
    output = io.BytesIO()
    Channel(methods_of(engine), root=engine.root.resolve(), workers=2).serve(io.BytesIO(lines), output)
    answers = [json.loads(line) for line in output.getvalue().splitlines()]
    assert len(answers) == len(calls)
    return answers


def request(**more):
    return {"projectId": "", "documentId": "", "cursorPosition": 0, "skillId": "s", "query": "小雨", **more}


def assert_tells_nothing(answer, engine):
    text = json.dumps(answer, ensure_ascii=False)
    assert SECRET not in text
    if not answer["ok"]:
        assert answer["error"]["code"] != "INTERNAL", text
        assert str(engine.root.resolve().parent) not in text
        assert not SQL.search(answer["error"]["message"]), text


def test_there_are_enough_hostile_cases(tmp_path):
    assert len(set(paths(tmp_path))) >= 200
    assert len(set(inputs())) >= 100


def test_no_path_leads_out_of_the_project_over_the_channel(guarded):
    engine, hostile = guarded
    calls = [("context:prompt:assemble", request(documentId=path)) for path in hostile]
    calls += [("documents:retrieve", {"query": "小雨", "documentId": path}) for path in hostile]
    for answer in channel_answers(engine, calls):
        assert_tells_nothing(answer, engine)


def test_no_input_breaks_the_channel(guarded):
    engine, _ = guarded
    calls = []
    for text in inputs():
        calls.append(("context:prompt:assemble", request(query=text, additionalInput=text)))
        calls.append(("entities:detect", {"text": text}))
        calls.append(("documents:search", {"query": text}))
        calls.append(("documents:retrieve", {"query": text}))
    for answer in channel_answers(engine, calls):
        assert_tells_nothing(answer, engine)


async def test_no_path_and_no_input_gets_through_the_mcp_server(guarded):
    pytest.importorskip("mcp.server", reason="the mcp extra is not installed")
    from mcp import Client

    from armarius.mcp import build_server

    engine, hostile = guarded
    place = str(engine.root.resolve().parent)
    async with Client(build_server(engine)) as client:
        for path in hostile:
            if any("\ud800" <= char <= "\udfff" for char in path):
                continue  # the client cannot put it on the wire
            answer = await client.call_tool("assemble_context", {"query": "x", "document": path})
            text = answer.model_dump_json()
            assert SECRET not in text
            assert not answer.is_error or (place not in text and "INTERNAL" not in text)
            try:
                read = (await client.read_resource(f"armarius://documents/{path}")).model_dump_json()
            except Exception as error:
                read = str(error)
            assert SECRET not in read
        for text in inputs():
            if any("\ud800" <= char <= "\udfff" for char in text):
                continue
            for tool, key in (("search", "query"), ("retrieve", "query"), ("detect_entities", "text")):
                answer = await client.call_tool(tool, {key: text})
                assert not answer.is_error, (tool, text[:40], answer.content)


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
