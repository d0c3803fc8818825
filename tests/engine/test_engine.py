import asyncio
import inspect
import json
import pydoc
import re

import pytest

import armarius
from armarius.code.index import CodeIndex
from armarius.engine import ContextEngine
from armarius.engine.prompts import Prompts
from armarius.engine.questions import Questions
from armarius.errors import (
    BudgetConflict,
    ContractError,
    ScopeViolation,
)
from armarius.index.project_index import ProjectIndex
from armarius.prompt.profile import LayerBudget
from armarius.requests import AssembleRequest
from armarius.testing import FixedCounter
from armarius.text.matcher import EntityMatcher
from armarius.vectors.recall import ProjectRecall

CHAPTER = "# 第一章\n\n林小雨推开门，走了进来。\n\n" + "窗外的雨下个不停。" * 300


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "ch001.md").write_text(CHAPTER, encoding="utf-8")
    codex = {
        "entities": [
            {"id": "e1", "name": "林小雨", "type": "character", "aliases": ["小雨"], "description": "林默的妹妹"},
            {"id": "e2", "name": "江城", "type": "location", "aiContextLevel": "always", "description": "多雨的城"},
        ]
    }
    (tmp_path / "codex.json").write_text(json.dumps(codex, ensure_ascii=False), encoding="utf-8")
    return tmp_path


@pytest.fixture
def engine(folder):
    return ContextEngine(folder, counters=lambda model, version: FixedCounter())


def test_folder_without_configuration_gives_a_four_layer_prompt(engine):
    pack = engine.assemble(query="小雨是谁？", document="chapters/ch001.md", cursor=20, budget=2000)
    assert pack.layers.rules.source == ("kg:always:e2",)
    assert pack.layers.retrieved.source == ("codex:detected:e1",)
    assert pack.layers.immediate.source == ("editor:cursor-window", "request:query")
    assert "[知识图谱 — 引用检测]\n## 角色：林小雨\n- 类型：character" in pack.prompt
    assert pack.token_count == len(pack.prompt) <= 2000
    assert "chapters/ch001.md" in pack.documents


def test_request_object_and_keywords_give_the_same_prompt(engine):
    keywords = engine.assemble(query="小雨", document="chapters/ch001.md", cursor=20, budget=2000)
    wire = {"projectId": "", "documentId": "chapters/ch001.md", "cursorPosition": 20, "skillId": "", "query": "小雨"}
    wire["budget"] = 2000
    request = AssembleRequest.from_wire(wire)
    assert request == AssembleRequest(query="小雨", document="chapters/ch001.md", cursor=20, budget=2000)
    assert engine.assemble(request).prompt == keywords.prompt
    assert engine.assemble("小雨", document="chapters/ch001.md", cursor=20, budget=2000).prompt == keywords.prompt
    with pytest.raises(ContractError, match="together: document"):
        engine.assemble(request, document="chapters/ch001.md")


def test_a_wire_form_is_no_query_and_text_that_looks_like_one_is(engine):
    with pytest.raises(ContractError, match=r"AssembleRequest\.from_wire"):
        engine.assemble({"projectId": "", "documentId": "", "cursorPosition": 0, "skillId": ""})
    text = '{"projectId": "", "query": "小雨"}'
    assert f"[用户请求]\n{text}\n" in engine.assemble(text).prompt


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("cursr", "cursor"),
        ("document_id", "document"),
        ("documentId", "document"),
        ("cursorPosition", "cursor"),
        ("skillId", "skill"),
        ("reserveOutput", "reserve_output"),
        ("additional", "additional_input"),
    ],
)
def test_a_wrong_keyword_is_answered_with_the_nearest_right_one(engine, wrong, right):
    for verb in (engine.assemble, engine.inspect):
        with pytest.raises(TypeError, match=rf"{verb.__name__}\(\).*'{wrong}'; did you mean '{right}'\?"):
            verb("小雨", **{wrong: 1})


def test_a_keyword_like_no_other_is_answered_with_all_there_are(engine):
    with pytest.raises(TypeError, match="it takes text, limit, kinds, chapters"):
        engine.search("小雨", zzz=3)


def test_a_verb_of_a_part_shows_what_the_part_says_of_it(engine):
    whole = type(engine)
    parts = {
        "assemble": Prompts.assemble, "inspect": Prompts.inspect, "retrieve": Questions.retrieve,
        "search": Questions.search,
        "mentions": EntityMatcher.find_all, "wait": ProjectIndex.wait,
    }  # fmt: skip
    for name, done in parts.items():
        shown = getattr(whole, name)
        assert shown.__name__ == name
        assert inspect.signature(shown) == inspect.signature(done)
        assert inspect.getdoc(getattr(engine, name)) == inspect.getdoc(done)
    for name, done in {
        "subgraph": CodeIndex.subgraph,
        "similar": ProjectRecall.similar,
        "reembed": ProjectRecall.reembed,
    }.items():  # of doors
        shown, wanted = inspect.signature(getattr(whole, name)), inspect.signature(done)
        defaults = [(one.name, one.kind, one.default) for one in shown.parameters.values()]
        assert defaults[1:] == [(one.name, one.kind, one.default) for one in wanted.parameters.values()][1:]
    assert "budget: int | None = None" in pydoc.plain(pydoc.render_doc(engine.assemble))


async def test_a_coroutine_refuses_a_wrong_keyword_like_its_verb(engine):
    with pytest.raises(TypeError, match="did you mean 'document'"):
        await engine.aassemble("小雨", documnt="a.md")


def test_keywords_are_the_fields_of_a_request_with_the_same_defaults(engine):
    fields = {name: field.default for name, field in AssembleRequest.model_fields.items()}
    for verb, own in ((engine.assemble, set()), (engine.inspect, {"debug_mode", "requested_by"})):
        for form in (verb, getattr(engine, f"a{verb.__name__}")):
            shown = {name: one.default for name, one in inspect.signature(form).parameters.items()}
            assert shown.keys() - fields.keys() == {"previous", "layers", "reword", "timeout_s", *own}
            assert fields == {name: shown[name] for name in fields}


def test_none_is_the_default_of_every_keyword(engine):
    nothing = dict.fromkeys(AssembleRequest.model_fields)
    assert AssembleRequest(**nothing) == AssembleRequest()
    assert engine.assemble(**{**nothing, "query": "小雨"}).prompt == engine.assemble("小雨").prompt


def test_cursor_may_come_in_utf16_and_utf8_units(engine):
    text = CHAPTER[:20]
    by = {
        "code-point": 20,
        "utf-16": len(text.encode("utf-16-le")) // 2,
        "utf-8": len(text.encode()),
    }
    prompts = {
        engine.assemble(document="chapters/ch001.md", cursor=at, position_encoding=unit, budget=900).prompt
        for unit, at in by.items()
    }
    assert len(prompts) == 1


async def test_coroutines_give_the_same_answers(engine):
    request = {"query": "小雨", "document": "chapters/ch001.md", "cursor": 20, "budget": 2000}
    packs = await asyncio.gather(*(engine.aassemble(**request) for _ in range(4)))
    assert {pack.prompt for pack in packs} == {engine.assemble(**request).prompt}
    seen = await engine.ainspect(**request, requested_by="test")
    assert seen.layers_detail == engine.inspect(**request).layers_detail


def test_inspection_has_contents_and_totals_and_no_prompt(engine):
    request = {"query": "小雨", "document": "chapters/ch001.md", "cursor": 20, "budget": 2000}
    wire = engine.inspect(**request, debug_mode=True, requested_by="me").to_wire()
    pack = engine.assemble(**request)
    assert set(wire) == {"layersDetail", "totals", "inspectMeta"}
    assert "".join(layer["content"] for layer in wire["layersDetail"].values()) == pack.prompt
    assert wire["totals"] == {"tokenCount": pack.token_count, "warningsCount": len(pack.warnings)}
    assert wire["inspectMeta"]["debugMode"] is True
    assert wire["inspectMeta"]["requestedBy"] == "me"


def test_inspection_does_not_count_as_a_previous_request(engine):
    engine.inspect(query="a")
    assert not engine.assemble(query="b").stable_prefix_unchanged
    assert engine.assemble(query="c").stable_prefix_unchanged


def test_changed_file_is_seen_by_the_next_request(engine, folder):
    before = engine.assemble(query="江城", budget=2000)
    text = (folder / "codex.json").read_text(encoding="utf-8")
    (folder / "codex.json").write_text(text.replace("多雨的城", "无雨的城市"), encoding="utf-8")
    after = engine.assemble(query="江城", budget=2000)
    assert "无雨的城市" in after.prompt
    assert after.stable_prefix_hash != before.stable_prefix_hash
    assert not after.stable_prefix_unchanged


def test_engine_that_does_not_watch_still_sees_every_change_at_the_next_request(folder):
    with ContextEngine(folder, counters=lambda model, version: FixedCounter(), watch=False) as engine:
        assert engine.assemble(query="x").layers.rules.source == ("kg:always:e2",)
        (folder / "codex.json").unlink()
        assert engine.assemble(query="y").layers.rules.source == ()


def test_text_just_saved_is_the_text_of_the_next_request_whatever_the_index_has_seen(engine, folder):
    for n in range(20):
        text = CHAPTER + "新写的一句话。" * n
        (folder / "chapters" / "ch001.md").write_text(text, encoding="utf-8")
        pack = engine.assemble(document="chapters/ch001.md", cursor=len(text), budget=8000)
        assert pack.prompt.count("新写的一句话。") == n


def test_card_nobody_names_any_more_stays_until_its_codex_changes(engine, folder):
    asked = engine.assemble(query="小雨是谁？", budget=4000)
    typed = engine.assemble(query="继续", budget=4000, previous=asked)
    assert "codex:detected:e1" in typed.layers.retrieved.source
    text = (folder / "codex.json").read_text(encoding="utf-8")
    (folder / "codex.json").write_text(text.replace("林默的妹妹", "林默的姐姐"), encoding="utf-8")
    after = engine.assemble(query="继续", budget=4000, previous=typed)
    assert "codex:detected:e1" not in after.layers.retrieved.source


class Letters:
    """A counter of what the manual asks for, and nothing more."""

    name = "letters"
    exact = True

    def count(self, text):
        return len(text)


def test_a_counter_needs_a_name_whether_it_is_exact_and_count(folder):
    with ContextEngine(folder, counters=lambda model, version: Letters()) as engine:
        pack = engine.assemble("小雨是谁？", budget=3000)
    assert (pack.counter, pack.counter_exact, pack.token_count) == ("letters", True, len(pack.prompt))
    assert [one for one in pack.warnings if one.startswith("CONTEXT_BUDGET_FALLBACK")] == []


@pytest.mark.parametrize(
    ("counters", "why"),
    [
        (lambda model, version: 1 / 0, r"ZeroDivisionError: division by zero"),
        (lambda model: None, r"TypeError: .*positional argument"),
        (lambda model, version: None, r"NoneType is no counter, it lacks name, exact, count"),
        (lambda model, version: len, r"builtin_function_or_method is no counter, it lacks name, exact, count"),
    ],
)
def test_a_counter_that_cannot_be_made_is_a_warning_whatever_it_raises(folder, counters, why):
    with ContextEngine(folder, counters=counters) as engine:
        pack = engine.assemble("小雨是谁？", budget=3000)
    (told,) = [one for one in pack.warnings if one.startswith("CONTEXT_BUDGET_FALLBACK")]
    assert re.search(rf"no counter for 'gpt-4o' \(.*{why}.*\); counted by estimate$", told)
    assert pack.counter == "estimate"


def test_model_name_that_nobody_knows_is_counted_by_estimate_and_said_so(folder):
    with ContextEngine(folder) as engine:
        for _ in range(2):
            pack = engine.assemble(query="x", model="gtp-4o")
            assert pack.counter == "estimate"
            assert [w for w in pack.warnings if w.startswith("MODEL_UNKNOWN: ")] == [
                "MODEL_UNKNOWN: no model 'gtp-4o' is known; near it: gpt-4o; counted by estimate"
            ]
        known = engine.assemble(query="x", model="claude-opus-4")
        assert (known.counter, known.counter_exact) == ("estimate", False)
        assert not [w for w in known.warnings if w.startswith("MODEL_UNKNOWN")]


def test_budgets_of_layers_may_be_written_as_json_has_them(engine):
    request = {"query": "小雨是谁？", "document": "chapters/ch001.md", "budget": 2000}
    written = engine.assemble(**request, layers={"immediate": {"max": "20%"}})
    assert written.layers.immediate.token_count <= 400
    assert written.prompt == engine.assemble(**request, layers={"immediate": LayerBudget(max="20%")}).prompt


def test_edit_of_one_card_leaves_the_others_where_they_stand(engine, folder):
    codex = json.loads((folder / "codex.json").read_text(encoding="utf-8"))
    codex["entities"].append({"id": "e3", "name": "白鹭", "type": "character", "description": "钟表匠"})
    (folder / "codex.json").write_text(json.dumps(codex, ensure_ascii=False), encoding="utf-8")
    asked = engine.assemble(query="小雨是谁？白鹭呢？", budget=4000)
    codex["entities"][2]["description"] = "修船的人"
    (folder / "codex.json").write_text(json.dumps(codex, ensure_ascii=False), encoding="utf-8")
    after = engine.assemble(query="继续", budget=4000, previous=asked)
    assert "codex:detected:e1" in after.layers.retrieved.source
    assert "codex:detected:e3" not in after.layers.retrieved.source
    assert "钟表匠" not in after.prompt
    again = engine.assemble(query="小雨是谁？白鹭呢？", budget=4000, previous=after)
    cards = [source for source in again.layers.retrieved.source if source.startswith("codex:")]
    assert cards == ["codex:detected:e1", "codex:detected:e3"]
    assert "修船的人" in again.prompt


def test_another_project_is_refused_where_one_is_configured(folder):
    engine = ContextEngine(folder, counters=lambda model, version: FixedCounter(), project_id="mine")
    assert engine.assemble(project_id="mine", query="x").request.project_id == "mine"
    with pytest.raises(ScopeViolation, match=r"CONTEXT_SCOPE_VIOLATION.*'theirs'"):
        engine.assemble(project_id="theirs", query="x")


def test_previous_pack_of_another_project_is_refused(engine):
    other = engine.assemble(project_id="other", query="x")
    with pytest.raises(ScopeViolation, match="previous"):
        engine.assemble(project_id="one", query="x", previous=other)


def test_configured_budget_is_used_and_can_be_updated_under_its_version(folder):
    (folder / "armarius.toml").write_text("[budget]\ntokens = 1234\n", encoding="utf-8")
    engine = ContextEngine(folder, counters=lambda model, version: FixedCounter())
    assert engine.assemble(query="x").budget == 1234
    profile = engine.budget_profile()
    stored = engine.update_budget_profile(
        profile.with_layers({"retrieved": LayerBudget(max="10%")}), version=profile.version
    )
    assert stored.version == profile.version + 1
    again = ContextEngine(folder, counters=lambda model, version: FixedCounter())
    assert again.budget_profile() == stored
    with pytest.raises(BudgetConflict, match="CONTEXT_BUDGET_CONFLICT"):
        engine.update_budget_profile(profile, version=profile.version)


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("name", "is no Fetcher"),
        ("layer", "is no Fetcher"),
        ("fetch", "is no Fetcher"),
        ("known layer", "there are rules"),
    ],
)
def test_a_fetcher_that_is_none_is_refused_when_the_engine_is_opened(folder, missing, said):
    parts = {"name": "weather", "layer": "retrieved", "fetch": lambda self, request: None}
    parts = {**parts, "layer": "sky"} if missing == "known layer" else {k: v for k, v in parts.items() if k != missing}
    with pytest.raises(armarius.ContractError, match=said):
        armarius.ContextEngine(folder, more_fetchers=[type("Weather", (), parts)()])
