"""What every engine behind `armarius.store.protocol.Store` must do; subclass, give `open_store`, and run.

class TestMyStore(StoreConformance):
    @pytest.fixture
    def open_store(self, ...):
        return lambda project_id="p": MyStore(project_id, ...)   # the same backend each time
"""

import threading
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from armarius.documents.document import Document, make_document
from armarius.errors import StoreError
from armarius.store.protocol import (
    EntityRow,
    MentionCount,
    MentionRow,
    Put,
    Record,
    RelationRow,
    Remove,
    Restamp,
    Store,
    TextQuery,
)

NOVEL = {
    "chapters/ch001.md": "# 第一回 来客\n\n林黛玉走进来。宝玉笑了。\n\n甄宝玉没有来，黛玉也不问。\n",
    "chapters/ch002.md": "# 第二回 金锁\n\n宝钗拿出金锁。The gold lock.\n\n宝玉看着她。\n",
    "outline.md": "# 大纲\n\n- 第一回：来客\n- 第二回：金锁\n",
    "spec/people.md": "---\ntitle: 人物\ncharacters: [林黛玉, 史湘云]\ntags: [红楼]\n---\n"
    "# 人物\n\n## 林黛玉\n- 别名：颦儿\n",
}


def documents() -> list[Document]:
    return [make_document(path, text.encode()) for path, text in NOVEL.items()]


def mention(document: Document, entity: str, term: str) -> tuple[MentionRow, ...]:
    found, at = [], document.text.find(term)
    while at >= 0:
        paragraph = next(p.index for p in document.paragraphs if p.start <= at < p.end)
        found.append(MentionRow(entity, paragraph, at, at + len(term)))
        at = document.text.find(term, at + 1)
    return tuple(found)


def hits(store: Store, *terms: str, **options: object) -> list[tuple[str, int]]:
    return [(h.path, h.paragraph) for h in store.search(TextQuery(terms, **options))]  # type: ignore[arg-type]


PEOPLE = [
    EntityRow("baoyu", "宝玉", "character", "when_detected"),
    EntityRow("daiyu", "黛玉", "character", "always", '{"a": "乙"}'),
]


class StoreConformance:
    """Every method, its order and its errors."""

    @pytest.fixture
    def open_store(self) -> Callable[..., Store]:
        raise NotImplementedError

    @pytest.fixture
    def store(self, open_store):
        store = open_store()
        store.replace_graph(PEOPLE, [])
        store.apply(
            [Put(d, f"stamp {d.path}", mention(d, "daiyu", "黛玉") + mention(d, "baoyu", "宝玉")) for d in documents()]
        )
        yield store
        store.close()

    def test_it_is_a_store_bound_to_its_project(self, open_store):
        store = open_store("one")
        assert isinstance(store, Store)
        assert store.project_id == "one"
        store.close()

    def test_a_document_comes_back_as_it_was_put(self, store):
        for document in documents():
            assert store.document(document.path) == document
        assert store.document("none.md") is None

    def test_documents_are_listed_in_path_order_and_filtered(self, store):
        assert [d.path for d in store.documents()] == sorted(NOVEL)
        assert [d.path for d in store.documents(kinds=("outline", "setting"))] == ["outline.md", "spec/people.md"]
        assert [d.path for d in store.documents(chapter=2)] == ["chapters/ch002.md"]
        row = store.documents(kinds=("setting",))[0]
        text = NOVEL["spec/people.md"]
        assert (row.title, row.chapter, row.length, row.paragraphs, row.encoding) == (
            "人物",
            None,
            len(text),
            4,
            "utf-8",
        )
        assert row.front_matter == {"title": "人物", "characters": ("林黛玉", "史湘云"), "tags": ("红楼",)}

    def test_files_say_at_which_stamp_they_were_read(self, store):
        rows = store.files()
        assert list(rows) == sorted(NOVEL)
        assert rows["outline.md"].stamp == "stamp outline.md"
        store.apply([Restamp("outline.md", "later"), Restamp("none.md", "x")])
        assert store.files()["outline.md"].stamp == "later"
        assert store.files()["outline.md"].content_hash == rows["outline.md"].content_hash

    def test_passages_come_in_the_order_asked_and_unknown_ones_are_left_out(self, store):
        found = store.passages(
            [("spec/people.md", 3), ("none.md", 0), ("chapters/ch001.md", 1), ("outline.md", 99), ("outline.md", -1)]
        )
        assert [(p.key, p.text) for p in found] == [
            (("spec/people.md", 3), "- 别名：颦儿"),
            (("chapters/ch001.md", 1), "林黛玉走进来。宝玉笑了。"),
        ]
        assert found[0].heading_path == ("人物", "林黛玉")
        assert (found[0].kind, found[0].role, found[0].title) == ("setting", "body", "人物")
        for p in found:
            assert NOVEL[p.path][p.start : p.end] == p.text

    def test_search_finds_all_terms_in_one_paragraph(self, store):
        assert set(hits(store, "宝玉")) == {
            ("chapters/ch001.md", 1),
            ("chapters/ch001.md", 2),
            ("chapters/ch002.md", 2),
        }
        assert hits(store, "宝玉", "黛玉走") == [("chapters/ch001.md", 1)]
        assert hits(store, "宝玉", "金锁") == []
        assert hits(store, "GOLD LOCK") == [("chapters/ch002.md", 1)]
        assert hits(store, "湘云") == hits(store, "红楼") == [("spec/people.md", 0)]

    def test_a_heading_counts_more_than_the_text(self, store):
        assert hits(store, "金锁")[0] in {("chapters/ch002.md", 0), ("outline.md", 2)}

    def test_search_filters_and_limits(self, store):
        assert hits(store, "金锁", kinds=("outline",)) == [("outline.md", 2)]
        assert set(hits(store, "来客", chapters=(1, 1))) == {("chapters/ch001.md", 0), ("outline.md", 1)}
        assert hits(store, "宝玉", chapters=(2, None)) == [("chapters/ch002.md", 2)]
        assert hits(store, "颦儿", chapters=(None, 9)) == []
        assert len(hits(store, "宝玉", limit=2)) == 2
        assert hits(store, "宝玉", limit=0) == []

    def test_any_match_takes_terms_apart(self, store):
        assert hits(store, "黛玉和宝钗在哪里谈到金锁", match="any")[0][0] == "chapters/ch002.md"
        assert hits(store, "毫无关联", match="any") == []

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            '"',
            "a-b",
            "it's",
            "AND",
            "NEAR(",
            "贾宝玉,黛玉",
            "*",
            "a\0b",
            "title:x",
            "^x",
            "(",
            "{}",
            "—",
            "'; DROP",
        ],
    )
    def test_any_text_is_a_valid_query(self, store, text):
        for match in ("all", "any"):
            hits(store, text, match=match)
        assert len(store.document_frequency([text])) == 1

    def test_document_frequency_counts_paragraphs(self, store):
        assert store.document_frequency(["宝玉", "黛", "没有的", ""]) == [3, 4, 0, 0]

    def test_mentions_come_in_text_order(self, store):
        found = store.mentions("chapters/ch001.md")
        assert [(m.entity, m.paragraph) for m in found] == [("daiyu", 1), ("baoyu", 1), ("baoyu", 2), ("daiyu", 2)]
        text = NOVEL["chapters/ch001.md"]
        assert {text[m.start : m.end] for m in found} == {"黛玉", "宝玉"}
        assert store.mentions("none.md") == []

    def test_mentions_are_counted_by_document_and_by_paragraph(self, store):
        assert store.mention_counts(["baoyu"]) == [
            MentionCount("chapters/ch001.md", None, "baoyu", 2),
            MentionCount("chapters/ch002.md", None, "baoyu", 1),
        ]
        assert store.mention_counts(by="paragraph", paths=["chapters/ch001.md"]) == [
            MentionCount("chapters/ch001.md", 1, "baoyu", 1),
            MentionCount("chapters/ch001.md", 1, "daiyu", 1),
            MentionCount("chapters/ch001.md", 2, "baoyu", 1),
            MentionCount("chapters/ch001.md", 2, "daiyu", 1),
        ]
        assert store.mention_counts([]) == store.mention_counts(["none"]) == store.mention_counts(paths=[]) == []

    def test_mentions_of_unknown_entities_are_not_kept(self, store):
        document = make_document("x.md", "无名".encode())
        store.apply([Put(document, "", (MentionRow("nobody", 0, 0, 2),))])
        assert store.mentions("x.md") == []

    def test_replacing_mentions_replaces_those_of_every_document(self, store):
        store.replace_mentions({"outline.md": [MentionRow("daiyu", 1, 8, 10)]})
        assert store.mention_counts() == [MentionCount("outline.md", None, "daiyu", 1)]
        assert store.verify() == []

    def test_entities_that_go_take_their_mentions_along(self, store):
        store.replace_graph([PEOPLE[1]], [])
        assert store.entities() == [PEOPLE[1]]
        assert {m.entity for m in store.mention_counts()} == {"daiyu"}
        assert {m.entity for m in store.mentions("chapters/ch001.md")} == {"daiyu"}
        assert store.verify() == []

    def test_a_changed_document_leaves_nothing_of_the_old_one(self, store):
        document = make_document("chapters/ch001.md", "# 第一回\n\n史湘云来了。".encode())
        store.apply([Put(document, "new")])
        assert store.document("chapters/ch001.md") == document
        assert hits(store, "宝玉") == [("chapters/ch002.md", 2)]
        assert ("chapters/ch001.md", 1) in hits(store, "史湘云")
        assert store.mentions("chapters/ch001.md") == []
        assert store.verify() == []

    def test_a_removed_document_leaves_nothing(self, store):
        store.apply([Remove("chapters/ch001.md"), Remove("none.md")])
        assert store.document("chapters/ch001.md") is None
        assert hits(store, "宝玉") == [("chapters/ch002.md", 2)]
        assert store.mention_counts() == [
            MentionCount("chapters/ch002.md", None, "baoyu", 1),
            MentionCount("spec/people.md", None, "daiyu", 2),
        ]
        assert store.passages([("chapters/ch001.md", 1)]) == []
        assert store.verify() == []

    def test_changes_are_all_made_or_none(self, store):
        before = store.files()
        with pytest.raises(Exception):  # noqa: B017
            store.apply([Remove("outline.md"), Put(None, "x")])  # type: ignore[arg-type]
        assert store.files() == before
        assert store.verify() == []

    def test_state_counts_and_generation_grows(self, store):
        state = store.state()
        assert (state.documents, state.paragraphs, state.mentions, state.entities) == (4, 13, 7, 2)
        assert state.bytes > 0
        store.apply([Remove("outline.md")])
        assert store.state().generation > state.generation

    def test_notes_are_kept(self, store):
        assert store.note("codex") is None
        store.set_note("codex", "甲")
        store.set_note("codex", "乙")
        assert store.note("codex") == "乙"

    def test_graph_is_replaced_whole_and_listed_in_order(self, store):
        relations = [RelationRow("b", "a", "友", 3, 9), RelationRow("a", "b", "父子"), RelationRow("a", "b", "主仆")]
        store.replace_graph(PEOPLE, relations)
        assert store.entities() == PEOPLE
        assert store.relations() == sorted(relations, key=lambda r: (r.source, r.target, r.type))

    def test_relations_and_entities_are_picked_by_id(self, store):
        relations = [RelationRow("a", "b", "友", None, 3), RelationRow("a", "b", "友", 2), RelationRow("c", "a", "友")]
        store.replace_graph(PEOPLE, [*relations, RelationRow("x", "y", "友")])
        assert store.relations(touching=["a", "c", "none"]) == relations
        assert store.relations(touching=["b"]) == relations[:2]
        assert store.relations(touching=[]) == store.entities([]) == store.entities(["none"]) == []
        many = [f"n{i}" for i in range(2_000)]
        assert store.relations(touching=["y", *many]) == [RelationRow("x", "y", "友")]
        assert store.entities([*many, *(entity.id for entity in PEOPLE)]) == store.entities()

    def test_neighbours_come_level_by_level_in_both_directions(self, store):
        edges = [("a", "b"), ("c", "a"), ("b", "d"), ("c", "d"), ("d", "e"), ("x", "y"), ("a", "a")]
        store.replace_graph(PEOPLE, [RelationRow(s, t, "友") for s, t in edges])
        levels = store.neighbours(["a"], depth=2)
        assert [[(s.entity, s.reached, s.forward) for s in level] for level in levels] == [
            [("a", "b", True), ("a", "c", False)],
            [("b", "d", True), ("c", "d", True)],
        ]
        assert len(store.neighbours(["a"], depth=9)) == 3
        assert [len(level) for level in store.neighbours(["a"], depth=9, limit=1)] == [1]
        assert store.neighbours(["none"]) == store.neighbours([]) == []
        with pytest.raises(ValueError, match="depth must be >= 1, got 0"):
            store.neighbours(["a"], depth=0)

    def test_records_are_replaced_by_collection(self, store):
        store.replace_records("memory", [Record("b", "{}"), Record("a", '{"文": 1}')])
        store.replace_records("constraint", [Record("a", "[]")])
        assert store.records("memory") == [Record("a", '{"文": 1}'), Record("b", "{}")]
        store.replace_records("memory", [])
        assert store.records("memory") == []
        assert store.records("constraint") == [Record("a", "[]")]

    def test_projects_do_not_see_each_other(self, store, open_store):
        other = open_store("other")
        assert other.documents() == other.entities() == other.search(TextQuery(("宝玉",))) == []
        other.apply([Put(make_document("outline.md", b"other"), "")])
        assert store.document("outline.md").text == NOVEL["outline.md"]
        other.close()

    def test_another_handle_sees_what_was_committed(self, store, open_store):
        other = open_store()
        assert [d.path for d in other.documents()] == sorted(NOVEL)
        other.apply([Remove("outline.md")])
        assert store.document("outline.md") is None
        store.apply([Put(make_document("new.md", "史湘云".encode()), "")])
        assert ("new.md", 0) in hits(other, "史湘云")
        other.close()

    def test_everything_is_there_after_reopening(self, store, open_store):
        expected = (store.files(), store.mention_counts(by="paragraph"), store.entities(), hits(store, "宝玉"))
        store.close()
        again = open_store()
        assert (again.files(), again.mention_counts(by="paragraph"), again.entities(), hits(again, "宝玉")) == expected
        assert again.verify() == []
        again.close()

    def test_a_closed_store_refuses_everything_but_closing(self, store):
        store.close()
        store.close()
        for call in (store.documents, store.state, lambda: store.apply([Remove("x")]), store.verify):
            with pytest.raises(StoreError, match="closed"):
                call()

    def test_readers_and_writers_on_many_threads_see_whole_states(self, store):
        failures = []

        def read() -> None:
            try:
                for _ in range(30):
                    rows = {d.path: d.paragraphs for d in store.documents()}
                    assert rows["x.md"] in (1, 3) if "x.md" in rows else True
                    hits(store, "宝玉")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for i in range(20):
            store.apply([Put(make_document("x.md", ("宝玉。\n\n" * (1 if i % 2 else 3)).encode()), "")])
        for thread in threads:
            thread.join()
        assert failures == []
        assert store.verify() == []

    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(st.text("林黛玉宝钗，。a b\n", max_size=30), min_size=1, max_size=4),
        st.text("林黛玉宝钗", min_size=1, max_size=4),
    )
    def test_han_search_equals_substring_search(self, store, texts, term):
        store.apply([Put(make_document(f"t{i}.md", text.encode()), "") for i, text in enumerate(texts)])
        expected = {
            (row.path, p.index)
            for row in store.documents()
            if (d := store.document(row.path)) is not None
            for p in d.paragraphs
            if term in d.text[p.start : p.end]
        }
        assert set(hits(store, term, limit=10_000)) == expected
