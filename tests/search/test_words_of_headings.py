"""Words of headings count for the paragraphs below them; names have no synonyms."""

import re
from pathlib import Path

import pytest

import armarius
from armarius.search.query import query as reading
from armarius.search.query.query import question, read_question
from armarius.text.matcher import EntityMatcher

TEXTS = {
    "World/The Fat Pig Tavern.md": "A low house at the east gate. Mara keeps it since the flood.\n",
    "notes/errands.md": "# Errands\n\nChange the file, then deliver the heavy change to the fat clerk's hog yard.\n",
    "笔记/规则.md": "# 规则\n\n## 叠层\n\n每次命中加一层，最多九层。\n\n## 破阵\n\n三人同时出手。\n",
    "正文/第1章.md": "# 第1章 雨夜\n\n他在灯下数了九次。\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("headings")
    for path, text in TEXTS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    with armarius.open(root, watch=False) as engine:
        yield engine


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Fat Pig", "A low house at the east gate."),
        ("叠层的规则", "每次命中加一层"),
        ("破阵", "三人同时出手"),
    ],
)
def test_a_paragraph_is_found_first_by_words_of_its_heading_or_title(engine, query, text):
    pack = engine.assemble(query, budget=2_000)
    found = max((item for item in pack.items if item.source.startswith("rag:passage:")), key=lambda item: item.score)
    assert text in pack.prompt[slice(*found.span)]


@pytest.mark.parametrize(
    ("query", "with_synonyms"),
    [
        ("Which signal does Jarik use at the Sailors' Rest?", {"signal"}),
        ("where did the sailors rest", {"sailors", "rest"}),
        ("Fat Pig", {"fat"}),
    ],
)
def test_a_word_with_a_capital_inside_a_sentence_has_no_synonyms(query, with_synonyms):
    read = question(read_question(query, matcher=EntityMatcher([])))
    assert set(read.alternatives) == with_synonyms


def ranked(engine, word):
    return [(row.source, row.score) for row in engine.assemble(word)._fitted.admitted.offers[0].rows]


@pytest.mark.parametrize("name", ["novel", "code-project"])
def test_a_word_of_the_project_is_ranked_as_if_there_were_no_synonyms(name, monkeypatch):
    with armarius.open(Path(__file__).parents[2] / "examples" / name, watch=False) as engine:
        text = " ".join(document.text for document in engine.documents())
        found = re.findall(r"[a-z]{5,}", text) + re.findall(r"(?<=[，。])[\u4e00-\u9fff]{2}(?=[\u4e00-\u9fff])", text)
        read = {word: question(read_question(word, matcher=EntityMatcher([]))) for word in dict.fromkeys(found)}
        words = [word for word, one in read.items() if one.alternatives][:40]
        before = {word: ranked(engine, word) for word in words}
        monkeypatch.setattr(reading, "_alternatives", lambda _word: ())
        assert len(before) == 40
        assert {word: ranked(engine, word) for word in before} == before
