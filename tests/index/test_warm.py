"""A search that loads next to nothing answers as the whole index does, or not at all."""

import time

import pytest

from armarius.errors import ConfigError
from armarius.index.project_index import ProjectIndex
from armarius.index.warm import warm_search


def warm(root, text="小雨", **options):
    return warm_search(root, text, **{"limit": 10, "match": "all", **options})


@pytest.fixture
def indexed(novel, cache):
    with ProjectIndex.open(novel) as index:
        time.sleep(0.06)  # files that were written while they were read are read once more
        index.refresh()
        yield novel, index


def test_a_warm_search_finds_what_the_index_finds(indexed):
    root, index = indexed
    for match in ("all", "any"):
        hits = warm(root, match=match)
        assert hits
        assert hits == index.search("小雨", match=match)
    assert warm(root, "zyzzyva") == []


def test_without_an_index_it_does_not_answer_and_makes_none(novel, cache):
    assert warm(novel) is None
    assert not list(cache.rglob("*.sqlite"))


@pytest.mark.parametrize("change", ["edited", "added", "removed", "read otherwise"])
def test_where_the_folder_differs_it_does_not_answer(indexed, change):
    root, _ = indexed
    chapter = next(path for path in sorted(root.rglob("*.md")))
    if change == "edited":
        chapter.write_text(chapter.read_text("utf-8") + "\n新的一段。\n", "utf-8")
    elif change == "added":
        (root / "new.md").write_text("# 新\n\n新的一段。\n", "utf-8")
    elif change == "removed":
        chapter.unlink()
    else:
        (root / "armarius.toml").write_text("[documents]\nmax_bytes = 5000000\n", "utf-8")
    assert warm(root) is None


def test_a_damaged_index_is_left_to_be_mended(novel, cache):
    with ProjectIndex.open(novel):
        (path,) = cache.rglob("index.sqlite")
    data = bytearray(path.read_bytes())
    for page in range(4096, len(data), 4096):
        data[page : page + 8] = b"\xff" * 8
    path.write_bytes(data)
    assert warm(novel) is None


def test_a_wrong_configuration_is_said(novel, cache):
    (novel / "armarius.toml").write_text("[documents\n", "utf-8")
    with pytest.raises(ConfigError):
        warm(novel)
