"""Every JSON message in the docs is one that the channel takes or answers."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from scripts.write_reference import schema_of

from armarius.verbs import VERBS

DOCS = Path(__file__).resolve().parents[2] / "docs"
FENCE = re.compile(r"^```json\n(.*?)^```", re.MULTILINE | re.DOTALL)
SCHEMAS = {method.name: schema_of(method) for method in VERBS}


def messages():
    for page in sorted(DOCS.glob("*.md")):
        for body in FENCE.findall(page.read_text(encoding="utf8")):
            message = json.loads(body)
            if "jsonrpc" in message:
                yield page.name, message


MESSAGES = list(messages())
METHOD_OF = {(page, message["id"]): message["method"] for page, message in MESSAGES if "method" in message}


@pytest.mark.parametrize(("page", "message"), MESSAGES, ids=[f"{page}-{n}" for n, (page, _) in enumerate(MESSAGES)])
def test_an_example_validates(page, message):
    part = {"params": message["params"]} if "method" in message else {"result": message["result"]}
    jsonschema.validate(part, SCHEMAS[METHOD_OF[page, message["id"]]])


def test_there_are_examples_of_what_is_sent_and_what_comes_back():
    assert {"method" in message for _, message in MESSAGES} == {True, False}


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("params", {"query": "x", "limit": "5"}),
        ("params", {"limit": 5}),
        ("params", {"query": "x", "colour": "red"}),
        ("result", {"items": [{"path": "a.md"}]}),
    ],
)
def test_a_schema_refuses_what_the_channel_would(part, wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({part: wrong}, SCHEMAS["documents:search"])
