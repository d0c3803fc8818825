"""What the parts of an engine say of themselves at a prompt: one short line with counts."""

import json

import pytest

import armarius

PARTS = ("codex", "memories", "constraints", "books", "importing")


@pytest.fixture
def engine(tmp_path):
    (tmp_path / "novel/characters").mkdir(parents=True)
    (tmp_path / "novel/characters/林默.md").write_text("# 林默\n\n- 年龄：16\n- 妹妹：林小雨\n", "utf-8")
    (tmp_path / "novel/characters/林小雨.md").write_text("# 林小雨\n\n- 年龄：12\n", "utf-8")
    with armarius.open(tmp_path / "novel", watch=False, index_dir=tmp_path / "index") as engine:
        yield engine


def test_every_part_says_in_one_line_what_it_holds(engine):
    assert repr(engine.codex) == "<codex: 2 entities, 1 relation>"
    assert repr(engine.memories) == "<0 memories>"
    assert repr(engine.constraints) == "<0 constraints>"
    assert repr(engine.books) == "<0 books; 0 entries>"
    engine.memories.create("She fears deep water.")
    book = {"name": "Harbour\x1b[2J", "entries": {"0": {"uid": 0, "key": ["a"], "content": "b"}}}
    engine.importing.add(json.dumps(book).encode(), name="h.json")
    assert repr(engine.memories) == "<1 memory>"
    assert repr(engine.books) == "<1 book: harbour-2j; 1 entry>"
    assert repr(engine.importing) == "<importing into <1 book: harbour-2j; 1 entry>: preview(file), add(file)>"


def test_a_repr_is_short_whatever_there_is_and_never_raises(engine):
    for number in range(30):
        book = {"name": f"B{number}", "entries": {"0": {"uid": 0, "key": [f"k{number}"], "content": f"t{number}"}}}
        engine.importing.add(json.dumps(book).encode(), name=f"{number}.json")
    (engine.root / ".armarius/books/b3/book.json").write_text("{", "utf-8")
    (engine.root / ".armarius/memories.toml").write_text("[[memory", "utf-8")
    for part in PARTS:
        said = repr(getattr(engine, part))
        assert len(said) < 200
        assert "\n" not in said
    assert "1 broken" in repr(engine.books)
    held = [getattr(engine, part) for part in PARTS]
    engine.close()
    assert all(len(repr(part)) < 200 for part in held)
