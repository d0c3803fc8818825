"""A book imported again: an update that is shown, conflicts with both sides, decided entry by entry; `{{user}}`."""

import json

import pytest
from tests.books.test_project import BOOK
from tests.books.test_shelf import OTHER

import armarius
from armarius import UnknownId
from armarius.cli import main
from armarius.errors import ConfigError


@pytest.fixture
def novel(tmp_path):
    (tmp_path / "novel/chapters").mkdir(parents=True)
    (tmp_path / "novel/chapters/ch001.md").write_text("# 第一章\n\n白鹭来到渡口。\n", "utf-8")
    return tmp_path / "novel"


@pytest.fixture
def edited(novel):
    """A book with two entries changed here."""
    books = armarius.Books(novel)
    armarius.Importing(books).add(BOOK, name="h.json")
    book = books["harbour"]
    book = book.with_entry(book.entry("0").changed(text="ours 0", share__order=7))
    books.update(book.with_entry(book.entry("2").changed(text="ours 2")))
    return books


def newer():
    tree = json.loads(BOOK)
    for entry in tree["entries"].values():
        entry["content"] = f"theirs {entry['uid']}"
    tree["entries"]["e0"]["order"] = 60
    return json.dumps(tree).encode()


def texts(books):
    return {entry.id: (entry.text, entry.share.order) for entry in books["harbour"]}


@pytest.mark.parametrize(
    ("theirs", "left", "said"),
    [
        ((), [("0", "text"), ("0", "share.order"), ("2", "text")], {"0": ("ours 0", 7), "2": ("ours 2", 100)}),
        (("0",), [("2", "text")], {"0": ("theirs 0", 60), "2": ("ours 2", 100)}),
        (("0.text",), [("0", "share.order"), ("2", "text")], {"0": ("theirs 0", 7), "2": ("ours 2", 100)}),
        (("all",), [], {"0": ("theirs 0", 60), "2": ("theirs 2", 100)}),
    ],
)
def test_conflicts_are_decided_entry_by_entry(edited, novel, theirs, left, said):
    report = armarius.Importing(edited).add(newer(), name="h.json", theirs=theirs)
    assert sorted((one.entry, one.field) for one in report.conflicts) == sorted(left)
    assert texts(edited) == {**said, "1": ("theirs 1", 100)}
    assert texts(armarius.Books(novel)) == texts(edited)


def test_an_entry_deleted_here_and_changed_there_comes_back_when_the_file_is_taken(edited):
    edited.update(edited["harbour"].without("1"))
    importing = armarius.Importing(edited)
    assert ("1", "") in {(one.entry, one.field) for one in importing.preview(newer(), name="h.json").conflicts}
    importing.add(newer(), name="h.json", theirs=["1"])
    assert texts(edited)["1"] == ("theirs 1", 100)


def test_a_choice_that_names_no_conflict_is_an_error_with_a_near_one(edited):
    importing = armarius.Importing(edited)
    with pytest.raises(UnknownId, match=r"no conflict '2.txt'; near it: 2.text"):
        importing.add(newer(), name="h.json", theirs=["2.txt"])
    with pytest.raises(UnknownId, match="the book is new"):
        importing.add(OTHER, name="o.json", theirs=["2"])
    assert texts(edited)["2"] == ("ours 2", 100)


def test_the_command_line_shows_both_sides_and_takes_the_files_where_told(edited, novel, tmp_path, capsys):
    (tmp_path / "h.json").write_bytes(newer())
    to = ["import", str(tmp_path / "h.json"), "--into", str(novel)]
    assert main(to) == 0
    out = capsys.readouterr().out
    assert "update: book 'harbour'" in out
    assert "here 'ours 0'" in out
    assert "file 'theirs 0'" in out
    assert main([*to, "--theirs", "0", "--yes"]) == 0
    assert texts(armarius.Books(novel))["0"] == ("theirs 0", 60)
    assert texts(armarius.Books(novel))["2"] == ("ours 2", 100)


def test_the_command_line_says_which_book_a_file_is_a_newer_state_of(edited, novel, tmp_path, capsys):
    (tmp_path / "o.json").write_bytes(OTHER)
    to = ["import", str(tmp_path / "o.json"), "--into", str(novel), "--yes"]
    assert main([*to, "--updates", "harbuor"]) == 2
    assert "near it: harbour" in capsys.readouterr().err
    assert main([*to, "--updates", "harbour"]) == 0
    assert list(armarius.Books(novel)) == ["harbour"]
    assert main([*to, str(tmp_path / "h.json"), "--updates", "harbour"]) != 0


PERSONA = json.dumps({"name": "Harbour", "entries": {
    "0": {"uid": 0, "key": ["白鹭"], "content": "{{user}}认识白鹭。", "preventRecursion": True},
    "1": {"uid": 1, "key": ["{{user}}"], "content": "the writer"}}}).encode()  # fmt: skip


@pytest.mark.parametrize(
    ("project", "mine", "name"),
    [("", "", "User"), ("阿宁", "", "阿宁"), ("", "老陈", "老陈"), ("阿宁", "老陈", "阿宁")],
)
def test_the_user_of_a_prompt_is_who_the_settings_name(novel, tmp_path, monkeypatch, project, mine, name):
    monkeypatch.setenv("ARMARIUS_CONFIG", str(tmp_path / "config"))
    (tmp_path / "config").mkdir()
    for path, user in ((novel / "armarius.toml", project), (tmp_path / "config/config.toml", mine)):
        path.write_text(f'[books]\nuser = "{user}"\n' if user else "", "utf-8")
    with armarius.open(novel, watch=False, index_dir=tmp_path / "index") as engine:
        engine.importing.add(PERSONA, name="p.json")
        assert f"{name}认识白鹭。" in engine.assemble("白鹭", document="chapters/ch001.md").prompt
        woken = {one.entry.id for one in engine.active(text="白鹭和阿宁")}
        assert woken == ({"0", "1"} if "阿宁" in (project or mine) else {"0"})
        assert {one.entry.id for one in engine.active(text="老李来了", user="老李")} == {"1"}


@pytest.mark.parametrize(
    ("text", "what"),
    [("user = 3", "books.user must be a name"), ('user = "a\\nb"', "on one line"), ("usr = 'a'", "near it: user")],
)
def test_a_wrong_user_is_an_error_that_names_file_and_key(novel, tmp_path, text, what):
    (novel / "armarius.toml").write_text(f"[books]\n{text}\n", "utf-8")
    with pytest.raises(ConfigError, match=f"armarius.toml.*{what}"):
        armarius.open(novel, watch=False, index_dir=tmp_path / "index")
