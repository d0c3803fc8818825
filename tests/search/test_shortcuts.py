"""What a question skips in order to be answered sooner changes nothing of the answer."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import armarius
from armarius.search.explain import _traces, words_in
from armarius.search.query import chapters
from armarius.search.query.query import _functions, question, terms_of
from armarius.search.rank import _cards
from armarius.search.retrieve import _understand_query
from armarius.store.sqlite.store import SqliteStore
from armarius.text.unicode import BETWEEN

from .conftest import SMALL, write

PIECES = (
    "第",
    "3",
    "三",
    "到",
    "5",
    "章",
    "回",
    "节",
    " ",
    "前一",
    "最近",
    "最后",
    "几",
    "开头",
    "结尾",
    "大结局",
    "书",
)
SPELT = ("chapter", "CHAPTERS ", "the last ", "two ", "previous ", "final ", "except ", "opening", "장", "제")
ASKED = (
    "林小雨的父亲是谁",
    "谁裁走了第十八页",
    "林默和林小雨在灯塔说了什么",
    "lamp keeper's daughter",
    "检查第3章的角色一致性",
)


@given(st.lists(st.sampled_from(PIECES + SPELT), max_size=9).map("".join), st.sampled_from([None, 4]))
def test_chapters_are_read_as_though_every_pattern_were_looked_for(query, current):
    def read():
        return chapters.chapter_references(query, known=range(1, 13), current=current)

    found = read()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chapters, "_UNITS", re.compile(""))
        assert found == read()


@given(st.lists(st.sampled_from([*sorted(_functions().han), *"灯塔渡口林雨"]), max_size=8).map("".join))
def test_function_words_are_cut_out_leftmost_longest(run):
    words, left, piece, at = _functions().han, [], "", 0
    while at < len(run):
        word = next((run[at:end] for end in range(len(run), at, -1) if run[at:end] in words), "")
        piece = piece if word else piece + run[at]
        if word:
            left, piece = [*left, piece], ""
        at += len(word) or 1
    assert [one for one in _functions().between.split(run) if one] == [one for one in (*left, piece) if one]


@pytest.mark.parametrize("query", ASKED)
def test_a_card_tells_the_sentence_that_shares_the_rarest_terms(novel, query):
    with novel.corpus.acquire() as tables:
        asked = _understand_query(tables, query, None)
        read, corpus = question(asked), tables.paragraphs.corpus
        wanted = {
            *read.terms,
            *(term for row in read.alternatives.values() for one, _ in row for term in terms_of(one)),
        }
        expected = {}
        for entity in asked.entities:
            for key in tables.described.get(entity, ()):
                sentences = [terms_of(one) for one in BETWEEN.split(tables.sections[key].text)]
                worths = [sum(corpus.rarities(sorted(wanted.intersection(terms)))) for terms in sentences]
                best = worths.index(max(worths))
                new = [one for one in sentences[best] if worths[best] and one not in (*read.terms, *read.names)]
                expected |= dict.fromkeys(new)
        found = [term for group in _cards(tables, corpus, asked, read) for term, _ in group.terms]
        assert [one for one in expected if one in found] == found
        assert bool(asked.entities) or found == []
        assert set(expected) - set(found) <= {one for one in expected if _functions().han.intersection(one)}


@pytest.mark.parametrize("query", ASKED)
def test_a_short_answer_is_the_beginning_of_a_long_one(novel, query):
    long = novel.retrieve(query, limit=60).hits
    for limit in (0, 1, 2, 3, 5, 8):
        assert novel.retrieve(query, limit=limit).hits == long[:limit]


def test_words_count_where_they_begin_and_characters_anywhere():
    assert words_in("The relamped Lamp; 灯塔", ["lamp", "amp", "塔", "key"]) == ("lamp", "塔")
    assert words_in("relamped", ["lamp"]) == ()


@given(st.lists(st.text("灯塔渡口\0a", max_size=4), unique=True, max_size=7))
def test_what_is_a_part_of_a_longer_word_is_not_told_beside_it(words):
    traces = _traces("|".join(words), [], [(word, True) for word in words])
    assert traces == tuple(one for one in words if not any(one in other for other in words if other != one))


def test_a_request_asks_the_store_once_where_it_stands(tmp_path, monkeypatch):
    write(tmp_path, SMALL)
    with armarius.open(tmp_path, watch=False) as engine:
        time.sleep(0.06)  # what was written a moment ago is read once more
        engine.retrieve("Anna")
        asked, generation = [], SqliteStore.generation
        monkeypatch.setattr(SqliteStore, "generation", lambda store: asked.append(store) or generation(store))
        assert engine.retrieve("wreckers").hits
        own = engine.index.store  # engines that other tests left to themselves ask theirs, in threads of their own
        assert sum(store is own for store in asked) == 1
        (tmp_path / "chapters/ch005.md").write_text("# Chapter Five\n\nA zeppelin came.\n", "utf-8")
        assert [hit.path for hit in engine.retrieve("zeppelin")][:1] == ["chapters/ch005.md"]


def test_what_another_engine_has_written_is_in_the_next_answer(tmp_path):
    write(tmp_path, SMALL)
    with armarius.open(tmp_path, watch=False) as one, armarius.open(tmp_path, watch=False) as other:
        assert one.retrieve("Anna").hits
        (tmp_path / "chapters/ch002.md").write_text("# Chapter Two\n\nA zeppelin came.\n", "utf-8")
        assert other.retrieve("zeppelin").hits[0].path == "chapters/ch002.md"
        assert one.retrieve("zeppelin").hits[0].path == "chapters/ch002.md"
