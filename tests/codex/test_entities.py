"""Which headings, fields and files of a project are entities: rows of tests/cases/entities.json."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from armarius.codex.load import load_codex, profiles_in
from armarius.documents.document import list_documents

ROWS = json.loads((Path(__file__).parents[1] / "cases" / "entities.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["claim"])
def test_entities_row(row, tmp_path):
    for path, text in row["files"].items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        times = row.get("repeat", 1) if path.startswith("chapters/") else 1
        (tmp_path / path).write_text(text * times, encoding="utf-8")
    codex = load_codex(tmp_path)
    assert sorted(one.name for one in codex.entities) == sorted(one["name"] for one in row["entities"])
    for expected in row["entities"]:
        found = next(one for one in codex.entities if one.name == expected["name"])
        for field, value in expected.items():
            actual = getattr(found, field)
            assert (list(actual) if isinstance(actual, tuple) else actual) == value, field
    assert {one.name for one in codex.rejected} >= set(row.get("rejected", []))


def test_headings_of_a_file_of_states_are_no_entities(tmp_path):
    (tmp_path / "地点.md").write_text("# 地点\n\n## 当前位置\n\n- 水城\n\n## 旧港\n- 类型：地点\n", encoding="utf-8")
    (document,) = list_documents(tmp_path).documents
    found = profiles_in(replace(document, kind="state"), document.path)
    assert [draft.name for draft in found.drafts] == ["旧港"]


def test_people_of_a_file_that_was_guessed_to_be_a_tool_have_cards_and_of_a_declared_one_none(tmp_path):
    text = "# Prompt of the director\n\n| Character | Age | Voice |\n|---|---|---|\n| Mara Vane | 30 | low |\n"
    path = tmp_path / "prompts" / "director.md"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    (document,) = list_documents(tmp_path).documents
    document = replace(document, kind="tool")
    assert [draft.name for draft in profiles_in(document, document.path).drafts] == ["Mara Vane"]
    assert not profiles_in(document, document.path, rules=[("tool", "prompts/**")])
    assert not profiles_in(replace(document, front_matter={"kind": "tool"}), document.path)
