import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.vectors.stores import (
    CountingEmbedder,
    chapter,
    embed_all,
    people,
    removal,
    setting,
    slots_of,
    stored_vectors,
)

from armarius.errors import DimensionMismatch, EmbeddingError
from armarius.store.protocol import Put, Remove
from armarius.store.sqlite.vectors_rows import table_of
from armarius.store.vectors_protocol import embedded_texts, text_hash


@pytest.fixture
def embedder():
    return CountingEmbedder()


def expected(store, embedder, cards=()):
    """Place to vector, from the documents as they are."""
    wanted = {}
    for row in store.documents():
        for index, text in embedded_texts(store.document(row.path)).items():
            if embedder.vector(text).any():
                wanted[row.path, index] = embedder.vector(text)
    return {**wanted, **{name: embedder.vector(text) for name, text in cards}}


def assert_equal(found, wanted):
    assert found.keys() == wanted.keys()
    for place, vector in wanted.items():
        np.testing.assert_array_equal(found[place], vector, err_msg=str(place))


def test_every_paragraph_gets_the_vector_of_its_text(open_store, embedder):
    store = open_store()
    store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(1, "林小雨走进来了。", "她在窗边写信。"), chapter(2, "银色的河流向东去。")])
    assert len(embed_all(store.vectors, embedder)) == 3
    assert_equal(stored_vectors(store.vectors), expected(store, embedder))
    assert store.verify() == []


def test_documents_indexed_before_the_first_embedder_are_pending(open_store, embedder):
    store = open_store()
    store.apply([chapter(1, "林小雨走进来了。")])
    vector_set = store.vectors.adopt(embedder.fingerprint)
    assert store.vectors.counts(vector_set.id).pending == 1


def test_an_edited_document_embeds_only_what_changed_and_moves_the_rest(open_store, embedder):
    store = open_store()
    store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(1, "甲段落的文字", "乙段落的文字", "丙段落的文字")])
    embed_all(store.vectors, embedder)
    store.apply([chapter(1, "新的开头文字", "甲段落的文字", "丙段落的文字", "乙段落的文字")])
    assert embed_all(store.vectors, embedder) == ["新的开头文字"]
    assert_equal(stored_vectors(store.vectors), expected(store, embedder))
    assert store.verify() == []


def test_a_removed_document_takes_its_vectors_along_and_frees_their_slots(open_store, embedder):
    store = open_store()
    vector_set = store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(n, f"第{n}个段落的文字", f"第{n}个段落的下文") for n in range(1, 6)])
    embed_all(store.vectors, embedder)
    slots = set(slots_of(store.vectors, vector_set).values())
    store.apply([removal(2), removal(4)])
    store.apply([chapter(9, "完全不同的内容一", "完全不同的内容二", "完全不同的内容三")])
    embed_all(store.vectors, embedder)
    assert_equal(stored_vectors(store.vectors), expected(store, embedder))
    now = set(slots_of(store.vectors, vector_set).values()) - {None}
    assert now < slots, "slots are used again, the table does not grow"


def test_a_vector_for_text_that_changed_meanwhile_is_dropped(open_store, embedder):
    store = open_store()
    vector_set = store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(1, "原来的文字在此")])
    (entry,) = store.vectors.pending(vector_set.id, limit=9)
    store.apply([chapter(1, "改过的文字在此")])
    assert store.vectors.put(vector_set, embedder.fingerprint, [entry], embedder.embed([entry.text])) == 0
    assert embed_all(store.vectors, embedder) == ["改过的文字在此"]


def test_a_text_without_a_vector_is_not_asked_for_again(open_store, embedder):
    store = open_store()
    vector_set = store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(1, "NOTHING 在这里", "有内容的段落")])
    assert len(embed_all(store.vectors, embedder)) == 2
    counts = store.vectors.counts(vector_set.id)
    assert (counts.embedded, counts.pending, counts.empty) == (1, 0, 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused_and_stay_pending(open_store, embedder, bad):
    store = open_store()
    vector_set = store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(1, "林小雨走进来了。")])
    (entry,) = store.vectors.pending(vector_set.id, limit=9)
    with pytest.raises(EmbeddingError, match="not finite"):
        store.vectors.put(vector_set, embedder.fingerprint, [entry], np.full((1, 16), bad, np.float32))
    assert store.vectors.counts(vector_set.id).pending == 1


def test_another_model_is_refused_naming_both(open_store, embedder):
    store = open_store()
    vector_set = store.vectors.adopt(embedder.fingerprint)
    other = dataclasses.replace(embedder.fingerprint, name="other", model="x", dimension=8)
    with pytest.raises(DimensionMismatch, match=r"counting.*16.*other.*8.*reembed"):
        store.vectors.adopt(other)
    with pytest.raises(DimensionMismatch, match="reembed"):
        store.vectors.put(vector_set, other, [], np.empty((0, 8), np.float32))


def test_a_vector_of_another_length_is_refused(open_store, embedder):
    store = open_store()
    vector_set = store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(1, "林小雨走进来了。")])
    (entry,) = store.vectors.pending(vector_set.id, limit=9)
    with pytest.raises(DimensionMismatch, match=r"1x8.*16 dimensions"):
        store.vectors.put(vector_set, embedder.fingerprint, [entry], np.ones((1, 8), np.float32))


def test_entity_cards_have_vectors_that_follow_the_codex(open_store, embedder):
    store = open_store()
    vector_set = store.vectors.adopt(embedder.fingerprint)
    store.apply([people("lin", "zhou")])
    store.vectors.set_cards({"lin": "林小雨的卡片", "zhou": "周先生的卡片", "nobody": "没有此人"})
    embed_all(store.vectors, embedder)
    assert_equal(
        stored_vectors(store.vectors), expected(store, embedder, [("lin", "林小雨的卡片"), ("zhou", "周先生的卡片")])
    )
    store.apply([people("lin", "wu")])
    assert list(stored_vectors(store.vectors)) == ["lin"], "gone in the same transaction"
    store.vectors.set_cards({"lin": "林小雨的新卡片", "wu": "吴姓的卡片"})
    assert store.vectors.counts(vector_set.id).pending == 2
    embed_all(store.vectors, embedder)
    assert_equal(
        stored_vectors(store.vectors), expected(store, embedder, [("lin", "林小雨的新卡片"), ("wu", "吴姓的卡片")])
    )


def test_entity_cards_come_first_then_the_named_documents(open_store, embedder):
    store = open_store()
    vector_set = store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(n, f"第{n}个段落的文字") for n in range(1, 5)])
    store.apply([people("lin")])
    store.vectors.set_cards({"lin": "林小雨的卡片"})
    rows = store.vectors.pending(vector_set.id, limit=9, first=["chapters/ch003.md", "no/such.md"])
    assert [row.text for row in rows] == ["林小雨的卡片", *(f"第{n}个段落的文字" for n in (3, 1, 2, 4))]


def test_a_new_model_is_built_beside_the_old_one_and_takes_over_at_once(open_store, embedder):
    store = open_store()
    store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(1, "林小雨走进来了。", "她在窗边写信。")])
    embed_all(store.vectors, embedder)
    new = CountingEmbedder("new", dimension=8)
    store.vectors.build(new.fingerprint)
    with pytest.raises(EmbeddingError, match="2 texts are not embedded"):
        store.vectors.switch()
    store.apply([chapter(2, "中途加入的段落。")])
    assert len(embed_all(store.vectors, new, "building")) == 3
    old = store.vectors.sets()["serving"]
    assert len(store.vectors.nearest(old, embedder.vector("她在窗边写信。"), 9, None)) == 2, "the old set still answers"
    store.vectors.switch()
    assert list(store.vectors.sets()) == ["serving"]
    assert_equal(stored_vectors(store.vectors), expected(store, new))
    assert store.verify() == []
    assert store.vectors.put(old, embedder.fingerprint, [], np.empty((0, 16), np.float32)) == 0


def test_building_resumes_for_the_same_model_and_starts_over_for_another(open_store, embedder):
    store = open_store()
    store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(1, "林小雨走进来了。")])
    first = store.vectors.build(CountingEmbedder("a").fingerprint)
    assert store.vectors.build(CountingEmbedder("a").fingerprint).id == first.id
    assert store.vectors.build(CountingEmbedder("b").fingerprint).id != first.id
    store.vectors.abandon()
    assert list(store.vectors.sets()) == ["serving"]


def test_a_heading_stands_before_a_setting_and_not_before_a_chapter():
    (text,) = embedded_texts(setting("# 人物\n\n## 林小雨\n\n她住在江城老街。\n").document).values()
    assert text == "林小雨\n她住在江城老街。"
    (text,) = embedded_texts(chapter(1, "她住在江城老街。", "好。").document).values()
    assert text == "她住在江城老街。"


def test_damage_to_a_vector_is_found_by_verify(open_store, embedder):
    store = open_store()
    vector_set = store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(1, "林小雨走进来了。")])
    embed_all(store.vectors, embedder)
    with store._session.writing() as connection:
        connection.execute(f"UPDATE {table_of(vector_set)} SET embedding = ?", (np.ones(16, np.float32).tobytes(),))
    assert any("checksum" in problem for problem in store.verify())


def test_vectors_of_another_text_are_found_by_verify(open_store, embedder):
    store = open_store()
    store.vectors.adopt(embedder.fingerprint)
    store.apply([chapter(1, "林小雨走进来了。")])
    with store._session.writing() as connection:
        connection.execute("UPDATE vectors SET text = ?", (text_hash("别的"),))
    assert any("another text" in problem for problem in store.verify())


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 3), st.lists(st.sampled_from("甲乙丙丁戊己庚"), max_size=5), st.booleans(), st.booleans()
        ),
        max_size=8,
    )
)
def test_any_history_of_edits_leaves_exactly_the_vectors_of_the_text(tmp_path_factory, monkeypatch, history):
    from armarius.store.sqlite.location import IndexPlace as StorePlace
    from armarius.store.sqlite.store import SqliteStore

    folder = tmp_path_factory.mktemp("history")
    monkeypatch.setenv("ARMARIUS_CACHE", str(folder / "cache"))
    store, embedder = SqliteStore.open(StorePlace(folder / "p"), project_id="p"), CountingEmbedder()
    store.vectors.adopt(embedder.fingerprint)
    for number, letters, remove, embed in history:
        change: Put | Remove = (
            removal(number) if remove else chapter(number, *(f"{letter}段落的文字" for letter in letters))
        )
        store.apply([change])
        if embed:
            embed_all(store.vectors, embedder, batch=3)
    embed_all(store.vectors, embedder)
    assert_equal(stored_vectors(store.vectors), expected(store, embedder))
    assert store.verify() == []
    store.close()
