import json

import pytest

import armarius
from armarius.codex.codex_json import IMPORTERS, CodexFile, parse_codex_json
from armarius.errors import CodexError

NAMES = "people.names"


def parse_names(path, text):
    """A name on each line; one with a comma is a fault."""
    entries = [{"id": name, "name": name, "type": "character"} for name in text.splitlines() if "," not in name]
    found = parse_codex_json(path, json.dumps({"entities": entries}))
    found.errors += [
        CodexError(f"{path}: line {at}: a comma") for at, line in enumerate(text.splitlines(), 1) if "," in line
    ]
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setitem(IMPORTERS, NAMES, parse_names)
    (tmp_path / "ch001.md").write_text("# 第一章\n\n林小雨和白鹭在江城。\n", "utf-8")
    (tmp_path / "codex.json").write_text(
        json.dumps({"title": "雨", "entities": [{"id": "e1", "name": "林小雨", "type": "character"}]}), "utf-8"
    )
    (tmp_path / NAMES).write_text("白鹭\na, b\n", "utf-8")
    return tmp_path


def test_a_row_of_the_table_is_read_beside_the_others(folder):
    codex = armarius.codex.load_codex(folder)
    assert {entity.name for entity in codex.entities} == {"林小雨", "白鹭"}
    assert codex.title == "雨"
    assert any(f"{NAMES}: line 2: a comma" in str(warning) for warning in codex.warnings)


def test_a_file_of_the_table_is_watched_and_what_prompts_depend_on(folder, tmp_path_factory):
    with armarius.open(folder, index_dir=tmp_path_factory.mktemp("index"), watch=False) as engine:
        assert {match.matched_term for match in engine.detect("白鹭和顾伯")} == {"白鹭"}
        before = engine._parts.project.view().stamps[NAMES]
        (folder / NAMES).write_text("白鹭\n顾伯\n", "utf-8")
        assert {match.matched_term for match in engine.detect("白鹭和顾伯")} == {"白鹭", "顾伯"}
        assert engine._parts.project.view().stamps[NAMES] != before


def test_a_title_stays_what_the_first_file_says():
    first, second = CodexFile(title="雨", drafts=[]), CodexFile(title="雪", language="zh")
    first.add(second)
    assert (first.title, first.language) == ("雨", "zh")
