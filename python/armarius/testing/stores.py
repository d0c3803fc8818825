"""Conformance suite for `Store` (`armarius.store.protocol`), as a test class to inherit.

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def open_store(self, ...):
            return lambda project_id="p": MyStore(project_id, ...)   # a new handle on the same index each time

Only pytest is needed. `pytest.register_assert_rewrite("armarius.testing.stores")` in conftest.py gives detailed
assertion messages.
"""

from collections.abc import Callable, Iterator

import pytest

from armarius.errors import StoreError
from armarius.store.protocol import Store
from armarius.store.rows import (
    DerivedRow,
    Put,
    Remove,
)
from armarius.testing.novel import NOVEL, OpenStore, document, fill, found, together
from armarius.testing.store_contents import StoreContents
from armarius.testing.store_generations import StoreGenerations

__all__ = ["StoreConformance"]


class StoreConformance(StoreContents, StoreGenerations):
    """Inherit and give a fixture `open_store`: a function from a project id to a handle on its index."""

    @pytest.fixture
    def store(self, open_store: OpenStore) -> Iterator[Store]:
        """The novel, indexed."""
        store = fill(open_store())
        yield store
        store.close()

    def test_it_is_a_store_bound_to_its_project(self, open_store: OpenStore) -> None:
        """And says where it is."""
        store = open_store("one")
        assert isinstance(store, Store)
        assert store.project_id == "one"
        assert store.location
        store.close()

    def test_projects_do_not_see_each_other(self, store: Store, open_store: OpenStore) -> None:
        """Neither reading nor writing."""
        other = open_store("other")
        assert (other.documents(), other.entities(), found(other, "宝玉")) == ([], [], [])
        assert (other.generation(), other.changed(0).documents, other.learnt("names")) == (0, (), {})
        other.apply([Put(document("outline.md", "other"), "")])
        mine = store.document("outline.md")
        assert mine is not None
        assert mine.text == NOVEL["outline.md"]
        other.close()

    def test_another_handle_sees_what_was_committed(self, store: Store, open_store: OpenStore) -> None:
        """At once, both ways."""
        other = open_store()
        assert [row.path for row in other.documents()] == sorted(NOVEL)
        assert other.apply([Remove("outline.md")]) == store.generation()
        assert store.document("outline.md") is None
        store.apply([Put(document("new.md", "史湘云"), "")])
        assert ("new.md", 0) in found(other, "史湘云")
        other.close()

    def test_everything_is_there_after_closing(self, store: Store, open_store: OpenStore) -> None:
        """Opened anew, or reopened."""

        def contents(store: Store) -> object:
            rows = (store.files(), store.learnt("names"), store.entities(), found(store, "宝玉"))
            return (*rows, store.generation(), store.changed(0))

        expected = contents(store)
        store.close()
        again = open_store()
        assert contents(again) == expected
        reopened = again.reopen()
        assert contents(reopened) == expected
        assert reopened.verify() == []
        with pytest.raises(StoreError):
            again.generation()
        reopened.close()

    def test_a_closed_store_refuses_everything_but_closing(self, store: Store) -> None:
        """Closing twice is fine."""
        store.close()
        store.close()
        calls: list[Callable[[], object]] = [store.documents, store.state, store.generation, store.verify]
        calls += [lambda: store.apply([Remove("x")]), lambda: store.changed(0), lambda: store.learnt("names")]
        for call in calls:
            with pytest.raises(StoreError, match="closed"):
                call()

    def test_readers_and_writers_on_many_threads_see_whole_states(self, store: Store) -> None:
        """A document is there in one form or the other, its learnt row with it."""

        def read() -> None:
            for _ in range(30):
                rows = {row.path: row.paragraphs for row in store.documents()}
                assert rows.get("x.md", 1) in (1, 3)
                for one in store.changed(0).documents:
                    assert one.path != "x.md" or len(one.paragraphs) in (1, 3)
                found(store, "宝玉")

        def write() -> None:
            for i in range(20):
                text = "宝玉。\n\n" * (1 if i % 2 else 3)
                store.apply([Put(document("x.md", text), ""), DerivedRow("x.md", "names", "", text.encode())])

        together([read] * 4 + [write])
        assert store.verify() == []
