"""Conformance suite for `VectorStore` (`armarius.store.vectors_protocol`), as a test class to inherit.

    class TestMyVectors(VectorStoreConformance):
        @pytest.fixture
        def store(self, ...):
            return MyStore(...)          # empty, with vectors

Only pytest is needed.
"""

import numpy as np
import pytest

from armarius.errors import DimensionMismatch, EmbeddingError
from armarius.store.protocol import Store
from armarius.store.rows import Remove
from armarius.store.vectors_protocol import (
    Owner,
    VectorCounts,
    VectorFilter,
)
from armarius.testing.embedded import (
    DIMENSION,
    NEW,
    NOTHING,
    OLD,
    answers,
    chapter,
    embed,
    embed_all,
    owners_of,
    people,
    setting,
    vectors_of,
)
from armarius.testing.vector_search import VectorSearch

__all__ = ["VectorStoreConformance"]


class VectorStoreConformance(VectorSearch):
    """Inherit and give a fixture `store`: an empty store that keeps vectors."""

    def test_every_paragraph_gets_the_vector_of_its_text(self, store: Store) -> None:
        """Of chapters as it stands, of settings with its heading; short lines and headings have none."""
        vectors = vectors_of(store)
        vectors.adopt(OLD)
        store.apply([chapter(1, "林小雨走进来了。", "好。", "她在窗边写信。"), setting("她住在江城老街。")])
        texts = ["林小雨走进来了。", "她在窗边写信。", "人物\n她住在江城老街。"]
        assert embed_all(vectors, OLD) == texts
        owners: list[Owner] = [("chapters/ch001.md", 1), ("chapters/ch001.md", 3), ("spec/people.md", 1)]
        assert owners_of(vectors) == set(owners)
        for owner, text in zip(owners, texts, strict=True):
            answers(vectors, owner, text)
        assert store.verify() == []

    def test_documents_indexed_before_the_first_set_are_pending(self, store: Store) -> None:
        """And a set is made once."""
        store.apply([chapter(1, "林小雨走进来了。")])
        vectors = vectors_of(store)
        assert dict(vectors.sets()) == {}
        made = vectors.adopt(OLD)
        assert (made.state, made.fingerprint) == ("serving", OLD)
        assert vectors.counts(made.id) == VectorCounts(0, 1, 0)
        assert vectors.adopt(OLD).id == made.id

    def test_an_edited_document_embeds_only_what_changed(self, store: Store) -> None:
        """What moved is found where it stands now."""
        vectors = vectors_of(store)
        vectors.adopt(OLD)
        store.apply([chapter(1, "甲段落的文字", "乙段落的文字", "丙段落的文字")])
        embed_all(vectors, OLD)
        store.apply([chapter(1, "新的开头文字", "甲段落的文字", "丙段落的文字", "乙段落的文字")])
        assert embed_all(vectors, OLD) == ["新的开头文字"]
        for at, text in enumerate(("新的开头文字", "甲段落的文字", "丙段落的文字", "乙段落的文字"), 1):
            answers(vectors, ("chapters/ch001.md", at), text)
        assert store.verify() == []

    def test_a_removed_document_takes_its_vectors_along(self, store: Store) -> None:
        """At once, in the same transaction."""
        vectors = vectors_of(store)
        vectors.adopt(OLD)
        store.apply([chapter(n, f"第{n}个段落的文字") for n in range(1, 6)])
        embed_all(vectors, OLD)
        store.apply([Remove("chapters/ch002.md"), Remove("chapters/ch004.md")])
        assert owners_of(vectors) == {(f"chapters/ch{n:03}.md", 1) for n in (1, 3, 5)}
        store.apply([chapter(9, "完全不同的内容")])
        embed_all(vectors, OLD)
        answers(vectors, ("chapters/ch009.md", 1), "完全不同的内容")
        assert store.verify() == []

    def test_a_vector_for_text_that_changed_meanwhile_is_dropped(self, store: Store) -> None:
        """The new text is asked for."""
        vectors = vectors_of(store)
        made = vectors.adopt(OLD)
        store.apply([chapter(1, "原来的文字在此"), chapter(2, "另一章的文字")])
        rows = vectors.pending(made.id, limit=9)
        store.apply([chapter(1, "改过的文字在此"), Remove("chapters/ch002.md")])
        assert vectors.put(made, OLD, rows, embed(OLD, [row.text for row in rows])) == 0
        assert embed_all(vectors, OLD) == ["改过的文字在此"]

    def test_a_text_without_a_vector_is_not_asked_for_again(self, store: Store) -> None:
        """It is counted as empty."""
        vectors = vectors_of(store)
        made = vectors.adopt(OLD)
        store.apply([chapter(1, f"{NOTHING} 在这里", "有内容的段落")])
        assert len(embed_all(vectors, OLD)) == 2
        assert vectors.counts(made.id) == VectorCounts(1, 0, 1)
        assert owners_of(vectors) == {("chapters/ch001.md", 2)}

    def test_what_cannot_be_compared_is_refused_and_stays_pending(self, store: Store) -> None:
        """NaN, infinity, another length, another model."""
        vectors = vectors_of(store)
        made = vectors.adopt(OLD)
        store.apply([chapter(1, "林小雨走进来了。")])
        rows = vectors.pending(made.id, limit=9)
        for bad in (np.nan, np.inf):
            with pytest.raises(EmbeddingError, match="not finite"):
                vectors.put(made, OLD, rows, np.full((1, DIMENSION), bad, np.float32))
        with pytest.raises(DimensionMismatch, match="16 dimensions"):
            vectors.put(made, OLD, rows, np.ones((1, 8), np.float32))
        with pytest.raises(DimensionMismatch, match=r"old.*new"):
            vectors.put(made, NEW, rows, np.ones((1, 8), np.float32))
        with pytest.raises(DimensionMismatch, match=r"old.*new"):
            vectors.adopt(NEW)
        assert vectors.counts(made.id).pending == 1

    def test_entity_cards_follow_the_codex(self, store: Store) -> None:
        """An entity that goes takes its vector along; unknown ones are ignored."""
        vectors = vectors_of(store)
        made = vectors.adopt(OLD)
        store.apply([people("lin", "zhou"), chapter(1, "林小雨走进来了。")])
        vectors.set_cards({"lin": "林小雨的卡片", "zhou": "周先生的卡片", "nobody": "没有此人"})
        embed_all(vectors, OLD)
        cards = VectorFilter(entities=True)
        assert owners_of(vectors, cards) == {"lin", "zhou"}
        assert owners_of(vectors, VectorFilter()) == {("chapters/ch001.md", 1)}
        answers(vectors, "zhou", "周先生的卡片")
        store.apply([people("lin", "wu")])
        assert owners_of(vectors, cards) == {"lin"}
        vectors.set_cards({"lin": "林小雨的新卡片", "wu": "吴姓的卡片"})
        assert vectors.counts(made.id).pending == 2
        embed_all(vectors, OLD)
        answers(vectors, "lin", "林小雨的新卡片")
        assert owners_of(vectors, cards) == {"lin", "wu"}
        assert store.verify() == []

    def test_cards_come_first_then_the_named_documents(self, store: Store) -> None:
        """Then the others in path order; unknown names are ignored."""
        vectors = vectors_of(store)
        made = vectors.adopt(OLD)
        store.apply([*(chapter(n, f"第{n}个段落的文字") for n in range(1, 5)), people("lin")])
        vectors.set_cards({"lin": "林小雨的卡片"})
        rows = vectors.pending(made.id, limit=9, first=["chapters/ch003.md", "no/such.md"])
        assert [row.text for row in rows] == ["林小雨的卡片", *(f"第{n}个段落的文字" for n in (3, 1, 2, 4))]
        assert [row.owner for row in rows[:2]] == ["lin", ("chapters/ch003.md", 1)]
        assert len(vectors.pending(made.id, limit=2)) == 2

    def test_vectors_are_no_news(self, store: Store) -> None:
        """No text changes with them, so the generation stays."""
        vectors = vectors_of(store)
        store.apply([chapter(1, "林小雨走进来了。")])
        before = store.generation()
        vectors.adopt(OLD)
        embed_all(vectors, OLD)
        assert store.generation() == before

    def test_any_history_of_edits_leaves_exactly_the_vectors_of_the_text(self, store: Store) -> None:
        """Four random histories, embedded now and then."""
        vectors = vectors_of(store)
        vectors.adopt(OLD)
        chance = np.random.default_rng(5)
        for _ in range(24):
            number = int(chance.integers(1, 4))
            letters = chance.choice(list("甲乙丙丁戊"), size=int(chance.integers(0, 5))).tolist()
            removal = Remove(f"chapters/ch{number:03}.md")
            store.apply(
                [removal if chance.random() < 0.2 else chapter(number, *(f"{one}段落的文字" for one in letters))]
            )
            if chance.random() < 0.5:
                embed_all(vectors, OLD)
        embed_all(vectors, OLD)
        paths = list(store.files())
        wanted: set[Owner] = {
            (one.path, p.index) for one in store.documents_of(paths) for p in one.paragraphs if p.role == "body"
        }
        assert owners_of(vectors) == wanted
        assert store.verify() == []
