"""The part of `StoreConformance` about content: documents, passages, search, derived rows, the graph."""

import random

from armarius.store.protocol import Store
from armarius.store.rows import (
    DerivedRow,
    GraphRows,
    Put,
    Record,
    Records,
    RelationRow,
    Remove,
    Restamp,
    TextQuery,
)
from armarius.testing.novel import NOVEL, PEOPLE, document, documents, found, hits

__all__ = ["StoreContents"]

HOSTILE_QUERIES = (
    "", " ", '"', "a-b", "it's", "AND", "NEAR(", "贾宝玉,黛玉", "*", "a\0b", "title:x", "^x", "(", "{}", "—", "'; DROP",
)  # fmt: skip


class StoreContents:
    """What is put is found; see `StoreConformance`."""

    def test_a_document_comes_back_as_it_was_put(self, store: Store) -> None:
        """Every field, alone and among others."""
        for one in documents():
            assert store.document(one.path) == one
        assert store.document("none.md") is None
        by_path = {one.path: one for one in documents()}
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
        held = store.files()["outline.md"].content_hash
        store.apply([Restamp("outline.md", "mine", held), Restamp("chapters/ch001.md", "mine", held)])
        assert store.files()["outline.md"].stamp == "mine"
        assert store.files()["chapters/ch001.md"].stamp == "stamp chapters/ch001.md"

    def test_passages_come_in_the_order_asked_and_unknown_ones_are_left_out(self, store: Store) -> None:
        """Spans slice the document."""
        people = "spec/people.md"
        wanted = [(people, 3), ("none.md", 0), ("chapters/ch001.md", 1), ("outline.md", 99), ("outline.md", -1)]
        passages = store.passages(wanted)
        assert [(one.key, one.text) for one in passages] == [
            ((people, 3), "- 别名：颦儿"),
            (("chapters/ch001.md", 1), "林黛玉走进来。宝玉笑了。"),
        ]
        assert passages[0].heading_path == ("人物", "林黛玉")
        assert (passages[0].kind, passages[0].role, passages[0].title) == ("setting", "body", "人物")
        assert all(NOVEL[one.path][one.start : one.end] == one.text for one in passages)

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
            assert {one.score for one in store.search(unlimited)} == {0.0}

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
                (one.path, p.index)
                for one in store.documents_of(list(store.files()))
                for p in one.paragraphs
                if term in one.text[p.start : p.end]
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
        path, large = "chapters/ch003.md", bytes(range(256)) * 4_000
        rows = {kind: DerivedRow(path, kind, f"about {kind}", large[: 10**at]) for at, kind in enumerate("abcdefg")}
        store.apply([Put(document(path, "# 第三回"), ""), *rows.values()])
        assert {kind: store.learnt(kind) for kind in rows} == {kind: {path: row} for kind, row in rows.items()}
        store.apply([Put(document(path, "# 第三回 又"), ""), rows["a"]])
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

    def test_graph_is_replaced_whole_and_listed_in_order(self, store: Store) -> None:
        """By (source, target, type)."""
        relations = [RelationRow("b", "a", "友", 3, 9), RelationRow("a", "b", "父子"), RelationRow("a", "b", "主仆")]
        store.apply([GraphRows(PEOPLE, tuple(relations))])
        assert store.entities() == list(PEOPLE)
        assert store.relations() == sorted(relations, key=lambda row: (row.source, row.target, row.type))
        store.apply([GraphRows(PEOPLE[1:], ())])
        assert (store.entities(), store.relations()) == ([PEOPLE[1]], [])
        assert store.verify() == []

    def test_relations_and_entities_are_picked_by_id(self, store: Store) -> None:
        """However many are asked for."""
        relations = [RelationRow("a", "b", "友", None, 3), RelationRow("a", "b", "友", 2), RelationRow("c", "a", "友")]
        store.apply([GraphRows(PEOPLE, (*relations, RelationRow("x", "y", "友")))])
        assert store.relations(touching=["a", "c", "none"]) == relations
        assert store.relations(touching=["b"]) == relations[:2]
        assert store.relations(touching=[]) == []
        assert store.entities([]) == store.entities(["none"]) == []
        many = [f"n{i}" for i in range(2_000)]
        assert store.relations(touching=["y", *many]) == [RelationRow("x", "y", "友")]
        assert store.entities([*many, *(entity.id for entity in PEOPLE)]) == store.entities()

    def test_records_are_replaced_by_collection(self, store: Store) -> None:
        """And listed by id."""
        store.apply([Records("memory", (Record("b", "{}"), Record("a", '{"文": 1}')))])
        store.apply([Records("constraint", (Record("a", "[]"),))])
        assert store.records("memory") == [Record("a", '{"文": 1}'), Record("b", "{}")]
        store.apply([Records("memory", ())])
        assert store.records("memory") == []
        assert store.records("constraint") == [Record("a", "[]")]
