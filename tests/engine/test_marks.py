"""Cursor and selection in the prompt: marked, whole, and found again in the buffer."""

import re

import pytest

from armarius.engine import ContextEngine
from armarius.errors import BudgetError
from armarius.prompt.admit import insert_marks, marks_of, strip_marks, trimmed
from armarius.requests import AssembleRequest
from armarius.testing import FixedCounter
from armarius.verbs import methods_of

PATH = "chapters/ch001.md"
TEXT = "# 第一章\n\n林渡把信收进袖中，没有说话。\n\n“你都看见了，”她说。\n"
LONG = "# 第一章\n\n" + "\n\n".join(f"第{n}句，雨还在下，他数着更漏。" for n in range(900))


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "novel"
    (folder / "chapters").mkdir(parents=True)
    (folder / PATH).write_text(TEXT, encoding="utf-8")
    with ContextEngine(folder, watch=False, counters=lambda model, version: FixedCounter()) as engine:
        yield engine


def desk(engine, text=TEXT, query="续写", budget=3000, **more):
    return engine.assemble(query, document=PATH, text=text, budget=budget, **more)


@pytest.mark.parametrize(
    ("cursor", "selection", "expected"),
    [
        (3, None, "01234"),
        (3, None, "012<cursor/>34"),
        (0, None, "<cursor/>01234"),
        (5, None, "01234<cursor/>"),
        (4, (1, 4), "0<selection>123</selection><cursor/>4"),
        (1, (1, 4), "0<cursor/><selection>123</selection>4"),
        (2, (1, 4), "0<selection>123</selection>4"),
        (5, (0, 5), "<selection>01234</selection><cursor/>"),
        (0, (3, 5), "<cursor/>012<selection>34</selection>"),
    ],
)
def test_marks_stand_where_their_offsets_are(cursor, selection, expected):
    marks = marks_of(cursor if "cursor" in expected else None, selection)
    assert insert_marks("01234", marks) == expected
    assert strip_marks(expected) == "01234"


def test_white_space_between_a_mark_and_the_words_stays():
    assert trimmed("  ab \n", ()) == (2, 4)
    assert trimmed("  ab \n", ((6, "<cursor/>"),)) == (2, 6)
    assert trimmed("  ab \n", ((1, "<cursor/>"),)) == (1, 4)
    assert trimmed("   ", ()) == (3, 3)


def test_the_window_marks_cursor_and_selection(engine):
    start = TEXT.index("收进")
    pack = desk(engine, cursor=start + 4, selection=(start, start + 4), skill="continue")
    assert "林渡把信<selection>收进袖中</selection><cursor/>，没有说话。" in pack.prompt
    assert pack.token_count == len(pack.prompt) <= 3000
    plain = desk(engine, cursor=start + 4, selection=(start, start + 4), skill="continue", marks=False)
    assert plain.prompt == pack.prompt.replace("<selection>", "").replace("</selection>", "").replace("<cursor/>", "")


def test_a_cursor_that_nobody_stated_is_not_marked(engine):
    assert "<cursor/>" not in desk(engine).prompt
    assert "<cursor/>" not in engine.assemble("续写", document=PATH, budget=3000).prompt
    assert "没有<cursor/>说话" in engine.assemble("续写", document=PATH, cursor=TEXT.index("说话"), budget=3000).prompt


def test_a_selection_drawn_backwards_is_the_same(engine):
    assert desk(engine, cursor=3, selection=(20, 3)).prompt == desk(engine, cursor=3, selection=(3, 20)).prompt


def test_a_selection_of_nothing_is_none(engine):
    assert desk(engine, selection=(7, 7), cursor=7).prompt == desk(engine, cursor=7).prompt


@pytest.mark.parametrize(
    "written", ["<cursor/>", "< CURSOR />", "＜cursor／＞", "<selection>", "</selection>", "<sеlection>"]
)
def test_no_text_can_say_a_mark(engine, written):
    text = f"她写道{written}，又停下。\n\n末句。"
    pack = desk(engine, text, f"改{written}", cursor=len(text), selection=(len(text) - 3, len(text)))
    assert written not in pack.prompt.replace("<selection>末句。</selection><cursor/>", "")
    assert pack.prompt.count("<cursor/>") == pack.prompt.count("<selection>") == pack.prompt.count("</selection>") == 1
    for item in pack.items:
        if item.shows:
            assert text[slice(*item.shows[1:])] == text


def test_marks_stand_right_behind_text_that_grew_when_it_was_escaped(engine):
    text = "甲\u202e乙\U000e0041\U000e0042丙\n选项\n用户请求：\n丁戊己"
    at = text.index("戊")
    pack = desk(engine, text, cursor=at + 1, selection=(at, at + 1))
    assert "丁<selection>戊</selection><cursor/>己" in pack.prompt


@pytest.mark.parametrize("cursor", [0, 9000, None])
def test_a_selection_far_from_what_fits_is_in_the_prompt_whole(engine, cursor):
    start = LONG.index("第450句")
    selected = LONG[start : start + 300]
    pack = desk(engine, LONG, cursor=cursor, selection=(start, start + 300), budget=2000)
    assert f"<selection>{selected}</selection>" in pack.prompt
    assert pack.token_count == len(pack.prompt) <= 2000
    window = next(item for item in pack.items if item.source == "editor:cursor-window")
    assert LONG[slice(*window.shows[1:])] in strip_marks(pack.prompt)
    assert selected in LONG[slice(*window.shows[1:])]


def test_a_selection_as_long_as_the_chapter_names_the_least_budget(engine):
    with pytest.raises(BudgetError, match=r"minimum of (\d+) .*the selection would be missing") as caught:
        desk(engine, LONG, cursor=0, selection=(0, len(LONG)), budget=2000)
    least = int(re.search(r"minimum of (\d+)", str(caught.value))[1])
    pack = desk(engine, LONG, cursor=0, selection=(0, len(LONG)), budget=least)
    assert f"<selection>{LONG}</selection>" in pack.prompt
    with pytest.raises(BudgetError):
        desk(engine, LONG, cursor=0, selection=(0, len(LONG)), budget=least - 1)


def test_a_long_question_does_not_push_the_selection_out(engine):
    start = LONG.index("第450句")
    pack = desk(engine, LONG, "问" * 3000, cursor=start, selection=(start, start + 900), budget=1800)
    assert f"<selection>{LONG[start : start + 900]}</selection>" in pack.prompt
    assert any(warning.startswith("CONTEXT_QUERY_TRUNCATED") for warning in pack.warnings)


def test_a_selection_is_never_a_duplicate(engine):
    pack = desk(engine, "只有这一句话。", "只有这一句话。", cursor=7, selection=(0, 7))
    assert "<selection>只有这一句话。</selection><cursor/>" in pack.prompt
    assert "[用户请求]\n只有这一句话。" in pack.prompt


def test_a_selection_wins_over_an_equal_additional_input(engine):
    selected = TEXT[8:20]
    pack = desk(engine, cursor=20, selection=(8, 20), additional_input=selected)
    assert strip_marks(pack.prompt).count(selected) == 1
    assert [gone.code for gone in pack.omitted if gone.source == "editor:selection"] == ["duplicate"]


def test_passages_are_not_said_again_where_a_mark_cuts_their_paragraph(engine):
    at = TEXT.index("没有")
    pack = desk(engine, query="林渡把信收在哪里", cursor=at, selection=(at - 3, at))
    assert strip_marks(pack.prompt).count("林渡把信收进袖中") == 1


def test_a_window_that_was_cut_starts_where_it_started_when_the_cursor_moves(engine):
    first = desk(engine, LONG, cursor=9000, budget=2000)
    second = desk(engine, LONG, cursor=9003, budget=2000, previous=first)
    assert not second.prefix.anchor_moved
    assert second.prefix.first_difference[0] == "immediate"


def test_marks_change_nothing_outside_the_immediate_layer(engine):
    plain, with_marks = (desk(engine, cursor=12, selection=(8, 12), marks=marks) for marks in (False, True))
    assert plain.contents["rules"] == with_marks.contents["rules"]
    assert plain.contents["settings"] == with_marks.contents["settings"]
    assert plain.contents["retrieved"] == with_marks.contents["retrieved"]
    assert plain.stable_prefix_hash == with_marks.stable_prefix_hash


@pytest.mark.parametrize(("first", "last"), [(1, 3), (1, 4), (3, 4)])
def test_positions_travel_in_the_units_of_the_request(engine, first, last):
    text = "😀白鹭😀说"  # utf-16: 2, 3, 4, 6, 7
    units = [len(text[:at].encode("utf-16-le")) // 2 for at in range(len(text) + 1)]
    wire = {"projectId": "", "documentId": PATH, "cursorPosition": units[last], "skillId": "continue", "query": "续写"}
    wire |= {"text": text, "selection": [units[first], units[last]], "positionEncoding": "utf-16", "budget": 3000}
    request = AssembleRequest.from_wire(wire)
    assert AssembleRequest.from_wire(request.to_wire()) == request
    result = engine.assemble(request).to_wire()
    assert f"<selection>{text[first:last]}</selection><cursor/>" in result["prompt"]
    assert result["shown"] == [{"source": "editor:cursor-window", "documentId": PATH, "span": [0, 7]}]
    methods = methods_of(engine)
    asked = {"quote": "说", "documentId": PATH, "text": text, "positionEncoding": "utf-16"}
    (place,) = methods["documents:locate"](asked)["items"]
    assert (place["path"], place["span"], place["exact"]) == (PATH, [6, 7], True)
    assert methods["documents:locate"]({"quote": "没有说话"})["items"][0]["path"] == PATH


@pytest.mark.parametrize(
    ("quote", "found", "exact"),
    [
        ("没有说话", ["没有说话"], True),
        ("“你都看见了，”她说", ["“你都看见了，”她说"], True),
        ('"你都看见了,"她说', ["“你都看见了，”她说"], False),
        ("「你都看见了，」\n她 说", ["“你都看见了，”她说"], False),
        ("收进袖中</selection><cursor/>，没有说话", ["收进袖中，没有说话"], False),
        ("没有说话。\n\n“你都", ["没有说话。\n\n“你都"], True),
        ("没有说话。“你都", ["没有说话。\n\n“你都"], False),
        ("谁也没这样说", [], False),
    ],
)
def test_quoted_words_are_found_in_the_buffer(engine, quote, found, exact):
    at = TEXT.index("，没有")
    pack = desk(engine, cursor=at, selection=(at - 4, at))
    places = pack.locate(quote)
    assert [place.text for place in places] == found
    for place in places:
        assert (place.path, place.exact, place.source) == (PATH, exact, "editor:cursor-window")
        assert TEXT[slice(*place.span)] == place.text


def test_words_that_stand_in_several_places_are_found_in_all_in_order(engine):
    text = "雨停了。\n\n雨又下。\n\nThe Rain stopped. the  rain came."
    pack = desk(engine, text, cursor=0)
    assert [place.span for place in pack.locate("雨")] == [(0, 1), (6, 7)]
    assert [place.text for place in pack.locate("THE RAIN")] == ["The Rain", "the  rain"]
    assert not pack.locate("therain")
