"""Conformance suite for `VectorStore` (`armarius.store.vectors_protocol`), as a test class to inherit.

    class TestMyVectors(VectorStoreConformance):
        @pytest.fixture
        def store(self, ...):
            return MyStore(...)          # empty, with vectors

Only pytest is needed.
"""

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from armarius.documents.document import make_document
from armarius.errors import DimensionMismatch, EmbeddingError
from armarius.store.protocol import EntityIds, Put, Remove, Store
from armarius.store.vectors_protocol import (
    Fingerprint,
    Owner,
    SetGone,
    SetState,
    VectorCounts,
    VectorFilter,
    Vectors,
    VectorSet,
    VectorStore,
)

DIMENSION = 16
OLD = Fingerprint("old", "sha-of-old", DIMENSION)
NEW = Fingerprint("new", "sha-of-new", 8)
NOTHING = "NOTHING"  # a text that holds this word has no vector

Holds = dict[Owner, Vectors]


def embed(fingerprint: Fingerprint, texts: Sequence[str]) -> Vectors:
    """A random vector for each text, the same in every run; zeros for a text that contains `NOTHING`."""
    out = np.zeros((len(texts), fingerprint.dimension), np.float32)
    for row, text in zip(out, texts, strict=True):
        if NOTHING not in text:
            seed = zlib.crc32((fingerprint.name + text).encode())
            row[:] = np.random.default_rng(seed).normal(size=fingerprint.dimension)
    return out


def embed_all(store: VectorStore, fingerprint: Fingerprint, state: SetState = "serving") -> list[str]:
    """Embed all pending texts; returns them in the order in which the store gave them."""
    result: list[str] = []
    while rows := store.pending(store.sets()[state].id, limit=7):
        texts = [row.text for row in rows]
        result += texts
        store.put(store.sets()[state], fingerprint, rows, embed(fingerprint, texts))
    store.refresh()
    return result


def chapter(number: int, *paragraphs: str) -> Put:
    """A chapter of these paragraphs, the first at index 1."""
    text = f"# 第{number}章\n\n" + "\n\n".join(paragraphs) + "\n"
    return Put(make_document(f"chapters/ch{number:03}.md", text.encode()), str(number))


def setting(*paragraphs: str) -> Put:
    """A settings file; its heading is embedded with each paragraph."""
    text = "# 人物\n\n" + "\n\n".join(paragraphs) + "\n"
    return Put(make_document("spec/people.md", text.encode()), "s")


def people(*names: str) -> EntityIds:
    """These entities."""
    return EntityIds(names)


def vectors_of(store: Store) -> VectorStore:
    """The vector store of a store that must have one."""
    assert isinstance(store.vectors, VectorStore)
    return store.vectors


def serving(vectors: VectorStore) -> VectorSet:
    """The serving vector set."""
    return vectors.sets()["serving"]


def owners_of(vectors: VectorStore, which: VectorFilter | None = None) -> set[Owner]:
    """All owners of a vector."""
    pairs = vectors.nearest(serving(vectors), np.ones(serving(vectors).fingerprint.dimension, np.float32), 900, which)
    assert [value for _, value in pairs] == sorted((value for _, value in pairs), reverse=True)
    return {owner for owner, _ in pairs}


def answers(vectors: VectorStore, owner: Owner, text: str) -> None:
    """Assert that searching for exactly this text finds `owner`."""
    fingerprint = serving(vectors).fingerprint
    which = VectorFilter(entities=isinstance(owner, str))
    ((first, value), *_) = vectors.nearest(serving(vectors), embed(fingerprint, [text])[0], 1, which)
    assert first == owner
    assert abs(value - 1.0) < 1e-2


class VectorSearch:
    """Who is nearest; see `VectorStoreConformance`."""

    def test_the_nearest_are_those_of_numpy(self, store: Store) -> None:
        """With every filter; as many as there are."""
        vectors = vectors_of(store)
        vectors.adopt(OLD)
        texts = {(f"chapters/ch{n:03}.md", i): f"第{n}章的第{i}个段落" for n in range(1, 7) for i in range(1, 10)}
        store.apply([chapter(n, *(texts[f"chapters/ch{n:03}.md", i] for i in range(1, 10))) for n in range(1, 7)])
        store.apply([setting("她住在江城老街。", "他开一家钟表铺。")])
        embed_all(vectors, OLD)
        settings = {("spec/people.md", 1): "人物\n她住在江城老街。", ("spec/people.md", 2): "人物\n他开一家钟表铺。"}
        everything = {**texts, **settings}
        rows = embed(OLD, list(everything.values()))
        query = np.random.default_rng(3).normal(size=DIMENSION).astype(np.float32)
        similar = rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query)
        truth = sorted(zip(everything, similar.tolist(), strict=True), key=lambda pair: -pair[1])
        admits: list[tuple[VectorFilter | None, Callable[[str], bool]]] = [
            (None, lambda path: True),
            (VectorFilter(), lambda path: True),
            (VectorFilter(kinds=("setting",)), lambda path: path.startswith("spec")),
            (VectorFilter(chapters=(None, 2)), lambda path: path in {"chapters/ch001.md", "chapters/ch002.md"}),
            (VectorFilter(kinds=("chapter",), chapters=(4, None)), lambda path: "chapters/ch004" <= path < "d"),
            (VectorFilter(kinds=("outline",)), lambda path: False),
        ]
        for which, admit in admits:
            wanted = [(owner, value) for owner, value in truth if admit(owner[0])][:10]
            pairs = vectors.nearest(serving(vectors), query, 10, which)
            assert [owner for owner, _ in pairs] == [owner for owner, _ in wanted]
            np.testing.assert_allclose([v for _, v in pairs], [v for _, v in wanted], atol=2e-3)
        assert vectors.nearest(serving(vectors), query, 0) == []

    def test_a_sample_is_of_what_there_is(self, store: Store) -> None:
        """At most so many, each one that was put there."""
        vectors = vectors_of(store)
        vectors.adopt(OLD)
        texts = [f"第{i}个段落的文字" for i in range(20)]
        store.apply([chapter(1, *texts)])
        embed_all(vectors, OLD)
        rows = {row.tobytes() for row in embed(OLD, texts)}
        sample = vectors.sample(serving(vectors), 6)
        assert 3 <= len(sample) <= 6
        assert {row.tobytes() for row in sample} <= rows
        assert len(vectors.sample(serving(vectors), 100)) == 20

    def test_a_new_model_is_built_beside_the_old_one_and_takes_over_at_once(self, store: Store) -> None:
        """The old set answers until then; afterwards its holder gets `SetGone`."""
        vectors = vectors_of(store)
        old = vectors.adopt(OLD)
        store.apply([chapter(1, "林小雨走进来了。", "她在窗边写信。")])
        embed_all(vectors, OLD)
        vectors.build(NEW)
        with pytest.raises(EmbeddingError, match="2 texts are not embedded"):
            vectors.switch()
        store.apply([chapter(2, "中途加入的段落。")])
        assert len(embed_all(vectors, NEW, "building")) == 3
        assert len(owners_of(vectors)) == 2
        vectors.switch()
        vectors.refresh()
        assert list(vectors.sets()) == ["serving"]
        assert serving(vectors).fingerprint == NEW
        assert len(owners_of(vectors)) == 3
        answers(vectors, ("chapters/ch002.md", 1), "中途加入的段落。")
        assert vectors.put(old, OLD, [], np.empty((0, DIMENSION), np.float32)) == 0
        for look in (lambda: vectors.nearest(old, np.ones(DIMENSION, np.float32), 3), lambda: vectors.sample(old, 3)):
            with pytest.raises(SetGone):
                look()
        assert store.verify() == []

    def test_building_resumes_for_the_same_model_and_starts_over_for_another(self, store: Store) -> None:
        """Or is given up."""
        vectors = vectors_of(store)
        vectors.adopt(OLD)
        store.apply([chapter(1, "林小雨走进来了。")])
        first = vectors.build(NEW)
        assert vectors.build(NEW).id == first.id
        assert vectors.build(Fingerprint("third", "sha-of-third", 8)).id != first.id
        vectors.abandon()
        assert list(vectors.sets()) == ["serving"]

    def test_the_status_counts_what_answers(self, store: Store) -> None:
        """Nothing before the first set."""
        vectors = vectors_of(store)
        assert vectors.index_status().vectors == 0
        vectors.adopt(OLD)
        store.apply([chapter(1, *(f"第{i}个段落的文字" for i in range(30)))])
        embed_all(vectors, OLD)
        assert vectors.index_status().vectors == 30

    def test_work_that_is_cancelled_changes_no_answer(self, store: Store) -> None:
        """The next call does it."""
        vectors = vectors_of(store)
        vectors.adopt(OLD)
        store.apply([chapter(1, *(f"第{i}个段落的文字" for i in range(30)))])
        rows = vectors.pending(serving(vectors).id, limit=99)
        vectors.put(serving(vectors), OLD, rows, embed(OLD, [row.text for row in rows]))
        vectors.refresh(cancelled=lambda: True)
        answers(vectors, ("chapters/ch001.md", 8), "第7个段落的文字")
        vectors.refresh()
        answers(vectors, ("chapters/ch001.md", 8), "第7个段落的文字")


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
        store.apply([chapter(1, "原来的文字在此"), chapter(2, "另一段的文字")])
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
                [removal if chance.random() < 0.2 else chapter(number, *(f"{letter}段落的文字" for letter in letters))]
            )
            if chance.random() < 0.5:
                embed_all(vectors, OLD)
        embed_all(vectors, OLD)
        paths = list(store.files())
        wanted: set[Owner] = {
            (doc.path, p.index) for doc in store.documents_of(paths) for p in doc.paragraphs if p.role == "body"
        }
        assert owners_of(vectors) == wanted
        assert store.verify() == []
