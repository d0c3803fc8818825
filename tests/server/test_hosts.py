"""Hosts over a shelf: the JSON channel, MCP and a web application, each of one tenant."""

import asyncio
import io
import json
import runpy
from pathlib import Path

import pytest
from tests.server.novels import files_of

from armarius.channel import Channel
from armarius.verbs import methods_of_shelf

EXAMPLE = Path(__file__).parents[2] / "examples" / "server" / "app.py"


def asked(shelf, tenant, *messages):
    lines = "".join(json.dumps({"jsonrpc": "2.0", "id": number, **one}) + "\n" for number, one in enumerate(messages))
    output = io.BytesIO()
    Channel(methods_of_shelf(shelf, tenant), workers=1).serve(io.BytesIO(lines.encode()), output)
    answers = [json.loads(line) for line in output.getvalue().splitlines()]
    return sorted(answers, key=lambda one: one["id"])


def test_a_channel_serves_the_projects_of_its_tenant_and_no_other(shelf, tenant):
    shelf.project("theirs", tenant=f"{tenant}-other").write({"a.md": "# 乙\n\n白鹭来了。\n"})
    text = "# 甲\n\n林默来了。\n"
    answers = asked(
        shelf,
        tenant,
        {"method": "documents:write", "params": {"projectId": "p", "files": {"a.md": text}}},
        {"method": "documents:search", "params": {"projectId": "p", "query": "林默", "atLeast": 1}},
        {"method": "documents:write", "params": {"projectId": "p", "files": {"a.md": "新"}, "expect": 7}},
        {"method": "documents:search", "params": {"projectId": "theirs", "query": "白鹭"}},
        {"method": "projects:list", "params": {}},
        {"method": "documents:search", "params": {"query": "林默"}},
        {"method": "documents:write", "params": {"projectId": "p", "files": {"../a.md": "x"}}},
        {"method": "projects:delete", "params": {"projectId": "p"}},
        {"method": "projects:delete", "params": {"projectId": "theirs"}},
        {"method": "documents:search", "params": {"projectId": "p", "query": "林默"}},
        {"method": "documents:list", "params": {"projectId": "p", "createIfMissing": True}},
    )
    assert answers[0]["result"] == {"version": 1}
    assert [hit["path"] for hit in answers[1]["result"]["items"]] == ["a.md"]
    assert answers[2]["error"]["data"]["code"] == "STORE_CONFLICT"
    assert answers[3]["error"]["data"]["code"] == "UNKNOWN_PROJECT"
    assert [one["id"] for one in answers[4]["result"]["items"]] == ["p"]
    assert [answers[n]["error"]["data"]["code"] for n in (5, 6)] == ["INVALID_REQUEST", "INVALID_REQUEST"]
    assert "result" in answers[7]
    assert [answers[n]["error"]["data"]["code"] for n in (8, 9)] == ["UNKNOWN_PROJECT"] * 2
    assert answers[10]["result"]["items"] == []
    assert shelf.project("theirs", tenant=f"{tenant}-other").search("白鹭")


def test_the_channel_gives_the_prompt_that_the_engine_gives(shelf, tenant):
    novel = shelf.project("novel", tenant=tenant)
    novel.write(files_of())
    params = {"projectId": "novel", "documentId": "chapters/ch003.md", "cursorPosition": 40, "skillId": "chat"}
    (answer,) = asked(shelf, tenant, {"method": "context:prompt:assemble", "params": {**params, "query": "照片"}})
    expected = novel.assemble("照片", document="chapters/ch003.md", cursor=40, skill="chat")
    assert answer["result"]["prompt"] == expected.prompt


async def test_mcp_answers_over_a_stored_project(shelf, tenant):
    pytest.importorskip("mcp.server.mcpserver")
    from mcp import Client

    from armarius.mcp import build_server

    novel = shelf.project("novel", tenant=tenant)
    novel.write(files_of())
    async with Client(build_server(novel)) as client:
        answer = await client.call_tool("find", {"query": "“照片”"})
    assert "photograph" in str(answer) or "照片" in str(answer)


async def test_mcp_answers_over_the_projects_of_one_tenant(shelf, tenant):
    pytest.importorskip("mcp.server.mcpserver")
    from mcp import Client

    from armarius.mcp import build_server

    shelf.project("novel", tenant=tenant).write(files_of())
    shelf.project("another", tenant=f"{tenant}-other").write(files_of())
    async with Client(build_server(shelf, tenant=tenant)) as client:

        async def said(tool, **arguments):
            return (await client.call_tool(tool, arguments)).content[0].text

        assert await said("projects") == "novel"
        assert "photograph" in (found := await said("find", project="novel", query="“照片”")) or "照片" in found
        assert (await said("find", project="another", query="“照片”")).startswith("UNKNOWN_PROJECT")


@pytest.fixture
def application(server, shared_pool, tenant, monkeypatch):
    pytest.importorskip("fastapi")
    monkeypatch.setenv("ARMARIUS_DSN", server.dsn)
    return runpy.run_path(str(EXAMPLE))["app"]


async def test_a_web_application_answers_two_hundred_requests_at_once(application, tenant):
    httpx = pytest.importorskip("httpx")
    async with application.router.lifespan_context(application):
        options = {"transport": httpx.ASGITransport(app=application), "headers": {"x-tenant": tenant}, "timeout": 120}
        async with httpx.AsyncClient(base_url="http://novels", **options) as client:
            refused = []

            async def sent(method, address, **given):
                while (answer := await client.request(method, address, **given)).status_code == 503:
                    refused.append(answer)
                    assert int(answer.headers["Retry-After"]) >= 1
                    await asyncio.sleep(0.1)
                return answer.json()

            async def write(number):
                text = f"# 第{number}页\n\n林默在第{number}页写下了暗号{number}号。\n"
                return (await sent("PUT", f"/p{number % 20}/n{number}.md", json={"text": text}))["version"]

            async def ask(number, version):
                query = {"query": f"暗号{number}号", "document": f"n{number}.md", "at_least": version}
                return number, await sent("GET", f"/p{number % 20}/prompt", params=query)

            versions = await asyncio.gather(*map(write, range(200)))
            answers = await asyncio.gather(*map(ask, range(200), versions))
            assert refused
            assert (await client.get("/live")).json() == {"ok": True}
            assert (await client.get("/ready")).json() == {"ok": True, "why": ""}
            late = await client.put("/p1/n1.md", json={"text": "晚了"}, params={"expect": 1})
            assert late.status_code == 409
            assert (await client.get("/nowhere/prompt", params={"query": "x"})).status_code == 404
    assert len(answers) == 200
    for number, answer in answers:
        assert f"暗号{number}号" in answer["prompt"]
        assert not [one for one in answer["warnings"] if one.startswith("INDEX_STALE")]
