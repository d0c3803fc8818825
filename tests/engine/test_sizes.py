"""What is too much is refused at once, with the limit."""

import json
import time

import pytest

import armarius
from armarius.errors import ArmariusError, CodexError, ContractError
from armarius.requests import AssembleRequest
from armarius.validation import LONGEST_NAME, LONGEST_QUESTION, LONGEST_TEXT
from armarius.verbs import methods_of

HUGE = "白" * 34_000_000  # 100 MB in UTF-8
SECONDS = 2.0  # of this thread, whatever else the machine does


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("sizes")
    (root / "a.md").write_text("# 第一章\n\n白鹭来了。\n", encoding="utf-8")
    with armarius.open(root, watch=False, embedder=armarius.embedders.lexical()) as engine:
        engine.assemble("白鹭")
        yield engine


def refused(call, match, error=ContractError):
    started = time.thread_time()
    with pytest.raises(error, match=match) as told:
        call()
    assert time.thread_time() - started < SECONDS
    assert len(str(told.value)) < 1000


@pytest.mark.parametrize("verb", ["assemble", "inspect", "search", "retrieve", "similar"])
def test_a_question_of_a_hundred_megabytes_is_refused_with_the_limit(engine, verb):
    refused(lambda: getattr(engine, verb)(HUGE), "1,048,576")


@pytest.mark.parametrize("field", ["document", "skill", "model", "provider", "tokenizer_version", "project_id"])
def test_a_name_of_a_hundred_megabytes_is_refused_with_the_limit(engine, field):
    refused(lambda: engine.assemble("白鹭", **{field: HUGE}), f"{LONGEST_NAME:,}")


@pytest.mark.parametrize("field", ["text", "additional_input"])
def test_a_text_of_a_hundred_megabytes_is_refused_with_the_limit(engine, field):
    refused(lambda: engine.assemble("白鹭", document="a.md", **{field: HUGE}), "16,777,216|1,048,576")


def test_a_conversation_of_a_hundred_megabytes_is_refused_with_the_limit(engine):
    one, many = [{"role": "user", "content": HUGE}], [{"role": "user", "content": HUGE[:1_000_000]}] * 34
    for verb in (engine.assemble, engine.retrieve):
        refused(lambda verb=verb: verb("白鹭", messages=one), "at most 1,000,000")
        refused(lambda verb=verb: verb("白鹭", messages=many), "more than 16,777,216")


def test_the_channel_and_the_wire_refuse_the_same(engine):
    methods = methods_of(engine)
    for method in ("documents:search", "documents:retrieve"):
        refused(lambda method=method: methods[method]({"query": HUGE}), "1,048,576")
    request = {"projectId": "", "documentId": "", "cursorPosition": None, "skillId": "", "query": HUGE}
    refused(lambda: methods["context:prompt:assemble"](request), "1,048,576")
    wire = json.dumps(request, ensure_ascii=False) * 2
    refused(lambda: AssembleRequest.from_wire(wire), "67,108,864")


def test_what_is_just_short_enough_is_answered(engine):
    assert engine.search("鹭" * LONGEST_NAME) == []
    assert AssembleRequest(query="鹭" * LONGEST_QUESTION).query
    assert AssembleRequest(text="鹭" * LONGEST_TEXT).text


@pytest.mark.parametrize("verb", ["evidence", "document"])
def test_a_name_of_five_megabytes_is_refused_at_once(engine, verb):
    refused(lambda: getattr(engine, verb)("白" * 5_000_000), "at most 4,096")


def test_a_rule_that_would_fill_every_prompt_is_not_kept(engine):
    for book in (engine.constraints, engine.memories):
        refused(
            lambda book=book: book.create("规" * 3_000_000),
            "text: has 3,000,000 characters, at most 20,000",
            CodexError,
        )
        assert book.list() == ()
    refused(lambda: engine.pins.add("白" * 5_000_000), "at most 4,096", ArmariusError)
    kept = engine.constraints.create("规\x01" * 10_000)
    assert engine.constraints.list() == (kept,)
    assert engine.constraints.problems() == ()
    engine.constraints.delete(kept.id)
