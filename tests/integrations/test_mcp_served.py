"""The MCP server as a process: over stdio and over HTTP, to the official clients and to frameworks for agents."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import pytest

pytest.importorskip("mcp.server", reason="the mcp extra is not installed")

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from armarius.cli.entry import main

from .test_mcp import EXAMPLES, TOOLS, WRITING, said


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
@pytest.mark.parametrize("how", ["end of input", "interrupt"])
def test_the_server_ends_with_its_input_and_when_interrupted(novel, how):
    environment = {**os.environ, "PYTHONWARNINGS": "ignore::RuntimeWarning"}
    process = subprocess.Popen(
        [Path(sys.executable).parent / "armarius", "serve", novel],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
    )  # fmt: skip
    process.stdin.write(INITIALIZE)
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    if how == "interrupt":
        process.send_signal(signal.SIGINT)
    else:
        process.stdin.close()
    assert process.wait(20) == (130 if how == "interrupt" else 0)
    assert b"Traceback" not in process.stderr.read()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


INITIALIZE = (
    json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        }
    ).encode()
    + b"\n"
)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_server_speaks_over_stdio_in_both_protocol_eras(novel, mode):
    environment = {**os.environ, "PYTHONWARNINGS": "ignore::RuntimeWarning"}
    command = StdioServerParameters(
        command=str(Path(sys.executable).parent / "armarius"), args=["serve", str(novel)], env=environment
    )
    async with Client(command, mode=mode) as client:
        answer = await client.call_tool("entities", {"text": "小雨推开门走了进来"})
        assert answer.content[0].text.startswith("林小雨 [lin-xiaoyu]")


@contextmanager
def served(*words, **environment):
    """Address and token of a server over HTTP."""
    process = subprocess.Popen(
        [Path(sys.executable).parent / "armarius", "serve", *words, "--http", "127.0.0.1:0"],
        stdout=subprocess.PIPE, env={**os.environ, **environment}, text=True,
    )  # fmt: skip
    try:
        address = process.stdout.readline().strip()
        yield address, environment.get("ARMARIUS_TOKEN") or process.stdout.readline().strip().rpartition(" ")[2]
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


@asynccontextmanager
async def over_http(address, token, **options):
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http), **options) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Address and token of the one server that all clients here ask."""
    novel = shutil.copytree(EXAMPLES / "novel", tmp_path_factory.mktemp("served") / "novel")
    with served(str(novel), "--allow-write", ARMARIUS_TOKEN="of-the-user") as found:
        yield found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_one_process_serves_clients_over_http_in_both_protocol_eras(server, mode):
    async with over_http(*server, mode=mode) as one, over_http(*server, mode=mode) as other:
        assert {tool.name for tool in (await one.list_tools()).tools} == TOOLS | WRITING
        for client in (one, other):
            assert (await said(client, "entities", text="小雨推开门走了进来")).startswith("林小雨 [lin-xiaoyu]")


def test_over_http_a_wrong_token_and_another_site_are_refused(server):
    address, token = server

    def status(**headers):
        sent = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream", **headers}
        return httpx2.post(address, content=INITIALIZE, headers={"Content-Type": "application/json", **sent})

    assert token == "of-the-user"
    assert status().status_code == 200
    assert status(Authorization="").status_code == status(Authorization="Bearer of-another").status_code == 401
    assert status(Authorization="Bearer ü".encode()).status_code == 401
    assert status(Origin="https://evil.example").status_code == 403
    assert status(Host="evil.example").status_code == 421
    assert status(Origin=address.removesuffix("/mcp")).status_code == 200


@pytest.mark.parametrize("where", ["127.0.0.1", "127.0.0.1:x", ":80", "127.0.0.1:70000", "203.0.113.1:80"])
def test_an_address_that_nobody_can_listen_on_is_told(novel, where, capsys):
    assert main(["serve", str(novel), "--http", where]) == 2
    assert "203.0.113.1" in (told := capsys.readouterr().err) or "expected HOST:PORT" in told


def test_the_command_serves_a_workspace_and_takes_no_folder_beside_it(novel, capsys):
    assert main(["serve", str(novel), "--workspace", str(novel.parent)]) == 2
    assert "leave out the one folder" in capsys.readouterr().err
    with served("--workspace", str(novel.parent)) as (address, token):

        async def ask():
            async with over_http(address, token) as client:
                return await said(client, "read", project=novel.name, path="chapters/ch005.md", lines=[19, 19])

        assert "我十九岁那年从档案馆裁的" in anyio.run(ask)


NODE = """
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
(async () => {
  const client = new Client({ name: "test", version: "1" });
  const [command, ...args] = process.argv.slice(1);
  const headers = { Authorization: `Bearer ${args[0]}` };
  await client.connect(command.startsWith("http:")
    ? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers } })
    : new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" }));
  const call = async (name, given) => (await client.callTool({ name, arguments: given })).content[0].text;
  const { tools } = await client.listTools();
  console.log(JSON.stringify({
    tools: tools.map((tool) => tool.name),
    found: await call("find", { query: "who cut page eighteen", variants: ["周远从档案馆裁下了第十八页"] }),
    proposed: await call("propose", { name: "磨刀师傅", type: "character", relations: [{ type: "邻居", to: "林默" }] }),
    wrong: await call("read", { path: "chapters/ch03.md" }),
  }));
  await client.close();
})();
"""
TOOLS_OF_CODE = Path(__file__).parents[2] / ".cache" / "code-tools"
MODULES, AGENTS = TOOLS_OF_CODE / "node_modules", TOOLS_OF_CODE / "agents"


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node on this machine")
@pytest.mark.skipif(
    not (MODULES / "@modelcontextprotocol").exists(), reason="MCP's SDK for Node is not installed: make code-tools"
)
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_the_official_client_for_node_lists_finds_proposes_and_is_told_the_near_path(novel, server, way):
    environment = {**os.environ, "NODE_PATH": str(MODULES), "PYTHONWARNINGS": "ignore::RuntimeWarning"}
    program = [str(Path(sys.executable).parent / "armarius"), "serve", str(novel), "--allow-write"]
    to = program if way == "stdio" else server
    ran = subprocess.run(["node", "-e", NODE, *to], capture_output=True, timeout=120, env=environment, check=True)
    told = json.loads(ran.stdout)
    assert set(told["tools"]) == TOOLS | WRITING
    assert "我十九岁那年从档案馆裁的" in told["found"]
    assert told["proposed"].startswith("Proposed 磨刀师傅 with 1 relation")
    assert "near it: chapters/ch003.md" in told["wrong"]


BOTH_WAYS = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from agent import set_tracing_disabled, work
set_tracing_disabled(True)
for where in sys.argv[2:]:
    print(asyncio.run(work(where)))
"""


def test_the_example_of_an_agents_framework_finds_adds_and_checks_over_stdio_and_over_http(novel, server):
    pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed")
    address, token = server
    quiet = {
        "PYTHONWARNINGS": "ignore",
        "OPENAI_API_KEY": "",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "ARMARIUS_TOKEN": token,
    }
    program = [sys.executable, "-c", BOTH_WAYS, EXAMPLES, novel, address]
    ran = subprocess.run(
        program, capture_output=True, timeout=120, env={**os.environ, **quiet}, check=True, encoding="utf-8"
    )
    lines = ran.stdout.splitlines()
    for found, proposed, checked in (lines[:3], lines[3:]):
        assert found.startswith("¶9 “那一页在我这里。”周远说，“我十九岁那年从档案馆裁的。")
        assert proposed == "Proposed 灯芯婆婆 with 2 relations"
        assert checked.endswith("competes on 特征 with spec/characters.md#林小雨")


@pytest.mark.parametrize("framework", ["langgraph", "pydantic_ai"])
def test_an_agent_of_another_framework_finds_and_reads_over_http(server, framework):
    if not (AGENTS / "langchain_mcp_adapters").exists():
        pytest.skip("frameworks that need version 1 of the MCP SDK are not installed: make code-tools")
    program = [sys.executable, Path(__file__).with_name("mcp_agents.py"), framework, *server]
    environment = {**os.environ, "PYTHONPATH": str(AGENTS), "PYTHONWARNINGS": "ignore"}
    ran = subprocess.run(program, capture_output=True, timeout=120, env=environment, check=False, encoding="utf-8")
    assert ran.returncode == 0, ran.stderr
    found, read = ran.stdout.splitlines()[-2:]
    assert "我十九岁那年从档案馆裁的" in found
    assert read == "19 “那一页在我这里。”周远说，“我十九岁那年从档案馆裁的。我以为裁掉，这件事就没有了。”"
