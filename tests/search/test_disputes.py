"""Sources that say different things of a person, in evidence and in the pack, an attribute asked for or not."""

import re
from pathlib import Path

import pytest

import armarius
from armarius.documents.document import list_documents
from armarius.search.contradictions import values
from armarius.search.contradictions.detect import disputes
from armarius.text.unicode import STATEMENT

from .conftest import write

DATA = Path(__file__).parents[1] / "data"

VILLAGE = {
    "chapters/ch001.md": (
        "# 第一章 磨坊\n\n孟琼左手的手背上有一道旧刀疤，雨天就疼。她住在磨坊后面的小屋里。\n\n"
        "孟琼的眼睛望着河水。\n\n柳阿婆说，孟琼今年二十岁。\n"
    ),
    "chapters/ch002.md": "# 第二章 渡船\n\n孟琼上了渡船，去了石桥镇。船夫说他今年五十岁。\n",
    "spec/people.md": (
        "# 人物\n\n## 孟琼\n\n- 类型：人物\n- 描述：磨坊主的女儿\n- 年龄：二十三岁\n- 特征：右手手背有一道旧刀疤\n"
        "- 住处：磨坊\n- 第2章起：住在石桥镇\n\n## 柳阿婆\n\n- 类型：人物\n- 描述：接生婆\n"
    ),
    "spec/places.md": "# 地点\n\n## 磨坊\n\n- 描述：河边的老磨坊，属石桥镇\n\n## 石桥镇\n\n- 描述：山下的集镇\n",
}


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    with armarius.open(write(tmp_path / "village", VILLAGE), watch=False) as engine:
        yield engine


def marked(statements):
    return {(one.reference, name) for one in statements for name in one.attributes if one.competes_with}


def test_without_an_attribute_what_competes_is_marked_by_attribute_in_chapters_too(engine):
    said = engine.evidence("孟琼")
    found = marked(said)
    assert {("spec/people.md#孟琼", "age"), ("chapters/ch001.md", "age")} <= found
    assert {("spec/people.md#孟琼", "wound"), ("chapters/ch001.md", "wound")} <= found
    (claim,) = [one for one in said if "二十三岁" in one.text]
    assert claim.competes_with == ("chapters/ch001.md",)
    assert next(one for one in said if "二十岁" in one.text).attributes == ("age",)


def test_what_a_profile_says_of_later_chapters_and_of_a_place_within_a_place_is_no_dispute(engine):
    assert not [one for one in engine.evidence("孟琼") if "house" in one.attributes]


def test_somebody_elses_age_and_an_eye_that_looks_are_no_dispute(engine):
    texts = [one.text for one in engine.evidence("孟琼") if one.competes_with]
    assert not [text for text in texts if "船夫" in text or "眼睛" in text]
    assert marked(engine.evidence("柳阿婆")) == set()


def test_a_later_chapter_is_no_witness(engine):
    assert marked(engine.evidence("孟琼", chapter=0)) == set()


def test_an_attribute_that_is_asked_for_is_the_one_marked(engine):
    assert {one.attributes for one in engine.evidence("孟琼", attribute="年龄") if one.competes_with} == {("年龄",)}


INN = {
    "chapters/01.md": (
        "# Chapter 1\n\nHarriet Vane showed him the chart. At forty-one she had learned to wait.\n\n"
        + "".join(f"Harriet Vane counted the boats of night {n}, and her age was on her mind.\n\n" for n in range(40))
        + "The scar on Harriet Vane's left hand ached in the rain.\n"
    ),
    "notes/people.md": (
        "# Characters\n\n## Harriet Vane\n\n- Type: character\n- Age: 34\n- Mark: a scar on her right hand\n"
        "- Eyes: green\n" + "".join(f"- Habit {n}: counts to {n}\n" for n in range(40))
    ),
}
ASKED = {
    "孟琼": ("年龄", "age", "特征", "疤痕", "住处", "外貌"),
    "Harriet Vane": ("age", "Age", "年龄", "Mark", "Eyes", "home"),
}


@pytest.mark.parametrize(("files", "name"), [(VILLAGE, "孟琼"), (INN, "Harriet Vane")])
def test_what_is_said_of_an_attribute_is_a_part_of_what_is_said_of_somebody(tmp_path, files, name):
    with armarius.open(write(tmp_path / "book", files), watch=False, index_dir=tmp_path / "index") as engine:
        every = {(one.path, one.span): one for one in engine.evidence(name)}
        disputed = {key: one for key, one in every.items() if one.competes_with}
        assert {one.path.partition("/")[0] for one in disputed.values()} >= {"chapters"}
        for attribute in ASKED[name]:
            asked = {(one.path, one.span): one for one in engine.evidence(name, attribute=attribute)}
            assert asked.keys() <= every.keys()
            for key, one in disputed.items():
                if set(one.attributes) & set(values.topic_of(attribute).named):
                    assert set(one.competes_with) <= set(asked[key].competes_with), (attribute, one.text)


@pytest.mark.parametrize(
    ("query", "quote"),
    [("孟琼多大年纪", "二十岁"), ("检查第1章的人物一致性", "左手的手背"), ("孟琼前后矛盾吗", "左手的手背")],
)
def test_the_pack_keeps_both_sides_and_marks_them(engine, query, quote):
    pack = engine.assemble(query=query, budget=8000)
    assert quote in pack.prompt
    disputed = [item for item in pack.items if any("competes with" in one.detail for one in item.evidence)]
    assert [
        item for item in disputed if "spec/people.md" in item.source or item.source.startswith("rag:passage:chapters")
    ]
    assert any("spec/people.md#孟琼" in one.detail for item in disputed for one in item.evidence)


def test_a_question_about_something_else_is_not_burdened_with_disputes(engine):
    pack = engine.assemble(query="孟琼上渡船", budget=8000)
    assert "competes with" not in str([item.evidence for item in pack.items])


def test_answers_change_with_the_text(engine):
    (engine.root / "chapters/ch001.md").write_text("# 第一章\n\n孟琼二十三岁了。\n", "utf-8")
    assert marked(engine.evidence("孟琼")) == set()


def test_what_was_worked_out_for_one_chapter_does_not_show_in_another(novel):
    with novel.corpus.acquire() as corpus:
        fresh = {}
        for chapter in (None, 1, 3, 2):
            for entity in corpus.entities:
                corpus.memo.clear()
                fresh[entity, chapter] = disputes(corpus, entity, chapter=chapter)
        corpus.memo.clear()
        assert {key: disputes(corpus, *key[:1], chapter=key[1]) for key in fresh} == fresh
        assert any(fresh.values())


def test_sentences_without_a_sign_of_an_age_give_none(monkeypatch):
    sentences = [
        sentence
        for name in ("saltern", "larkmoor", "wintermere")
        for document in list_documents(DATA / name).documents
        for sentence in STATEMENT.findall(document.text)
    ]
    sentences += [f"{who}比{whom}大三岁" for who in "他她" for whom in ("小雨", "林默")]
    sentences += ["Anna is 41.", "At forty she left.", "a man of thirty", "Tom, older than Clara", "age: 12", "aged\t7"]
    quick = [values._find_ages(sentence) for sentence in sentences]
    monkeypatch.setattr(values, "_AGES", re.compile(""))
    assert quick == [values._find_ages(sentence) for sentence in sentences]
    assert any(quick)
