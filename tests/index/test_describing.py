from dataclasses import replace

import pytest
from tests.index.conftest import put

from armarius.codex import load_codex
from armarius.index import derived
from armarius.index.project_index import ProjectIndex

PAGE = "# 白鹭\n\n- 类型：人物\n- 别名：鹭鸶\n"


@pytest.fixture
def pages(novel, cache):
    for i in range(6):
        put(novel, f"notes/n{i}.md", f"# 题{i}\n\n雨停了{i}次。\n")
    put(novel, "notes/bird.md", PAGE)
    return novel


@pytest.fixture
def read(monkeypatch):
    """The paths whose profiles are read."""
    paths = []

    def profiles_in(document, path, tables, rules):
        paths.append(document.path)
        return whole(document, path, tables, rules)

    whole = derived.profiles_in
    monkeypatch.setattr(derived, "profiles_in", profiles_in)
    return paths


def test_what_pages_describe_is_not_read_again_at_the_next_opening(pages, read):
    ProjectIndex.open(pages).close()
    read.clear()
    with ProjectIndex.open(pages) as index:
        assert read == []
        assert index.snapshot.codex == load_codex(pages)


@pytest.mark.parametrize("data", [b"[]", b"[[1],[]]", b"{", b"[[],[[]]]", b"\xff"])
def test_what_is_kept_damaged_is_read_again(pages, read, data):
    with ProjectIndex.open(pages) as index:
        row = index.store.learnt(derived.PROFILES)["notes/bird.md"]
        index.store.apply([replace(row, data=data)])
    read.clear()
    with ProjectIndex.open(pages) as index:
        assert read == ["notes/bird.md"]
        assert index.snapshot.codex == load_codex(pages)


def test_a_page_is_read_once_however_often_others_are_saved(pages, read):
    with ProjectIndex.open(pages) as index:
        read.clear()
        put(pages, "notes/n0.md", "# 题\n\n雨又下了。\n")
        index.refresh()
        assert read == ["notes/n0.md"]
        put(pages, "notes/n0.md", PAGE.replace("白鹭", "苍鹭"))
        index.refresh()
        assert read == ["notes/n0.md"] * 2
        assert index.snapshot.codex == load_codex(pages)


@pytest.mark.parametrize("again", [False, True])
def test_who_a_page_describes_now_is_who_it_described_last(pages, again):
    """With the index open all the time, and with another process in between."""
    index = ProjectIndex.open(pages)
    steps = {"notes/n1.md": PAGE.replace("白鹭", "苍鹭"), "notes/bird.md": "# 题\n\n没有人。\n", "notes/n2.md": None}
    for path, text in steps.items():
        if text is None:
            (pages / path).unlink()
        else:
            put(pages, path, text)
        if again:
            index.close()
            index = ProjectIndex.open(pages)
        else:
            index.refresh()
        assert index.snapshot.codex == load_codex(pages)
    (pages / "notes/n1.md").unlink()
    index.refresh()
    assert index.snapshot.codex == load_codex(pages)
    assert not [one for one in index.snapshot.codex.entities if one.name == "苍鹭"]
    index.close()


def test_pages_of_which_an_index_keeps_nothing_are_read_once_more(pages, read):
    with ProjectIndex.open(pages) as index, index.store._session.writing() as connection:
        connection.execute("DELETE FROM learnt WHERE kind = ?", (derived.PROFILES,))
    read.clear()
    ProjectIndex.open(pages).close()
    assert "notes/bird.md" in read
    read.clear()
    ProjectIndex.open(pages).close()
    assert read == []


def test_pages_of_another_folder_are_read_by_their_path_inside_it(pages, tmp_path, read):
    earlier = tmp_path / "characters"
    put(earlier, "chapters/ch001.md", "# 第一章\n\n雨。\n")
    put(earlier, "notes/plain.md", "# 题\n\n雨停了。\n")
    put(earlier, "notes/bird.md", PAGE.replace("白鹭", "夜鹭"))
    names = []
    for _ in range(2):
        with ProjectIndex.open(pages, with_=[earlier]) as index:
            names.append(sorted(one.name for one in index.snapshot.codex.entities))
    assert names[0] == names[1]
    assert "夜鹭" in names[0]
    assert "plain" not in names[0]
