import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.codex import draft as links
from armarius.codex import profile_fields as fields
from armarius.codex.codex_json import profiles_of_data
from armarius.codex.draft import pack, unpack
from armarius.codex.profile_fields import split_names
from armarius.codex.profiles import parse_profiles

DATA = json.loads((Path(__file__).parents[1] / "cases" / "profiles_of_data.json").read_text(encoding="utf-8"))
ROWS = json.loads((Path(__file__).parents[1] / "cases" / "profiles.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["claim"])
def test_profile_row(row):
    drafts = [one for one in parse_profiles(row["path"], row["text"], row["kind"]).drafts if one.standing != "label"]
    assert [draft.name for draft in drafts] == [entity["name"] for entity in row["entities"]]
    for draft, expected in zip(drafts, row["entities"], strict=True):
        for field, value in expected.items():
            actual = getattr(draft, field)
            if field == "facts":
                actual = [[fact.text, fact.since, fact.until] for fact in actual]
            assert actual == value, field


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["claim"])
def test_what_an_index_keeps_of_a_page_is_what_was_read(row):
    said = parse_profiles(row["path"], row["text"], row["kind"])
    assert unpack(pack(said)) == said


@pytest.mark.parametrize("row", DATA, ids=lambda row: row["claim"])
def test_settings_in_json_and_yaml_row(row):
    drafts = profiles_of_data(row["path"], row["text"]).drafts
    assert [draft.name for draft in drafts] == [entity["name"] for entity in row["entities"]]
    for draft, expected in zip(drafts, row["entities"], strict=True):
        assert {field: getattr(draft, field) for field in expected} == expected


def test_origin_is_the_heading_and_its_line():
    (draft,) = parse_profiles("人物.md", "# 人物\n\n前言。\n\n## 林小雨（小雨）\n- 年龄：16\n", "setting").drafts
    assert (draft.origin.path, draft.origin.section, draft.origin.line) == ("人物.md", "林小雨（小雨）", 5)


def test_line_numbers_survive_front_matter_and_comments():
    text = "---\ntitle: 表\n---\n<!-- a\nb -->\n## 林默\n- 年龄：26\n"
    assert parse_profiles("人物.md", text, "setting").drafts[0].origin.line == 6


KINDS = st.sampled_from(["setting", "outline", "state", "note"])
LINES = st.sampled_from(
    [
        "# 人物",
        "# ",
        "## ##",
        "## 林默",
        "### 外貌",
        "- 别名：阿默、",
        "- 类型：人物",
        "  - 项",
        "| a | b |",
        "|--|--|",
        "```",
        "---",
        "<!--",
        "：",
        "**x:** y",
        "第3章起",
        "【甲】",
        "",
        "文。",
    ]
)


@given(st.lists(LINES, max_size=30), st.sampled_from(["人物.md", "x.md", "spec/y.txt"]), KINDS)
def test_any_arrangement_of_lines_is_read_without_error(lines, path, kind):
    for draft in parse_profiles(path, "\n".join(lines), kind).drafts:
        assert draft.name.strip()
        assert all(alias.strip() for alias in draft.aliases)


@pytest.mark.parametrize("line", ["# ", "#   ", "# #", "## ##", "#\t#", "#　#", "# **"])
def test_a_heading_without_a_title_opens_no_section_and_ends_no_reading(line):
    (draft,) = parse_profiles("人物.md", f"# 人物\n\n{line}\n\n## 小雨\n{line}\n- 年龄：16\n", "setting").drafts
    assert (draft.name, draft.attributes) == ("小雨", {"年龄": "16"})


def test_quotation_marks_are_taken_off_what_may_be_a_name_alone():
    assert fields.strip_quotes("“" * 100 + "小雨") == "小雨"
    assert fields.strip_quotes("“" * 2_000) == "“" * 2_000


@given(st.text(max_size=400), KINDS)
def test_any_text_is_read_without_error(text, kind):
    parse_profiles("characters/x.md", text, kind)


def test_han_names_are_parted_by_spaces_and_names_of_other_scripts_keep_them():
    assert split_names("小雨 雨丫头") == ["小雨", "雨丫头"]
    assert split_names("김 철수, Mei Lin") == ["김 철수", "Mei Lin"]


@pytest.mark.parametrize("pattern", [fields._LINK, links._WIKI_LINK], ids=["shown", "read"])
def test_no_part_of_a_link_is_looked_for_behind_the_next_opening_bracket(pattern):
    """Else each of a million brackets would look through those behind it; no count of calls shows that."""
    runs = re.findall(r"\[\^((?:\\.|[^\]])+)\]", pattern.pattern)
    assert runs
    assert all("[" in run or "(" in run for run in runs), runs


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[[林默]]的[[信#尾|长信]]", "林默的长信"),
        ("[书](https://a.example/x_(y)_(z)) 在", "书_(z)) 在"),
        ("[一 [书](u)", "[一 书"),
        ('![图](a.png "说（明）")![[图]]后', "后"),
        ("[[" * 3 + "林默]]", "[[[[林默"),
    ],
)
def test_links_are_what_they_show(text, shown):
    assert fields.clean(text) == shown
