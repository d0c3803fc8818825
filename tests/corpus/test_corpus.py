"""The corpus from Python: the same scores as a plain implementation, on a whole small novel."""

import gc
import json
import math
import pickle
from pathlib import Path

import pytest
from tests.corpus import reference
from tests.corpus.reference import Question, Row

import armarius._core as _core
from armarius.documents.document import Document, list_documents

NOVEL = Path(__file__).parents[2] / "examples" / "novel"

FLAT = (reference.B,) * 4
WEIGHTS = _core.CorpusWeights(
    [
        (name, weight, FLAT if name != "entity" else (0.3, 0.75, 0.75, 0.3))
        for name, weight in reference.FAMILIES.items()
    ],
    k1=(2.0, 1.2, 1.2, 1.2),
    **reference.WEIGHTS,
)

QUESTIONS = [
    Question([("main", [("灯塔", 1.0)], []), ("main", [("渡口", 1.0)], []), ("single", [("雨", 1.0)], [])]),
    Question(
        [("main", [("照片", 1.0)], []), ("synonym", [("相片", 1.0), ("老照片", 0.5), ("信", 0.25)], [])], asked=[3]
    ),
    Question([("entity", [], [("e0", 1.0)]), ("entity", [], [("e1", 1.0)]), ("main", [("母亲", 1.0)], [])]),
    Question([("main", [("nothing of the kind", 1.0)], [])]),
]


def units_of(document: Document) -> list[tuple[str, int | None, int]]:
    """Lines of an outline and sections of settings for themselves, other documents whole."""
    if document.kind == "outline":
        return [("", p.chapter, p.index) for p in document.paragraphs]
    if document.kind != "setting":
        return [("", document.chapter, 0)] if document.paragraphs else []
    units: list[tuple[str, int | None, int]] = []
    for p in document.paragraphs:
        label = p.heading_path[-1] if p.heading_path else ""
        if not units or units[-1][0] != label:
            units.append((label, None, p.index))
    return units


NAMES = [entity["name"] for entity in json.loads((NOVEL / "codex.json").read_text("utf-8"))["entities"]]


def rows_of(documents: list[Document]) -> list[Row]:
    rows, unit = [], -1
    for document in documents:
        begins = {first: chapter for _, chapter, first in units_of(document)}
        for p in document.paragraphs:
            unit += p.index in begins
            chapter = begins.get(p.index, rows[-1].chapter if rows else None)
            text = document.text[p.start : p.end]
            named = {f"e{i}": text.count(name) for i, name in enumerate(NAMES) if name in text}
            rows.append(Row(document.path, p.index, text, p.role == "body", document.kind, unit, chapter, named))
    return rows


def part_of(document: Document, rows: list[Row]) -> _core.CorpusPart:
    own = [row for row in rows if row.path == document.path]
    part = _core.CorpusPart(
        document.path,
        document.kind,
        document.text,
        [(p.start, p.end, p.role) for p in document.paragraphs],
        units_of(document),
    )
    named = [(row.index, entity, count) for row in own for entity, count in row.entities.items()]
    return part.with_entities(named)


def query_of(question: Question, **options: object) -> _core.CorpusQuery:
    groups = [_core.CorpusGroup(family, texts, entities=named) for family, texts, named in question.groups]
    return _core.CorpusQuery(WEIGHTS, groups, asked=question.asked, **options)


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return list(list_documents(NOVEL).documents)


@pytest.fixture(scope="module")
def rows(documents) -> list[Row]:
    return rows_of(documents)


@pytest.fixture(scope="module")
def parts(documents, rows) -> list[_core.CorpusPart]:
    return [part_of(document, rows) for document in documents]


@pytest.fixture(scope="module")
def corpus(parts) -> _core.Corpus:
    return _core.Corpus(parts)


@pytest.mark.parametrize("question", QUESTIONS)
def test_scores_are_those_of_a_plain_implementation(corpus, rows, question):
    expected = reference.score(rows, question)
    found = corpus.score(query_of(question))
    assert len(found) == len(rows) == len(corpus)
    scores = [found.score_of(row.path, row.index) for row in rows]
    assert scores == pytest.approx(expected, rel=1e-3, abs=1e-6)
    best = found.paragraphs(10)
    assert [score for *_, score in best] == sorted((score for *_, score in best), reverse=True)
    assert found.best == best[0][2]


def test_a_stored_part_opens_as_it_was_and_damage_is_an_error(parts, corpus):
    stored = [part.to_bytes() for part in parts]
    reopened = _core.Corpus.open(stored)
    query = query_of(QUESTIONS[2])
    assert reopened.score(query).paragraphs(99) == corpus.score(query).paragraphs(99)
    assert reopened.paths == corpus.paths == sorted(part.path for part in parts)
    again = _core.CorpusPart.from_bytes(stored[0])
    assert (again.path, again.kind, len(again)) == (parts[0].path, parts[0].kind, len(parts[0]))
    for damaged in (b"", stored[0][:-1], stored[0][:40] + b"\xff" + stored[0][41:]):
        with pytest.raises(ValueError, match="corpus part is damaged"):
            _core.CorpusPart.from_bytes(damaged)


def test_a_change_of_one_document_gives_what_a_new_corpus_gives(documents, parts, corpus):
    chapter = next(d for d in documents if d.kind == "chapter")
    text = "灯塔的灯又亮了。"
    changed = _core.CorpusPart(chapter.path, "chapter", text, [(0, len(text), "body")], [("", chapter.chapter, 0)])
    removed = [part.path for part in parts if part.kind == "note"] + ["no/such.md"]
    others = [part for part in parts if part.path != chapter.path and part.path not in removed]
    query = query_of(QUESTIONS[0])
    after = corpus.with_parts([changed], removed).score(query)
    assert after.paragraphs(999) == _core.Corpus([*others, changed]).score(query).paragraphs(999)
    assert after.score_of(chapter.path, 0) is not None
    assert after.score_of(chapter.path, 1) is None
    assert corpus.score(query).score_of(chapter.path, 1) is not None


@pytest.mark.parametrize("question", QUESTIONS)
def test_units_come_in_parts_and_by_their_own_words_as_they_come_at_once(corpus, question):
    found = corpus.score(query_of(question))
    every = found.units(999)
    assert [*found.units(2), *found.units(3, 2), *found.units(999, skip=5)] == every
    assert found.units(3, len(every)) == []
    wanted = bytes(number % 2 for number in range(len(corpus.units)))
    told = [(one.number, one.own) for one in every[:7] if wanted[one.number] and one.own > 0]
    assert found.by_own(wanted, 7) == sorted(told, key=lambda one: (-one[1], one[0]))
    assert found.by_own(b"", 7) == []


def test_a_concept_is_told_by_its_fields_as_by_an_object(corpus):
    told = [("main", 0.5, (("灯塔", 1.0),), (("渡口", 0.25),), ("e0",)), ("entity", 1.0, (), (), ("e1", "nobody"))]
    made = [
        _core.CorpusGroup(family, words, terms=terms, entities=[(one, 1.0) for one in entities], weight=weight)
        for family, weight, terms, words, entities in told
    ]
    scores = [corpus.score(_core.CorpusQuery(WEIGHTS, groups)) for groups in (told, made, [told[0], made[1]])]
    assert len({tuple(one.paragraphs(99)) for one in scores}) == 1
    assert scores[0].frequencies == scores[1].frequencies
    for wrong in (("main", 1.0, ()), ("main", "heavy", (), (), ())):
        with pytest.raises(TypeError, match="groups"):
            _core.CorpusQuery(WEIGHTS, [wrong])


def test_filters_decide_what_is_found(corpus):
    question = QUESTIONS[0]
    early = corpus.score(query_of(question, as_of=2)).units(99)
    assert {unit.chapter for unit in early} <= {None, 1, 2}
    chapters = corpus.score(query_of(question, kinds=["chapter"], chapters=(2, 3))).units(99)
    assert [unit.chapter for unit in chapters] in ([2, 3], [3, 2])


def test_other_wordings_lift_what_they_find(corpus):
    own, other = (corpus.score(query_of(question)) for question in QUESTIONS[:2])
    fused = own.fused([other], mean=0.6, most=0.4)
    (*place, _), *_ = other.paragraphs(1)
    expected = own.score_of(*place) / own.best + 1.0
    assert fused.score_of(*place) == pytest.approx(expected, rel=1e-5)
    with pytest.raises(ValueError, match="another corpus"):
        own.fused([_core.Corpus([]).score(query_of(QUESTIONS[0]))], mean=0.6, most=0.4)


def test_rarities_and_coverage_say_what_occurs_nowhere(corpus):
    there, nowhere = corpus.frequencies(["灯塔", "飞船引擎"])
    assert there > 0 == nowhere
    rare = corpus.rarities(["飞船引擎"])[0]
    assert rare == pytest.approx(math.log(1 + (len(corpus) + 0.5) / 0.5))
    query = query_of(QUESTIONS[0], concepts=[("灯塔", None, 1.0, None), ("飞船", None, 1.0, 1)])
    coverage = corpus.score(query).coverage
    assert coverage.missing == [1]
    assert 0 < coverage.lost < coverage.total
    assert coverage.best <= coverage.total - 0.4 * coverage.lost + 1e-3


def test_terms_are_taken_as_they_are_and_texts_are_analysed(documents):
    chapter = next(d for d in documents if d.kind == "chapter")
    text = "Of course."
    part = _core.CorpusPart(chapter.path, "chapter", text, [(0, len(text), "body")], [("", 1, 0)])
    corpus, (stem,) = _core.Corpus([part]), _core.terms("course")
    for group, found in (
        (_core.CorpusGroup("main", [("courses", 1.0)]), 1),
        (_core.CorpusGroup("main", [], terms=[(stem, 1.0)]), 1),
        (_core.CorpusGroup("main", [(stem, 1.0)]), 0),
    ):
        assert corpus.score(_core.CorpusQuery(WEIGHTS, [group])).frequencies == [found]


def test_values_compare_print_and_pickle():
    one, other = (_core.ScoredUnit("a.md", at, 7, "第一章", 1, 0.5, 0.5, 0.0, 0.0, None, 0.0) for at in (3, 4))
    assert one == pickle.loads(pickle.dumps(one)) != other
    assert repr(one).startswith("ScoredUnit(path='a.md', unit=3, number=7, ")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: _core.CorpusPart("a.md", "chapters", "", [], []), "kind must be one of"),
        (lambda: _core.CorpusPart("a.md", "note", "ab", [(0, 2, "text")], [("", None, 0)]), "role must be one of"),
        (lambda: _core.CorpusPart("a.md", "note", "ab", [(0, 3, "body")], [("", None, 0)]), "a.md: paragraph 0"),
        (lambda: _core.CorpusPart("a.md", "note", "ab", [(0, 2, "body")], []), "a.md: units must begin"),
        (lambda: _core.CorpusWeights([("main", -1.0, FLAT)]), "main: a weight must be finite and >= 0"),
        (lambda: _core.CorpusQuery(WEIGHTS, [_core.CorpusGroup("x", [])]), 'no family "x"'),
    ],
)
def test_wrong_input_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_scores_outlive_the_corpus_they_came_from(parts):
    found = _core.Corpus(parts).score(query_of(QUESTIONS[0]))
    gc.collect()
    assert found.paragraphs(9)
