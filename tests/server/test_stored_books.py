"""Lorebooks of a project on a server: rows, with what a folder has."""

import json
from dataclasses import replace

import pytest

import armarius

BOOK = {
    "name": "钟城",
    "entries": {
        "0": {"uid": 0, "key": ["怀表"], "content": "怀表的背面刻着一只白鹭。", "order": 100, "position": 0},
        "1": {"uid": 1, "key": ["灯塔"], "content": "灯塔每夜亮两次。", "order": 100, "position": 0},
    },
}
DATA = json.dumps(BOOK, ensure_ascii=False).encode()


@pytest.fixture
def novel(shelf, tenant):
    novel = shelf.project("novel", tenant=tenant)
    novel.write({"chapters/ch001.md": "# 第一章\n\n林默取出怀表。\n"})
    return novel


def test_an_imported_book_is_in_the_prompts_of_every_process(novel, open_shelf, tenant):
    other = open_shelf().project("novel", tenant=tenant)
    assert "白鹭" not in other.assemble("怀表在哪里？", document="chapters/ch001.md").prompt
    report = novel.importing.add(DATA, name="钟城.json")
    for one in (novel, other):
        assert "怀表的背面刻着一只白鹭" in one.assemble("怀表在哪里？", document="chapters/ch001.md").prompt
        assert [book.name for book in one.books.values()] == [report.book.name]
        assert [active.entry.text for active in one.active(text="灯塔").active] == ["灯塔每夜亮两次。"]


def test_it_stays_when_the_engine_goes_and_goes_when_it_is_removed(novel, tenant, open_shelf):
    id_ = novel.importing.add(DATA, name="钟城.json").book.id
    novel.close()
    assert list(novel.books) == [id_]
    novel.books.delete(id_)
    other = open_shelf().project("novel", tenant=tenant)
    assert list(other.books) == []
    assert "白鹭" not in other.assemble("怀表在哪里？", document="chapters/ch001.md").prompt


def test_an_edit_of_one_process_is_seen_by_another_and_the_original_stays(novel, open_shelf, tenant):
    id_ = novel.importing.add(DATA, name="钟城.json").book.id
    other = open_shelf().project("novel", tenant=tenant)
    book = other.books[id_]
    other.books.update(book.with_entry(replace(book.entries[0], text="怀表停了。")))
    assert "怀表停了" in novel.assemble("怀表在哪里？", document="chapters/ch001.md").prompt
    assert novel.books[id_].container.data == DATA


def test_nobody_sees_the_books_of_another_tenant(novel, shelf, tenant):
    novel.importing.add(DATA, name="钟城.json")
    theirs = shelf.project("novel", tenant=f"{tenant}-other")
    theirs.write({"chapters/ch001.md": "# 第一章\n\n怀表。\n"})
    assert list(theirs.books) == []
    assert "白鹭" not in theirs.assemble("怀表", document="chapters/ch001.md").prompt


def test_a_book_makes_rules_only_while_this_process_says_so(novel):
    id_ = novel.importing.add(DATA, name="钟城.json").book.id
    assert not novel.books[id_].rules
    with pytest.raises(armarius.ContractError, match="lasting"):
        novel.books.allow_rules(id_, lasting=True)


def test_a_folder_with_books_is_pushed_and_pulled_byte_for_byte(shelf, tenant, tmp_path):
    root = tmp_path / "novel"
    (root / "chapters").mkdir(parents=True)
    (root / "chapters" / "ch001.md").write_text("# 第一章\n\n林默取出怀表。\n", encoding="utf-8")
    with armarius.open(root, watch=False) as engine:
        engine.importing.add(DATA, name="钟城.json")
        expected = engine.assemble("怀表在哪里？", document="chapters/ch001.md").prompt
    from armarius.workspace.stored import push

    stored = shelf.project("pushed", tenant=tenant)
    push(stored.session, stored.write, root)
    assert stored.assemble("怀表在哪里？", document="chapters/ch001.md").prompt == expected
    shelf.export("pushed", tmp_path / "copy", tenant=tenant)
    kept = {
        path.relative_to(root): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != ".lock" and not path.name.endswith(".lock")
    }
    assert {path: (tmp_path / "copy" / path).read_bytes() for path in kept} == kept
    assert push(stored.session, stored.write, root).written == ()
