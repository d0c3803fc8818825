"""What a save reads of the documents that it does not change: nothing that was known before it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.index.conftest import put

from armarius.corpus.part import StoreCorpus
from armarius.index.freshness import IndexContents
from armarius.index.project_index import ProjectIndex
from armarius.index.source import _covered_paths
from armarius.store.sqlite.store import SqliteStore


@pytest.fixture
def asked(monkeypatch):
    """What the store was asked for of all documents, by name."""
    calls = []

    def counting(name, of_all):
        plain = getattr(SqliteStore, name)

        def called(self, *arguments, **more):
            if of_all(*arguments, **more):
                calls.append(name)
            return plain(self, *arguments, **more)

        monkeypatch.setattr(SqliteStore, name, called)

    counting("files", lambda: True)
    counting("documents", lambda *, kinds=(), chapter=None: not kinds)
    return calls


def held_of(index):
    """What a refresh takes the store to hold, and what it does hold."""
    carried, looked = index._fresh.contents(index.store), IndexContents.of(index.store)
    return (carried, list(carried.files)), (looked, list(looked.files))


def test_a_save_and_a_search_list_no_documents(novel, index, asked):
    for number in range(4):
        if number == 1:  # the first look, and the first search, are of everything
            asked.clear()
        put(novel, "chapters/ch001.md", f"# 第1章\n\n独角兽{number}号来了。\n")
        index.refresh(["chapters/ch001.md"])
        assert [hit.path for hit in index.search(f"独角兽{number}号")] == ["chapters/ch001.md"]
    assert asked == []


def test_what_a_refresh_carries_on_is_what_the_store_holds(novel, index):
    def check(paths=None):
        index.refresh(paths)
        carried, looked = held_of(index)
        assert carried == looked

    check()
    put(novel, "chapters/ch001.md", "# 第1章\n\n灯塔。\n")
    check(["chapters/ch001.md"])
    put(novel, "chapters/ch000.md", "# 序章\n\n在最前面。\n")
    check(["chapters/ch000.md"])
    (novel / "chapters/ch000.md").unlink()
    check(["chapters"])
    put(novel, "设定/人物.md", "# 人物\n\n## 沈砚\n\n- 类型：人物\n- 别名：阿砚\n")
    check()
    put(novel, "armarius.toml", 'exclude = ["notes/**"]\nmax_bytes = 1000000\n')
    check()


def test_what_another_process_wrote_is_seen(novel, index, cache):
    with ProjectIndex.open(novel) as other:
        put(novel, "chapters/ch001.md", "# 第1章\n\n灯塔。\n")
        other.refresh(["chapters/ch001.md"])
        put(novel, "chapters/ch002.md", "# 第2章\n\n渡口。\n")
        index.refresh(["chapters/ch002.md"])
        carried, looked = held_of(index)
        assert carried == looked
        assert index.search("灯塔")
        assert index.store.verify() == []


def test_a_corpus_follows_removed_and_changed_documents_of_the_store(novel, index):
    corpus = StoreCorpus()
    for number in range(30):
        path = f"chapters/ch{number % 5:03}.md"
        if number % 7 == 6:
            (novel / path).unlink(missing_ok=True)
        else:
            put(novel, path, f"# 第{number % 5}章\n\n白鹭第{number}次飞过渡口。\n\n灯亮了{number}回。\n")
        index.refresh(["chapters"])
        if number % 3:
            continue
        followed, anew = corpus.at(index.store), StoreCorpus().at(index.store)
        assert (followed.paths, followed.units, len(followed)) == (anew.paths, anew.units, len(anew))
        texts = ["白鹭", "灯亮", f"第{number}次", "渡口"]
        assert followed.frequencies(texts) == anew.frequencies(texts)


NAMES = st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map("/".join)


@given(st.lists(NAMES, max_size=8), st.sets(NAMES | st.sampled_from(["", ".", "a/"]), max_size=3))
def test_a_path_is_covered_by_itself_and_by_every_folder_above_it(paths, wanted):
    folders = [[path[:at] for at, sign in enumerate(path) if sign == "/"] for path in paths]
    expected = [
        path
        for path, above in zip(paths, folders, strict=True)
        if path in wanted or any(folder in wanted for folder in above)
    ]
    assert _covered_paths(paths, wanted) == expected
