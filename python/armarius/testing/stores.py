"""Conformance suite for `Store` (`armarius.store.protocol`), as a test class to inherit.

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def open_store(self, ...):
            return lambda project_id="p": MyStore(project_id, ...)   # a new handle on the same index each time

Only pytest is needed. `pytest.register_assert_rewrite("armarius.testing.stores")` in conftest.py gives detailed
assertion messages.
"""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from armarius.documents.document import Document, make_document
from armarius.errors import StoreConflict, StoreError
from armarius.store.protocol import DerivedRow, EntityIds, Note, Put, Remove, Restamp, Store, TextQuery

OpenStore = Callable[..., Store]

NOVEL = {
    "chapters/ch001.md": "# 第一回 来客\n\n林黛玉走进来。宝玉笑了。\n\n甄宝玉没有来，黛玉也不问。\n",
    "chapters/ch002.md": "# 第二回 金锁\n\n宝钗拿出金锁。The gold lock.\n\n宝玉看着她。\n",
    "outline.md": "# 大纲\n\n- 第一回：来客\n- 第二回：金锁\n",
    "spec/people.md": "---\ntitle: 人物\ncharacters: [林黛玉, 史湘云]\ntags: [红楼]\n---\n"
    "# 人物\n\n## 林黛玉\n- 别名：颦儿\n",
}
"""Four small documents: chapters, an outline and a setting."""

PEOPLE = EntityIds(("baoyu", "daiyu"))


def documents() -> list[Document]:
    """The documents of the novel."""
    return [document(path, text) for path, text in NOVEL.items()]


def document(path: str, text: str) -> Document:
    """A document with this text."""
    return make_document(path, text.encode())


def hits(store: Store, query: TextQuery) -> list[tuple[str, int]]:
    """Path and paragraph index of the results of a query, best first."""
    return [(hit.path, hit.paragraph) for hit in store.search(query)]


def found(store: Store, *terms: str) -> list[tuple[str, int]]:
    """Path and paragraph index of the paragraphs with all these terms, best first."""
    return hits(store, TextQuery(terms))


def fill(store: Store) -> Store:
    """Put the novel into a store."""
    learnt = [DerivedRow(doc.path, "names", "cast", doc.title.encode()) for doc in documents()]
    store.apply([PEOPLE, *(Put(doc, f"stamp {doc.path}") for doc in documents()), *learnt])
    return store


def run_in_threads(calls: list[Callable[[], None]]) -> None:
    """Run the functions in parallel threads; raises the first failure."""
    with ThreadPoolExecutor(len(calls)) as pool:
        list(pool.map(lambda call: call(), calls))


HOSTILE_QUERIES = (
    "", " ", '"', "a-b", "it's", "AND", "NEAR(", "贾宝玉,黛玉", "*", "a\0b", "title:x", "^x", "(", "{}", "—", "'; DROP",
)  # fmt: skip


class StoreContents:
    """What is put is found; see `StoreConformance`."""

    def test_a_document_comes_back_as_it_was_put(self, store: Store) -> None:
        """Every field, alone and among others."""
        for doc in documents():
            assert store.document(doc.path) == doc
        assert store.document("none.md") is None
        by_path = {doc.path: doc for doc in documents()}
        wanted = ["spec/people.md", "none.md", "chapters/ch001.md"]
        assert store.documents_of(wanted) == [by_path[path] for path in wanted if path in by_path]
        assert store.documents_of([]) == []

    def test_documents_are_listed_in_path_order_and_filtered(self, store: Store) -> None:
        """By kind and chapter, without their texts."""
        assert [row.path for row in store.documents()] == sorted(NOVEL)
        assert [row.path for row in store.documents(kinds=("outline", "setting"))] == ["outline.md", "spec/people.md"]
        assert [row.path for row in store.documents(chapter=2)] == ["chapters/ch002.md"]
        row = store.documents(kinds=("setting",))[0]
        sizes = (row.title, row.chapter, row.length, row.paragraphs, row.encoding)
        assert sizes == ("人物", None, len(NOVEL["spec/people.md"]), 4, "utf-8")
        assert row.front_matter == {"title": "人物", "characters": ("林黛玉", "史湘云"), "tags": ("红楼",)}

    def test_files_say_at_which_stamp_they_were_read(self, store: Store) -> None:
        """A touched file keeps its content hash."""
        rows = store.files()
        assert list(rows) == sorted(NOVEL)
        assert rows["outline.md"].stamp == "stamp outline.md"
        store.apply([Restamp("outline.md", "later"), Restamp("none.md", "x")])
        assert store.files()["outline.md"].stamp == "later"
        assert store.files()["outline.md"].content_hash == rows["outline.md"].content_hash

    def test_a_stamp_of_other_content_is_ignored(self, store: Store) -> None:
        """Somebody else may have written the document since the file was read."""
        digest = store.files()["outline.md"].content_hash
        store.apply([Restamp("outline.md", "mine", digest), Restamp("chapters/ch001.md", "mine", digest)])
        assert store.files()["outline.md"].stamp == "mine"
        assert store.files()["chapters/ch001.md"].stamp == "stamp chapters/ch001.md"

    def test_passages_come_in_the_order_asked_and_unknown_ones_are_left_out(self, store: Store) -> None:
        """Spans slice the document."""
        people = "spec/people.md"
        wanted = [(people, 3), ("none.md", 0), ("chapters/ch001.md", 1), ("outline.md", 99), ("outline.md", -1)]
        passages = store.passages(wanted)
        assert [(passage.key, passage.text) for passage in passages] == [
            ((people, 3), "- 别名：颦儿"),
            (("chapters/ch001.md", 1), "林黛玉走进来。宝玉笑了。"),
        ]
        assert passages[0].heading_path == ("人物", "林黛玉")
        assert (passages[0].kind, passages[0].role, passages[0].title) == ("setting", "body", "人物")
        assert all(NOVEL[passage.path][passage.start : passage.end] == passage.text for passage in passages)

    def test_search_finds_all_terms_in_one_paragraph(self, store: Store) -> None:
        """Ignoring case and width."""
        chapters = ("chapters/ch001.md", "chapters/ch002.md")
        assert set(found(store, "宝玉")) == {(chapters[0], 1), (chapters[0], 2), (chapters[1], 2)}
        assert found(store, "宝玉", "黛玉走") == [(chapters[0], 1)]
        assert found(store, "宝玉", "金锁") == []
        assert found(store, "GOLD LOCK") == [(chapters[1], 1)]
        assert found(store, "湘云") == found(store, "红楼") == [("spec/people.md", 0)]

    def test_a_heading_counts_more_than_the_text(self, store: Store) -> None:
        """The chapter that is called so comes first."""
        assert found(store, "金锁")[0] in {("chapters/ch002.md", 0), ("outline.md", 2)}

    def test_search_filters_and_limits(self, store: Store) -> None:
        """By kind, by chapter, by number."""
        assert hits(store, TextQuery(("金锁",), kinds=("outline",))) == [("outline.md", 2)]
        first = {("chapters/ch001.md", 0), ("outline.md", 1)}
        assert set(hits(store, TextQuery(("来客",), chapters=(1, 1)))) == first
        assert hits(store, TextQuery(("宝玉",), chapters=(2, None))) == [("chapters/ch002.md", 2)]
        assert hits(store, TextQuery(("颦儿",), chapters=(None, 9))) == []
        assert len(hits(store, TextQuery(("宝玉",), limit=2))) == 2
        assert hits(store, TextQuery(("宝玉",), limit=0)) == []

    def test_search_without_a_limit_gives_everything_by_key(self, store: Store) -> None:
        """For callers that rank the results themselves."""
        for query in (TextQuery(("宝玉",), limit=1_000), TextQuery(("黛玉和宝钗",), "any", limit=1_000)):
            unlimited = TextQuery(query.terms, query.match, limit=None)
            assert hits(store, unlimited) == sorted(hits(store, query)) != []
            assert {hit.score for hit in store.search(unlimited)} == {0.0}

    def test_any_match_takes_terms_apart(self, store: Store) -> None:
        """The rarest pieces decide."""
        assert hits(store, TextQuery(("黛玉和宝钗在哪里谈到金锁",), "any"))[0][0] == "chapters/ch002.md"
        assert hits(store, TextQuery(("毫无关联",), "any")) == []

    def test_any_text_is_a_valid_query(self, store: Store) -> None:
        """No user text is read as a query language."""
        for text in HOSTILE_QUERIES:
            assert isinstance(hits(store, TextQuery((text,))), list)
            assert isinstance(hits(store, TextQuery((text,), "any")), list)

    def test_han_search_equals_substring_search(self, store: Store) -> None:
        """On forty random texts and terms."""
        chance = random.Random(7)  # noqa: S311 - the same in every run
        for _ in range(40):
            texts = ["".join(chance.choices("林黛玉宝钗，。a b\n", k=chance.randrange(30))) for _ in range(3)]
            term = "".join(chance.choices("林黛玉宝钗", k=chance.randrange(1, 5)))
            store.apply([Put(document(f"t{i}.md", text), "") for i, text in enumerate(texts)])
            expected = {
                (doc.path, p.index)
                for doc in store.documents_of(list(store.files()))
                for p in doc.paragraphs
                if term in doc.text[p.start : p.end]
            }
            assert set(hits(store, TextQuery((term,), limit=10_000))) == expected

    def test_a_changed_document_leaves_nothing_of_the_old_one(self, store: Store) -> None:
        """Neither its words nor what was learnt from it."""
        changed = document("chapters/ch001.md", "# 第一回\n\n史湘云来了。")
        store.apply([Put(changed, "new")])
        assert store.document("chapters/ch001.md") == changed
        assert found(store, "宝玉") == [("chapters/ch002.md", 2)]
        assert ("chapters/ch001.md", 1) in found(store, "史湘云")
        assert "chapters/ch001.md" not in store.learnt("names")
        assert store.verify() == []

    def test_a_removed_document_leaves_nothing(self, store: Store) -> None:
        """Unknown paths are ignored."""
        store.apply([Remove("chapters/ch001.md"), Remove("none.md")])
        assert store.document("chapters/ch001.md") is None
        assert found(store, "宝玉") == [("chapters/ch002.md", 2)]
        assert "chapters/ch001.md" not in store.learnt("names")
        assert store.passages([("chapters/ch001.md", 1)]) == []
        assert store.verify() == []

    def test_what_was_learnt_is_kept_by_document_and_kind(self, store: Store) -> None:
        """The last row of a kind stands; the store does not look inside."""
        rows = store.learnt("names")
        assert list(rows) == sorted(NOVEL)
        assert rows["outline.md"] == DerivedRow("outline.md", "names", "cast", "大纲".encode())
        hostile = bytes(range(256)) * 300
        store.apply([DerivedRow("outline.md", "names", "other", hostile), DerivedRow("outline.md", "else", "x", b"")])
        store.apply([DerivedRow("none.md", "names", "cast", b"nothing")])
        assert store.learnt("names", ["outline.md", "none.md"]) == {
            "outline.md": DerivedRow("outline.md", "names", "other", hostile)
        }
        assert list(store.learnt("names")) == sorted(NOVEL)
        assert store.learnt("else") == {"outline.md": DerivedRow("outline.md", "else", "x", b"")}
        assert store.learnt("names", []) == store.learnt("none") == {}
        assert store.verify() == []

    def test_all_that_was_learnt_from_a_document_comes_and_goes_with_it(self, store: Store) -> None:
        """Kinds side by side in one `apply`, of any size; a document that is put again begins without them."""
        path, text, large = "chapters/ch003.md", "# 第三回", bytes(range(256)) * 4_000
        rows = {kind: DerivedRow(path, kind, f"about {kind}", large[: 10**at]) for at, kind in enumerate("abcdefg")}
        store.apply([Put(document(path, text), ""), *rows.values()])
        assert {kind: store.learnt(kind) for kind in rows} == {kind: {path: row} for kind, row in rows.items()}
        store.apply([Put(document(path, f"{text} 又"), ""), rows["a"]])
        assert [kind for kind in rows if store.learnt(kind)] == ["a"]
        store.apply([Remove(path), rows["b"]])
        assert not any(store.learnt(kind) for kind in rows)
        assert store.verify() == []

    def test_state_counts(self, store: Store) -> None:
        """What there is."""
        state = store.state()
        assert (state.documents, state.paragraphs, state.entities) == (4, 13, 2)
        assert state.bytes > 0
        assert state.generation == store.generation()

    def test_entities_are_replaced_whole(self, store: Store) -> None:
        """Each once."""
        store.apply([EntityIds(("baoyu", "xiangyun", "xiangyun", "tanchun"))])
        assert store.state().entities == 3
        store.apply([EntityIds(())])
        assert store.state().entities == 0
        assert store.verify() == []


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
        expected = tuple(doc for doc in sorted(documents(), key=lambda doc: doc.path) if doc.path != "outline.md")
        assert store.changed(0).documents == expected
        assert dict(store.changed(0).notes)["n"] == "1"
        lost = store.changed(store.generation() + 1_000)
        assert (lost.documents, lost.whole, lost.generation) == (expected, True, store.generation())
        assert dict(lost.notes)["n"] == "1"

    def test_what_changed_can_be_followed_from_any_generation(self, store: Store) -> None:
        """A reader that looks now and then holds what the store holds."""
        docs, seen = {doc.path: doc for doc in documents()}, store.generation()
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
                docs = {path: doc for path, doc in docs.items() if path not in changed.removed}
                docs |= {doc.path: doc for doc in changed.documents}
                seen = changed.generation
                assert list(docs.values()) == store.documents_of(list(docs))
                assert sorted(docs) == list(store.files())

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

        run_in_threads([count] * 4)
        assert store.note("count") == "40"


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
        assert (other.documents(), other.state().entities, found(other, "宝玉")) == ([], 0, [])
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
            rows = (store.files(), store.learnt("names"), store.state().entities, found(store, "宝玉"))
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
                for doc in store.changed(0).documents:
                    assert doc.path != "x.md" or len(doc.paragraphs) in (1, 3)
                found(store, "宝玉")

        def write() -> None:
            for i in range(20):
                text = "宝玉。\n\n" * (1 if i % 2 else 3)
                store.apply([Put(document("x.md", text), ""), DerivedRow("x.md", "names", "", text.encode())])

        run_in_threads([read] * 4 + [write])
        assert store.verify() == []
