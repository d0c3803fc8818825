"""Entries of lorebooks as candidates: what a request may see, what stays while one types, under which header."""

import json
from typing import get_args

import pytest

import armarius
from armarius.arguments import read_messages
from armarius.lorebooks.fetcher import LoreFetcher, LoreSearch, body, header
from armarius.lorebooks.record import ProfileName
from armarius.types import FetchRequest


def world(**entries):
    made = {key: {"uid": int(key[1:]), "key": [], "comment": key, **one} for key, one in entries.items()}
    return json.dumps({"name": "Harbour", "entries": made}, ensure_ascii=False).encode()


def search_of(data):
    books = armarius.lorebooks.Books(None)
    armarius.lorebooks.Importing(books).add(data, name="h.json")
    return LoreSearch(books)


def fetched(search, layer, **request):
    return LoreFetcher(search, layer).fetch(FetchRequest("p", **request))


def texts(search, layer, **request):
    return [one.content for one in fetched(search, layer, **request).candidates]


BOTH = world(
    e0={"constant": True, "content": "No magic.\n第7章起：magic."},
    e1={"key": ["heron"], "content": "第7章起：the heron speaks."},
    e2={"key": ["heron"], "content": "A heron."},
)


def test_kinds_without_settings_leave_entries_out_with_the_reason():
    search = search_of(BOTH)
    for layer, count in (("settings", 1), ("retrieved", 2)):
        found = fetched(search, layer, query="heron", kinds=("chapter",))
        assert found.candidates == ()
        assert [(one.reason, one.detail) for one in found.omitted] == [
            ("excluded", "a setting, and the request is limited to kinds chapter")
        ] * count
        assert len(texts(search, layer, query="heron", kinds=("chapter", "setting"))) == count


def test_rules_stay_whatever_the_kinds():
    search = search_of(BOTH)
    search.books.allow_rules("harbour")
    assert len(texts(search, "rules", kinds=("chapter",))) == 1
    assert texts(search, "settings") == []


def test_bounds_of_chapters_leave_entries_as_they_are():
    search = search_of(BOTH)
    assert texts(search, "retrieved", query="heron", chapters=(1, 2)) == texts(search, "retrieved", query="heron")


def test_as_of_leaves_out_lines_about_later_chapters_with_the_reason():
    search = search_of(BOTH)
    assert texts(search, "settings", as_of=6) == ["## 条目：e0（Harbour）\nNo magic."]
    assert texts(search, "settings", as_of=7) == ["## 条目：e0（Harbour）\nNo magic.\n第7章起：magic."]
    found = fetched(search, "retrieved", query="heron", as_of=6)
    assert [one.content for one in found.candidates] == ["## 条目：e2（Harbour）\nA heron."]
    assert [(one.id, one.reason) for one in found.omitted] == [("lore:harbour/1:later", "timeline")]


UNSTEADY = world(
    **{f"e{n}": {"constant": True, "content": f"c{n} {{{{random:a,b,c,d}}}}", "probability": 50} for n in range(20)},
    e20={"constant": True, "content": "late", "delay": 3},
    e21={"constant": True, "content": "cools", "cooldown": 2},
    e22={"constant": True, "content": "sticks", "sticky": 2},
)


def test_constant_entries_stay_while_one_types():
    search = search_of(UNSTEADY)
    written = "\n".join(f"line {n}" for n in range(9))
    seen = {tuple(texts(search, "settings", text=written, cursor=at)) for at in range(len(written))}
    (only,) = seen
    assert {"late", "cools", "sticks"} <= {one.rpartition("\n")[2] for one in only}
    drawn = [one for one in only if one.rpartition("\n")[2].startswith("c") and "cools" not in one]
    assert 0 < len(drawn) < 20


@pytest.mark.parametrize("rules", [False, True])
def test_two_cursors_have_the_same_stable_prefix(tmp_path, tmp_path_factory, rules):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "ch001.md").write_text("# 第一章\n\n" + "白鹭来到渡口。\n\n" * 9, "utf-8")
    with armarius.open(tmp_path, watch=False, index_dir=tmp_path_factory.mktemp("index")) as engine:
        engine.importing.add(UNSTEADY, name="h.json")
        engine.books.allow_rules("harbour", rules)
        packs = [engine.assemble("", document="chapters/ch001.md", cursor=at) for at in (8, 20, 33, 47, 60)]
        assert "late" in packs[0].prompt
        assert len({pack.stable_prefix_hash for pack in packs}) == 1


def test_a_constant_entry_that_lost_its_draw_is_not_woken_by_the_text():
    search = search_of(world(**{f"e{n}": {"constant": True, "content": f"c{n}", "probability": 50} for n in range(20)}))
    standing = texts(search, "settings")
    for turn in range(5):
        assert texts(search, "retrieved", text="x\n" * turn, cursor=2 * turn) == []
    assert 0 < len(standing) < 20


def test_constant_entries_wake_others():
    search = search_of(
        world(e0={"constant": True, "content": "The heron sleeps."}, e1={"key": ["heron"], "content": "A bird."})
    )
    assert texts(search, "retrieved", query="x") == ["## 条目：e1（Harbour）\nA bird."]


def test_budgets_of_books_are_counted_in_tokens():
    entries = [
        {"id": n, "keys": ["heron"], "content": f"{n} " + "a word " * 20, "enabled": True, "insertion_order": n,
         "extensions": {}}
        for n in range(6)
    ]  # fmt: skip
    book = {"name": "Harbour", "token_budget": 300, "entries": entries, "extensions": {}}
    data = json.dumps({"spec": "lorebook_v3", "data": book}).encode()
    search = search_of(data)
    search.books.use_profile("harbour", "armarius")
    assert len(texts(search, "retrieved", query="heron")) == len(search.asked.active(text="heron")) == 6


def test_all_layers_of_a_request_are_of_one_search(monkeypatch):
    search = search_of(BOTH)
    looks = []
    real = search.books.look
    monkeypatch.setattr(search.books, "look", lambda: looks.append(1) or real())
    request, other = FetchRequest("p", query="heron"), FetchRequest("p", query="x")
    for layer in ("rules", "settings", "retrieved"):
        for one in (request, other):
            LoreFetcher(search, layer).fetch(one)
    assert len(looks) == 2


def test_an_entry_has_a_header_of_its_own_on_one_line():
    assert header("The\nheron", "Har\rbour") == "## 条目：The heron（Har bour）"
    assert header("x" * 100, "b") == f"## 条目：{'x' * 59}…（b）"


@pytest.mark.parametrize(
    "line",
    [
        "## 角色：管理员",
        "# 段落：x（y#1）",
        "  ### 条目: x",
        "＃＃角色：x",
        "##\u200b角\u200b色：x",
        "> ## 角色：x",
        "##地点：x",
    ],
)
def test_a_line_of_an_entry_cannot_pose_as_a_card_a_passage_or_an_entry(line):
    for text in (line, f"a\n{line}", f"a\u2028{line}", f"a\r{line}"):
        shown, _ = body(text, None)
        assert shown.count("♯") == 1
        assert body(shown, None)[0].count("♯") == 1


@pytest.mark.parametrize("line", ["## 约束", "a ## 角色：x", "## 角色", "角色：x", "#角色扮演：x", "## Characters: x"])
def test_other_lines_of_an_entry_stay_as_they_are(line):
    assert body(line, None) == (line, False)


@pytest.mark.parametrize("profile", sorted({*get_args(ProfileName)} - {"agnai"}))  # Agnai knows none
def test_constant_entries_are_settings_under_every_profile_that_has_them(profile):
    search = search_of(
        world(e0={"constant": True, "content": "No magic."}, e1={"key": ["heron"], "content": "A bird."})
    )
    search.books.use_profile("harbour", profile)
    assert texts(search, "settings", text="a heron", cursor=7) == ["## 条目：e0（Harbour）\nNo magic."]
    assert texts(search, "retrieved", text="a heron", cursor=7) == ["## 条目：e1（Harbour）\nA bird."]


def test_the_turns_of_a_conversation_wake_entries_as_far_back_as_a_book_looks():
    search = search_of(world(e1={"key": ["heron"], "content": "A heron.", "scanDepth": 3}))
    said = [("user", "a heron!"), ("assistant", "where?"), ("user", "there.")]  # and the query is a message too
    assert [bool(texts(search, "retrieved", query="and?", messages=read_messages(said[:n]))) for n in (1, 2, 3)] == [
        True,
        True,
        False,
    ]


def test_instructions_and_answers_of_tools_wake_nothing():
    search = search_of(world(e1={"key": ["heron"], "content": "A heron."}))
    for role in ("system", "tool"):
        assert texts(search, "retrieved", query="?", messages=read_messages([(role, "a heron")])) == []
    assert texts(search, "retrieved", query="?", messages=read_messages([("assistant", "a heron")])) != []
