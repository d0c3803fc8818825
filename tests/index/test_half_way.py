"""What ends in the middle, and what happens between two steps: the next look finds all of it."""

import shutil
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.index.conftest import NOVEL, put

import armarius
from armarius.corpus import part
from armarius.documents.document import make_document
from armarius.store.protocol import Put, Restamp
from armarius.text.matcher import EntityMatcher


def ended_once(monkeypatch):
    """The next matcher that is built is interrupted, as Ctrl-C does it in the core."""
    whole = EntityMatcher.from_valid

    def end(*_args, **_named):
        monkeypatch.setattr(EntityMatcher, "from_valid", whole)
        raise KeyboardInterrupt

    monkeypatch.setattr(EntityMatcher, "from_valid", end)


def known(index):
    index.freshen()
    ids = sorted(entity.id for entity in index.snapshot.codex.entities)
    assert index.store.state().entities == len(ids)
    return ids


@pytest.mark.parametrize("profiles", [None, "# 人物\n\n没有谁了。\n"])
def test_who_is_described_no_longer_is_gone_although_the_look_was_interrupted(index, monkeypatch, profiles):
    assert known(index) == ["林小雨", "林默"]
    page = index.root / "spec/people.md"
    page.unlink() if profiles is None else page.write_text(profiles, "utf-8")
    ended_once(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        index.refresh()
    assert known(index) == []


def test_what_was_authored_while_the_look_was_interrupted_is_found_by_the_next(index, monkeypatch):
    authored = '[[entity]]\nid = "bai"\nname = "白鹭"\ntype = "character"\n'
    put(index.root, ".armarius/codex.toml", authored)
    ended_once(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        index.refresh()
    assert known(index) == ["bai", "林小雨", "林默"]


def test_a_page_that_went_with_the_index_describes_nobody_any_more(index):
    (index.root / "spec/people.md").unlink()
    shutil.rmtree(Path(index.store.location).parent)
    assert known(index) == []


def test_a_stamp_is_of_the_content_that_was_read(index, monkeypatch):
    """Another process, which read a file before it was saved, commits between our look and our stamp."""
    before = NOVEL["chapters/ch001.md"]
    put(index.root, "chapters/ch001.md", before.replace("钟停了", "灯亮了"))
    index.refresh()
    later = time.time_ns() + 3_000_000_000  # the doubt that the save left is taken away
    monkeypatch.setattr("armarius.index.source.time", SimpleNamespace(time_ns=lambda: later))
    store, apply = index.store, index.store.apply

    def late(changes, **named):
        if all(isinstance(change, Restamp) for change in changes):
            store.apply = apply
            apply([Put(make_document("chapters/ch001.md", before.encode()), "of what it read")])
        return apply(changes, **named)

    store.apply = late
    index.refresh()
    index.freshen()
    assert [hit.path for hit in index.search("灯亮了")] == ["chapters/ch001.md"]


def test_an_older_comparison_does_not_stand_for_a_newer_refresh(novel, cache):
    """Whoever compares before a save is done later than whoever reads it."""
    with armarius.open(novel, watch=False) as engine:
        engine.retrieve("林默")
        fresh = engine.index._fresh
        compare, compared, go_on = fresh.differs, threading.Event(), threading.Event()

        def slow(store):
            found = compare(store)
            fresh.differs = compare
            compared.set()
            assert go_on.wait(10)
            return found

        fresh.differs = slow
        other = threading.Thread(target=lambda: engine.detect("林默"))
        other.start()
        assert compared.wait(10)
        put(novel, "chapters/ch001.md", "# 第一章\n\n口令是杏仁糖。\n")
        packs = []
        asking = threading.Thread(target=lambda: packs.append(engine.assemble("口令是什么")))
        asking.start()
        asking.join(0.2)  # it waits for the other
        go_on.set()
        asking.join(10)
        other.join(10)
        assert "杏仁糖" in packs[0].prompt


def test_a_question_that_was_interrupted_while_the_corpus_is_read_loses_nothing(novel, cache, monkeypatch):
    for number in range(3, 15):
        put(novel, f"chapters/ch{number:03}.md", f"# 第{number}章\n\n白鹭飞过第{number}座桥。\n")
    armarius.open(novel, watch=False).close()

    class Interrupted(part.ThreadPoolExecutor):
        def submit(self, *work):
            found = super().submit(*work)
            whole = found.result

            def end():
                found.result = whole
                raise KeyboardInterrupt

            found.result = end
            return found

    monkeypatch.setattr(part, "ThreadPoolExecutor", Interrupted)
    with armarius.open(novel, watch=False) as engine:
        with pytest.raises(KeyboardInterrupt):
            engine.retrieve("第七座桥")
        assert "chapters/ch007.md" in [hit.path for hit in engine.retrieve("白鹭飞过第7座桥")]


def test_a_corpus_that_cannot_be_read_at_all_is_made_anew(novel, cache, monkeypatch):
    for number in range(3, 15):
        put(novel, f"chapters/ch{number:03}.md", f"# 第{number}章\n\n白鹭飞过第{number}座桥。\n")
    armarius.open(novel, watch=False).close()

    class Unread:
        def __new__(cls, parts):
            return whole(parts)

        @staticmethod
        def recover(parts):
            raise MemoryError

    whole = part.Corpus
    monkeypatch.setattr(part, "Corpus", Unread)
    with armarius.open(novel, watch=False) as engine:
        assert "chapters/ch007.md" in [hit.path for hit in engine.retrieve("白鹭飞过第7座桥")]
