"""What is no text, number, hit or pack is refused by its name, by each verb that takes one, before anything is done.

The rows are in `tests/cases/arguments.json`: a call, its arguments, what it says and which error it is (a ContractError
where the row names none). `"?"` stands for each value of the set that the row is for; a text that begins with `$` for a
value that JSON has not.
"""

import functools
import json
import os
import re
import shutil
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import armarius
from armarius import requests, validation
from armarius.cli import main
from armarius.errors import ArmariusError, ProjectError
from armarius.verbs import methods_of

TESTS = Path(__file__).parents[1]
TABLE = json.loads((TESTS / "cases" / "arguments.json").read_text("utf-8"))
REQUEST = {"projectId": "", "documentId": "chapters/ch001.md", "cursorPosition": 0, "skillId": ""}
NESTED: list[object] = []
for _ in range(50_000):
    NESTED = [NESTED]
VALUES = {
    "$bytes": b"\xff",
    "$nan": float("nan"),
    "$inf": float("inf"),
    "$array": np.array([1, 2]),
    "$object": object(),
    "$nested": NESTED,
    "$range": range(10**12),
    "$function": len,
    "$2^200": 2**200,
    "$a number of 5,000 digits": 10**5000,
    "$a small number of 5,000 digits": -(10**5000),
    "$a text of 5,000 characters": "x" * 5000,
    "$401 characters": "x" * 401,
    "$deep object": '{"a":' * 100_000,
    "$deep list": "[" * 100_000,
    "$profile": armarius.BudgetProfile(),
    "$entity": armarius.Entity(id="x", name="y"),
}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """What a row may call, by the first part of its name."""
    root = tmp_path_factory.mktemp("arguments") / "novel"
    shutil.copytree(TESTS.parent / "examples" / "novel", root)
    with armarius.open(root, watch=False) as engine:
        yield {
            "engine": engine,
            "pack": engine.assemble("灯塔", budget=2000),
            "channel": methods_of(engine),
            "armarius": armarius,
            "requests": requests,
        }


def filled(given, engine, wrong):
    """The arguments of a row with their values."""
    match given:
        case "?":
            return filled(wrong, engine, None)
        case str() if given in VALUES:
            return VALUES[given]
        case str():
            return given.replace("$root", str(engine.root)).replace("$surrogate", "a\ud800")
        case list():
            return [filled(one, engine, wrong) for one in given]
        case dict():
            kept = {name: one for name, one in given.items() if one != "$absent"}
            return {filled(name, engine, wrong): filled(one, engine, wrong) for name, one in kept.items()}
    return given


def calls(parts, row, wrongs):
    """Every call of a row with each value, and how it is called in a failure."""
    names = row.get("call", "armarius.AssembleRequest.from_wire")
    for name in [names] if isinstance(names, str) else names:
        part, _, verb = name.partition(".")
        if part not in parts:
            part, verb = "engine", name
        call = parts[part][verb] if part == "channel" else attrgetter(verb)(parts[part])
        for wrong in wrongs:
            args = [{**REQUEST, **row["wire"]}] if "wire" in row else row.get("args", [])
            args, keywords = (filled(one, parts["engine"], wrong) for one in (args, row.get("with", {})))
            yield f"{name} with {str(wrong)[:50]}", functools.partial(call, *args, **keywords)


@pytest.mark.parametrize("row", TABLE["refused"], ids=lambda row: str({**row, "for": ""})[:90])
def test_a_wrong_argument_is_refused_by_its_name(parts, row):
    wrongs = row.get("for", [None])
    error = getattr(armarius.errors, row.get("error", "ArmariusError" if not row.get("says") else "ContractError"))
    for named, call in calls(parts, row, TABLE["sets"][wrongs] if isinstance(wrongs, str) else wrongs):
        try:
            call()
        except error as refused:
            assert re.search(row.get("says", ""), str(refused)), named  # noqa: PT017 - which value it was is told
        else:
            pytest.fail(f"taken: {named}")


@pytest.mark.parametrize("row", TABLE["anything"], ids=str)
def test_whatever_is_handed_over_is_answered_or_refused_in_few_printable_words(parts, row):
    for named, call in calls(parts, row, TABLE["sets"]["anything"]):
        try:
            answer = call()
        except ArmariusError as error:
            said = str(error)
            said.encode()
            assert 0 < len(said) < 2500, named
        else:
            if row["call"] in ("armarius.open", "armarius.shelf"):
                answer.close()


@pytest.mark.parametrize("verb", ["search", "find", "retrieve", "detect", "mentions", "assemble", "inspect"])
def test_a_lone_surrogate_in_a_question_is_no_letter_and_no_fault(parts, verb):
    answer = getattr(parts["engine"], verb)("白鹭\ud800")
    assert not any("RAG_UNAVAILABLE" in str(warning) for warning in getattr(answer, "warnings", ()))


@pytest.mark.parametrize("verb", ["search", "find", "retrieve", "assemble"])
def test_a_lone_surrogate_in_a_wording_is_no_letter_and_no_fault(parts, verb):
    assert not getattr(parts["engine"], verb)("灯塔", also=["白鹭\ud800"]).warnings


def test_a_number_of_another_kind_is_a_number_and_the_least_is_taken(parts):
    assert validation.whole("limit", np.int64(3)) == 3
    assert (len(parts["engine"].retrieve("灯塔", limit=0)), len(parts["engine"].search("灯塔", limit=1))) == (0, 1)


@pytest.mark.parametrize("verb", ["retrieve", "assemble"])
def test_a_request_as_of_a_chapter_before_the_first_is_told_so(parts, verb):
    warnings = [str(one) for one in getattr(parts["engine"], verb)("灯塔", as_of=0).warnings]
    assert warnings == ["CHAPTER_UNKNOWN: the request is as of chapter 0; the chapters are 1 to 7"]
    assert not any("CHAPTER_UNKNOWN" in str(one) for one in getattr(parts["engine"], verb)("灯塔", as_of=1).warnings)


@pytest.mark.parametrize(
    "asked",
    [
        {"document": "chapters/ch001.md"},
        {"document": "chapters/ch001.md", "cursor": 20},
        {"text": "灯塔亮了。"},
        {"additional_input": "灯塔亮了。"},
        {"include": ["林默"]},
        {"messages": [{"role": "user", "content": "灯塔在哪"}]},
        {"cursor": 0},
    ],
)
def test_without_a_query_there_is_a_prompt_where_there_is_something_to_go_on_with(parts, asked):
    assert parts["engine"].assemble("q" if "cursor" in asked else "", budget=4000, **asked).token_count > 0


@pytest.mark.parametrize(("text", "said"), TABLE["configurations"])
def test_a_wrong_configuration_is_refused_with_file_table_and_key(tmp_path, text, said, capsys):
    (tmp_path / "armarius.toml").write_text(text, encoding="utf-8")
    with pytest.raises(armarius.ConfigError, match=said) as refused:
        armarius.open(tmp_path, watch=False)
    assert str(refused.value).startswith("armarius.toml: ")
    if text.startswith("[embedding]"):
        assert main(["doctor", str(tmp_path)]) == 1
        assert re.search(said, capsys.readouterr().out)


@pytest.mark.skipif(os.name == "nt", reason="a working directory in use cannot be deleted there")
def test_a_working_directory_that_has_gone_is_a_project_error(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for call in (armarius.open, armarius.shelf, armarius.codex.load_codex):
        with pytest.raises(ProjectError):
            call(".")


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_a_project_whose_folder_has_no_name_in_unicode_opens(tmp_path):
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/novel\xff"))
    try:
        root.mkdir()
    except OSError:
        pytest.skip("the file system takes no such name")
    (root / "a.md").write_text("# 第一章\n\n白鹭来了。\n", encoding="utf-8")
    with armarius.open(root, watch=False) as engine:
        assert len(engine.search("白鹭")) == 1
        assert engine.assemble("白鹭", budget=4000).warnings == ()
        engine.project_id.encode()
