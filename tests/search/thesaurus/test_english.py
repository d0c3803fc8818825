import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import rows

from armarius import _core
from armarius.search.query.words import english_alternatives, near, split

WORDS = ["education", "married", "quarrel", "physician", "run", "set", "letters", "mother's", "THEFT", "well"]


@pytest.mark.parametrize(
    ("word", "other", "weight"),
    [
        ("education", "teaching", 1),  # the same synset, first sense
        ("physician", "doctor", 1),
        ("quickly", "rapidly", 1),
        ("marry", "splice", 2 / 3),  # the second sense
        ("quickly", "promptly", 2 / 3),
        ("education", "schooling", 1 / 4),  # narrower, third sense
        ("physician", "surgeon", 1 / 2),  # narrower
        ("rich", "wealthy", 1 / 2),  # similar
        ("marry", "marriage", 1 / 2),  # derived
        ("marry", "unite", 3 / 10),  # broader
        ("servant", "worker", 3 / 10),
    ],
)
def test_alternative_weighs_by_its_relation_and_the_rank_of_the_sense(word, other, weight):
    assert near(word)[other] == pytest.approx(weight)


@rows("thesaurus_english")
def test_inflected_form_has_the_alternatives_of_its_lemma(form, lemma):
    assert near(lemma)
    assert near(form) == near(lemma)


def test_lemma_that_does_not_share_the_stem_of_its_form_is_an_alternative():
    assert near("quarrelled") == {"quarrel": 1.0, **near("quarrel")}


@pytest.mark.parametrize(("form", "other"), [("lodgings", "digs"), ("married", "marital"), ("building", "edifice")])
def test_form_that_is_a_word_itself_is_that_word(form, other):
    assert near(form)[other] >= 0.5


def test_word_with_more_narrower_words_than_a_few_has_none_of_them():
    assert near("physician").keys() >= {"surgeon", "quack", "specialist"}
    assert not near("person").keys() & {"worker", "lover", "traveller", "adult"}


@pytest.mark.parametrize("word", WORDS)
def test_alternatives_are_single_words_with_weights_heaviest_first(word):
    found = near(word)
    assert found
    assert all(0 < weight <= 1 for weight in found.values())
    assert list(found.items()) == sorted(found.items(), key=lambda item: (-item[1], item[0]))
    assert all(len(one) >= 3 and one.replace("'", "").isalpha() and one == one.lower() for one in found)
    assert all(_core.stem(one) != _core.stem(word.lower()) for one in found)


@pytest.mark.parametrize(
    "word", ["", "x1y2", "zzyzx", "naïveté-", "a b", "a\tb", "a\nb", "\ud800", "ωμέγα", "x" * 10_000]
)
def test_what_is_no_word_of_the_dictionary_has_no_alternatives(word):
    assert dict(near(word)) == {}


@given(st.text(max_size=12))
def test_any_text_is_answered(word):
    assert all(0 < weight <= 1 for weight in near(word).values())
    assert "".join(split(word)) == word


def test_answer_cannot_be_changed():
    with pytest.raises(TypeError):
        near("education")["teaching"] = 0.0  # type: ignore[index]


def test_threads_get_the_same_answers():
    english_alternatives.cache_clear()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: [list(near(word).items()) for word in WORDS], range(32)))
    finally:
        sys.setswitchinterval(interval)
    english_alternatives.cache_clear()
    assert all(answer == [list(near(word).items()) for word in WORDS] for answer in answers)
