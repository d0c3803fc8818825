"""The build script on a database of five synsets, in WordNet's own form."""

import importlib.util
from pathlib import Path

import pytest
from tests.rows import rows

from armarius.search.query import words as english
from armarius.search.query.words import LineTable

SCRIPT = Path(__file__).parents[3] / "scripts" / "build_thesaurus.py"
DATA = {
    "data.noun": "  1 A licence\n"
    "00000100 03 n 02 boat 0 small_craft 0 002 ~ 00000200 n 0000 @ 00000300 n 0000 | floats\n"
    "00000200 03 n 02 Gondola 0 punt 0 001 @ 00000100 n 0000 | narrower\n"
    "00000300 03 n 02 craft 0 U-boat 0 001 ~ 00000100 n 0000 | broader\n",
    "data.verb": "00000400 03 v 01 sail 0 001 + 00000100 n 0101 01 + 02 00 | goes by boat\n",
    "data.adj": "00000500 03 a 01 watery(p) 0 000 | wet\n",
    "data.adv": "",
    "index.noun": "  1 A licence\n"
    "boat n 1 2 ~ @ 1 0 00000100\n"
    "craft n 1 1 ~ 1 0 00000300\n"
    "gondola n 1 1 @ 1 0 00000200\n"
    "punt n 1 1 @ 1 0 00000200\n"
    "small_craft n 1 2 ~ @ 1 0 00000100\n",
    "index.verb": "sail v 1 1 + 1 0 00000400\n",
    "index.adj": "watery a 1 0 1 0 00000500\n",
    "index.adv": "",
}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    specification = importlib.util.spec_from_file_location("build_thesaurus", SCRIPT)
    build = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(build)
    folder = tmp_path_factory.mktemp("dict")
    for name, content in DATA.items():
        (folder / name).write_text(content, "ascii")
    return build.table(build.synsets(folder), build.senses(folder))


@rows("thesaurus_build")
def test_database_becomes_a_table_that_answers(text, monkeypatch, word, alternatives):
    monkeypatch.setattr(english, "_wordnet", lambda: LineTable(text.encode("ascii")))
    assert dict(english.english_alternatives.__wrapped__(word)) == alternatives


def test_lemma_that_leads_to_no_other_word_is_left_out(text):
    assert "watery" not in text
    assert "u-boat" not in text
    assert "small_craft" not in text
