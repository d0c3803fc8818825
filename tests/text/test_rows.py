"""The rows that Rust runs too."""

import json
from pathlib import Path

import pytest

from armarius import EntityMatcher

CASES = json.loads((Path(__file__).parents[1] / "cases" / "matcher.json").read_text(encoding="utf-8"))


def build(entities):
    return EntityMatcher({"id": key, "name": names[0], "aliases": names[1:]} for key, names in entities.items())


@pytest.mark.parametrize("row", CASES["rows"], ids=lambda row: row["claim"])
def test_row_is_answered_as_written(row):
    found = build(row["entities"]).find_all(row["text"])
    assert [[m.entity_id, m.term, m.start, m.end] for m in found] == row["mentions"]
    assert all(row["text"][m.start : m.end] == m.term for m in found)


@pytest.mark.parametrize("row", CASES["blank"], ids=lambda row: row["claim"])
def test_blank_name_is_refused_with_the_entity_named(row):
    with pytest.raises(ValueError) as refused:
        build(row["entities"])
    assert str(refused.value) == row["error"]
