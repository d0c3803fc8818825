"""Projects as people keep them, in miniature: `cases/layouts.json` gives the files, what they are, what prompts hold.

Of a row: `kinds` of files (several where people disagree), `editions` and `states`; `stories`, each in its order, the
main one first; `hidden` and `shown` files; `unread` folders; `entities` with their types, `once` for those that must
not be there twice, `no_names` that no entity has; `prompts`, `retrieves` and `detects`: questions with what must come;
`waits` says what is not met yet, and why.
"""

import json
from pathlib import Path

import pytest

import armarius

ROWS = json.loads((Path(__file__).parent / "cases" / "layouts.json").read_text(encoding="utf-8"))


def having(*fields):
    """The rows that state one of these fields, each under its claim; one that `waits` for the first of them fails."""
    waits = {row["claim"]: row.get("waits", {}).get(fields[0]) for row in ROWS}
    rows = [
        pytest.param(row, id=claim, marks=[pytest.mark.xfail(reason=waits[claim], strict=True)] if waits[claim] else ())
        for row in ROWS
        if any(field in row for field in fields)
        for claim in [row["claim"]]
    ]
    return pytest.mark.parametrize("row", rows)


@pytest.fixture
def engine(row, tmp_path):
    for path, text in row["files"].items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        engine.documents()
        yield engine


def names(engine):
    return [name for entity in engine.codex.list() for name in (entity.name, *entity.aliases)]


@having("kinds", "editions", "states")
def test_every_file_is_what_a_person_would_call_it(row, engine):
    files = engine.index.map.files
    for path, kinds in row.get("kinds", {}).items():
        assert path in files, path
        assert files[path].kind in ([kinds] if isinstance(kinds, str) else kinds), path
    assert {path: files[path].edition for path in row.get("editions", {})} == row.get("editions", {})
    assert {path: files[path].state for path in row.get("states", {})} == row.get("states", {})


@having("stories")
def test_the_story_is_told_in_its_order(row, engine):
    found = engine.index.map
    assert list(found.story()) == row["stories"][0]
    for story in row["stories"]:
        for before, after in zip([None, *story], [*story, None], strict=True):
            if before is not None:
                assert found.after(before) == after
            if after is not None:
                assert found.before(after) == before


@having("hidden", "shown", "unread")
def test_what_is_for_no_prompt_is_hidden_and_what_is_not_read_is_counted(row, engine):
    found = engine.index.map
    assert set(row.get("hidden", ())) <= found.hidden
    assert not set(row.get("shown", ())) & found.hidden
    assert set(row.get("unread", ())) <= engine.map().unread.keys()


@having("entities", "no_names")
def test_only_what_is_real_is_an_entity(row, engine):
    types = {entity.name: entity.type for entity in engine.codex.list()}
    assert {name: types.get(name) for name in row.get("entities", {})} == row.get("entities", {})
    found = names(engine)
    assert not set(found) & set(row.get("no_names", ()))
    assert [found.count(name) for name in row.get("once", ())] == [1 for _ in row.get("once", ())]


@having("retrieves")
def test_words_of_a_file_find_it_first(row, engine):
    for asked in row["retrieves"]:
        assert [hit.path for hit in engine.retrieve(asked["query"])][:1] == [asked["first"]], asked["query"]


@having("detects")
def test_names_are_detected_and_notes_are_not(row, engine):
    known = {entity.id: entity.name for entity in engine.codex.list()}
    for asked in row["detects"]:
        found = {known[one.entity_id] for one in engine.detect(asked["text"])}
        assert set(asked["finds"]) <= found
        assert not set(asked["not"]) & found


@having("prompts")
def test_a_prompt_holds_what_belongs_there(row, engine):
    for asked in row["prompts"]:
        pack = engine.assemble(asked["query"], document=asked.get("document", ""), budget=8000)
        sources = [item.source for item in pack.items]
        assert set(asked.get("items", ())) <= set(sources), asked["query"]
        for part in asked.get("no_items", ()):
            assert not [source for source in sources if part in source], asked["query"]
        for text in asked.get("has", ()):
            assert text in pack.prompt, asked["query"]
        for text in asked.get("lacks", ()):
            assert text not in pack.prompt, asked["query"]
        if "warnings" in asked:
            assert [str(one) for one in pack.warnings] == asked["warnings"], asked["query"]
