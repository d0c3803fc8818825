"""What an agent pays over MCP: definitions, three tasks by scripted agents in calls and tokens, the largest answers.

Counted by o200k_base: the text of answers and, apart, their structure, as JSON. `BEFORE` is of 9a4d1a41, whose twelve
tools answered with JSON twice, as text and as structure, and could not add a relation. `ARMARIUS_CORPUS` names a novel
for the largest answers.
"""

import json
import os
import shutil
from pathlib import Path

import pytest
from benches.record import record
from mcp import Client

import armarius
from armarius.mcp import build_server
from armarius.text.tokens import TokenCounter

NOVEL = Path(__file__).resolve().parents[1] / "examples" / "novel"
TASKS = {
    "who cut page eighteen": [
        (
            "find",
            {"query": "who cut page eighteen", "variants": ["周远从档案馆裁下了第十八页", "第十八页是谁裁走的"]},
            "“我十九岁那年从档案馆裁的。",
        ),
        ("read", {"path": "chapters/ch005.md", "lines": [17, 25]}, "19 “那一页在我这里。”周远说"),
    ],
    "add a character with two relations": [
        ("entities", {"text": "渡口卖灯芯的灯芯婆婆，看着林默和小雨长大"}, "林小雨 [lin-xiaoyu]"),
        (
            "propose",
            {
                "name": "灯芯婆婆",
                "type": "character",
                "description": "渡口卖灯芯的老人，看着林默兄妹长大。",
                "relations": [{"type": "邻居", "to": "林默"}, {"type": "邻居", "to": "小雨"}],
            },
            "with 2 relations",
        ),
    ],
    "check chapter 3": [
        (
            "context",
            {"query": "检查第3章的角色一致性", "document": "chapters/ch003.md", "budget": 4000},
            "## 说法不一",
        ),
        ("evidence", {"name": "林小雨", "attribute": "年龄"}, "chapters/ch002.md:3 ¶1: 她十六岁"),
    ],
}
LARGEST = [
    ("find", {"query": "他们为什么争吵"}),
    ("find", {"query": "“一”"}),
    ("read", {"path": ""}),
    ("entities", {}),
    ("context", {"query": "他们为什么争吵", "budget": 8000}),
    ("context", {"query": "他们为什么争吵", "budget": 8000, "account": True}),
]
BEFORE = {
    "definitions": {"tools": 12, "tokens": 6494},
    "tasks": {
        "who cut page eighteen": {"calls": 3, "text": 2675, "structure": 1997},
        "add a character with two relations": {"calls": 2, "text": 1747, "structure": 1280, "done": "no relation"},
        "check chapter 3": {"calls": 4, "text": 3669, "structure": 5569},
    },
    "largest": {
        "retrieve": [3532, 3307], "search": [7181, 6253], "locate": [30714, 23119], "list_documents": [12538, 11168],
        "list_entities": [9308, 6892], "evidence": [2208, 1855], "assemble_context": [7563, 3964],
        "inspect_context": [8335, 8243],
    },
}  # fmt: skip
FIGURES = {"before": BEFORE}
count = TokenCounter.for_encoding("o200k_base").count


def dumped(value):
    return count(json.dumps(value, ensure_ascii=False)) if value else 0


async def asked(client, tool, arguments):
    """The text of an answer, its tokens, those of its structure."""
    answer = await client.call_tool(tool, arguments)
    text = "\n".join(block.text for block in answer.content)
    assert not answer.is_error, text
    return text, count(text), dumped(answer.structured_content)


@pytest.fixture
def engine(tmp_path):
    novel = shutil.copytree(NOVEL, tmp_path / "novel")
    with armarius.open(novel, watch=False, index_dir=tmp_path / "index") as engine:
        yield engine


async def test_definitions(engine):
    async with Client(build_server(engine, allow_write=True)) as client:
        tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools]
    FIGURES["definitions"] = {"tools": len(tools), "tokens": dumped(tools)}
    assert FIGURES["definitions"]["tokens"] < 3_000


@pytest.mark.parametrize("task", TASKS)
async def test_an_agent_does_a_task(engine, task):
    figures = {"calls": 0, "arguments": 0, "text": 0, "structure": 0}
    async with Client(build_server(engine, allow_write=True)) as client:
        for tool, arguments, told in TASKS[task]:
            text, words, structure = await asked(client, tool, arguments)
            assert told in text
            for name, more in (
                ("calls", 1), ("arguments", dumped(arguments)), ("text", words), ("structure", structure)
            ):  # fmt: skip
                figures[name] += more
    FIGURES.setdefault("tasks", {})[task] = figures


async def test_the_largest_answers_of_a_novel(tmp_path):
    if not os.environ.get("ARMARIUS_CORPUS"):
        pytest.skip("ARMARIUS_CORPUS names no novel")
    folder = Path(os.environ["ARMARIUS_CORPUS"].split(os.pathsep)[0])
    with armarius.open(folder, watch=False, index_dir=tmp_path) as engine:
        found = engine.entities()
        most = max(found, key=lambda one: found.mentions.get(one.id, 0)).name
        sizes = {}
        async with Client(build_server(engine)) as client:
            for tool, arguments in (*LARGEST, ("entity", {"name": most}), ("evidence", {"name": most})):
                _, words, structure = await asked(client, tool, arguments)
                kind = " quoted" * ("“" in arguments.get("query", "")) + " account" * ("account" in arguments)
                sizes[f"{tool}{kind}"] = [words, structure]
                assert words < 2_000 or tool == "context"
    FIGURES["largest"] = sizes


def test_record():
    print(record("mcp", FIGURES, peers=["mcp"]))
