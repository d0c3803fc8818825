"""Documents whose text is unpacked at the first look: the same as documents that were read at once."""

import copy
import pickle
import threading
from dataclasses import FrozenInstanceError, replace

import pytest

from armarius.documents.document import Document, make_document
from armarius.errors import StoreCorrupt
from armarius.store.protocol import Put
from armarius.store.sqlite.location import place_for
from armarius.store.sqlite.store import SqliteStore

WHOLE = make_document("chapters/ch001.md", "# 第一章\n\n灯亮了。\n\nThe lamp.\n".encode())


class Counted:
    """What a store keeps, and how often it was read."""

    def __init__(self, document):
        self.document, self.reads = document, 0

    @property
    def paragraphs(self):
        return len(self.document.paragraphs)

    def read(self):
        self.reads += 1
        return self.document.text, self.document.paragraphs


@pytest.fixture
def kept():
    return Counted(WHOLE)


@pytest.fixture
def unread(kept):
    names = ("path", "kind", "title", "chapter", "front_matter", "encoding", "content_hash")
    return Document.unread(kept, **{name: getattr(WHOLE, name) for name in names})


def test_nothing_is_unpacked_for_what_is_known_without_the_text(unread, kept):
    assert (unread.path, unread.title, unread.chapter, unread.paragraph_count) == (WHOLE.path, "第一章", 1, 3)
    assert kept.reads == 0


@pytest.mark.parametrize("look", [lambda one: one.text, lambda one: one.paragraphs, repr, lambda one: one == WHOLE])
def test_a_look_unpacks_once_and_lets_go_of_what_was_packed(unread, kept, look):
    look(unread)
    look(unread)
    assert kept.reads == 1
    assert unread._unread is None
    assert (unread, unread.paragraph_count) == (WHOLE, 3)


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one)), replace])
def test_a_copy_is_the_whole_document(unread, made):
    assert made(unread) == WHOLE


def test_what_it_has_not_is_an_error_and_what_it_has_cannot_be_changed(unread):
    with pytest.raises(AttributeError, match="'Document' object has no attribute 'nothing'"):
        unread.nothing  # noqa: B018
    with pytest.raises(FrozenInstanceError):
        unread.text = "else"


def test_many_threads_see_one_text(unread):
    gate, seen = threading.Barrier(8), []

    def look():
        gate.wait()
        seen.append((unread.text, unread.paragraphs, unread.paragraph_count))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [(WHOLE.text, WHOLE.paragraphs, 3)] * 8


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "novel").mkdir()
    with_texts = SqliteStore.open(place_for(tmp_path / "novel"), project_id="novel")
    yield with_texts
    with_texts.close()


@pytest.mark.parametrize("many", [1, 3, 40])
def test_what_a_store_gives_equals_what_was_put(store, many):
    documents = [
        make_document(f"notes/n{at:02}.md", f"# {at}\n\n## 灯\n\n{'灯。' * at}\n\nlamp\n".encode())
        for at in range(many)
    ]
    store.apply([Put(document, "") for document in documents])
    found = store.changed(0).documents
    assert [one.paragraph_count for one in found] == [len(one.paragraphs) for one in documents]
    assert found == tuple(documents)
    since = store.generation()
    store.apply([Put(documents[0], "again"), Put(documents[-1], "again")])
    assert list(store.changed(since).documents) == list(
        {one.path: one for one in (documents[0], documents[-1])}.values()
    )


def test_a_text_that_rotted_is_damage_and_no_other_error(store):
    store.apply([Put(WHOLE, "")])
    writer = store._session.writer
    blob = bytearray(writer.execute("SELECT text FROM documents").fetchone()[0])
    blob[len(blob) // 2] ^= 1
    writer.execute("UPDATE documents SET text = ?", (bytes(blob),))
    (found,) = store.changed(0).documents
    with pytest.raises(StoreCorrupt, match=r"text of chapters/ch001.md is damaged"):
        found.text  # noqa: B018


def test_paragraphs_that_rotted_are_damage_and_no_other_error(store):
    store.apply([Put(WHOLE, "")])
    store._session.writer.execute("UPDATE paragraphs SET role = 9")
    (found,) = store.changed(0).documents
    with pytest.raises(StoreCorrupt, match=r"paragraphs of chapters/ch001.md are damaged"):
        found.paragraphs  # noqa: B018
