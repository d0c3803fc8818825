"""A rule written once: where the core cannot read a word file of the package, its copy is held to it here."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from armarius.codex.people import letters
from armarius.documents.classify import classify
from armarius.documents.kinds import KIND_OF_WORD, TYPE_OF_WORD, title_words
from armarius.documents.titles import page_type
from armarius.text.unicode import APOSTROPHES, fold, slug

RUST = Path(__file__).parents[1] / "rust"
KINDS = tomllib.loads(files("armarius.lexicon").joinpath("kinds.toml").read_text(encoding="utf-8"))


def rust_string(file, name):
    (found,) = re.findall(rf'const {name}: &str =\s*"([^"]+)";', (RUST / file).read_text("utf-8"))
    return found


def test_ranks_and_kin_words_of_the_core_are_bare_titles():
    ranks, kin = (rust_string("matching/readings.rs", name) for name in ("RANK", "KIN"))
    assert set(ranks) | set(kin) < letters("han", "bare_titles")
    assert set(kin) < letters("han", "kin")


def test_an_apostrophe_is_the_same_in_the_core():
    (found,) = re.findall(
        r"fn is_apostrophe.*?matches!\(character, (.*?)\)", (RUST / "text/normalize.rs").read_text("utf-8"), re.DOTALL
    )
    assert {ord(one) for one in re.findall(r"'(.)'", found)} == APOSTROPHES.keys()
    assert fold("O’Neill") == fold("O'Neill")
    assert slug("Tully’s Reach") == "tully’s-reach"


def test_a_word_tells_one_kind_of_document():
    told = [(word, kind) for kind in KINDS["files"] for word in row_words(kind)]
    assert len({word for word, _ in told}) == len({*told})
    for word, kind in told:
        assert KIND_OF_WORD[word] == kind


def row_words(kind):
    return " ".join([KINDS["files"][kind], *KINDS["both"].get(kind, {}).values()]).split()


def test_a_word_for_both_is_not_listed_again_for_one():
    both = {word for kind in KINDS["both"] for row in KINDS["both"][kind].values() for word in row.split()}
    assert both.isdisjoint(" ".join(KINDS["files"].values()).split())
    assert both.isdisjoint(" ".join(KINDS["types"].values()).split())
    alone = {row: set(KINDS["titles"][row].split()) for row in ("containers", "fillers", "other")}
    assert {row: both & listed for row, listed in alone.items() if both & listed} == {}


def test_a_row_for_both_is_a_row_of_titles_or_a_type():
    for kind, rows in KINDS["both"].items():
        assert kind in KINDS["files"]
        assert rows.keys() <= KINDS["titles"].keys() | KINDS["types"].keys()


@pytest.mark.parametrize(
    ("name", "kind", "type_", "aside"),
    [
        ("人物", "setting", "character", False),
        ("locations", "setting", "location", False),
        ("大纲", "outline", None, False),
        ("时间线", "setting", None, True),
        ("readme", "tool", None, False),
        ("正文", "chapter", None, False),
    ],
)
def test_one_row_tells_both_readers(name, kind, type_, aside):
    path = f"{name}.md"
    assert classify(path, front_matter={}, paragraphs=(), text="")[0] == kind
    assert page_type(path) == (type_, aside)


def test_every_word_of_a_title_is_folded():
    assert all(word == fold(word) for word in TYPE_OF_WORD)
    assert all(word == fold(word) for row in KINDS["titles"] for word in title_words(row))


def test_a_slug_is_what_is_compared_without_white_space():
    assert slug("  Ｌin　 Xiaoyu ") == "lin-xiaoyu"
    assert slug("林 小雨") == "林-小雨"
