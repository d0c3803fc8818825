"""Every method of the channel: answers fit their schema, positions are in the unit asked for, wrong params refused."""

import json
import shutil
from base64 import b64decode, b64encode
from pathlib import Path

import jsonschema
import pytest
from scripts.write_reference import file_name, schema_of

import armarius
from armarius.errors import CodexError, ContractError, UnknownDocument, UnknownId
from armarius.verbs import SHELF, VERBS, WRITES, methods_of

WORLD = {
    "name": "Harbour",
    "entries": {
        "0": {"uid": 0, "key": ["白鹭"], "content": "The heron fears deep water.", "order": 90},
        "1": {"uid": 1, "key": ["灯塔"], "keysecondary": ["夜"], "selective": True, "content": "Lit at night."},
    },
}
BOOK = b64encode(json.dumps(WORLD).encode()).decode()
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ASTRAL = "𠮷野家的灯塔\n\n林小雨把😀画在第十八页上。她又写下😀😀。\n"


@pytest.fixture
def call(novel):
    """Asks a method of the example, with the lorebook of `WORLD`, whose answer must fit its schema."""
    (novel / "chapters" / "ch009.md").write_text(f"# 第九章 😀\n\n{ASTRAL}", encoding="utf8")
    with armarius.open(novel, watch=False) as engine:
        methods = methods_of(engine)
        engine.importing.add(b64decode(BOOK), name="harbour.json")

        def ask(name, /, **params):
            answer = methods[name](params)
            schema = schema_of(next(one for one in VERBS if one.name == name))
            jsonschema.validate(json.loads(json.dumps({"params": params, "result": answer})), schema)
            return answer

        yield ask


REQUEST = {"projectId": "", "documentId": "chapters/ch009.md", "cursorPosition": 9, "skillId": "chat", "query": "小雨"}
PROMPT = {
    "projectId": "",
    "documentId": "chapters/ch003.md",
    "cursorPosition": 30,
    "skillId": "",
    "query": "白鹭洲",
    "budget": 3000,
}
CALLS = [
    ("context:prompt:assemble", {**REQUEST, "includeContent": True, "budget": None, "chapters": [1, None]}),
    ("context:prompt:inspect", {**REQUEST, "debugMode": True, "kinds": "chapter"}),
    ("context:budget:get", {}),
    ("constraints:list", {}),
    ("context:prompt:account", PROMPT),
    ("context:prompt:why", {**PROMPT, "thing": "林小雨"}),
    ("context:prompt:whatif", {**PROMPT, "otherBudget": 1000}),
    ("context:prompt:diff", {**PROMPT, "other": {"budget": 1000}}),
    ("context:prompt:messages", {"query": "白鹭洲", "form": "anthropic"}),
    ("books:list", {}),
    ("books:get", {"id": "harbour"}),
    ("books:import", {"data": BOOK, "name": "harbour.json", "preview": True}),
    ("books:export", {"id": "harbour", "to": "card-v3"}),
    ("books:active", {"messages": [{"role": "user", "content": "白鹭飞过灯塔"}]}),
    ("constraints:create", {"text": "x"}),
    ("memories:list", {}),
    ("memories:create", {"text": "读者不知道结局", "kind": "semantic", "confidence": 1}),
    ("summaries:list", {}),
    ("summaries:requests", {"limit": 3}),
    (
        "summaries:parse",
        {
            "documents": ["chapters/ch001.md", "chapters/ch002.md"],
            "reply": '[{"chapter": "A", "summary": "怀表。", "passages": [{"first": 1, "last": 2, "text": "停了。"}]}]',
        },
    ),
    ("pins:list", {}),
    ("pins:add", {"target": "林小雨", "documentId": "chapters/ch003.md"}),
    ("entities:list", {}),
    ("entities:get", {"id": "林小雨"}),
    ("entities:card", {"id": "小雨", "asOf": 3}),
    (
        "entities:create",
        {"name": "灯塔人", "facts": [{"text": "守塔", "since": 3}], "attributes": {"eye_colour": "grey"}},
    ),
    ("entities:preview", {"id": "林默", "level": "never"}),
    ("entities:relations", {}),
    ("entities:detect", {"text": "小雨推开门"}),
    ("entities:mentions", {"text": "小雨推开门，小雨"}),
    ("entities:evidence", {"name": "林小雨", "attribute": "年龄"}),
    ("entities:propose", {"least": 3, "known": True}),
    ("documents:list", {"kinds": ["chapter"], "limit": 2}),
    ("documents:get", {"documentId": "chapters/ch003.md", "paragraphs": True}),
    ("documents:search", {"query": "第十八页", "asOf": 3}),
    ("documents:find", {"query": "第十八页 怀表", "asOf": 3}),
    ("documents:get", {"documentId": "chapters/ch003.md", "lines": [3, 5]}),
    ("documents:retrieve", {"query": "白鹭洲的灯塔", "chapters": 3, "excerpts": True}),
    ("documents:locate", {"quote": "第十八页"}),
    ("project:map", {}),
    ("project:setKind", {"pattern": "side/**", "kind": "note"}),
    ("project:understand:request", {}),
    ("project:understand:parse", {"reply": '{"about": {"form": "novel"}}', "model": "m"}),
    ("project:understand:apply", {"reply": '{"about": {"form": "novel", "unit": "章"}}', "without": ["form"]}),
    ("code:subgraph", {"symbol": "白鹭洲", "includeTree": True}),
    ("index:status", {}),
    ("index:refresh", {}),
    ("index:wait", {"timeoutMs": 0}),
    ("index:cancel", {}),
]


def test_the_account_says_why_in_every_unit_and_never_sends_the_prompt(call):
    for encoding, codec, unit in (("code-point", "utf-32-le", 4), ("utf-16", "utf-16-le", 2), ("utf-8", "utf-8", 1)):
        asked = {**PROMPT, "cursorPosition": 0, "query": "灯塔😀在哪里", "positionEncoding": encoding}
        prompt, account = call("context:prompt:assemble", **asked)["prompt"], call("context:prompt:account", **asked)
        (query,) = [one for one in account["items"] if one["id"] == "request:query"]
        shown = prompt.encode(codec)[query["span"][0] * unit : query["span"][1] * unit].decode(codec)
        assert (shown, query["reason"], query["code"]) == ("灯塔😀在哪里", "用户的话", "query")
        assert prompt not in json.dumps(account, ensure_ascii=False)
        assert len(account["items"]) == sum(
            len(one["source"]) for one in call("context:prompt:assemble", **asked)["layers"].values()
        )


def test_why_whatif_and_diff_say_what_the_pack_says(call):
    why = call("context:prompt:why", **PROMPT, thing="林渡")
    assert (why["id"], why["included"], why["change"]) == (
        "entity:林渡",
        False,
        '在问题里提到它，或固定它：include=["林渡"]',
    )
    small = call("context:prompt:whatif", **PROMPT, otherBudget=1000)
    assert (small["budget"], small["tokenCount"] <= 1000) == (1000, True)
    changed = call("context:prompt:diff", **PROMPT, other={"budget": 1000})
    before = call("context:prompt:account", **PROMPT)
    assert changed["tokens"] == small["tokenCount"] - before["tokenCount"] < 0


@pytest.mark.parametrize(("name", "params"), CALLS, ids=[name for name, _ in CALLS])
def test_what_a_method_takes_and_answers_fits_its_schema(call, name, params):
    assert call(name, **params) is not None


def test_every_method_but_those_that_change_what_was_made_is_called_above():
    changing = {"update", "import", "delete", "relate", "unrelate", "set", "remove", "undo"}
    left = {method.name for method in VERBS} - {name for name, _ in CALLS} - {"summaries:get"}
    assert {name for name in left if name.rpartition(":")[2] not in changing} == set()


def test_every_name_on_the_wire_is_camel_case_but_for_keys_of_the_user(call):
    made = call("entities:create", name="灯塔人", attributes={"eye_colour": "grey"})
    assert made["attributes"] == {"eye_colour": "grey"}
    for method in VERBS:
        for part in schema_of(method)["properties"].values():
            assert not [name for name in part.get("properties", {}) if "_" in name], method.name
        for name, body in schema_of(method)["$defs"].items():
            assert not [key for key in body.get("properties", {}) if "_" in key], f"{method.name} {name}"


@pytest.mark.parametrize("encoding", ["code-point", "utf-16", "utf-8"])
def test_every_position_is_in_the_unit_that_was_asked_for(call, novel, encoding):
    text = (novel / "chapters" / "ch009.md").read_text(encoding="utf8")

    def at(whole, span):
        if encoding == "code-point":
            return whole[span[0] : span[1]]
        codec, unit = {"utf-16": ("utf-16-le", 2), "utf-8": ("utf-8", 1)}[encoding]
        return whole.encode(codec)[span[0] * unit : span[1] * unit].decode(codec)

    def width(words):
        return {"code-point": len(words), "utf-16": len(words.encode("utf-16-le")) // 2}.get(
            encoding, len(words.encode())
        )

    unit = {"positionEncoding": encoding}
    for place in call("documents:locate", quote="她又写下", **unit)["items"]:
        assert at(text, place["span"]) == "她又写下"
    live = f"😀{text}"
    for place in call("documents:locate", quote="她又写下", documentId="chapters/ch009.md", text=live, **unit)["items"]:
        assert at(live, place["span"]) == "她又写下"
    hits = call("documents:search", query="又写下", **unit)["items"]
    assert [hit["path"] for hit in hits] == ["chapters/ch009.md"]
    assert at(text, (hits[0]["start"], hits[0]["end"])) == hits[0]["text"]
    assert at(hits[0]["text"], hits[0]["highlights"][0]) == "又写下"
    match = call("entities:detect", text="😀小雨", **unit)["items"][0]
    assert at("😀小雨", (match["position"], match["position"] + width("小雨"))) == "小雨"
    mention = call("entities:mentions", text="😀小雨😀小雨", **unit)["items"][1]
    assert at("😀小雨😀小雨", mention["span"]) == "小雨"
    parts = call("documents:get", documentId="chapters/ch009.md", paragraphs=True, **unit)["paragraphs"]
    assert at(text, parts[-1]["span"]).startswith("林小雨把😀")
    found = call("documents:retrieve", query="林小雨把什么画在第十八页上", limit=50, **unit)["items"]
    spans = [one for hit in found for one in hit["evidence"] if one["path"] == "chapters/ch009.md" and one["span"]]
    assert spans
    assert all(at(text, one["span"]).strip() for one in spans)
    said = call("entities:evidence", name="林小雨", attribute="年龄", **unit)["items"]
    assert said
    assert all(at((novel / one["path"]).read_text(encoding="utf8"), one["span"]) == one["text"] for one in said)


def test_an_entity_is_made_changed_related_and_deleted(call):
    made = call("entities:create", name="灯塔人", type="character", aliases=["老灯"])
    assert call("entities:get", id=made["id"])["aliases"] == ["老灯"]
    changed = call("entities:update", id=made["id"], description="守塔的人", unset=["aliases"])
    assert (changed["description"], changed["aliases"]) == ("守塔的人", [])
    call("entities:relate", source=made["id"], target="林小雨", type="邻居", since=2)
    related = call("entities:relations", id=made["id"])["items"]
    assert [(one["type"], one["since"]) for one in related] == [("邻居", 2)]
    call("entities:unrelate", source=made["id"], target="林小雨", type="邻居")
    assert call("entities:relations", id=made["id"])["items"] == []
    assert call("entities:update", id="灯塔人", level="always")["id"] == made["id"]
    assert call("entities:relations", id="林小雨") == call("entities:relations", id="小雨")
    gone = call("entities:delete", id="灯塔人", relations=True)
    assert gone == {"id": made["id"], "what": "record", "path": ".armarius/codex.toml", "left": []}
    assert made["id"] not in {one["id"] for one in call("entities:list")["items"]}


def test_what_is_known_already_is_not_made_again(call):
    known = call("entities:get", id="林小雨")
    with pytest.raises(CodexError, match="there is one already"):
        call("entities:create", name="林小雨", id=known["id"])
    with pytest.raises(CodexError, match="there is one already, 'lin-xiaoyu'"):
        call("entities:create", name="雨丫头")
    with pytest.raises(CodexError, match="'小周' is a name of '周远'"):
        call("entities:update", id="林小雨", aliases=["小周"])
    assert call("entities:update", id="林小雨", aliases=["小周"], force=True)["id"] == known["id"]
    assert call("entities:create", name="小周", force=True)["name"] == "小周"


def test_a_memory_is_made_changed_and_deleted(call):
    made = call("memories:create", text="读者不知道结局", confidence=0.5)
    assert call("memories:update", id=made["id"], confidence=1)["confidence"] == 1
    call("memories:delete", id=made["id"])
    assert call("memories:list")["items"] == []


def test_a_pin_is_added_listed_and_removed(call):
    made = call("pins:add", target="林小雨", mute=True, documentId="chapters/ch003.md")
    assert (made["documentId"], made["mute"]) == ("chapters/ch003.md", True)
    assert call("pins:list")["items"] == [made]
    with pytest.raises(UnknownId, match=r"params\.target: "):
        call("pins:remove", target="林小雨")
    call("pins:remove", target="林小雨", documentId="chapters/ch003.md")
    assert call("pins:list")["items"] == []


def test_a_lorebook_is_imported_changed_given_back_and_deleted(call):
    (listed,) = call("books:list")["items"]
    assert (listed["id"], listed["profile"], listed["entries"]) == ("harbour", "sillytavern", 2)
    assert call("books:export", id="Harbour") == {"data": BOOK, "losses": []}
    entries = {"0": {"text": "It swims.", "keys": [{"text": "heron"}]}, "1": None, "7": {"name": "new", "text": "x"}}
    changed = call("books:update", id="harbour", entries=entries)
    assert [(one["id"], one["text"], [key["text"] for key in one["keys"]]) for one in changed["entries"]] == [
        ("0", "It swims.", ["heron"]),
        ("7", "x", []),
    ]
    newer = {**WORLD, "entries": {"0": {**WORLD["entries"]["0"], "content": "It flies.", "key": ["bird"]}}}
    data = b64encode(json.dumps(newer).encode()).decode()
    told = call("books:import", data=data, name="harbour.json", updates="harbour", preview=True)
    assert (told["kind"], told["kept"]) == ("update", False)
    assert [(one["field"], one["ours"]) for one in told["conflicts"]] == [
        ("text", "It swims."),
        ("match.keys", [{"text": "heron", "kind": "plain"}]),
    ]
    off = call("books:update", id="harbour", switchedOff=True)
    assert (off["switchedOff"], call("books:active", text="heron")["active"]) == (True, [])
    assert call("books:delete", id="harbour") == {"id": "harbour"}
    assert call("books:list") == {"items": [], "problems": {}, "warnings": []}
    assert call("books:import", data=BOOK, name="harbour.json")["kept"] is True


def test_the_entries_that_a_chat_wakes_travel_with_the_state_of_the_next_turn(call):
    found = call("books:active", messages=[{"role": "user", "content": "白鹭飞过灯塔"}])
    assert [(one["entry"], one["reason"]) for one in found["active"]] == [("0", "key 白鹭")]
    assert [(one["entry"], one["reason"]) for one in found["left"]] == [("1", "secondary key 夜 missing")]
    assert call("books:active", text="白鹭", state=found["state"])["state"] == found["state"]


def test_messages_of_a_prompt_are_the_prompt(call):
    asked = {**PROMPT, "language": "zh"}
    prompt = call("context:prompt:assemble", **asked)
    for form in ("openai", "anthropic"):
        made = call("context:prompt:messages", **asked, form=form)
        parts = [*made.get("system", []), *(part for one in made["messages"] for part in one["content"])]
        assert "".join(part if form == "openai" else part["text"] for part in parts) == prompt["prompt"]
        assert (made["tokenCount"], made["stablePrefixHash"]) == (prompt["tokenCount"], prompt["stablePrefixHash"])
        assert "prompt" not in made


def test_a_prompt_needs_what_it_needs_in_python_and_every_fault_is_said_at_once(call):
    assert call("context:prompt:assemble", query="白鹭洲", projectId=None)["tokenCount"] > 0
    with pytest.raises(ContractError) as caught:
        call("context:prompt:why", qery="x", budget="many")
    assert str(caught.value) == (
        "WhyRequest.budget must be a whole number, got 'many'; WhyRequest.thing is missing; "
        "WhyRequest.qery is unknown; near it: query"
    )


def test_a_summary_is_set_read_and_deleted(call):
    made = call("summaries:set", documentId="chapters/ch003.md", text="纸条")
    assert call("summaries:get", documentId="chapters/ch003.md") == made
    assert call("summaries:list") == {"items": [made], "stale": [], "warnings": []}
    call("summaries:delete", documentId="chapters/ch003.md")
    with pytest.raises(UnknownId, match=r"params\.documentId: "):
        call("summaries:get", documentId="chapters/ch003.md")


def test_a_list_of_documents_goes_on_where_it_ended(call):
    whole = call("documents:list")
    first, rest = call("documents:list", limit=3), call("documents:list", offset=3)
    assert [*first["items"], *rest["items"]] == whole["items"]
    assert first["total"] == whole["total"] == len(whole["items"])
    assert all("text" not in one for one in whole["items"])


@pytest.mark.parametrize("wrong", ["5", True, 1.0])
@pytest.mark.parametrize(
    ("name", "params", "field"),
    [
        ("documents:search", {"query": "x"}, "limit"),
        ("documents:retrieve", {"query": "x"}, "limit"),
        ("documents:list", {}, "offset"),
        ("constraints:create", {"text": "x"}, "priority"),
        ("entities:propose", {}, "least"),
        ("entities:relate", {"source": "a", "target": "b", "type": "c"}, "since"),
        ("code:subgraph", {"symbol": "x"}, "depth"),
        ("index:wait", {}, "timeoutMs"),
        ("context:budget:update", {"profile": {}}, "version"),
    ],
)
def test_what_is_no_whole_number_is_refused_where_one_belongs(call, name, params, field, wrong):
    with pytest.raises(ContractError, match=rf"params\.{field} must be "):
        call(name, **params, **{field: wrong})


@pytest.mark.parametrize("wrong", ["5", True, 1.0])
@pytest.mark.parametrize("field", ["budget", "warnPercent"])
def test_a_budget_that_is_no_whole_number_is_refused(call, field, wrong):
    profile = call("context:budget:get")
    with pytest.raises(armarius.BudgetError):
        call("context:budget:update", version=profile["version"], profile={**profile, field: wrong})


@pytest.mark.parametrize(
    ("name", "params", "error", "field"),
    [
        ("entities:get", {"id": "nobody"}, UnknownId, r"params\.id: "),
        ("entities:update", {"id": "nobody", "description": "x"}, UnknownId, r"params\.id: "),
        ("entities:update", {"id": "林小雨", "unset": ["name"]}, ContractError, r"params\.unset\.0 must be "),
        ("entities:evidence", {"name": "nobody"}, UnknownId, r"params\.name: "),
        ("entities:create", {"name": "x", "level": "loud"}, ContractError, r"params\.level must be "),
        (
            "entities:create",
            {"name": "x", "facts": [{"since": 2}]},
            ContractError,
            r"params\.facts\.0\.text is missing",
        ),
        ("memories:create", {"text": "x", "confidence": "1"}, ContractError, r"params\.confidence must be "),
        ("memories:create", {"text": "x", "confidence": True}, ContractError, r"params\.confidence must be "),
        ("memories:delete", {"id": "none"}, UnknownId, r"params\.id: "),
        ("documents:get", {"documentId": "no.md"}, UnknownDocument, "no.md"),
        ("documents:get", {"path": "no.md"}, ContractError, r"params\.(documentId is missing|path is unknown)"),
        ("documents:search", {"query": "x", "limit": 0}, ContractError, r"params\.limit must be "),
        ("documents:search", {"query": "x", "positionEncoding": "utf-32"}, ContractError, "positionEncoding"),
        ("books:get", {"id": "harbor"}, UnknownId, r"params\.id: .*near it: harbour"),
        ("books:import", {"data": "?"}, ContractError, r"params\.data: "),
        ("books:update", {"id": "harbour", "entries": {"9": None}}, UnknownId, r"params\.entries\.9: "),
        (
            "books:update",
            {"id": "harbour", "entries": {"0": {"txt": "x"}}},
            ContractError,
            r"0\.txt is .*near it: text",
        ),
        ("books:active", {"state": {"sticky": 3}}, ContractError, "state: "),
        ("code:subgraph", {"symbol": "."}, ContractError, r"params\.symbol: "),
    ],
)
def test_a_refusal_names_the_field(call, name, params, error, field):
    with pytest.raises(error, match=field):
        call(name, **params)


@pytest.mark.parametrize(
    ("method", "name", "its"),
    [
        ("context:prompt:assemble", "document", "documentId"),
        ("context:prompt:assemble", "cursor", "cursorPosition"),
        ("documents:get", "document", "documentId"),
        ("entities:evidence", "as_of", "asOf"),
    ],
)
def test_the_name_that_a_field_has_in_python_is_unknown_on_the_wire(call, method, name, its):
    with pytest.raises(ContractError, match=rf"\.{name} is unknown; near it: {its}"):
        call(method, **{name: "chapters/ch003.md"})
    with pytest.raises(ContractError, match=r"AssembleRequest\.document is unknown; near it: documentId"):
        call("context:prompt:diff", query="x", other={"document": "chapters/ch003.md"})


def test_a_reply_to_a_question_for_summaries_is_parsed_for_set_and_the_rest_is_asked_again(call):
    item = call("summaries:requests", limit=2)["items"][0]
    assert len(item["documents"]) == 2
    assert item["text"] == "\n\n".join(message["content"] for message in item["messages"])
    said = call("summaries:parse", documents=item["documents"], reply='[{"chapter": "B", "summary": "怀表停了。"}]')
    assert (len(said["items"]), [*said["refused"]]) == (1, item["documents"][:1])
    for summary in said["items"]:
        call("summaries:set", **summary)
    assert call("summaries:requests", limit=1)["items"][0]["documents"] != item["documents"][1:]
    assert call("summaries:get", documentId=item["documents"][1])["text"] == "怀表停了。"


def test_layers_carry_their_content_only_when_it_is_asked_for(call):
    plain = call("context:prompt:assemble", **REQUEST)
    whole = call("context:prompt:assemble", **REQUEST, includeContent=True)
    assert whole["prompt"] == plain["prompt"] == "".join(layer["content"] for layer in whole["layers"].values())
    assert all("content" not in layer for layer in plain["layers"].values())
    assert [(name, layer["layer"]) for name, layer in plain["layers"].items()] == [
        (name, name) for name in plain["assemblyOrder"]
    ]


def test_warnings_and_notices_of_a_subgraph_travel(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = Path(shutil.copytree(EXAMPLES / "code-project", tmp_path / "code"))
    with armarius.open(folder, watch=False) as engine:
        found = methods_of(engine)["code:subgraph"]({"symbol": "lights.burning_time", "includeTree": True})
    assert found["degraded"] is True
    assert found["warnings"][0] == "CKB 不可用，降级为文本搜索"
    assert found["warnings"][1].startswith("CODE_GRAPH_REASON: no_index")
    line = next(one for one in found["results"] if one["line"] == 8)
    assert (line["match"], line["text"]) == (
        "burning_time",
        "def burning_time(wicks: int, wind: float) -> int:",
    )
    assert found["tree"].startswith("! CKB 不可用")


def test_a_schema_of_every_method_is_among_the_docs():
    folder = EXAMPLES.parent / "docs" / "schemas"
    for method in (*VERBS, *WRITES, *SHELF):
        assert json.loads((folder / file_name(method.name)).read_text(encoding="utf8")) == schema_of(method)
    assert {path.name for path in folder.glob("*.json")} == {
        file_name(method.name) for method in (*VERBS, *WRITES, *SHELF)
    }


def test_the_account_has_the_confidence_of_the_prompt(call):
    asked = {"query": "林小雨住在哪里？", "budget": 3000}
    told = call("context:prompt:account", **asked)
    assert told["confidence"] == call("context:prompt:assemble", **asked)["confidence"]
    assert "confidence" not in call("context:prompt:account", documentId="chapters/ch003.md")
