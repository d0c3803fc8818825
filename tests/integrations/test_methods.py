"""The methods of the JSON channel over a real engine, and the channel as a process spoken to by Node."""

import io
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import armarius
from armarius.channel import Channel
from armarius.cli import main, servers
from armarius.errors import BudgetConflict, ContractError, ScopeViolation
from armarius.verbs import methods_of

REQUEST = {
    "projectId": "",
    "documentId": "chapters/ch003.md",
    "cursorPosition": 30,
    "skillId": "chat",
    "query": "小雨点",
}


@pytest.fixture
def call(engine):
    methods = methods_of(engine)
    return lambda method, **params: methods[method](params)


@pytest.fixture
def refused(standing):
    """`call` for what is refused and changes nothing."""
    methods = methods_of(standing)
    return lambda method, **params: methods[method](params)


def test_assemble_and_inspect_answer_in_the_wire_form(call):
    result = call("context:prompt:assemble", **REQUEST)
    assert result["tokenCount"] > 0
    assert "小雨点" in result["prompt"]
    inspected = call("context:prompt:inspect", **REQUEST)
    assert "prompt" not in inspected
    assert inspected["totals"]["tokenCount"] == result["tokenCount"]


@pytest.mark.parametrize(
    ("method", "params"),
    [("constraints:list", {}), ("constraints:create", {"text": "x"}), ("documents:retrieve", {"query": "小雨"})],
)
def test_every_method_takes_a_project_and_refuses_another(novel, method, params):
    with armarius.open(novel, watch=False, project_id="p1") as engine:
        methods = methods_of(engine)
        for own in ({}, {"projectId": ""}, {"projectId": "p1"}):
            methods[method]({**params, **own})
        with pytest.raises(ScopeViolation):
            methods[method]({**params, "projectId": "p2"})
        with pytest.raises(ContractError, match=r"params\.projectId"):
            methods[method]({**params, "projectId": 7})


@pytest.mark.parametrize(
    ("params", "near"),
    [
        ({"query": "x", "limt": 1}, "; near it: limit"),
        ({"query": "x", "document": "a"}, ""),
        ({"query": "x", "zz": 1}, ""),
    ],
)
def test_an_unknown_param_is_refused_and_the_near_one_named(call, params, near):
    name = [*params][1]
    with pytest.raises(ContractError) as caught:
        call("documents:search", **params)
    assert str(caught.value).startswith(f"params.{name} is unknown; ")
    assert str(caught.value).partition("; near")[1:] == ("; near" if near else "", near.removeprefix("; near"))


def test_an_optional_parameter_that_is_null_is_absent(call):
    search = call("documents:search", query="小雨")
    assert call("documents:search", query="小雨", limit=None, projectId=None) == search
    found = call("documents:retrieve", query="小雨", limit=None, documentId=None)
    assert found == call("documents:retrieve", query="小雨")
    made = call("constraints:create", text="不提结局", source=None, priority=None, id=None)
    assert call("constraints:update", id=made["id"], priority=3, text=None)["text"] == "不提结局"
    assert (
        call("context:prompt:assemble", **REQUEST, budget=None)["prompt"]
        == (call("context:prompt:assemble", **REQUEST)["prompt"])
    )
    with pytest.raises(ContractError, match=r"params\.query"):
        call("documents:search", query=None)


def test_bounds_and_other_wordings_travel_in_the_wire_form(call):
    later = call("context:prompt:assemble", **REQUEST, asOf=2, also=["小雨点弓着背"])
    assert "弓着背" not in later["prompt"]
    assert "弓着背" in call("context:prompt:assemble", **REQUEST, chapters=[3, None], kinds="chapter")["prompt"]
    found = call("documents:retrieve", query="检查第5章", chapters=[1, 3], also=["周远交出第十八页"])
    assert found["items"]
    assert {item["path"] for item in found["items"]} <= {f"chapters/ch00{n}.md" for n in (1, 2, 3)}
    assert {gone["id"]: gone["reason"] for gone in found["omitted"]}["request:chapter:5"] == "excluded"
    kinds = {item["kind"] for item in call("documents:search", query="灯塔", kinds=["outline"])["items"]}
    assert kinds == {"outline"}
    both = call("documents:search", query="第十八页", also=["白鹭"], limit=100)["items"]
    assert len(both) > len(call("documents:search", query="第十八页", limit=100)["items"])
    assert "omitted" not in call("documents:retrieve", query="检查第5章")


def test_a_conversation_travels_in_the_wire_form(call):
    said = [{"role": "user", "content": "谁裁走了卷宗的第十八页？"}, {"role": "assistant", "content": "周远。"}]
    found = call("documents:retrieve", query="他多大了？", messages=said)
    assert found["carried"] == ["follow-up: 他 → 周远, from turn 2"]
    assert "carried" not in call("documents:retrieve", query="他多大了？")
    asked = {**REQUEST, "query": "他多大了？", "messages": said, "includeMessages": 2}
    assert "> 周远。" in call("context:prompt:assemble", **asked)["prompt"]
    assert "request:message:2" in call("context:prompt:inspect", **asked)["layersDetail"]["immediate"]["source"]
    for wrong in ({"messages": "x"}, {"messages": [3]}):
        with pytest.raises(ContractError, match=r"\.messages: "):
            call("documents:retrieve", query="x", **wrong)


@pytest.mark.parametrize("method", ["documents:search", "documents:retrieve", "context:prompt:assemble"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("chapters", [4, 1]),
        ("chapters", ["1", "4"]),
        ("chapters", "1-4"),
        ("chapters", True),
        ("kinds", ["chapters"]),
        ("asOf", "3"),
        ("asOf", True),
        ("asOf", 2.5),
        ("also", "x"),
        ("also", [""]),
        ("also", ["x" * 401]),
        ("also", [f"x{n}" for n in range(9)]),
    ],
)
def test_bounds_of_the_wrong_kind_are_refused_with_the_field_as_it_was_written(refused, method, field, value):
    request = REQUEST if method.startswith("context") else {"query": "小雨"}
    with pytest.raises(ContractError, match=rf"\.{field}: "):
        refused(method, **request, **{field: value})


def test_budget_is_updated_under_its_version(call):
    profile = call("context:budget:get")
    changed = call("context:budget:update", version=profile["version"], profile={**profile, "budget": 5000})
    assert changed["budget"] == 5000
    assert call("context:budget:get") == changed
    with pytest.raises(BudgetConflict):
        call("context:budget:update", version=profile["version"], profile=profile)


def test_constraints_are_created_listed_updated_and_deleted(call):
    made = call("constraints:create", text="全书不出现手机", priority=2)
    assert call("constraints:list")["items"] == [made]
    assert call("constraints:update", id=made["id"], priority=5)["priority"] == 5
    assert "全书不出现手机" in call("context:prompt:assemble", **REQUEST)["prompt"]
    call("constraints:delete", id=made["id"])
    assert call("constraints:list")["items"] == []


def test_detect_search_retrieve_and_status_answer_in_plain_json(call):
    assert [item["matchedTerm"] for item in call("entities:detect", text="小雨推开门")["items"]] == ["小雨"]
    found = call("documents:search", query="第十八页")["items"]
    assert found[0]["text"][slice(*found[0]["highlights"][0])] == "第十八页"
    assert call("documents:retrieve", query="白鹭洲的灯塔")["outcome"] == "found"
    status = call("index:status")
    assert status["state"] == "ready"
    assert "path" not in status
    json.dumps([found, status])


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("constraints:create", {}, "text"),
        ("constraints:create", {"text": 3}, "text"),
        ("constraints:create", {"text": "x", "colour": "red"}, "colour"),
        ("constraints:delete", {"id": "none"}, "id"),
        ("constraints:update", {"priority": 1}, "id"),
        ("documents:search", {"query": "x", "limit": "3"}, "limit"),
        ("context:prompt:messages", {"query": "x", "form": "gemini"}, "form"),
        ("context:prompt:assemble", {**REQUEST, "budget": "many"}, "budget"),
        ("context:budget:update", {"version": 1, "profile": {"size": 3}}, "size"),
    ],
)
def test_a_wrong_parameter_is_named(refused, method, params, field):
    with pytest.raises(ContractError, match=field):
        refused(method, **params)


def environment():
    scripts = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": scripts, "PYTHONWARNINGS": "ignore::RuntimeWarning"}


def test_channel_is_a_process_that_ends_with_its_input(novel):
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "context:prompt:assemble", "params": REQUEST},
        {"jsonrpc": "2.0", "id": 2, "method": "no:such"},
        {"jsonrpc": "2.0", "id": 3, "method": "context:prompt:assemble", "params": {**REQUEST, "query": "\ud83d小雨"}},
        {"jsonrpc": "2.0", "id": 4, "method": "memories:create", "params": {"text": "\ud83d小雨"}},
    ]
    told, by_id = [], {}
    with subprocess.Popen(
        ["armarius", "channel", novel], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
    ) as process:
        process.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        process.stdin.flush()
        # The build goes on beside the answers: what it tells comes before the input ends, not before they do.
        while len(by_id) < 4 or not told or told[-1]["done"] < told[-1]["total"]:
            line = process.stdout.readline()
            assert line, "the channel ended before its input did"
            assert str(novel) not in line
            message = json.loads(line)
            if "id" in message:
                by_id[message["id"]] = message
            elif message["params"]["token"] == "index":
                told.append(message["params"]["value"])
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    assert "result" in by_id[1]
    assert by_id[2]["error"]["data"]["code"] == "UNKNOWN_METHOD"
    assert [by_id[key]["error"]["data"]["code"] for key in (3, 4)] == ["INVALID_TEXT"] * 2
    assert told[-1]["done"] == told[-1]["total"] > 10


def test_a_channel_may_be_of_a_series(novel, tmp_path):
    book = tmp_path / "book0"
    (book / "chapters").mkdir(parents=True)
    (book / "chapters/ch001.md").write_text("# 第1章\n\n铜鱼沉在暗礁底下。\n", "utf8")
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "index:wait", "params": {"timeoutMs": 60_000}},
        {"jsonrpc": "2.0", "id": 2, "method": "documents:locate", "params": {"quote": "铜鱼沉在暗礁底下"}},
    ]
    with subprocess.Popen(
        ["armarius", "channel", novel, "--with", book],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(),
    ) as process:  # fmt: skip
        answers = {}
        for line in lines:
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
            while line["id"] not in answers:
                message = json.loads(process.stdout.readline())
                answers[message.get("id")] = message
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    assert [place["path"] for place in answers[2]["result"]["items"]] == ["book0/chapters/ch001.md"]


def test_a_workspace_serves_every_folder_in_it_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(servers, "_OPEN", 2)
    for name in ("a", "b", "c"):
        (tmp_path / "books" / name).mkdir(parents=True)
        (tmp_path / "books" / name / "ch001.md").write_text(f"# 第一章\n\n铜鱼{name}沉了。\n", "utf8")
    (tmp_path / "books" / "b" / "armarius.toml").write_text('[project]\nid = "another"\n')
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "ch001.md").write_text("# 一\n\n铜鱼\n", "utf8")
    (tmp_path / "books" / "linked").symlink_to(tmp_path / "secret")
    ask = [{"method": "index:wait", "params": {"projectId": name}} for name in ("a", "b", "c")]
    ask += [{"method": "documents:search", "params": {"projectId": name, "query": "铜鱼"}} for name in ("a", "b", "c")]
    ask += [{"method": "projects:list"}]
    outside = ("../secret", "..", ".", "", "linked", "a/../../secret", str(tmp_path / "secret"), "d", "a\x00")
    ask += [{"method": "documents:list", "params": {"projectId": name}} for name in outside]
    ask += [{"method": "documents:list"}, {"method": "documents:write", "params": {"projectId": "a"}}]
    lines = "".join(json.dumps({"jsonrpc": "2.0", "id": at, **one}) + "\n" for at, one in enumerate(ask))
    output = io.BytesIO()
    monkeypatch.setattr(servers, "Channel", partial(Channel, workers=1))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(output))
    assert main(["channel", "--workspace", str(tmp_path / "books")]) == 0
    said = [json.loads(line) for line in output.getvalue().splitlines()]
    assert str(tmp_path) not in output.getvalue().decode()
    assert {one["params"]["value"]["projectId"] for one in said if "method" in one} <= {"a", "b", "c"}
    answers = {one["id"]: one for one in said if "id" in one}
    found = [answers[at]["result"]["items"][0]["text"] for at in (3, 4, 5)]
    assert found == ["铜鱼a沉了。", "铜鱼b沉了。", "铜鱼c沉了。"]
    listed = answers[6]["result"]["items"]
    assert listed == [{"id": "a", "hot": False}, {"id": "b", "hot": True}, {"id": "c", "hot": True}]
    codes = [answers[at]["error"]["data"]["code"] for at in range(7, len(ask))]
    assert set(codes) == {"INVALID_REQUEST", "UNKNOWN_PROJECT", "UNKNOWN_METHOD"}, codes
