"""Conformance suite for `DocumentSource` (`armarius.index.source`), as a test class to inherit.

    class TestMySource(DocumentSourceConformance):
        @pytest.fixture
        def source(self, ...):
            return MySource(...)          # empty

        def write(self, source, path, data): ...     # change the texts as a user would, without the source's knowledge
        def remove(self, source, path): ...

Only pytest is needed.
"""

from collections.abc import Callable
from typing import Any

import pytest

from armarius.documents.document import make_document
from armarius.errors import DocumentSkipped, UnknownDocument
from armarius.index.source import DocumentSource, SourceChanges
from armarius.store.rows import FileRow, Put, Remove, Restamp

__all__ = ["DocumentSourceConformance"]

NOVEL = {
    "chapters/ch001.md": "# 第一章 雨夜\n\n林默推开门。\n".encode(),
    "chapters/ch002.md": "# 第二章 钟楼\n\n钟停了。\n".encode(),
    "outline.md": "# 大纲\n\n- 第一章：雨夜\n".encode("gb18030"),
}


class Index:
    """The state that an index keeps of a source, updated by `look`."""

    def __init__(self, source: DocumentSource) -> None:
        self.source = source
        self.known: dict[str, FileRow] = {}
        self.skipped: dict[str, str] = {}

    def look(self, *only: str, force: bool = False) -> tuple[list[str], list[str]]:
        """Read the differences; returns the paths that were put and removed, in order."""
        difference = self.source.compare(self.known, only=only, force=force)
        self.skipped |= {one.path: one.reason for one in difference.skipped}
        put, removed = [], []
        for found in self.source.read(difference, dict(self.known)):
            self.skipped |= {one.path: one.reason for one in found.skipped}
            for change in found.changes:
                if isinstance(change, Put):
                    put.append(change.document.path)
                    self.known[change.document.path] = FileRow(change.stamp, change.document.content_hash)
                    assert change.document == self.source.document(change.document.path)
                elif isinstance(change, Remove):
                    removed.append(change.path)
                    del self.known[change.path]
                else:
                    self.known[change.path] = FileRow(change.stamp, self.known[change.path].content_hash)
        return put, removed


class DocumentSourceConformance:
    """Inherit; give a fixture `source`, empty, and `write` and `remove`."""

    def write(self, source: Any, path: str, data: bytes) -> None:  # noqa: ANN401 - the source of the subclass
        """Create or replace a text."""
        raise NotImplementedError

    def remove(self, source: Any, path: str) -> None:  # noqa: ANN401
        """Delete a text."""
        raise NotImplementedError

    def fill(self, source: DocumentSource) -> Index:
        """Write the novel to the source; returns an index of it."""
        for path, data in NOVEL.items():
            self.write(source, path, data)
        index = Index(source)
        index.look()
        return index

    def test_an_empty_source_differs_in_nothing(self, source: DocumentSource) -> None:
        """From an empty index."""
        assert isinstance(source, DocumentSource)
        difference = source.compare({})
        assert (difference.to_read, difference.removed, difference.certain) == ((), (), 0)
        assert [change for found in source.read(difference, {}) for change in found.changes] == []

    def test_every_text_is_read_in_path_order(self, source: DocumentSource) -> None:
        """As `make_document` reads its bytes."""
        for path, data in reversed(NOVEL.items()):
            self.write(source, path, data)
        difference = source.compare({})
        assert [stamp.path for stamp in difference.to_read] == sorted(NOVEL)
        assert difference.certain == len(NOVEL)
        changes = [change for found in source.read(difference, {}) for change in found.changes]
        documents = [change.document for change in changes if isinstance(change, Put)]
        assert documents == [make_document(path, NOVEL[path]) for path in sorted(NOVEL)]
        assert all(isinstance(change, Put) and change.stamp for change in changes)

    def test_what_has_not_changed_is_not_put_again(self, source: DocumentSource) -> None:
        """However often one looks."""
        index = self.fill(source)
        for _ in range(3):
            assert index.look() == ([], [])

    def test_changed_new_and_removed_texts_are_told(self, source: DocumentSource) -> None:
        """Each once."""
        index = self.fill(source)
        self.write(source, "chapters/ch002.md", "# 第二章\n\n钟又走了，走得很慢。\n".encode())
        self.write(source, "notes/a.md", "新的一页".encode())
        self.remove(source, "outline.md")
        assert index.look() == (["chapters/ch002.md", "notes/a.md"], ["outline.md"])
        assert index.look() == ([], [])
        assert sorted(index.known) == ["chapters/ch001.md", "chapters/ch002.md", "notes/a.md"]

    def test_the_same_bytes_written_again_are_no_change(self, source: DocumentSource) -> None:
        """At most another stamp."""
        index = self.fill(source)
        self.write(source, "outline.md", NOVEL["outline.md"])
        assert index.look() == ([], [])

    def test_only_what_is_asked_for_is_looked_at(self, source: DocumentSource) -> None:
        """A document, or everything below a folder."""
        index = self.fill(source)
        for path in ("chapters/ch001.md", "outline.md", "chapters/ch003.md"):
            self.write(source, path, "改了。".encode())
        self.remove(source, "chapters/ch002.md")
        assert index.look("outline.md") == (["outline.md"], [])
        assert index.look("chapters/ch00") == ([], [])
        assert index.look("chapters") == (["chapters/ch001.md", "chapters/ch003.md"], ["chapters/ch002.md"])
        assert index.look() == ([], [])

    def test_force_reads_and_puts_everything(self, source: DocumentSource) -> None:
        """Even if stamps and bytes are unchanged."""
        index = self.fill(source)
        assert index.look(force=True) == (sorted(NOVEL), [])

    def test_what_is_no_document_is_skipped_with_its_reason(self, source: DocumentSource) -> None:
        """And leaves the index, if it was one."""
        index = self.fill(source)
        self.write(source, "outline.md", b"\0\0\0")
        assert index.look() == ([], ["outline.md"])
        assert "outline.md" in index.skipped
        assert index.skipped["outline.md"]
        with pytest.raises(DocumentSkipped):
            source.document("outline.md")
        self.write(source, "outline.md", NOVEL["outline.md"])
        assert index.look() == (["outline.md"], [])

    def test_a_document_is_as_it_is_at_this_moment(self, source: DocumentSource) -> None:
        """The very object, when it has not changed."""
        self.fill(source)
        known = source.document("chapters/ch001.md")
        assert known == make_document("chapters/ch001.md", NOVEL["chapters/ch001.md"])
        assert source.document("chapters/ch001.md", known) is known
        self.write(source, "chapters/ch001.md", "全改了。".encode())
        assert source.document("chapters/ch001.md", known).text == "全改了。"
        self.remove(source, "chapters/ch001.md")
        for path in ("chapters/ch001.md", "none.md", "../outside.md", ""):
            with pytest.raises(UnknownDocument):
                source.document(path)
        with pytest.raises(UnknownDocument):
            source.document("chapters/ch001.md", known)

    def test_a_stamp_differs_after_every_change(self, source: DocumentSource) -> None:
        """Or says nothing; one that says the same twice means that nothing has changed."""
        index = self.fill(source)
        seen = [source.stamp()]
        assert source.stamp() == seen[0]
        steps: tuple[Callable[[], None], ...] = (
            lambda: self.write(source, "outline.md", b"another"),
            lambda: self.write(source, "new.md", b"new"),
            lambda: self.remove(source, "new.md"),
        )
        for step in steps:
            step()
            stamp = source.stamp()
            assert stamp == "" or stamp not in seen
            seen.append(stamp)
            index.look()
            assert source.stamp() == stamp

    def test_texts_that_go_while_they_are_read_are_gone(self, source: DocumentSource) -> None:
        """Between the comparison and the reading."""
        index = self.fill(source)
        self.write(source, "chapters/ch001.md", "改了。".encode())
        difference = source.compare(index.known)
        assert isinstance(difference, SourceChanges)
        self.remove(source, "chapters/ch001.md")
        changes = [change for found in source.read(difference, index.known) for change in found.changes]
        assert [one for one in changes if not isinstance(one, Restamp)] == [Remove("chapters/ch001.md")]
