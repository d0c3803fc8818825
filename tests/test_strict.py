"""One rule for numbers, texts and switches, at every surface that takes one."""

import math

import numpy as np
import pytest

import armarius
from armarius import validation as strict
from armarius.errors import ArmariusError, BudgetError, ContractError
from armarius.prompt.profile import BudgetProfile, LayerBudget
from armarius.requests import AssembleRequest, AssembleResult, InspectRequest
from armarius.verbs import methods_of

NO_NUMBERS = [True, "5", 1.0, b"5", math.nan, math.inf, [5], np.array([1, 2]), object()]


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("strict")
    (root / "a.md").write_text("# 第一章\n\n白鹭来了。\n", encoding="utf-8")
    (root / "codex.json").write_text('{"entities": [{"id": "bai", "name": "白鹭"}]}', encoding="utf-8")
    with armarius.open(root, watch=False) as engine:
        yield engine


@pytest.mark.parametrize("wrong", NO_NUMBERS, ids=repr)
def test_what_is_no_number_is_refused_with_the_name_of_the_field(wrong):
    with pytest.raises(ContractError, match=r"^limit must be a whole number >= 1, got"):
        strict.whole("limit", wrong, least=1)


@pytest.mark.parametrize(
    ("number", "least", "most"), [(0, 1, None), (-1, 0, None), (2**63, 0, strict.MOST), (101, 0, 100)]
)
def test_a_number_beyond_its_bounds_is_refused_and_one_within_comes_back(number, least, most):
    with pytest.raises(ContractError, match=r"a whole number [<>]="):
        strict.whole("limit", number, least=least, most=most)
    assert strict.whole("limit", least, least=least, most=most) == least


def test_an_error_shows_what_came_and_stays_short_whatever_came():
    class Silent:
        def __repr__(self):
            raise RuntimeError("no")

    for value in ("x" * 10_000_000, 10**100_000, Silent(), ["x" * 1000] * 1000, b"x" * 10_000_000):
        assert len(strict.shown(value)) <= 60, type(value)


def test_a_name_with_a_lone_surrogate_is_refused():
    with pytest.raises(ContractError, match="name: character 1 is a lone surrogate"):
        strict.valid_text("name", "a\ud800")


@pytest.mark.parametrize("wrong", [True, "5", 1.0, b"5", math.nan], ids=repr)
@pytest.mark.parametrize("field", ["cursor", "budget", "reserve_output", "chapters", "as_of"])
def test_a_request_converts_nothing_in_python_nor_on_the_wire(engine, field, wrong):
    with pytest.raises(ContractError, match=field):
        engine.assemble("白鹭", document="a.md", **{field: wrong})
    named = {"cursor": "cursorPosition", "reserve_output": "reserveOutput", "as_of": "asOf"}.get(field, field)
    request = {"projectId": "", "documentId": "a.md", "cursorPosition": 0, "skillId": "", named: wrong}
    with pytest.raises(ContractError, match=named):
        AssembleRequest.from_wire(request)


@pytest.mark.parametrize("field", ["query", "additional_input", "document", "skill", "model", "provider", "project_id"])
@pytest.mark.parametrize("wrong", [5, True, b"x", ["x"]], ids=repr)
def test_a_request_takes_only_text_for_text(engine, field, wrong):
    with pytest.raises(ContractError, match=field):
        engine.assemble(**{"query": "白鹭", field: wrong})


def test_a_switch_is_true_or_false_and_nothing_else():
    with pytest.raises(ContractError, match="debugMode"):
        InspectRequest.from_wire(
            {"projectId": "", "documentId": "", "cursorPosition": None, "skillId": "", "debugMode": "yes"}
        )
    with pytest.raises(ContractError, match="capacityPercent"):
        AssembleResult.from_wire({"capacityPercent": math.nan})


CALLS = {
    "search": lambda engine, wrong: engine.search("白鹭", limit=wrong),
    "retrieve": lambda engine, wrong: engine.retrieve("白鹭", limit=wrong),
    "retrieve in a chapter": lambda engine, wrong: engine.retrieve("白鹭", chapter=wrong),
    "evidence": lambda engine, wrong: engine.evidence("白鹭", chapter=wrong),
    "propose": lambda engine, wrong: engine.propose(least=wrong),
    "neighbors": lambda engine, wrong: engine.graph.neighbors("bai", limit=wrong),
    "subgraph to a depth": lambda engine, wrong: engine.graph.subgraph(["bai"], depth=wrong),
    "subgraph of so many": lambda engine, wrong: engine.graph.subgraph(["bai"], limit=wrong),
    "scan": lambda engine, wrong: armarius.scan(engine.root, "白鹭", limit=wrong),
    "truncate": lambda engine, wrong: armarius.truncate("白鹭", wrong),
    "a layer's maximum": lambda engine, wrong: engine.assemble("白鹭", layers={"retrieved": {"max": wrong}}),
    "a layer's minimum": lambda engine, wrong: LayerBudget(min=wrong),
    "a profile's budget": lambda engine, wrong: BudgetProfile(budget=wrong),
    "a profile's threshold": lambda engine, wrong: BudgetProfile(warn_percent=wrong),
    "a profile's version": lambda engine, wrong: engine.update_budget_profile(BudgetProfile(), version=wrong),
    "a rule's priority": lambda engine, wrong: engine.constraints.create("不可", priority=wrong),
}


@pytest.mark.parametrize("wrong", [*NO_NUMBERS, -1, 2**63, 2**200], ids=repr)
@pytest.mark.parametrize("call", CALLS)
def test_no_number_that_is_none_gets_past_any_surface(engine, call, wrong):
    with pytest.raises(ArmariusError):
        CALLS[call](engine, wrong)


@pytest.mark.parametrize("wrong", [True, "5", 1.0, -1, 2**63, 0], ids=repr)
def test_the_channel_refuses_the_same_numbers(engine, wrong):
    methods = methods_of(engine)
    for method in ("documents:search", "documents:retrieve"):
        if (method, wrong) == ("documents:retrieve", 0) and wrong is not True:
            continue
        with pytest.raises(ContractError, match="limit"):
            methods[method]({"query": "白鹭", "limit": wrong})
    with pytest.raises(ContractError):
        methods["context:budget:update"]({"version": wrong or "x", "profile": {}})


def test_a_budget_beyond_32_bits_is_refused_by_name_wherever_it_stands(engine):
    with pytest.raises(BudgetError, match="budget must be <="):
        engine.assemble("x", budget=2**33)
    with pytest.raises(BudgetError, match=r"layers\['retrieved'\]: max must be"):
        engine.assemble("x", layers={"retrieved": {"max": 2**63}})


@pytest.mark.parametrize("text", [5, None, b"x", ["x"]], ids=repr)
@pytest.mark.parametrize("verb", ["search", "retrieve", "detect", "mentions", "evidence"])
def test_a_question_that_is_no_text_is_refused(engine, verb, text):
    with pytest.raises(ContractError):
        getattr(engine, verb)(text)


@pytest.mark.parametrize("verb", ["search", "retrieve", "detect", "mentions", "assemble", "inspect"])
def test_a_lone_surrogate_in_a_question_is_no_letter_and_no_fault(engine, verb):
    getattr(engine, verb)("白鹭\ud800")


@pytest.mark.parametrize("number", [10**5000, -(10**5000)], ids=["great", "small"])
def test_a_number_of_more_digits_than_python_writes_is_answered_or_refused_by_us(engine, number):
    calls = (
        lambda: engine.assemble("白鹭", budget=number),
        lambda: engine.assemble("白鹭", document="a.md", cursor=number),
        lambda: engine.assemble("白鹭", document="a.md", selection=(0, number)),
        lambda: engine.assemble("白鹭", timeout_s=number),
        lambda: engine.retrieve("白鹭", limit=number),
        lambda: engine.retrieve(number),
        lambda: engine.codex.create("新来的", aliases=[number]),
        lambda: engine.memories.create(number),
        lambda: armarius.shelf(engine.index.root, memory=number),
    )
    for call in calls:
        try:
            call()
        except (ArmariusError, TypeError) as error:
            assert len(str(error)) < 400  # noqa: PT017 - either will do, and neither may be long


@pytest.mark.parametrize("name", ["watch", "wait", "trusted"])
def test_a_switch_of_opening_is_a_switch(tmp_path, name):
    with pytest.raises(ContractError, match=f"^{name} must be True or False, got 'no'$"):
        armarius.open(tmp_path, **{name: "no"})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: armarius.truncate("\ud800 abc", 1), "lone surrogate"),
        (lambda: armarius.truncate(5, 5), "text must be a text, got 5"),
        (lambda: armarius.truncate("abc", 5, counter="x"), "counter must be a TokenCounter"),
        (lambda: armarius.scan(".", "\ud800"), "lone surrogate"),
        (lambda: armarius.scan(5, "a"), "root must be a path"),
        (lambda: armarius.scan(".", 5), "pattern must be a text"),
        (lambda: armarius.scan(".", "a", globs="*.md"), "globs must be a list of texts"),
        (lambda: armarius.codex.entity_card(armarius.Entity(id="x", name="y"), language="fr"), "one of zh, en"),
        (lambda: armarius.codex.entity_card(armarius.Entity(id="x", name="y"), language=[]), "one of zh, en"),
    ],
)
def test_what_a_function_of_the_package_cannot_take_is_refused_by_name(call, said):
    with pytest.raises(armarius.ContractError, match=said):
        call()


@pytest.mark.parametrize(
    "given", [["白鹭", "eva"], ("白鹭", "eva"), dict.fromkeys(["白鹭", "eva"]).keys(), iter(["白鹭", "eva"])]
)
def test_several_texts_are_whatever_gives_them_one_after_the_other(given):
    assert strict.texts("ids", given) == ["白鹭", "eva"]


@pytest.mark.parametrize("given", ["白鹭", b"a", 5, None, range(10**12), [1], [["a"]], {"a": 1}.items()])
def test_one_text_numbers_and_pairs_are_not_several_texts(given):
    with pytest.raises(ContractError, match=r"^ids(\[0\])? must be a"):
        strict.texts("ids", given)


def test_patterns_of_a_scan_may_come_one_after_the_other(tmp_path):
    for name in ("a.md", "b.txt"):
        (tmp_path / name).write_text("白鹭", "utf-8")
    assert [hit.path for hit in armarius.scan(tmp_path, "白鹭", globs=iter(["*.md"]))] == ["a.md"]
