"""Headings that only the story can make entities: judged alike however the index came to be."""

import pytest
from tests.index.conftest import put

from armarius.codex import load_codex
from armarius.index import derived
from armarius.index.project_index import ProjectIndex

WORLD = "# 世界观\n\n## 势力格局\n三家。\n\n## 水城\n旧港。\n"


@pytest.fixture
def world(novel, cache):
    put(novel, "设定集/世界观.md", WORLD)
    return novel


@pytest.fixture
def counted(monkeypatch):
    """The number of texts that were searched for names."""
    texts = []

    def uses_in(given, names):
        texts.extend(given)
        return whole(given, names)

    whole = derived.uses_in
    monkeypatch.setattr(derived, "uses_in", uses_in)
    return texts


def names(index):
    return {one.name for one in index.snapshot.codex.entities}


def test_a_heading_becomes_an_entity_when_a_chapter_uses_its_name(world):
    with ProjectIndex.open(world) as index:
        assert "水城" not in names(index)
        put(world, "chapters/ch090.md", "# 第九十章\n\n船到水城。水城下雨，水城的灯灭了。\n")
        index.refresh()
        assert "水城" in names(index)
        assert index.snapshot.codex == load_codex(world)
        (world / "chapters/ch090.md").unlink()
        index.refresh()
        assert "水城" not in names(index)
        assert index.snapshot.codex == load_codex(world)


def test_a_described_person_stays_whatever_is_typed_in_the_chapters(world):
    with ProjectIndex.open(world) as index:
        known = names(index)
        for text in ("# 第", "# 第九十章\n\n船到水", "# 第九十章\n\n船到了。\n"):
            put(world, "chapters/ch090.md", text)
            index.refresh()
            assert names(index) == known


def test_the_next_opening_counts_no_text_again(world, counted):
    ProjectIndex.open(world).close()
    assert counted
    counted.clear()
    with ProjectIndex.open(world) as index:
        assert counted == []
        assert index.snapshot.codex == load_codex(world)


def test_a_saved_chapter_is_the_only_text_that_is_counted(world, counted):
    with ProjectIndex.open(world) as index:
        counted.clear()
        put(world, "chapters/ch090.md", "# 第九十章\n\n船到水城。\n")
        index.refresh()
        assert len(counted) == 1


def test_a_project_without_such_headings_counts_nothing(novel, cache, counted):
    with ProjectIndex.open(novel):
        assert counted == []
