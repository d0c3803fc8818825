"""Rows of `tests/cases` as the parameters of a test."""

import json
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"


def rows(table: str, name: str = ""):
    """Parametrise a test by the rows under its name, or under another, in `tests/cases/<table>.json`."""

    def mark(test):
        found = json.loads((CASES / f"{table}.json").read_text("utf-8"))[name or test.__name__]
        return pytest.mark.parametrize(found["names"], found["rows"])(test)

    return mark
