"""One rule for numbers, texts and switches, at every surface that takes one."""

import math

import numpy as np
import pytest

import armarius
from armarius import validation as strict
from armarius.errors import ContractError

NO_NUMBERS = [True, "5", 1.0, b"5", math.nan, math.inf, [5], np.array([1, 2]), object()]


@pytest.mark.parametrize("wrong", NO_NUMBERS, ids=repr)
def test_what_is_no_number_is_refused_with_the_name_of_the_field(wrong):
    with pytest.raises(ContractError, match=r"^limit must be a whole number >= 1, got"):
        strict.whole("limit", wrong, least=1)


@pytest.mark.parametrize(
    ("number", "least", "most"), [(0, 1, None), (-1, 0, None), (2**63, 0, strict.MOST), (101, 0, 100)]
)
def test_a_number_beyond_its_bounds_is_refused_and_one_within_comes_back(number, least, most):
    with pytest.raises(ContractError, match=r"a whole number [<>]="):
        strict.whole("limit", number, least=least, most=most)
    assert strict.whole("limit", least, least=least, most=most) == least


def test_an_error_shows_what_came_and_stays_short_whatever_came():
    class Silent:
        def __repr__(self):
            raise RuntimeError("no")

    for value in ("x" * 10_000_000, 10**100_000, Silent(), ["x" * 1000] * 1000, b"x" * 10_000_000):
        assert len(strict.shown(value)) <= 60, type(value)


def test_a_name_with_a_lone_surrogate_is_refused():
    with pytest.raises(ContractError, match="name: character 1 is a lone surrogate"):
        strict.valid_text("name", "a\ud800")


@pytest.mark.parametrize(
    "given", [["白鹭", "eva"], ("白鹭", "eva"), dict.fromkeys(["白鹭", "eva"]).keys(), iter(["白鹭", "eva"])]
)
def test_several_texts_are_whatever_gives_them_one_after_the_other(given):
    assert strict.texts("ids", given) == ["白鹭", "eva"]


@pytest.mark.parametrize("given", ["白鹭", b"a", 5, None, range(10**12), [1], [["a"]], {"a": 1}.items()])
def test_one_text_numbers_and_pairs_are_not_several_texts(given):
    with pytest.raises(ContractError, match=r"^ids(\[0\])? must be a"):
        strict.texts("ids", given)


def test_patterns_of_a_scan_may_come_one_after_the_other(tmp_path):
    for name in ("a.md", "b.txt"):
        (tmp_path / name).write_text("白鹭", "utf-8")
    assert [hit.path for hit in armarius.scan(tmp_path, "白鹭", globs=iter(["*.md"]))] == ["a.md"]
