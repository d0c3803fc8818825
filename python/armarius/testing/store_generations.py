"""The part of `StoreConformance` about writing: atomic changes and generations."""

import random

import pytest

from armarius.errors import StoreConflict
from armarius.store.protocol import Store
from armarius.store.rows import (
    DerivedRow,
    Note,
    Put,
    Remove,
    Restamp,
)
from armarius.testing.novel import OpenStore, document, documents, together

__all__ = ["StoreGenerations"]


class StoreGenerations:
    """What is written is seen whole; see `StoreConformance`."""

    def test_changes_are_all_made_or_none(self, store: Store) -> None:
        """Also when one of them is no change at all."""
        before, generation = store.files(), store.generation()
        with pytest.raises(Exception):  # noqa: B017, PT011 - the type of the error depends on the store
            store.apply([Remove("outline.md"), Note("half", "done"), Put(None, "x")])  # type: ignore[arg-type]
        assert (store.files(), store.generation()) == (before, generation)
        assert store.note("half") is None
        assert store.verify() == []

    def test_changes_are_made_in_order(self, store: Store) -> None:
        """The last word holds."""
        first, last = document("x.md", "先"), document("x.md", "后")
        store.apply(
            [Put(first, "1"), DerivedRow("x.md", "names", "", b"1"), Put(last, "2"), Note("n", "1"), Note("n", "2")]
        )
        assert (store.document("x.md"), store.note("n")) == (last, "2")
        assert "x.md" not in store.learnt("names")
        store.apply([Remove("x.md"), Put(first, "3")])
        assert store.document("x.md") == first

    def test_a_generation_comes_with_every_apply_that_says_something(self, store: Store) -> None:
        """And with no other."""
        before = store.generation()
        assert store.apply([]) == before
        after = store.apply([Remove("outline.md")])
        assert after == store.generation() > before
        assert store.apply([Note("n", "1"), Note("m", "2")]) > after

    def test_changed_is_what_came_after_a_generation(self, store: Store) -> None:
        """Documents and notes as they are now, and the paths that went."""
        start = store.generation()
        nothing = store.changed(start)
        assert (nothing.documents, nothing.removed, dict(nothing.notes)) == ((), (), {})
        assert (nothing.generation, nothing.whole) == (start, False)
        new, again = document("new.md", "史湘云"), document("outline.md", "# 大纲\n\n改了。")
        store.apply([Put(new, ""), Note("n", "1")])
        between = store.apply([Put(document("outline.md", "旧"), ""), Remove("chapters/ch002.md"), Note("n", "2")])
        store.apply([Put(again, ""), Restamp("chapters/ch001.md", "touched")])
        changed = store.changed(start)
        assert changed.documents == (new, again)
        assert (changed.removed, dict(changed.notes)) == (("chapters/ch002.md",), {"n": "2"})
        assert (changed.generation, changed.whole) == (store.generation(), False)
        later = store.changed(between)
        assert (later.documents, later.removed, dict(later.notes)) == ((again,), (), {})

    def test_a_path_that_came_back_is_not_said_to_be_gone(self, store: Store) -> None:
        """It is a document like any other."""
        start, back = store.generation(), document("outline.md", "又来了")
        store.apply([Remove("outline.md")])
        store.apply([Put(back, "")])
        changed = store.changed(start)
        assert (changed.documents, changed.removed) == ((back,), ())

    def test_everything_is_changed_for_who_knows_nothing(self, store: Store) -> None:
        """Also for who comes from a generation that the store never had."""
        store.apply([Remove("outline.md"), Note("n", "1")])
        expected = tuple(one for one in sorted(documents(), key=lambda one: one.path) if one.path != "outline.md")
        assert store.changed(0).documents == expected
        assert dict(store.changed(0).notes)["n"] == "1"
        lost = store.changed(store.generation() + 1_000)
        assert (lost.documents, lost.whole, lost.generation) == (expected, True, store.generation())
        assert dict(lost.notes)["n"] == "1"

    def test_what_changed_can_be_followed_from_any_generation(self, store: Store) -> None:
        """A reader that looks now and then holds what the store holds."""
        held, seen = {one.path: one for one in documents()}, store.generation()
        chance = random.Random(3)  # noqa: S311 - the same in every run
        for step in range(60):
            path = f"t{chance.randrange(5)}.md"
            if chance.random() < 0.4:
                store.apply([Remove(path)])
            else:
                store.apply([Put(document(path, f"第{step}步"), "")])
            if chance.random() < 0.5:
                changed = store.changed(seen)
                assert not changed.whole
                held = {path: one for path, one in held.items() if path not in changed.removed}
                held |= {one.path: one for one in changed.documents}
                seen = changed.generation
                assert list(held.values()) == store.documents_of(list(held))
                assert sorted(held) == list(store.files())

    def test_a_change_of_an_older_generation_is_refused(self, store: Store, open_store: OpenStore) -> None:
        """And nothing of it is made; who looks again may write."""
        seen, other = store.generation(), open_store()
        other.apply([Note("n", "theirs")], expect=seen)
        with pytest.raises(StoreConflict):
            store.apply([Note("n", "mine"), Remove("outline.md")], expect=seen)
        assert store.note("n") == "theirs"
        assert "outline.md" in store.files()
        with pytest.raises(StoreConflict):
            store.apply([], expect=seen)
        assert store.apply([Note("n", "mine")], expect=store.generation()) == other.generation()
        other.close()

    def test_of_many_writers_each_change_is_counted(self, store: Store, open_store: OpenStore) -> None:
        """A counter kept in a note, by four threads that look and try again."""
        store.apply([Note("count", "0")])

        def count() -> None:
            mine = open_store()
            done = 0
            while done < 10:
                seen = mine.generation()
                now = int(mine.note("count") or 0)
                try:
                    mine.apply([Note("count", str(now + 1))], expect=seen)
                except StoreConflict:
                    continue
                done += 1
            mine.close()

        together([count] * 4)
        assert store.note("count") == "40"
