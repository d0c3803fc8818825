"""A book imported again: an update that is shown, conflicts with both sides, decided entry by entry; `{{user}}`."""

import json

import pytest
from tests.lorebooks.test_project import BOOK
from tests.lorebooks.test_shelf import OTHER

import armarius
from armarius import UnknownId
from armarius.cli import main


@pytest.fixture
def novel(tmp_path):
    (tmp_path / "novel/chapters").mkdir(parents=True)
    (tmp_path / "novel/chapters/ch001.md").write_text("# 第一章\n\n白鹭来到渡口。\n", "utf-8")
    return tmp_path / "novel"


@pytest.fixture
def edited(novel):
    """A book with two entries changed here."""
    books = armarius.lorebooks.Books(novel)
    armarius.lorebooks.Importing(books).add(BOOK, name="h.json")
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
    report = armarius.lorebooks.Importing(edited).add(newer(), name="h.json", theirs=theirs)
    assert sorted((one.entry, one.field) for one in report.conflicts) == sorted(left)
    assert texts(edited) == {**said, "1": ("theirs 1", 100)}
    assert texts(armarius.lorebooks.Books(novel)) == texts(edited)


def test_an_entry_deleted_here_and_changed_there_comes_back_when_the_file_is_taken(edited):
    edited.update(edited["harbour"].without("1"))
    importing = armarius.lorebooks.Importing(edited)
    assert ("1", "") in {(one.entry, one.field) for one in importing.preview(newer(), name="h.json").conflicts}
    importing.add(newer(), name="h.json", theirs=["1"])
    assert texts(edited)["1"] == ("theirs 1", 100)


def test_a_choice_that_names_no_conflict_is_an_error_with_a_near_one(edited):
    importing = armarius.lorebooks.Importing(edited)
    with pytest.raises(UnknownId, match=r"differs from the file at '2.txt'; near it: 2.text"):
        importing.add(newer(), name="h.json", theirs=["2.txt"])
    with pytest.raises(UnknownId, match="the book is new"):
        importing.add(OTHER, name="o.json", theirs=["2"])
    assert texts(edited)["2"] == ("ours 2", 100)


def test_a_conflict_that_was_passed_over_can_still_be_decided_for_the_file(edited, novel):
    importing = armarius.lorebooks.Importing(edited)
    importing.add(newer(), name="h.json")
    assert importing.add(newer(), name="h.json").kind == "same"
    shown = importing.preview(newer(), name="h.json", theirs=["2"])
    assert [(one.entry, one.field, one.was, one.now) for one in shown.changes] == [("2", "text", "ours 2", "theirs 2")]
    assert texts(edited)["2"] == ("ours 2", 100)
    report = importing.add(newer(), name="h.json", theirs=["2", "0.share.order"])
    assert (report.kind, report.conflicts) == ("update", ())
    assert texts(edited) == {"0": ("ours 0", 60), "1": ("theirs 1", 100), "2": ("theirs 2", 100)}
    assert texts(armarius.lorebooks.Books(novel)) == texts(edited)
    with pytest.raises(UnknownId, match="differs from the file at '2'"):
        importing.add(newer(), name="h.json", theirs=["2"])


def test_every_conflict_decided_for_the_file_leaves_what_only_we_changed(edited):
    book = edited["harbour"]
    edited.update(book.with_entry(book.entry("1").changed(name="Ours alone")))
    armarius.lorebooks.Importing(edited).add(newer(), name="h.json", theirs=["all"])
    assert edited["harbour"].entry("1").name == "Ours alone"
    armarius.lorebooks.Importing(edited).add(newer(), name="h.json", theirs=["1"])
    assert edited["harbour"].entry("1").name == ""


def test_an_entry_deleted_here_and_one_gone_from_the_file_can_be_taken_later(edited):
    tree = json.loads(newer())
    del tree["entries"]["e2"]
    gone = json.dumps(tree).encode()
    edited.update(edited["harbour"].without("1"))
    importing = armarius.lorebooks.Importing(edited)
    importing.add(gone, name="h.json")
    assert set(texts(edited)) == {"0", "2"}
    importing.add(gone, name="h.json", theirs=["1", "2"])
    assert texts(edited) == {"0": ("ours 0", 7), "1": ("theirs 1", 100)}


def test_an_update_tells_what_is_new_changed_and_gone(edited):
    tree = json.loads(BOOK)
    tree["entries"]["e1"] |= {"content": "Little magic.", "key": ["magic"]}
    tree["entries"]["e7"] = {"uid": 7, "key": ["潮"], "content": "The tide."}
    del tree["entries"]["e0"]
    tree["scan_depth"] = 9
    edited.update(edited["harbour"].with_entry(edited["harbour"].read[0]))  # as the file has it, so that it may go
    report = armarius.lorebooks.Importing(edited).preview(json.dumps(tree).encode(), updates="harbour")
    assert [(one.kind, one.entry, one.field) for one in report.changes if one.entry] == [
        ("changed", "1", "text"), ("changed", "1", "match.keys"), ("new", "7", ""), ("gone", "0", ""),
    ]  # fmt: skip
    assert [(one.was, one.now) for one in report.changes if one.field == "text"] == [("No magic.", "Little magic.")]
    assert [one.now for one in report.changes if one.kind == "new"] == ["The tide."]
    assert armarius.lorebooks.Importing(edited).preview(OTHER, name="o.json").changes == ()


def test_the_command_line_shows_what_an_update_changes_and_no_list_of_all_entries(novel, tmp_path, capsys):
    tree = {"entries": {str(n): {"uid": n, "key": [f"k{n}"], "content": f"Text {n}."} for n in range(5)}}
    file = tmp_path / "m.json"
    file.write_text(json.dumps(tree), "utf-8")
    to = ["import", str(file), "--into", str(novel)]
    assert main([*to, "--yes"]) == 0
    assert "· 0: k0" in capsys.readouterr().out
    tree["entries"]["1"]["content"] = "x " * 200 + "much magic."
    tree["entries"]["2"]["key"] = ["k2", "two"]
    tree["entries"]["9"] = {"uid": 9, "key": ["k9"], "content": "Another."}
    del tree["entries"]["3"]
    file.write_text(json.dumps(tree), "utf-8")
    assert main(to) == 0
    out = capsys.readouterr().out.splitlines()
    assert "  5 entries now: 1 new, 2 changed, 1 gone, 2 unchanged" in out
    assert "  ~ 2.match.keys: was k2, now k2, two" in out
    assert "  + 9: 'Another.'" in out
    assert "  - 3: 'Text 3.'" in out
    assert not any("k0" in line for line in out)
    assert main([*to, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["files"][0]["changes"]
    assert [(row["kind"], row["entry"]) for row in rows] == [
        ("changed", "1"), ("changed", "2"), ("new", "9"), ("gone", "3"),
    ]  # fmt: skip
    assert rows[1]["now"] == [{"text": "k2", "kind": "plain"}, {"text": "two", "kind": "plain"}]


def test_long_texts_are_shown_where_they_begin_to_differ(novel, tmp_path, capsys):
    file = tmp_path / "m.json"
    for magic in ("no", "little"):
        text = "The tide rises twice a day. " * 20 + f"There is {magic} magic."
        file.write_text(json.dumps({"name": "M", "entries": {"0": {"uid": 0, "key": ["k"], "content": text}}}), "utf-8")
        main(["import", str(file), "--into", str(novel), "--yes"])
    out = capsys.readouterr().out
    assert "no magic.', now" in out
    assert "little magic.'" in out


def test_the_command_line_shows_both_sides_and_takes_the_files_where_told(edited, novel, tmp_path, capsys):
    (tmp_path / "h.json").write_bytes(newer())
    to = ["import", str(tmp_path / "h.json"), "--into", str(novel)]
    assert main(to) == 0
    out = capsys.readouterr().out
    assert "update: book 'harbour'" in out
    assert "here 'ours 0'" in out
    assert "file 'theirs 0'" in out
    assert main([*to, "--theirs", "0", "--yes"]) == 0
    assert texts(armarius.lorebooks.Books(novel))["0"] == ("theirs 0", 60)
    assert texts(armarius.lorebooks.Books(novel))["2"] == ("ours 2", 100)


def test_the_command_line_says_which_book_a_file_is_a_newer_state_of(edited, novel, tmp_path, capsys):
    (tmp_path / "o.json").write_bytes(OTHER)
    to = ["import", str(tmp_path / "o.json"), "--into", str(novel), "--yes"]
    assert main([*to, "--updates", "harbuor"]) == 2
    assert "near it: harbour" in capsys.readouterr().err
    assert main([*to, "--updates", "harbour"]) == 0
    assert list(armarius.lorebooks.Books(novel)) == ["harbour"]
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
