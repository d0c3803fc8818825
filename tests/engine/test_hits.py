"""One shape for what is found, whoever finds it, and how it shows itself at a prompt."""

import io
import json
from pathlib import Path

import pytest
from benches.eval_find import QUESTIONS, asked
from rich.console import Console

import armarius
from armarius import embedders
from armarius.cli.options import plain
from armarius.types import Evidence, Hit, Hits
from armarius.verbs import wire

EXAMPLE = Path(__file__).parents[2] / "examples" / "novel"
QUESTION = "谁从档案馆裁走了第十八页"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    cache = tmp_path_factory.mktemp("index")
    with armarius.open(EXAMPLE, watch=False, index_dir=cache, embedder=embedders.lexical()) as engine:
        engine.recall.embed()
        yield engine


FOUND = {
    "search": lambda engine: engine.search("第十八页"),
    "retrieve": lambda engine: engine.retrieve(QUESTION, limit=9),
    "similar": lambda engine: engine.similar(QUESTION),
}


@pytest.mark.parametrize("by", FOUND)
def test_whatever_finds_a_place_says_where_under_what_how_well_and_why(engine, by):
    hits = FOUND[by](engine)
    assert len(hits) > 1
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert isinstance(hit, Hit)
        document = engine.document(hit.path)
        start, end = hit.span
        assert 0 <= start < end <= len(document.text)
        assert (hit.start, hit.end, hit.kind) == (start, end, document.kind)
        assert hit.evidence
        if hit.paragraph is None:
            assert hit.text == ""
            assert hit.heading == ((hit.section,) if hit.section else ())
            assert not hit.section or engine.excerpt(hit) == document.text[start:end]
        else:
            paragraph = document.paragraphs[hit.paragraph]
            assert (hit.heading, hit.text) == (paragraph.heading_path, document.text[start:end])
            assert hit.text in engine.excerpt(hit)


def test_the_words_of_a_search_are_its_evidence_and_its_highlights(engine):
    for hit in engine.search("第十八页"):
        assert hit.highlights
        assert {hit.text[start:end] for start, end in hit.highlights} == {"第十八页"}
        text = engine.document(hit.path).text
        assert {text[slice(*reason.span)] for reason in hit.evidence} == {"第十八页"}


def test_the_score_of_a_similar_paragraph_is_its_similarity_and_no_word_of_it_is_highlighted(engine):
    best = engine.similar("小雨推开门", limit=3)[0]
    assert -1 <= best.score <= 1
    assert best.evidence[0].detail == f"near in meaning, similarity {best.score:.3f}"
    assert best.highlights == ()


def test_a_paragraph_and_a_document_each_travel_in_one_form(engine):
    paragraph, document = engine.search("第十八页")[0], engine.retrieve(QUESTION)[0]
    for form in (wire, plain):
        assert list(form(paragraph)) == [
            *("path", "kind", "title", "chapter", "headingPath", "paragraph", "role"),
            *("start", "end", "text", "highlights", "snippet", "score"),
        ]
        assert list(form(document)) == ["path", "section", "title", "reason", "score", "evidence"]
        assert form(document)["evidence"][0].keys() == {"kind", "detail", "path", "span"}


def test_a_reference_names_paragraph_section_or_document():
    where = {"span": (0, 9), "score": 1.0}
    assert Hit("a.md", heading=("Top", "Under"), paragraph=4, **where).reference == "a.md#4"
    assert Hit("a.md", heading=("Top", "Under"), **where).reference == "a.md#Under"
    assert Hit("a.md", heading=(), **where).reference == "a.md"


def printed(what):
    console = Console(file=io.StringIO(), width=200)
    console.print(what)
    return console.file.getvalue()


def test_everything_that_is_listed_has_a_short_repr_and_a_table(engine):
    text = engine.documents()[0].text[100:160]
    shown = {
        "engine": (engine, "ContextEngine('novel': 12 documents, ", "paragraphs"),
        "documents": (engine.documents(), "<12 documents: chapters/ch001.md, chapters/ch002.md, ", "第三章 雨夜"),
        "search": (engine.search("第十八页"), "<6 hits: chapters/ch005.md#6 ", "周家父子"),
        "retrieval": (engine.retrieve(QUESTION), "Retrieval(found: <5 hits: chapters/ch002.md 1.000, ", "档案馆"),
        "matches": (engine.detect("小雨推开门"), "<1 match: 小雨 (lin-xiaoyu) at 0>", "lin-xiaoyu"),
    }
    for what, start, cell in shown.values():
        assert repr(what).startswith(start)
        assert len(repr(what)) < 200
        assert cell in printed(what)
        assert cell in what._repr_html_()
        assert what._repr_html_().startswith("<table>")
        assert text not in repr(what) + printed(what) + what._repr_html_()
    assert repr(engine.documents()[0]) == "Document(chapters/ch001.md: chapter 1, 586 code points)"


def test_a_slice_shows_itself_and_an_empty_list_says_so(engine):
    documents = engine.documents()
    assert repr(documents[:1]) == "<1 document: chapters/ch001.md>"
    assert documents[:2] == [documents[0], documents[1]]
    assert repr(Hits()) == "<0 hits>"
    assert engine.search("zyzzyva") == []


def test_text_in_a_table_is_neither_markup_nor_html():
    hits = Hits([Hit("[red]a.md", (0, 1), ("<b>",), 1.0, (Evidence("fulltext", "<script>", "a.md"),))])
    assert "[red]a.md" in printed(hits)
    assert "<script>" not in hits._repr_html_()
    assert "&lt;script&gt;" in hits._repr_html_()


def test_a_closed_engine_still_has_a_repr(tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nWords.\n", "utf-8")
    engine = armarius.open(tmp_path, watch=False, index_dir=tmp_path / "index")
    engine.close()
    assert "closed" in repr(engine)
    assert "closed" in printed(engine)


def test_words_in_any_order_find_sentences_that_hold_them_together_then_those_that_hold_one(tmp_path):
    chapters = {
        "01": "# One\n\nIt burnt. Nobody had savings after the blackout. Rain fell. The dog slept. The cat woke.\n",
        "02": "# Two\n\nA blackout came over the harbour.\n\nHer savings were gone.\n\n| a |\n|---|\n| savings |\n",
    }
    for name, text in chapters.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf8")
    with armarius.open(tmp_path, watch=False, index_dir=tmp_path / "index") as engine:
        found = engine.find("savings blackout")
        assert str(found).splitlines()[0] == (
            "01.md:3 ¶1 Nobody had savings after the blackout. Rain fell. The dog slept. The cat woke."
        )
        assert {(hit.path, hit.line) for hit in found[1:]} >= {("02.md", 3), ("02.md", 5), ("02.md", 7)}
        assert found.next_cursor is None
        gone = engine.find("zorgon savings")
        assert (gone.missing, "savings" in gone[0].text) == (("zorgon",), True)
        assert str(engine.find("zorgon")) == "nowhere: zorgon"
        assert str(engine.find("“no such words”")) == "nothing found"
        assert engine.document("02.md").lines(3, 5) == "A blackout came over the harbour.\n\nHer savings were gone."


def test_an_agent_with_find_sees_answers_that_one_with_grep_does_not():
    for name in ("novel", "code-project"):
        questions = json.loads((QUESTIONS / f"{name}.json").read_text("utf-8"))["questions"]
        figures = asked(EXAMPLE.parent / name, questions)
        assert figures["find"]["answered"] >= figures["grep"]["answered"]
        assert figures["find"][2_500] >= len(questions) - 1


def test_pages_of_find_have_at_most_800_characters_and_follow_each_other(tmp_path):
    text = "\n\n".join(f"The lamp number {number} was lit over the long quay at night." for number in range(120))
    (tmp_path / "a.md").write_text(text, encoding="utf8")
    with armarius.open(tmp_path, watch=False, index_dir=tmp_path / "index") as engine:
        cursor, lines = 0, []
        while cursor is not None:
            found = engine.find("lamp quay", cursor=cursor)
            assert len(str(found)) <= 1_530
            lines += [hit.line for hit in found]
            cursor = found.next_cursor
        assert sorted(lines) == list(range(1, 240, 2))
