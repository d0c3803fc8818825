import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.contract import (
    AssembleRequest,
    AssembleResult,
    InspectResult,
    LayerResult,
    code_points,
)
from armarius.errors import ContractError, CursorOutOfRange

LAYER = {"source": ["kg:always:e1"], "tokenCount": 3, "truncated": False}
RESULT = {
    "prompt": "p",
    "tokenCount": 1,
    "stablePrefixHash": "ab",
    "stablePrefixUnchanged": False,
    "warnings": [],
    "assemblyOrder": ["rules", "settings", "retrieved", "immediate"],
    "capacityPercent": 1.5,
    "layers": dict.fromkeys(("rules", "settings", "retrieved", "immediate"), LAYER),
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
    with pytest.raises(ContractError, match=rf"retrieved\.{missing}: Field required"):
        AssembleResult.from_wire({**RESULT, "layers": {**RESULT["layers"], "retrieved": layer}})
    with pytest.raises(ContractError, match=missing):
        LayerResult(**layer)


def test_result_without_a_layer_is_a_contract_error():
    layers = dict.fromkeys(("rules", "settings", "immediate"), LAYER)
    with pytest.raises(ContractError, match=r"layers\.retrieved"):
        AssembleResult.from_wire({**RESULT, "layers": layers})


def test_request_reads_camel_case_and_snake_case_alike():
    wire = AssembleRequest.from_wire(REQUEST)
    assert wire == AssembleRequest(project_id="p", document_id="d.md", cursor_position=3, skill_id="continue")
    assert AssembleRequest.from_wire(wire.to_wire()) == wire


@pytest.mark.parametrize("missing", sorted(REQUEST))
def test_request_names_its_missing_field(missing):
    with pytest.raises(ContractError, match=missing):
        AssembleRequest.from_wire({key: value for key, value in REQUEST.items() if key != missing})


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"cursorPosition": "three"}, "cursorPosition"),
        ({"positionEncoding": "utf-32"}, "positionEncoding"),
        ({"cursor": 1}, "cursor: Extra inputs"),
        ({"budget": 1.5}, "budget"),
    ],
)
def test_request_with_a_wrong_field_is_a_contract_error(extra, message):
    with pytest.raises(ContractError, match=message):
        AssembleRequest.from_wire({**REQUEST, **extra})


@pytest.mark.parametrize("wire", ["{", "[]", b"\xff"])
def test_wire_that_is_no_object_is_a_contract_error(wire):
    with pytest.raises(ContractError):
        AssembleRequest.from_wire(wire)


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
