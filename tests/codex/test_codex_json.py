import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.codex import build_codex
from armarius.codex.codex_json import parse_codex_json

GOOD = {
    "id": "e1",
    "name": "林小雨",
    "type": "character",
    "aliases": ["小雨"],
    "aiContextLevel": "always",
    "description": "妹妹",
    "attributes": {"年龄": 16},
}


def parse(**data):
    return parse_codex_json("codex.json", json.dumps(data, ensure_ascii=False))


def test_well_formed_entry_is_read_whole():
    result = parse(title="灯", language="zh", entities=[{**GOOD, "facts": [{"text": "守灯", "since": 7}]}])
    (draft,) = result.drafts
    assert (draft.id, draft.name, draft.type, draft.aliases, draft.level) == (
        "e1",
        "林小雨",
        "character",
        ["小雨"],
        "always",
    )
    assert draft.attributes == {"年龄": "16"}
    assert (draft.facts[0].text, draft.facts[0].since) == ("守灯", 7)
    assert (result.title, result.language, result.errors) == ("灯", "zh", [])


@pytest.mark.parametrize(
    ("said", "level", "attributes"),
    [
        ({"level": "never"}, "never", {}),
        ({"ai_context_level": "manual_only"}, "manual_only", {}),
        ({"level": "never", "aiContextLevel": "always"}, "always", {}),
        ({"level": 12}, None, {"level": "12"}),
        ({"level": "novice"}, None, {"level": "novice"}),
    ],
)
def test_a_level_is_read_by_each_of_its_names(said, level, attributes):
    (draft,) = parse(entities=[{"name": "黑鸦", **said}]).drafts
    assert (draft.level, draft.attributes) == (level, attributes)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {**GOOD, "aliases": "小雨"},
            "codex.json: entities[1] ('e1'): aliases: expected a list of strings, got a string",
        ),
        (
            {**GOOD, "aliases": ["小雨", ""]},
            "codex.json: entities[1] ('e1'): aliases[1]: expected a non-empty string, got ''",
        ),
        (
            {**GOOD, "aiContextLevel": "x"},
            (
                "codex.json: entities[1] ('e1'): aiContextLevel: expected one of "
                "always, when_detected, manual_only, never, got 'x'"
            ),
        ),
        ({**GOOD, "attributes": ["x"]}, "codex.json: entities[1] ('e1'): attributes: expected an object, got a list"),
        (
            {**GOOD, "attributes": {"k": {}}},
            "codex.json: entities[1] ('e1'): attributes.k: expected a string or number, got an object",
        ),
        ({**GOOD, "type": 3}, "codex.json: entities[1] ('e1'): type: expected a string, got 3"),
        (
            {**GOOD, "facts": [{"text": "t", "since": "x"}]},
            "codex.json: entities[1] ('e1'): facts[0].since: expected a chapter number, got 'x'",
        ),
        (
            {**GOOD, "facts": [{"text": "t", "since": 10**30}]},
            f"codex.json: entities[1] ('e1'): facts[0].since: expected a chapter number, got {10**30}",
        ),
        ({"type": "character"}, "codex.json: entities[1]: name: missing, and there is no id to stand for it"),
        ({"name": "——"}, "codex.json: entities[1] ('——'): name: '——' has no letter or digit"),
        ("林", "codex.json: entities[1]: expected an object, got a string"),
        (None, "codex.json: entities[1]: expected an object, got null"),
    ],
)
def test_fault_is_named_with_entry_and_field_and_the_rest_is_read(entry, message):
    result = parse(entities=[{"name": "甲"}, entry, {"name": "乙"}])
    assert [str(error) for error in result.errors] == [message]
    assert [draft.name for draft in result.drafts if draft.id is None] == ["甲", "乙"]


def test_id_that_stands_twice_is_named_and_nothing_is_lost():
    result = parse(entities=[{"id": "e1", "name": "甲", "aliases": ["一"]}, {"id": "e1", "name": "乙"}])
    message = "codex.json: entities[1] ('e1'): id: the same as of entities[0]; both are read as one entity"
    assert [str(error) for error in result.errors] == [message]
    (entity,) = build_codex([], result).entities
    assert (entity.name, entity.aliases) == ("甲", ("一", "乙"))


def test_wrong_field_costs_only_that_field():
    (draft,) = parse(entities=[{**GOOD, "aliases": 3}]).drafts
    assert (draft.name, draft.aliases, draft.description) == ("林小雨", [], "妹妹")


def test_broken_json_is_named_with_its_line():
    result = parse_codex_json("codex.json", '{\n "entities": [\n  {"id": }\n ]\n}')
    assert [str(error) for error in result.errors] == ["codex.json: line 3, column 10: not JSON: Expecting value"]


def test_relation_without_a_target_is_named_and_the_others_stay():
    result = parse(
        relations=[{"source": "a", "type": "父子"}, {"source": "a", "target": "b", "type": "父子", "since": 2}]
    )
    assert [str(error) for error in result.errors] == ["codex.json: relations[0]: target: missing"]
    assert [(item.source, item.target, item.since) for item in result.relations] == [("a", "b", 2)]


def test_lone_surrogates_are_refused_where_they_stand():
    result = parse_codex_json("codex.json", '{"entities": [{"name": "a", "aliases": ["\\ud800"]}]}')
    assert "aliases[0]" in str(result.errors[0])


def test_nesting_without_end_is_an_error_and_no_crash():
    assert parse_codex_json("codex.json", "[" * 100_000).errors


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda item: (
        st.lists(item, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "name",
                    "aliases",
                    "entities",
                    "relations",
                    "source",
                    "target",
                    "type",
                    "facts",
                    "attributes",
                    "x",
                ]
            ),
            item,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_json_is_read_without_an_exception(data):
    parse_codex_json("codex.json", json.dumps(data))
    parse_codex_json("codex.json", json.dumps({"entities": [data], "relations": [data]}))
