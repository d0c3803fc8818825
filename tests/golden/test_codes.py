"""Codes decide, never the words of reasons and warnings: nonsense in their place changes no choice, order or level."""

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.golden.requests import LOREBOOK, requests_of

import armarius
from armarius import headings
from armarius.errors import ArmariusError
from armarius.verbs.table import methods_of
from armarius.warnings import ContextWarning, WarningRow

EXAMPLES = Path(__file__).parents[2] / "examples"
GROUP = {"constant": True, "group": "weather", "content": "It rains.", "key": [], "order": 5}
BOOK = {"entries": LOREBOOK["entries"] | {"2": {**GROUP, "uid": 2}, "3": {**GROUP, "uid": 3, "key": ["{name}"]}}}
SAID = frozenset({"detail", "reason", "requestedAt", "tree", "warnings"})
"""Fields of the wire that hold sentences, or a time."""


def _nonsense(code, text):
    """A text that shares no word with the one that it replaces; a prompt holds titles, so that theirs count."""
    return text if code.startswith("title.") else " ".join([f"zq{code.encode().hex()}", *re.findall(r"\{\w+\}", text)])


def _chosen(value):
    """The value without sentences."""
    if isinstance(value, dict):
        return {name: _chosen(one) for name, one in value.items() if name not in SAID}
    return [_chosen(one) for one in value] if isinstance(value, list) else value


def _answers(project, index):
    """The answer to each example request, with the account of each prompt."""
    with armarius.open(project, watch=False, index_dir=index) as engine:
        methods = methods_of(engine)
        documents, entities = (methods[f"{room}:list"]({})["items"] for room in ("documents", "entities"))
        name = min((one["name"] for one in entities), default="burning_time")
        engine.importing.add(json.dumps(BOOK).replace("{name}", name).encode(), name="book.json")
        requests = requests_of(
            sorted(documents, key=lambda one: one["path"]), sorted(entities, key=lambda one: one["id"]), "burning_time"
        )
        accounts = [("account", "context:prompt:account", one[2]) for one in requests if one[1].endswith("assemble")]
        found = []
        for label, method, params in [*requests, *accounts]:
            try:
                found.append((label, json.loads(json.dumps(methods[method](params)))))
            except ArmariusError as error:
                found.append((label, error.code))
    return found


@pytest.mark.parametrize("name", ["novel", "code-project"])
def test_other_words_of_reasons_and_warnings_change_no_choice_order_or_level(tmp_path, monkeypatch, name):
    shutil.copytree(EXAMPLES / name, tmp_path / "one")
    shutil.copytree(EXAMPLES / name, tmp_path / "other")
    before = _answers(tmp_path / "one", tmp_path / "index of one")
    table = {
        code: {language: _nonsense(code, text) for language, text in row.items()}
        for code, row in headings.reasons_table().items()
    }
    monkeypatch.setattr(headings, "reasons_table", lambda: table)
    monkeypatch.setattr(WarningRow, "__call__", lambda row, **parts: ContextWarning(row.code, f"xyzzy {parts}"))
    after = _answers(tmp_path / "other", tmp_path / "index of other")
    assert "zq" in json.dumps(after)
    assert "xyzzy" in json.dumps(after)
    assert [(label, _chosen(one)) for label, one in after] == [(label, _chosen(one)) for label, one in before]
