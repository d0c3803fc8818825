"""The part of `VectorStoreConformance` about search, and about replacing one vector set by another."""

from collections.abc import Callable

import numpy as np
import pytest

from armarius.errors import EmbeddingError
from armarius.store.protocol import Store
from armarius.store.vectors_protocol import (
    Fingerprint,
    SetGone,
    VectorFilter,
)
from armarius.testing.embedded import (
    DIMENSION,
    NEW,
    OLD,
    answers,
    chapter,
    embed,
    embed_all,
    owners_of,
    serving,
    setting,
    vectors_of,
)

__all__ = ["VectorSearch"]


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
            found = vectors.nearest(serving(vectors), query, 10, which)
            assert [owner for owner, _ in found] == [owner for owner, _ in wanted]
            np.testing.assert_allclose([v for _, v in found], [v for _, v in wanted], atol=2e-3)
        assert vectors.nearest(serving(vectors), query, 0) == []

    def test_paragraphs_say_where_they_stand(self, store: Store) -> None:
        """In code points; unknown ones are left out."""
        vectors = vectors_of(store)
        vectors.adopt(OLD)
        put = chapter(1, "林小雨走进来了。", "她在窗边写信。")
        store.apply([put])
        path = put.document.path
        spans = vectors.spans([(path, 2), (path, 99), ("none.md", 0), (path, 1)])
        texts = {key: put.document.text[start:end] for key, (start, end) in spans.items()}
        assert texts == {(path, 1): "林小雨走进来了。", (path, 2): "她在窗边写信。"}

    def test_a_sample_is_of_what_there_is(self, store: Store) -> None:
        """At most so many, each one that was put there."""
        vectors = vectors_of(store)
        vectors.adopt(OLD)
        texts = [f"第{i}个段落的文字" for i in range(20)]
        store.apply([chapter(1, *texts)])
        embed_all(vectors, OLD)
        known = {row.tobytes() for row in embed(OLD, texts)}
        sample = vectors.sample(serving(vectors), 6)
        assert 3 <= len(sample) <= 6
        assert {row.tobytes() for row in sample} <= known
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
        for ask in (lambda: vectors.nearest(old, np.ones(DIMENSION, np.float32), 3), lambda: vectors.sample(old, 3)):
            with pytest.raises(SetGone):
                ask()
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
