import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import rows

import armarius
from armarius import EntityMatcher
from armarius.search.query.query import question, read_question
from armarius.search.query.words import Phrases, Role, pair_of, table

MATCHER = EntityMatcher(
    [
        {"id": "yu", "name": "林小雨", "aliases": ["小雨"]},
        {"id": "anna", "name": "Anna Vale", "aliases": ["Anna"]},
    ]
)


def ask(query, **keywords):
    return read_question(query, matcher=MATCHER, **keywords)


def test_names_and_aliases_are_entities():
    asked = ask("小雨和 Anna 第3章吵架了吗", chapters=[1, 2, 3])
    assert asked.entities == ("yu", "anna")
    assert asked.aliases == ("小雨", "Anna")
    assert asked.chapters == (3,)


@pytest.mark.parametrize(
    ("query", "word", "path"),
    [
        ("林小雨的母亲是谁", "母亲", [Role("parent", "f")]),
        ("林小雨的儿媳妇", "儿媳妇", [Role("child"), Role("spouse", "f")]),
        ("Anna's mother-in-law", "mother-in-law", [Role("spouse"), Role("parent", "f")]),
        ("who is the sister of Anna", "sister", [Role("sibling", "f")]),
        ("林小雨的师父", "师父", [Role("teacher")]),
        ("林小雨嫁给了谁", "嫁给", [Role("spouse")]),
    ],
)
def test_relation_words_say_how_to_walk(query, word, path):
    relations = ask(query).relations
    assert [(relation.word, list(relation.path)) for relation in relations] == [(word, path)]
    assert query[relations[0].start : relations[0].end] == word


@pytest.mark.parametrize("query", ["林小雨的年龄前后矛盾吗", "Is Anna's age consistent?"])
def test_whether_texts_agree_is_read_from_the_words(query):
    assert ask(query).consistency


def test_quoted_words_are_phrases():
    assert ask("“灯塔点亮”在哪一章").phrases == ("灯塔点亮",)
    assert ask('where does it say "the lamp is lit"').phrases == ("the lamp is lit",)


def test_words_about_the_text_are_no_content():
    assert ask("小雨和Anna之间的情节是怎么写的").terms == ()
    assert ask("describe the chapter where Anna appears").terms == ()


@rows("retrieval_query")
def test_an_instruction_to_write_asks_for_nothing_that_stands_in_the_book(query):
    assert ask(query).terms == ()


def test_an_instruction_keeps_what_it_is_about():
    assert "怀表" in ask("续写小雨找到怀表的一段").terms


def test_an_attribute_asked_for_is_read_in_both_languages():
    assert ask("小雨今年几岁").attributes == ask("How old is Anna?").attributes == ("age",)


def test_latin_words_match_in_every_inflection():
    phrases = Phrases({"run-away": 1})
    assert [(f.start, f.end) for f in phrases.find("She runs away; he was running away")] == [(4, 13), (22, 34)]
    assert phrases.find("run, away") == []


@pytest.mark.parametrize(
    ("kind", "source", "target"),
    [
        ("父子", Role("parent", "m"), Role("child", "m")),
        ("夫妻", Role("spouse", "m"), Role("spouse", "f")),
        ("表兄妹", Role("cousin"), Role("cousin")),
        ("mentor of", Role("teacher"), Role("student")),
        ("母亲", Role("parent", "f"), Role("child")),
        ("father-daughter", Role("parent", "m"), Role("child", "f")),
        ("siblings", Role("sibling"), Role("sibling")),
    ],
)
def test_a_relation_type_says_what_both_ends_are(kind, source, target):
    assert pair_of(kind) == (source, target)


def test_a_type_without_kinship_is_no_pair():
    assert pair_of("居于") is None


def test_a_chapter_behind_the_last_does_not_exist_and_the_open_one_is_not_asked_for():
    assert ask("第三章之后一章", chapters=[1, 2, 3]).unknown == ("第三章之后一章: there is no such chapter",)
    assert ask("后一章", chapters=[1, 2, 3]).unknown == ("后一章: the current chapter is not known",)


def test_every_role_of_the_vocabulary_has_an_inverse():
    for name in table("kin"):
        role = Role(name.rpartition("_")[0] if name.endswith(("_m", "_f")) else name)
        assert role.inverse.inverse.name == role.name


def test_a_pasted_page_is_read_up_to_a_limit():
    page = "".join(chr(0x4E00 + i * 7 % 5000) for i in range(20_000))
    assert len(ask(page).terms) <= 200


@given(st.text(max_size=80))
def test_any_question_can_be_read(query):
    asked = ask(query, chapters=[1, 2, 3], current=2)
    for mention in asked.mentions:
        assert asked.query[mention.start : mention.end] == mention.term


PIECES = st.sampled_from(
    ["渡口", "灯", "老 渡", "老-渡口", "lamp", "lamps", "run away", "run-away", "第7", "7", " ", "。", "_", "x灯"]
)


@given(st.lists(PIECES, min_size=1, max_size=4, unique=True), st.lists(PIECES, max_size=8))
def test_phrases_occur_where_they_are_found(phrases, text):
    known, text = Phrases(dict.fromkeys(phrases, 1)), "".join(text)
    assert known.occur_in(text) == bool(known.find(text))


def test_a_japanese_question_is_looked_up_by_words_and_inflected_verbs_and_never_by_single_kana():
    asked = ask("図書館でアンナが読んだ本は何？")
    groups = {family: {term for one in question(asked).groups if one.family == family for term, _ in one.terms}
              for family in ("main", "stop", "single")}  # fmt: skip
    assert {"図書", "書館", "アン", "ンナ", "読ん"} <= groups["main"]
    assert {"んだ", "で" + "ア"} <= groups["stop"]
    assert groups["single"] == set("図書館読本何")
    assert question(asked).words == ("図書", "書館", "アンナ", "読", "本", "何")
    assert asked.singles == tuple("図書館読本何")


def test_what_is_asked_in_japanese_is_found_by_its_verb(tmp_path):
    for number, line in enumerate(("少年は町から逃げ出した。", "少女は町へ戻った。", "老人は町で眠った。"), 1):
        (tmp_path / f"{number}.md").write_text(f"# 第{number}話\n\n{line}\n\nそのあとは何もなかった。\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        found = engine.retrieve("どこから逃げたの？")
        assert found[0].path == "1.md"
        assert "逃げ" in found[0].reason


def test_what_french_elides_before_a_word_and_the_plural_of_an_accented_one_are_no_part_of_it():
    read = question(ask("À combien d'exemplaires l'éditrice a-t-elle tiré les étoiles anciennes ?"))
    assert {"exemplair", "éditric", "étoil", "ancien"} <= set(read.terms)
    assert "exemplaires" in read.words
    assert "d" not in read.words
