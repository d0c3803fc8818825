import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel

from armarius.errors import ContractError, CursorOutOfRange
from armarius.requests import (
    WIRE_NAMES,
    AssembleRequest,
    AssembleResult,
    InspectRequest,
    InspectResult,
    LayerResult,
    code_points,
    python_name,
    wire_name,
)

LAYERS = ("rules", "settings", "retrieved", "immediate")
LAYER = {"layer": "retrieved", "source": ["kg:always:e1"], "tokenCount": 3, "truncated": False}
RESULT = {
    "prompt": "p",
    "tokenCount": 1,
    "stablePrefixHash": "ab",
    "stablePrefixUnchanged": False,
    "warnings": [],
    "assemblyOrder": ["rules", "settings", "retrieved", "immediate"],
    "capacityPercent": 1.5,
    "layers": {name: {**LAYER, "layer": name} for name in LAYERS},
}
REQUEST = {"projectId": "p", "documentId": "d.md", "cursorPosition": 3, "skillId": "continue"}


def test_result_round_trips_through_json():
    assert AssembleResult.from_wire(json.dumps(RESULT)).to_wire() == RESULT


def test_layer_warnings_appear_on_the_wire_only_when_there_are_any():
    assert "warnings" not in LayerResult.from_wire(LAYER).to_wire()
    assert LayerResult.from_wire({**LAYER, "warnings": ["x"]}).to_wire()["warnings"] == ["x"]


@pytest.mark.parametrize("missing", ["source", "tokenCount"])
def test_layer_without_source_or_token_count_is_a_contract_error(missing):
    layer = {key: value for key, value in LAYER.items() if key != missing}
    with pytest.raises(ContractError, match=rf"retrieved\.{missing} is missing"):
        AssembleResult.from_wire({**RESULT, "layers": {**RESULT["layers"], "retrieved": layer}})
    with pytest.raises(ContractError, match=missing):
        LayerResult(**layer)


def test_result_without_a_layer_is_a_contract_error():
    layers = {name: layer for name, layer in RESULT["layers"].items() if name != "retrieved"}
    with pytest.raises(ContractError, match=r"layers\.retrieved"):
        AssembleResult.from_wire({**RESULT, "layers": layers})


def test_a_layer_stands_under_its_own_name():
    bare = {key: value for key, value in LAYER.items() if key != "layer"}
    with pytest.raises(ContractError, match=r"layers\.rules: .*'retrieved'"):
        AssembleResult.from_wire({**RESULT, "layers": {**RESULT["layers"], "rules": LAYER}})
    with pytest.raises(ContractError, match=r"layers\.rules\.layer is missing"):
        AssembleResult.from_wire({**RESULT, "layers": {**RESULT["layers"], "rules": bare}})


def test_request_reads_camel_case_and_snake_case_alike():
    wire = AssembleRequest.from_wire(REQUEST)
    assert wire == AssembleRequest(project_id="p", document="d.md", cursor=3, skill="continue")
    assert AssembleRequest.from_wire(wire.to_wire()) == wire


def test_every_field_of_a_request_has_one_name_in_python_and_one_on_the_wire():
    wire = {name: field.alias for name, field in AssembleRequest.model_fields.items()}
    assert wire == {name: wire_name(name) for name in wire}
    for name, theirs in wire.items():
        assert python_name(theirs) == python_name(name) == name
    assert {name for name, theirs in wire.items() if theirs != to_camel(name)} == set(WIRE_NAMES)
    assert [python_name(name) for name in ("document_id", "cursor_position", "skill_id", "task_id")] == list(WIRE_NAMES)


def test_an_optional_field_that_is_null_is_absent():
    request = AssembleRequest.from_wire(REQUEST)
    optional = {field.alias for field in AssembleRequest.model_fields.values()} - set(REQUEST)
    assert len(optional) == 23
    assert AssembleRequest.from_wire({**REQUEST, **dict.fromkeys(optional)}) == request
    assert AssembleRequest.from_wire({**REQUEST, "cursorPosition": None}).cursor is None
    assert InspectRequest.from_wire({**REQUEST, "debugMode": None}) == InspectRequest.from_wire(REQUEST)


def test_inspection_refuses_a_prompt():
    assert "prompt" not in InspectResult.model_fields
    with pytest.raises(ContractError, match="prompt"):
        InspectResult.from_wire({"prompt": "x"})


@given(st.text(max_size=40), st.data())
def test_positions_of_every_encoding_name_the_same_character(text, data):
    at = data.draw(st.integers(0, len(text)))
    before = text[:at]
    assert code_points(text, len(before.encode("utf-16-le", "surrogatepass")) // 2, "utf-16") == at
    assert code_points(text, len(before.encode("utf-8", "surrogatepass")), "utf-8") == at
    assert code_points(text, at) == at


@pytest.mark.parametrize(
    ("text", "position", "encoding"),
    [
        ("abc", 4, "code-point"),
        ("abc", -1, "utf-8"),
        ("小", 2, "utf-8"),
        ("😀", 1, "utf-16"),
        ("😀", 3, "utf-16"),
        ("", 1, "utf-8"),
    ],
)
def test_cursor_outside_the_text_or_inside_a_character_is_refused(text, position, encoding):
    with pytest.raises(CursorOutOfRange):
        code_points(text, position, encoding)


@pytest.mark.parametrize(
    "said",
    [
        {"as_of": "x"},
        {"chapters": [1, "x"]},
        {"also": [3]},
        {"also": "x"},
        {"messages": [3]},
        {"messages": [{"role": "user"}]},
        {"include": [3]},
        {"include": ["x"] * 99},
        {"budget": "x"},
        {"query": 3},
    ],
)
def test_what_came_instead_is_shown_once(said):
    with pytest.raises(ContractError) as refused:
        AssembleRequest(**said)
    assert str(refused.value).count(", got ") == 1, str(refused.value)


def test_what_came_instead_is_shown_once_by_the_names_of_the_wire():
    wire = {"projectId": "p", "documentId": "", "cursorPosition": 0, "skillId": "", "asOf": "x"}
    with pytest.raises(ContractError, match=r"asOf: expected a chapter number, got 'x'$"):
        AssembleRequest.from_wire(wire)
