"""What is no text, number, hit or pack is refused by its name, by each verb that takes one, before anything is done."""

from pathlib import Path

import pytest

import armarius
from armarius.validation import whole

NOVEL = Path(__file__).parents[2] / "examples" / "novel"
TEXT = ("retrieve", "search", "detect", "mentions", "evidence", "document")
NUMBERS = {"retrieve": "limit", "search": "limit", "propose": "least", "assemble": "budget"}
NAMES = {"retrieve": "query", "search": "text", "detect": "text", "mentions": "text", "evidence": "name"}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with armarius.open(NOVEL, watch=False, index_dir=tmp_path_factory.mktemp("index")) as engine:
        yield engine


@pytest.fixture(scope="module")
def pack(engine):
    return engine.assemble("灯塔", budget=2000)


@pytest.mark.parametrize("value", [None, 3, b"\xe7\x81\xaf", ["灯塔"]])
@pytest.mark.parametrize("verb", TEXT)
def test_what_is_no_text_is_refused(engine, verb, value):
    with pytest.raises(armarius.ContractError, match=f"^{NAMES.get(verb, 'path')} must be a text"):
        getattr(engine, verb)(value)


@pytest.mark.parametrize(
    ("verb", "argument", "value"),
    [
        (verb, argument, value)
        for verb, argument in NUMBERS.items()
        for value in ("3", 2.5, None, True, [])
        if value is not None or verb != "assemble"  # whose budget is the profile's then
    ],
)
def test_what_is_no_number_is_refused(engine, verb, argument, value):
    asked = () if verb == "propose" else ("灯塔",)
    with pytest.raises(armarius.ContractError, match=rf"{argument}:? .*(whole number|valid integer)"):
        getattr(engine, verb)(*asked, **{argument: value})


@pytest.mark.parametrize(("verb", "argument", "least"), [("retrieve", "limit", 0), ("search", "limit", 1)])
def test_a_number_that_is_too_small_is_refused(engine, verb, argument, least):
    with pytest.raises(ValueError, match=f"^{argument} must be a whole number >= {least}, got {least - 1}$"):
        getattr(engine, verb)("灯塔", **{argument: least - 1})
    assert len(getattr(engine, verb)("灯塔", **{argument: least})) == least


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda engine, _: engine.retrieve("灯塔", chapter="3"), "chapter: expected a chapter number, got '3'"),
        (lambda engine, _: engine.retrieve("灯塔", document=3), "document must be a text, got "),
        (lambda engine, _: engine.retrieve("灯塔", chapters="3"), "chapters: expected a chapter number, or first"),
        (lambda engine, _: engine.assemble("灯塔", chapters="3"), "chapters: expected a chapter number, or first"),
        (lambda engine, _: engine.assemble("灯塔", budget="8000"), "budget: Input should be a valid integer, got '80"),
        (lambda engine, _: engine.assemble("灯塔", reserve_output="9"), "reserve_output: Input should be a valid int"),
        (
            lambda engine, _: engine.assemble("灯塔", document="chapters/ch001.md", cursor=1.0),
            "cursor: Input should be",
        ),
        (lambda engine, _: engine.evidence("林默", attribute=3), "attribute must be a text, got "),
        (lambda engine, _: engine.evidence("林默", chapter="3"), "chapter: expected a chapter number, got '3'"),
        (lambda engine, _: engine.excerpt(3), "hit: expected a Hit, as retrieve and search give them, got int"),
        (lambda engine, _: engine.update_budget_profile(3, version=1), "profile must be a BudgetProfile, got 3"),
        (
            lambda engine, _: engine.update_budget_profile(engine.budget_profile(), version="1"),
            "version must be a whole number",
        ),
        (lambda _, pack: pack.explain(3), "wanted must be a text, got "),
        (lambda _, pack: pack.explain(None), "wanted must be a text, got "),
        (lambda _, pack: pack.diff(3), "other must be a Pack, as assemble returns it, got int"),
        (lambda _, pack: pack.what_if(budget="3"), "budget: Input should be a valid integer, got '3'"),
    ],
)
def test_every_other_argument_is_named_when_it_is_wrong(engine, pack, call, said):
    with pytest.raises(armarius.ContractError) as raised:
        call(engine, pack)
    assert said in str(raised.value)


@pytest.mark.parametrize("root", [None, 3, ["a"]])
def test_what_is_no_path_is_no_project(root):
    with pytest.raises(armarius.ProjectError, match="expected a path, got"):
        armarius.open(root)


def test_numbers_of_other_kinds_are_numbers():
    numpy = pytest.importorskip("numpy")
    assert whole("limit", numpy.int64(3)) == 3


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda engine: engine.assemble(None), "query must be a text, got None"),
        (lambda engine: engine.inspect(None), "query must be a text, got None"),
        (lambda engine: engine.assemble("灯塔", model=""), "model: is empty; leave it out for the default"),
        (lambda engine: engine.assemble("灯塔", provider=" "), "provider: is empty"),
        (lambda engine: engine.assemble("灯塔", tokenizer_version=""), "tokenizer_version: is empty"),
    ],
)
def test_an_empty_choice_is_no_choice(engine, call, said):
    with pytest.raises(armarius.ContractError) as raised:
        call(engine)
    assert said in str(raised.value)


@pytest.mark.parametrize("verb", ["retrieve", "assemble"])
def test_a_request_as_of_a_chapter_before_the_first_is_told_so(engine, verb):
    warnings = [str(one) for one in getattr(engine, verb)("灯塔", as_of=0).warnings]
    assert warnings == ["CHAPTER_UNKNOWN: the request is as of chapter 0; the chapters are 1 to 7"]
    assert not any("CHAPTER_UNKNOWN" in str(one) for one in getattr(engine, verb)("灯塔", as_of=1).warnings)


@pytest.mark.parametrize(
    "asked",
    [
        {"document": "chapters/ch001.md"},
        {"document": "chapters/ch001.md", "cursor": 20},
        {"text": "灯塔亮了。"},
        {"additional_input": "灯塔亮了。"},
        {"include": ["林默"]},
        {"messages": [{"role": "user", "content": "灯塔在哪"}]},
    ],
)
def test_without_a_query_there_is_a_prompt_where_there_is_something_to_go_on_with(engine, asked):
    assert engine.assemble("", budget=4000, **asked).token_count > 0


@pytest.mark.parametrize(
    "call",
    [
        lambda engine: engine.assemble("灯塔", model="a\ud800"),
        lambda engine: engine.inspect("灯塔", model="a\ud800"),
        lambda _: armarius.TokenCounter.for_model("a\ud800"),
        lambda _: armarius.TokenCounter.knows("a\ud800"),
    ],
)
def test_a_models_name_that_is_no_text_is_refused_by_an_error_of_ours(engine, call):
    with pytest.raises(armarius.ContractError, match="model: character 1 is a lone surrogate"):
        call(engine)


def test_an_encodings_name_that_is_no_text_is_refused_by_an_error_of_ours():
    with pytest.raises(armarius.ContractError, match="encoding: character 0 is a lone surrogate"):
        armarius.TokenCounter.for_encoding("\ud800")
