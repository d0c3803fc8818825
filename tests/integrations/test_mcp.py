"""The MCP server with the official client, in-process; over stdio and HTTP: test_mcp_served.py."""

import json
import re
import shutil
import threading
from pathlib import Path

import pytest

pytest.importorskip("mcp.server", reason="the mcp extra is not installed")

from mcp import Client, MCPError

import armarius
from armarius.arguments import KINDS
from armarius.index.source import FolderSource
from armarius.mcp import build_server
from armarius.prompt.profile import BudgetProfile
from armarius.text.tokens import TokenCounter

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TOOLS = {"find", "read", "context", "entities", "entity", "evidence"}
WRITING = {"remember", "propose", "update", "pin", "understand"}
tokens = TokenCounter.for_encoding("o200k_base").count


class Server:
    """A client connected in-process for one call; the client's task group wants to end where it began."""

    def __init__(self, engine, **options):
        self.engine, self.server = engine, build_server(engine, **options)

    def __getattr__(self, name):
        async def ask(*arguments):
            async with Client(self.server) as client:
                return await getattr(client, name)(*arguments)

        return ask


@pytest.fixture
def client(engine):
    return Server(engine)


async def call(client, tool, **arguments):
    return await client.call_tool(tool, arguments)


async def said(client, tool, **arguments):
    """The text of an answer, which is all of it."""
    answer = await call(client, tool, **arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is None
    return "\n".join(block.text for block in answer.content)


async def test_every_tool_has_a_description_and_a_schema(client):
    tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == TOOLS
    assert all(tool.description and "properties" in tool.input_schema for tool in tools)


async def test_definitions_of_all_tools_cost_less_than_3000_tokens(code):
    listed = await Server(code.engine, allow_write=True).list_tools()
    assert {tool.name for tool in listed.tools} == TOOLS | WRITING | {"subgraph"}
    text = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools], ensure_ascii=False)
    assert tokens(text) < 3_000


async def test_the_prompt_is_within_its_budget(client):
    text = await said(client, "context", query="检查第3章的角色一致性", document="chapters/ch003.md", budget=3000)
    assert 0 < tokens(text) <= 3000
    assert "小雨推开门走了进来" in text


async def test_the_server_says_its_version(engine):
    async with Client(build_server(engine)) as client:
        assert client.server_info.version == armarius.__version__


async def test_of_an_entity_at_never_no_tool_but_read_tells_a_text(client, engine):
    known = engine.codex.update("白鹭", level="never")
    for tool in ("entity", "evidence"):
        assert (await said(client, tool, name="阿鹭")).startswith("白鹭: context level never")
    for query in ("白鹭是谁", f"“{known.description}”"):
        assert known.description not in await said(client, "find", query=query)
    assert "养父女" not in await said(client, "entity", name="林渡")
    assert known.description in await said(client, "read", path="spec/characters.md")


async def test_a_question_finds_sentences_with_path_line_and_number(client):
    text = await said(client, "find", query="谁从档案馆裁走了第十八页", variants=["周远从档案馆裁下了第十八页"])
    assert text.startswith("confidence ")
    assert "chapters/ch005.md:19 ¶9 “那一页在我这里。”周远说" in text


async def test_variants_in_the_words_of_the_book_find_what_another_language_asks(client):
    asked = {"query": "who cut page eighteen", "variants": ["周远从档案馆裁下了第十八页", "第十八页是谁裁走的"]}
    text = await said(client, "find", **asked)
    assert re.findall(r"^(\S+\.md):", text, re.MULTILINE)[:2] == ["spec/characters.md", "chapters/ch005.md"]


async def test_words_in_quotation_marks_are_found_as_written(client):
    for query in ("“第十八页”", '"第十八页"', "「第十八页」"):
        rows = re.split(r"\n(?=\S+\.md:\d+ )", await said(client, "find", query=query))[1:]
        assert len(rows) > 4
        assert all("第十八页" in row for row in rows)


async def test_entities_are_listed_with_id_type_aliases_and_mentions_or_those_that_a_text_names(client, engine):
    lines = (await said(client, "entities")).splitlines()
    assert len(lines) == len(engine.entities())
    assert "林小雨 [lin-xiaoyu] character · 小雨、雨丫头 · " in "\n".join(lines)
    assert (await said(client, "entities", text="小雨推开门走了进来")).startswith("林小雨 [lin-xiaoyu]")


async def test_tools_take_bounds(client):
    later = [f"chapters/ch00{number}.md" for number in (4, 5, 6, 7)]
    for tool in ("context", "find"):
        text = await said(client, tool, query="检查第5章", as_of=3, variants=["周远交出第十八页"])
        assert not any(path in text for path in later)
    text = await said(client, "find", query="“灯塔”", chapters=[6, None], kinds=["chapter"])
    assert set(re.findall(r"^chapters/ch00(\d)", text, re.MULTILINE)) == {"6", "7"}
    assert "chapter 5" not in await said(client, "evidence", name="周远", chapters=[6, 7])


@pytest.mark.parametrize(
    "wrong",
    [
        {"chapters": [4, 1]},
        {"chapters": ["1", 4]},
        {"as_of": "3"},
        {"as_of": True},
        {"kinds": ["x"]},
        {"variants": [""]},
    ],
)
async def test_bounds_that_are_none_are_a_tool_error_that_names_the_field(client, wrong):
    answer = await call(client, "find", query="x", **wrong)
    assert answer.is_error
    assert next(iter(wrong)) in answer.content[0].text


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("find", {"query": "x", "kind": 1}, "kind is unknown; near it: kinds"),
        ("entity", {"name": "x", "foo": 1}, "foo is unknown; there are name, as_of, cursor"),
        ("entity", {"foo": 1}, "name is missing; foo is unknown; there are name, as_of, cursor"),
        ("find", {}, "query is missing"),
        ("find", {"query": 5}, "query must be a text, got 5"),
        ("find", {"query": "x", "cursor": "5"}, "cursor must be a whole number, got '5'"),
        ("read", {"path": "style.md", "cursor": 500}, "cursor must be < 4, got 500"),
        ("find", {"query": 5, "cursor": -1}, "query must be a text, got 5; cursor must be >= 0, got -1"),
        ("find", {"query": "x", "chapters": "x"}, "chapters: expected a chapter number, or first and last, got 'x'"),
        ("find", {"query": "x", "chapters": ["4", 1]}, "chapters: expected a chapter number, got '4'"),
        ("find", {"query": "x", "variants": [""]}, "variants: wording 0 is empty, got ['']"),
        ("find", {"query": "x", "as_of": True}, "as_of: expected a chapter number, got True"),
        (
            "find",
            {"query": "x", "kinds": ["y"]},
            "kinds: expected one of " + ", ".join(KINDS) + ", or several, got 'y'; near it: summary",
        ),
        ("entity", {"name": ""}, "name must have at least 1 character, got ''"),
        (
            "read",
            {"path": "style.md", "lines": [12]},
            "lines: expected two numbers, first and last, got [12]",
        ),
    ],
)
async def test_what_a_tool_does_not_take_is_refused_in_one_line(client, tool, arguments, said):
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    assert answer.content[0].text == f"INVALID_REQUEST: {said}"


async def test_a_tool_that_is_not_there_is_answered_with_the_one_near_it(client):
    assert (await client.call_tool("finds", {})).content[0].text == "no tool has this name; there are find"


async def test_an_error_names_the_field_and_gives_no_long_input_back(engine):
    long, refused = "很长的输入" * 2_000, 0
    async with Client(build_server(engine, allow_write=True)) as client:
        for tool in (await client.list_tools()).tools:
            for field, schema in tool.input_schema["properties"].items():
                for value in (long, [long], {"x": long}, 10**300):
                    asked = dict.fromkeys(tool.input_schema.get("required", ()), "林默")
                    asked |= ({"path": "style.md"} if tool.name == "read" else {}) | {field: value}
                    answer = await client.call_tool(tool.name, asked)
                    if answer.is_error:
                        refused += 1
                        assert field in answer.content[0].text or schema.get("type") == "string", (tool.name, field)
                        assert len(answer.content[0].text) < 700
                        assert long[:200] not in answer.content[0].text, (tool.name, field)
    assert refused > 50


async def test_schemas_of_tools_say_that_there_are_no_other_arguments(engine):
    tools = (await Server(engine, allow_write=True).list_tools()).tools
    assert {tool.name for tool in tools if tool.input_schema["additionalProperties"] is False} == TOOLS | WRITING


async def test_context_takes_the_conversation(client):
    turns = [{"role": "user", "content": "谁裁走了卷宗的第十八页？"}, {"role": "assistant", "content": "周远。"}]
    assert "## 角色：周远\n" in await said(client, "context", query="他多大了？", messages=turns)
    wrong = await call(client, "context", query="x", messages=[{"role": "x", "content": "y"}])
    assert wrong.is_error
    assert "messages[0].role: expected one of" in wrong.content[0].text


async def test_agents_are_asked_for_wordings_in_the_words_of_the_book(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    for name in ("find", "context"):
        wanted = tools[name].input_schema["properties"]["variants"]
        for part in ("as the text itself would say it", "with names", "who paid for", "谁替他还了债"):
            assert part in wanted["description"]


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("context", {"query": "x", "document": "no/such.md"}, "UNKNOWN_DOCUMENT"),
        ("context", {"query": "x", "document": "../../etc/passwd"}, "UNKNOWN_DOCUMENT"),
        ("read", {"path": "/etc/passwd"}, "UNKNOWN_DOCUMENT"),
        ("read", {"path": "chapters/ch03.md"}, "near it: chapters/ch003.md"),
        ("context", {"query": "x", "budget": 5}, "BUDGET_INVALID"),
    ],
)
async def test_a_failure_is_a_text_that_a_model_can_act_on(client, engine, tool, arguments, code):
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    text = answer.content[0].text
    assert code in text
    assert str(engine.root.resolve()) not in text
    assert "root:" not in text


async def test_resources_list_documents_and_read_one(client):
    listed = {str(resource.uri) for resource in (await client.list_resources()).resources}
    assert listed == {"armarius://documents"}
    documents = json.loads((await client.read_resource("armarius://documents")).contents[0].text)
    assert "chapters/ch003.md" in documents
    text = (await client.read_resource("armarius://documents/chapters/ch003.md")).contents[0].text
    assert text.startswith("# 第三章 雨夜")


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
    short = await client.get_prompt("with_context", {"query": "小雨点是谁", "budget": "600"})
    assert len(short.messages[0].content.text) < len(prompt.messages[0].content.text)


async def test_context_says_what_a_task_gets_and_the_budget_that_it_has_without_one(client):
    (tool,) = [one for one in (await client.list_tools()).tools if one.name == "context"]
    told = tool.description.casefold()
    assert all(task in told for task in ("write", "continue", "check", "summarise", "translate", "rename", "state"))
    assert f"{BudgetProfile().budget:,}" in tool.input_schema["properties"]["budget"]["description"]


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
            found = await client.call_tool("find", {"query": "“第十八页”"})
            assert "第十八页" in found.content[0].text
            answer = await client.call_tool("context", {"query": "小雨点是谁"})
            assert len(answer.content) == 1  # no warning


async def test_one_server_answers_for_every_folder_of_a_workspace(novel):
    shutil.copytree(EXAMPLES / "code-project", novel.parent / "shelf" / "code")
    shutil.copytree(novel, novel.parent / "shelf" / "novel")
    with armarius.shelf(novel.parent / "shelf", watch=False) as shelf:
        client = Server(shelf, allow_write=True)
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == TOOLS | WRITING | {"subgraph", "projects"}
        assert {tool.name for tool in tools if "project" not in tool.input_schema["properties"]} == {"projects"}
        assert (await said(client, "projects")).split() == ["code", "novel"]
        assert "林小雨" in await said(client, "entity", project="novel", name="小雨")
        assert (await said(client, "remember", project="novel", text="灯塔在第3章关闭。")).startswith("Remembered")
        assert (novel.parent / "shelf" / "novel" / ".armarius" / "memories.toml").exists()
        answer = await call(client, "entity", project="novle", name="小雨")
        assert answer.content[0].text == "UNKNOWN_PROJECT: no project is called 'novle'; near it: novel"
        assert "project is missing" in (await call(client, "entity", name="小雨")).content[0].text


@pytest.fixture
def code(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = Path(shutil.copytree(EXAMPLES / "code-project", tmp_path / "code"))
    with armarius.open(folder, watch=False) as engine:
        yield Server(engine)


async def test_subgraph_without_a_code_index_is_a_text_search_that_says_so(code):
    text = await said(code, "subgraph", symbol="burning_time")
    assert text.startswith("! CKB 不可用")
    assert "lantern/lights.py" in text


async def test_the_subgraph_tool_is_there_only_where_there_is_code(client, code):
    assert "subgraph" not in {tool.name for tool in (await client.list_tools()).tools}
    assert "subgraph" in {tool.name for tool in (await code.list_tools()).tools}


async def test_the_prompt_is_sent_once_and_its_account_only_when_asked_for(client):
    asked = {"query": "小雨点是谁", "document": "chapters/ch003.md"}
    prompt = await said(client, "context", **asked)
    answer = await call(client, "context", account=True, **asked)
    assert [block.text for block in answer.content] == [prompt]
    account = answer.structured_content
    assert tokens(json.dumps(account, ensure_ascii=False)) < 2_000
    assert prompt[:200] not in json.dumps(account, ensure_ascii=False)
    (cat,) = [one for one in account["items"] if one["id"] == "entity:小雨点"]
    assert cat.keys() == {"title", "layer", "tokens", "reason", "id"}
    assert cat["reason"].startswith("问题提到“小雨点”")
    assert account["omitted"]
    assert (await said(client, "context", why="铜怀表", **asked)).splitlines()[0].startswith("铜怀表")


async def test_reading_tools_say_that_they_change_nothing_and_writing_ones_are_there_only_when_allowed(engine):
    tools = {tool.name: tool.annotations for tool in (await Server(engine, allow_write=True).list_tools()).tools}
    assert tools.keys() == TOOLS | WRITING
    assert {name for name, about in tools.items() if about.read_only_hint} == TOOLS
    assert {name for name, about in tools.items() if about.destructive_hint} == {"update", "pin"}
    assert all(about.open_world_hint is False for about in tools.values())
    refused = await Server(engine).call_tool("remember", {"text": "x"})
    assert refused.is_error
    assert engine.memories.list() == ()


PROPOSED = {
    "name": "灯芯婆婆",
    "type": "character",
    "description": "渡口卖灯芯的人",
    "relations": [{"type": "邻居", "to": "林默"}, {"type": "旧识", "to": "顾伯", "since": 2}],
}


async def test_what_is_remembered_is_in_the_next_prompt_and_what_is_proposed_in_none(engine):
    client = Server(engine, allow_write=True)
    await said(client, "remember", text="读者还不知道灯塔是谁点亮的")
    made = await said(client, "propose", **PROPOSED)
    assert made.startswith("Proposed 灯芯婆婆 with 2 relations")
    related = {(one.source, one.target, one.type, one.since) for one in engine.codex.relations()}
    assert {("灯芯婆婆", "林默", "邻居", None), ("灯芯婆婆", "顾长河", "旧识", 2)} <= related
    prompt = await said(client, "context", query="林默和顾伯的邻居是谁，灯塔是谁点亮的")
    assert "读者还不知道灯塔是谁点亮的" in prompt
    assert "灯芯" not in prompt
    again = await call(client, "propose", name="灯芯婆婆", type="character")
    assert again.is_error
    assert "there is one already" in again.content[0].text


async def test_what_is_remembered_already_is_not_stored_again(engine):
    client = Server(engine, allow_write=True)
    await said(client, "remember", text="灯塔是顾伯点亮的")
    assert (await said(client, "remember", text="灯塔是顾伯点亮的 ")).startswith("Remembered already, as ")
    assert len(engine.memories.list()) == 1


async def test_a_slip_in_a_type_is_answered_with_what_the_tool_can_do(engine):
    answer = await call(Server(engine, allow_write=True), "propose", name="灯芯婆婆", type="charactr")
    assert answer.is_error
    assert answer.content[0].text.endswith("near it: character")


async def test_what_finds_nothing_says_what_there_is(client, engine):
    text = await said(client, "read", path="chapters/ch003.md", lines=[90, 100])
    assert (
        text == f"nothing: it has {engine.document('chapters/ch003.md').text.count(chr(10)) + 1} lines, numbered from 1"
    )
    assert "nowhere: 宇宙飞船" in await said(client, "find", query="宇宙飞船")
    assert (await said(client, "evidence", name="林默", attribute="身高")).endswith("\nnothing about 身高")


async def test_a_proposal_with_an_unknown_relation_writes_nothing(engine):
    answer = await Server(engine, allow_write=True).call_tool(
        "propose", {"name": "新人", "type": "character", "relations": [{"type": "师徒", "to": "林小雪"}]}
    )
    assert answer.is_error
    assert "near it: 林小雨" in answer.content[0].text
    assert not (engine.root / ".armarius" / "codex.toml").exists()


async def test_an_update_adds_to_what_is_known(engine):
    client = Server(engine, allow_write=True)
    for more in ({"attributes": {"口头禅": "走着瞧"}}, {"attributes": {"左耳": "失聪"}, "aliases": ["小林"]}):
        await said(client, "update", name="小雨", **more)
    told = await said(client, "update", name="小雨", facts=[{"text": "学会撑船", "since": 6}],
                      relations=[{"type": "朋友", "to": "白鹭"}])  # fmt: skip
    assert told == "Updated 林小雨 [lin-xiaoyu]: facts, 朋友 → 白鹭."
    one = engine.entity("林小雨")
    assert {"年龄", "口头禅", "左耳"} <= one.attributes.keys()
    assert {"雨丫头", "小林"} <= set(one.aliases)
    assert [fact.text for fact in one.facts] == ["与白鹭一起照看钟表铺，不再逃课。", "学会撑船"]
    card = await said(client, "entity", name="小雨", as_of=5)
    assert "学会撑船" not in card
    assert "林小雨 -朋友-> 白鹭" in card


async def test_an_update_with_a_control_character_names_the_field_and_loses_nobody(engine):
    before = {one: one.read_bytes() for one in engine.root.rglob("*.md")}
    answer = await call(Server(engine, allow_write=True), "update", name="林默", description="修\0表的人")
    assert answer.is_error
    assert "description: holds the control character U+0000" in answer.content[0].text
    assert {one: one.read_bytes() for one in engine.root.rglob("*.md")} == before
    assert engine.entity("林默").description.startswith("林小雨的哥哥")


async def test_a_pin_is_in_every_prompt_until_it_is_undone(engine):
    client, asked = Server(engine, allow_write=True), {"query": "今天下雨"}
    for more, shown in (({}, True), ({"undo": True}, False)):
        await said(client, "pin", target="铜怀表", **more)
        assert ("## 物品：铜怀表" in await said(client, "context", **asked)) == shown


@pytest.mark.parametrize(
    ("given", "bearer"),
    [
        ({"name": "林小雨"}, "'lin-xiaoyu' (林小雨), from spec/characters.md:3, codex.json; update it instead"),
        ({"name": "小雨"}, "'lin-xiaoyu' (林小雨), from spec/characters.md:3, codex.json; update it instead"),
        ({"name": "LIN  mo"}, "'林默', from spec/characters.md:13"),
        ({"name": "周家伙计", "aliases": ["小周"]}, "'小周' is a name of '周远', from spec/characters.md:57"),
    ],
)
async def test_what_the_project_knows_by_any_name_is_no_proposal(engine, given, bearer):
    client = Server(engine, allow_write=True)
    answer = await call(client, "propose", type="character", **given)
    assert answer.is_error
    assert bearer in answer.content[0].text
    assert not (engine.root / ".armarius" / "codex.toml").exists()


async def test_a_document_is_read_by_lines_and_a_folder_is_a_list(client, engine):
    assert await said(client, "read", path="chapters/ch003.md", lines=[4, 5]) == "5 “你又逃课。”林默没有回头。"
    whole = await said(client, "read", path="chapters/ch003.md")
    lines = engine.document("chapters/ch003.md").text.split("\n")
    assert whole.splitlines() == [f"{number} {line}" for number, line in enumerate(lines, 1) if line]
    listed = (await said(client, "read", path="chapters/")).splitlines()
    assert listed[2] == "chapter 3 第三章 雨夜 chapters/ch003.md"
    assert len((await said(client, "read", path="")).splitlines()) == len(engine.documents())


async def test_a_card_is_text_with_relations_and_says_only_what_holds_as_of_a_chapter(client):
    text = await said(client, "entity", name="小雨", as_of=1)
    assert text.startswith("## 角色：林小雨\n")
    assert "第7章起" not in text
    assert "林渡 -父女-> 林小雨" in text
    assert text.endswith("林小雨 [lin-xiaoyu], level when_detected, from spec/characters.md:3, codex.json")
    missing = await call(client, "entity", name="林小雪")
    assert missing.is_error
    assert "林小雨" in missing.content[0].text


async def test_evidence_is_of_profiles_and_chapters_and_names_where_each_stands(client, engine):
    text = await said(client, "evidence", name="周远")
    assert "profile spec/characters.md:61 ¶16: - 描述：周远山的儿子" in text
    assert "chapter 5 chapters/ch005.md:19 ¶9: “那一页在我这里。”周远说，“我十九岁那年从档案馆裁的。" in text
    dated = re.findall(r"^chapter (\d) (\S+):\d+ ¶(\d+): (.*)$", text, re.MULTILINE)
    assert [int(chapter) for chapter, *_ in dated] == sorted(int(chapter) for chapter, *_ in dated)
    for _, path, number, quote in dated:
        one = engine.document(path).paragraphs[int(number)]
        assert quote.strip("…") in engine.document(path).text[one.start : one.end]
    assert "chapters/ch002.md:3 ¶1: 她十六岁" in await said(client, "evidence", name="林小雨", attribute="年龄")


async def test_evidence_of_an_attribute_has_the_few_passages_of_chapters_that_tell_it(tmp_path):
    lines = [f"Harriet Vane met pilot {n} here! The woman was {n + 41} years old." for n in range(9)]
    chapter = "# Chapter 1\n\n" + "\n\n".join([*lines, "Harriet Vane sang."])
    files = {
        "notes/people.md": "# Characters\n\n## Harriet Vane\n\n- Type: character\n- Age: 34\n",
        "chapters/01.md": chapter,
    }
    for path, text in files.items():
        (tmp_path / "book" / path).parent.mkdir(parents=True)
        (tmp_path / "book" / path).write_text(text, encoding="utf8")
    with armarius.open(tmp_path / "book", watch=False, index_dir=tmp_path / "index") as engine:
        told = await said(Server(engine), "evidence", name="Harriet Vane", attribute="age")
    assert "- Age: 34" in told
    assert told.count("years old") == 5
    assert "sang" not in told


PAGED = [
    ("find", {"query": "“灯塔下的石阶很旧”"}),
    ("find", {"query": "灯塔下的石阶"}),
    ("read", {"path": ""}),
    ("read", {"path": "side/n0.md"}),
    ("entities", {}),
    ("evidence", {"name": "林默"}),
]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A project whose lists, documents and paragraphs are long."""
    novel = Path(shutil.copytree(EXAMPLES / "novel", tmp_path_factory.mktemp("large") / "novel"))
    for number in range(200):
        text = "灯塔下的石阶很旧。林默走过。𠮷" * (400 if number < 9 else 3) if number < 40 else "船靠了岸。"
        (novel / "side" / f"n{number}.md").write_text(f"# 第{number + 8}章 旁注\n\n{text}\n\n{text}", encoding="utf8")
    people = "".join(f"## 人物{number}号\n\n- 类型：人物\n- 描述：守灯的人\n\n" for number in range(200))
    (novel / "spec" / "more.md").write_text(f"# 人物\n\n{people}", encoding="utf8")
    with armarius.open(novel, watch=False, index_dir=tmp_path_factory.mktemp("index")) as engine:
        yield engine


@pytest.mark.parametrize(("tool", "arguments"), PAGED)
async def test_an_answer_has_at_most_2000_tokens_and_a_cursor_leads_to_all_of_it(large, tool, arguments):
    client, cursor, parts = Server(large), 0, []
    while True:
        text = await said(client, tool, **arguments, cursor=cursor)
        assert tokens(text) <= 2_000
        found = re.search(r"\n?\[(?:\d+ )?more: cursor (\d+)\]$", text)
        parts.append(text[: found.start()] if found else text)
        if found is None:
            break
        assert int(found[1]) > cursor
        cursor = int(found[1])
    assert len(parts) > 1
    if arguments == {"path": "side/n0.md"}:
        document, read = large.document("side/n0.md"), "".join(parts).replace("\n", "")
        assert re.sub(r"[135] (?=[#灯])", "", read) == document.text.replace("\n", "")


async def test_the_document_that_is_worked_on_is_read_to_its_end(client, engine):
    text = await said(client, "context", query="接下来呢", document="chapters/ch003.md")
    assert engine.document("chapters/ch003.md").text.rstrip()[-12:] in text
    assert "<cursor/>" not in text
