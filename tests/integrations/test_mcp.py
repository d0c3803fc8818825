"""The MCP server with the official client, in-process and over stdio, in both protocol eras."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("mcp.server", reason="the mcp extra is not installed")

from mcp import Client, MCPError, StdioServerParameters

import armarius
from armarius.arguments import KINDS
from armarius.index.folder_source import FolderSource
from armarius.mcp import build_server

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TOOLS = {
    "assemble_context", "inspect_context", "search", "retrieve", "locate", "detect_entities",
    "list_documents", "list_entities", "entity", "evidence",
}  # fmt: skip
WRITING = {"remember", "propose"}


class Server:
    """A client connected in-process for one call; the client's task group wants to end where it began."""

    def __init__(self, engine, **options):
        self.engine = engine
        self.options = options

    def __getattr__(self, name):
        async def ask(*arguments):
            async with Client(build_server(self.engine, **self.options)) as client:
                return await getattr(client, name)(*arguments)

        return ask


@pytest.fixture
def client(engine):
    return Server(engine)


async def call(client, tool, **arguments):
    return await client.call_tool(tool, arguments)


async def test_every_tool_has_a_description_and_a_schema(client):
    tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == TOOLS
    assert all(tool.description and "properties" in tool.input_schema for tool in tools)


async def test_the_frame_of_a_prompt_is_in_the_language_that_is_asked_for(client):
    for language, heading in (("zh", "[用户请求]"), ("en", "[User request]")):
        answer = await call(client, "assemble_context", query="林默", language=language)
        assert heading in answer.content[0].text
        seen = await call(client, "inspect_context", query="林默", language=language)
        assert heading in json.dumps(seen.structured_content, ensure_ascii=False)
    assert (await call(client, "assemble_context", query="林默", language="fr")).is_error


async def test_assembled_context_is_structured_and_within_its_budget(client):
    answer = await call(
        client, "assemble_context", query="检查第3章的角色一致性", document="chapters/ch003.md", budget=3000
    )
    assert not answer.is_error
    assert 0 < answer.structured_content["tokenCount"] <= 3000
    assert "chapters/ch003.md" in answer.structured_content["documents"]


async def test_the_server_says_its_version(engine):
    async with Client(build_server(engine)) as client:
        assert client.server_info.version == armarius.__version__


async def test_an_entity_at_never_has_its_level_and_no_text(client, engine):
    known = engine.codex.update("白鹭", level="never")
    answer = await call(client, "entity", name="白鹭")
    assert answer.structured_content == {
        "entity": {"id": "白鹭", "name": "白鹭", "type": "character", "level": "never"}
    }
    assert "context level never" in answer.content[0].text
    assert known.description not in str(answer)


async def test_the_other_tools_answer(client):
    inspected = await call(client, "inspect_context", query="小雨点", document="chapters/ch003.md")
    assert "prompt" not in inspected.structured_content
    found = await call(client, "search", query="第十八页")
    assert found.structured_content["results"][0]["path"].startswith("chapters/")
    hits = await call(client, "retrieve", query="谁从档案馆裁走了第十八页")
    assert hits.structured_content["outcome"] == "found"
    assert hits.structured_content["results"][0]["text"]
    who = await call(client, "detect_entities", text="小雨推开门走了进来")
    assert [entity["matchedTerm"] for entity in who.structured_content["entities"]] == ["小雨"]


async def test_tools_take_bounds_and_other_wordings(client):
    asked = {"query": "检查第5章", "as_of": 3, "also": ["周远交出第十八页"]}
    seen = await call(client, "assemble_context", **asked)
    assert not {f"chapters/ch00{n}.md" for n in (4, 5, 6, 7)} & set(seen.structured_content["documents"])
    hits = await call(client, "retrieve", **asked)
    gone = {one["id"]: one["reason"] for one in hits.structured_content["omitted"]}
    assert gone["request:chapter:5"] == "timeline"
    found = await call(client, "search", query="灯塔", chapters=[6, None], kinds=["chapter"])
    assert {one["chapter"] for one in found.structured_content["results"]} == {6, 7}
    inspected = await call(client, "inspect_context", query="灯塔", chapters=3)
    assert not inspected.is_error


@pytest.mark.parametrize(
    "wrong",
    [{"chapters": [4, 1]}, {"chapters": ["1", 4]}, {"as_of": "3"}, {"as_of": True}, {"kinds": ["x"]}, {"also": [""]}],
)
async def test_bounds_that_are_none_are_a_tool_error_that_names_the_field(client, wrong):
    answer = await call(client, "assemble_context", query="x", **wrong)
    assert answer.is_error
    assert next(iter(wrong)) in answer.content[0].text


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search", {"query": "x", "limt": 1}, "limt is unknown; near it: limit"),
        ("search", {"query": "x", "foo": 1}, "foo is unknown; there are query, limit, also, chapters, kinds, as_of"),
        (
            "search",
            {"foo": 1},
            "query is missing; foo is unknown; there are query, limit, also, chapters, kinds, as_of",
        ),
        ("search", {}, "query is missing"),
        ("search", {"query": 5}, "query must be a text, got 5"),
        ("search", {"query": "x", "limit": "5"}, "limit must be a whole number, got '5'"),
        ("search", {"query": "x", "limit": 500}, "limit must be <= 100, got 500"),
        ("search", {"query": 5, "limit": 0}, "query must be a text, got 5; limit must be >= 1, got 0"),
        ("search", {"query": "x", "chapters": "x"}, "chapters: expected a chapter number, or first and last, got 'x'"),
        ("search", {"query": "x", "chapters": ["4", 1]}, "chapters: expected a chapter number, got '4'"),
        ("search", {"query": "x", "also": [""]}, "also: wording 0 is empty, got ['']"),
        ("search", {"query": "x", "as_of": True}, "as_of: expected a chapter number, got True"),
        (
            "search",
            {"query": "x", "kinds": ["y"]},
            "kinds: 'y' is no kind of document; the kinds are " + ", ".join(KINDS) + ", got ['y']",
        ),
        (
            "assemble_context",
            {"query": "x", "selection": [1]},
            "selection: expected two offsets, where the selection begins and where it ends, got [1]",
        ),
        ("entity", {"name": ""}, "name must have at least 1 character, got ''"),
    ],
)
async def test_what_a_tool_does_not_take_is_refused_in_one_line(client, tool, arguments, said):
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    assert answer.content[0].text == f"Error executing tool {tool}: INVALID_REQUEST: {said}"


async def test_schemas_of_tools_say_that_there_are_no_other_arguments(engine):
    tools = (await Server(engine, allow_write=True).list_tools()).tools
    assert {tool.name for tool in tools if tool.input_schema["additionalProperties"] is False} == TOOLS | WRITING


async def test_tools_take_the_conversation(client):
    said = [{"role": "user", "content": "谁裁走了卷宗的第十八页？"}, {"role": "assistant", "content": "周远。"}]
    asked = {"query": "他多大了？", "messages": said}
    hits = await call(client, "retrieve", **asked)
    assert hits.structured_content["carried"] == ["follow-up: 他 → 周远, from turn 2"]
    seen = await call(client, "assemble_context", **asked)
    assert "## 角色：周远\n" in seen.content[0].text
    assert not (await call(client, "inspect_context", **asked)).is_error
    wrong = await call(client, "assemble_context", query="x", messages=[{"role": "x", "content": "y"}])
    assert wrong.is_error
    assert "messages[0].role: expected one of" in wrong.content[0].text


async def test_agents_are_asked_for_wordings_in_the_words_of_the_book(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    for name in ("assemble_context", "retrieve"):
        assert "three to five wordings" in tools[name].description
        said = json.dumps(tools[name].input_schema["properties"]["also"])
        assert "names of the people and places" in said
        assert "who paid for" in said
        assert "谁替他还了债" in json.loads(said)["description"]
        assert '"maxItems": 8' in said


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("assemble_context", {"query": "x", "document": "no/such.md"}, "UNKNOWN_DOCUMENT"),
        ("assemble_context", {"query": "x", "document": "../../etc/passwd"}, "UNKNOWN_DOCUMENT"),
        ("assemble_context", {"query": "x", "document": "/etc/passwd"}, "UNKNOWN_DOCUMENT"),
        ("assemble_context", {"query": "x", "document": "a.md", "text": "字", "cursor": 2}, "CURSOR_OUT_OF_RANGE"),
        ("assemble_context", {"query": "x", "budget": 5}, "BUDGET_INVALID"),
    ],
)
async def test_a_failure_is_a_text_that_a_model_can_act_on(client, engine, tool, arguments, code):
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    text = answer.content[0].text
    assert code in text
    assert str(engine.root.resolve()) not in text
    assert "root:" not in text


async def test_resources_list_documents_and_entities_and_read_one(client):
    listed = {str(resource.uri) for resource in (await client.list_resources()).resources}
    assert listed == {"armarius://entities", "armarius://documents"}
    documents = json.loads((await client.read_resource("armarius://documents")).contents[0].text)
    assert "chapters/ch003.md" in documents
    text = (await client.read_resource("armarius://documents/chapters/ch003.md")).contents[0].text
    assert text.startswith("# 第三章 雨夜")
    entities = json.loads((await client.read_resource("armarius://entities")).contents[0].text)
    assert "林小雨" in {entity["name"] for entity in entities}


@pytest.mark.parametrize(
    "path", ["../secret.md", "%2e%2e/secret.md", "/etc/passwd", "chapters/../../secret.md", "no.md"]
)
async def test_no_resource_outside_the_project_is_readable(client, engine, path):
    (engine.root.parent / "secret.md").write_text("TOP SECRET", encoding="utf8")
    with pytest.raises(Exception) as caught:
        await client.read_resource(f"armarius://documents/{path}")
    assert "TOP SECRET" not in str(caught.value)


async def test_prompt_carries_the_context(client):
    prompt = await client.get_prompt("with_context", {"query": "小雨点是谁"})
    assert "林小雨的猫" in prompt.messages[0].content.text


@pytest.mark.parametrize("document", ["no/such.md", "/etc/passwd", "../../etc/passwd"])
async def test_a_prompt_that_fails_says_why(engine, document):
    async with Client(build_server(engine)) as client:
        with pytest.raises(MCPError, match="UNKNOWN_DOCUMENT") as caught:
            await client.get_prompt("with_context", {"query": "x", "document": document})
    assert str(engine.root.resolve()) not in str(caught.value)


async def test_a_client_is_answered_from_the_whole_project_while_the_index_is_built(novel, monkeypatch):
    read, listed = FolderSource.read, threading.Event()

    def slowly(*arguments, **options):
        listed.wait(60)
        yield from read(*arguments, **options)

    monkeypatch.setattr(FolderSource, "read", slowly)
    with armarius.open(novel, watch=False, wait=False) as engine:
        async with Client(build_server(engine)) as client:
            assert len((await client.list_tools()).tools) == len(TOOLS)
            listed.set()  # not before: the tools were listed while nothing had been read
            found = await client.call_tool("search", {"query": "第十八页"})
            assert found.structured_content["results"]
            answer = await client.call_tool("assemble_context", {"query": "小雨点是谁"})
            assert answer.structured_content["warnings"] == []


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
        answer = await client.call_tool("detect_entities", {"text": "小雨推开门走了进来"})
        assert answer.structured_content["entities"][0]["matchedTerm"] == "小雨"


@pytest.fixture
def code(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = Path(shutil.copytree(EXAMPLES / "code-project", tmp_path / "code"))
    with armarius.open(folder, watch=False) as engine:
        yield Server(engine)


async def test_subgraph_without_a_code_index_is_a_text_search_that_says_so(code):
    answer = await code.call_tool("subgraph", {"symbol": "burning_time"})
    found = answer.structured_content
    assert found["degraded"] is True
    assert {result["file"] for result in found["results"]} == {"lantern/lights.py"}
    assert {result["match"] for result in found["results"]} == {"burning_time"}
    assert found["warnings"][0] == "CKB 不可用，降级为文本搜索"
    assert answer.content[0].text.startswith("! CKB 不可用")


async def test_the_subgraph_tool_is_there_only_where_there_is_code(client, code):
    assert "subgraph" not in {tool.name for tool in (await client.list_tools()).tools}
    assert "subgraph" in {tool.name for tool in (await code.list_tools()).tools}


async def test_the_prompt_is_the_text_of_the_answer_beside_its_account(client):
    answer = await call(client, "assemble_context", query="小雨点是谁", document="chapters/ch003.md")
    account = answer.structured_content
    (prompt,) = [block.text for block in answer.content]
    assert prompt.startswith("<layer-rules>")
    assert "prompt" not in account
    (cat,) = [one for one in account["items"] if one["id"] == "entity:小雨点"]
    assert (cat["title"], cat["tokens"] > 0) == ("小雨点", True)
    assert cat["reason"].startswith("问题提到“小雨点”")
    assert {one["code"] for one in account["omitted"]}.isdisjoint({"no match", "duplicate"})


async def test_reading_tools_say_that_they_change_nothing_and_writing_ones_are_there_only_when_allowed(engine):
    tools = {tool.name: tool.annotations for tool in (await Server(engine, allow_write=True).list_tools()).tools}
    assert tools.keys() == TOOLS | WRITING
    assert {name for name, said in tools.items() if said.read_only_hint} == TOOLS
    assert not any(tools[name].destructive_hint for name in WRITING)
    assert all(said.open_world_hint is False for said in tools.values())
    refused = await Server(engine).call_tool("remember", {"text": "x"})
    assert refused.is_error
    assert engine.memories.list() == ()


async def test_what_is_remembered_is_in_the_next_prompt_and_what_is_proposed_in_none(engine):
    client = Server(engine, allow_write=True)
    await call(client, "remember", text="读者还不知道灯塔是谁点亮的")
    made = await call(client, "propose", name="灯芯婆婆", type="character", description="渡口卖灯芯的人")
    assert made.structured_content["level"] == "never"
    answer = await call(client, "assemble_context", query="灯芯婆婆是谁，灯塔是谁点亮的")
    assert "读者还不知道灯塔是谁点亮的" in answer.content[0].text
    assert "渡口卖灯芯的人" not in answer.content[0].text
    again = await call(client, "propose", name="灯芯婆婆", type="character")
    assert again.is_error
    assert "there is one already" in again.content[0].text


@pytest.mark.parametrize(
    ("said", "bearer"),
    [
        ({"name": "林小雨"}, "'lin-xiaoyu' (林小雨), from spec/characters.md:3, codex.json; update it instead"),
        ({"name": "小雨"}, "'lin-xiaoyu' (林小雨), from spec/characters.md:3, codex.json; update it instead"),
        ({"name": "LIN  mo"}, "'林默', from spec/characters.md:13"),
        ({"name": "周家伙计", "aliases": ["小周"]}, "'小周' is a name of '周远', from spec/characters.md:57"),
    ],
)
async def test_what_the_project_knows_by_any_name_is_no_proposal(engine, said, bearer):
    client = Server(engine, allow_write=True)
    answer = await call(client, "propose", type="character", **said)
    assert answer.is_error
    assert bearer in answer.content[0].text
    assert not (engine.root / ".armarius" / "codex.toml").exists()


async def test_documents_are_listed_by_kind_and_from_an_offset(client):
    found = (await call(client, "list_documents", kinds=["chapter"])).structured_content
    assert found["total"] == len(found["documents"]) > 6
    assert found["documents"][0]["path"] == "chapters/ch001.md"
    rest = (await call(client, "list_documents", kinds=["chapter"], offset=5)).structured_content
    assert rest["documents"] == found["documents"][5:]


async def test_a_card_is_text_and_says_only_what_holds_as_of_a_chapter(client):
    answer = await call(client, "entity", name="小雨", as_of=1)
    assert answer.content[0].text.startswith("## 角色：林小雨\n")
    assert answer.structured_content["entity"]["name"] == "林小雨"
    later = [fact for fact in answer.structured_content["entity"]["facts"] if (fact["since"] or 0) > 1]
    assert later == []
    missing = await call(client, "entity", name="林小雪")
    assert missing.is_error
    assert "林小雨" in missing.content[0].text


async def test_evidence_names_where_each_sentence_stands(client, engine):
    found = (await call(client, "evidence", name="林小雨", attribute="年龄")).structured_content
    assert found["statements"]
    for one in found["statements"]:
        assert engine.document(one["path"]).text[slice(*one["span"])] == one["text"]


async def test_a_list_of_results_stays_within_its_size_and_says_what_it_left_off(novel):
    for number in range(60):
        (novel / "side" / f"n{number}.md").write_text(
            f"# 旁注{number}\n\n" + "灯塔下的石阶很旧。" * 400, encoding="utf8"
        )
    with armarius.open(novel, watch=False) as engine:
        found = (await call(Server(engine), "search", query="灯塔下的石阶很旧", limit=100)).structured_content
        assert found["left_off"] > 0
        assert len(json.dumps(found, ensure_ascii=False)) < 62_000
        assert found["left_off"] + len(found["results"]) == len(engine.search("灯塔下的石阶很旧", limit=100))


async def test_a_cursor_that_is_not_given_is_the_end(client, engine):
    answer = await call(client, "assemble_context", query="接下来呢", document="chapters/ch003.md")
    end = engine.document("chapters/ch003.md").text.rstrip()[-12:]
    assert end in answer.content[0].text
    assert "<cursor/>" not in answer.content[0].text


async def test_the_list_of_entities_says_where_each_is_described_and_how_often_it_is_mentioned(client):
    found = (await call(client, "list_entities")).structured_content
    one = next(one for one in found["entities"] if one["name"] == "林默")
    assert found["total"] == len(found["entities"])
    assert (one["type"], one["from"], one["mentions"] > 5) == (
        "character",
        [{"path": "spec/characters.md", "line": 13}],
        True,
    )
