"""Which headings, fields and files of a project are entities: rows of tests/cases/entities.json."""

import json
from pathlib import Path

import pytest

from armarius.codex.load import load_codex

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
