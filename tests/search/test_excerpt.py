"""What a host is given to read of a hit."""

from armarius.documents.document import make_document
from armarius.search.hits import excerpt
from armarius.types import Evidence, Hit

LINES = [f"“第{number}句话，说得不长。”" for number in range(100)]
TALK = make_document("chapters/ch001.md", ("# 第一章\n\n" + "\n\n".join(LINES)).encode())


def hit(*spoken, path="chapters/ch001.md", section=""):
    spans = [(TALK.text.index(LINES[number]), TALK.text.index(LINES[number]) + 5) for number in spoken]
    return Hit(
        path,
        None,
        (section,) if section else (),
        1.0,
        tuple(Evidence("fulltext", "words", path, span) for span in spans),
    )


def test_a_line_of_dialogue_comes_with_what_is_said_next_and_before():
    found = excerpt(TALK, hit(50))
    assert all(LINES[number] in found for number in (49, 50, 51, 52))
    assert 400 <= len(found.replace("\n", "")) < 440
    assert "……" not in found


def test_places_far_apart_are_not_passed_off_as_one():
    found = excerpt(TALK, hit(10, 80))
    assert found.index(LINES[10]) < found.index("\n\n……\n\n") < found.index(LINES[80])
    assert found.count("……") == 1
    assert LINES[45] not in found


def test_a_hit_without_a_place_is_shown_from_its_beginning():
    found = excerpt(TALK, Hit("chapters/ch001.md", None, (), 1.0, (Evidence("chapter", "第1章"),)))
    assert found.startswith("# 第一章\n\n“第0句话")
    assert len(found) >= 400


def test_a_short_document_is_shown_whole_and_an_empty_one_is_nothing():
    short = make_document("note.md", "一句。\n\n又一句。".encode())
    assert excerpt(short, Hit("note.md", None, (), 1.0, ())) == "一句。\n\n又一句。"
    assert excerpt(make_document("empty.md", b""), Hit("empty.md", None, (), 1.0, ())) == ""


def test_a_section_is_neither_grown_nor_cut():
    people = make_document("spec/people.md", "## 甲\n\n短。\n\n## 乙\n\n也短。".encode())
    found = excerpt(people, Hit("spec/people.md", None, ("甲",), 1.0, ()))
    assert found.startswith("## 甲")
    assert "乙" not in found


def test_a_paragraph_is_shown_with_what_stands_around_it():
    paragraph = TALK.paragraphs[2]
    hit = Hit("chapters/ch001.md", (paragraph.start, paragraph.end), ("Far away",), 1.0, paragraph=2)
    found = excerpt(TALK, hit)
    assert TALK.text[paragraph.start : paragraph.end] in found
    assert len(found) > paragraph.end - paragraph.start
