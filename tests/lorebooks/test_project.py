"""Books in a project: imported, kept, changed, imported again, active in prompts, given back."""

import json
from types import SimpleNamespace

import pytest
from tests.lorebooks.samples import CARD, FILES, NATIVE, text

import armarius
from armarius import ContractError, UnknownId
from armarius.cli import main
from armarius.errors import BookError
from armarius.lorebooks import activation
from armarius.lorebooks.active.compiled import CompiledBooks


def harbour(**entries):
    return text({"name": "Harbour", "entries": {key: {"uid": int(key[1:]), **entry} for key, entry in entries.items()}})


BOOK = harbour(
    e0={"key": ["白鹭"], "content": "白鹭怕深水。", "order": 50},
    e1={"key": [], "constant": True, "content": "No magic."},
    e2={"key": ["灯塔"], "keysecondary": ["夜"], "selective": True, "content": "灯塔夜里才点。"},
)


@pytest.fixture
def novel(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "ch001.md").write_text("# 第一章\n\n白鹭来到渡口。\n\n远处是灯塔。\n", "utf-8")
    return tmp_path


@pytest.fixture
def engine(novel, tmp_path_factory):
    with armarius.open(novel, watch=False, index_dir=tmp_path_factory.mktemp("index")) as engine:
        yield engine


def test_a_preview_writes_nothing(engine, novel):
    report = engine.importing.preview(BOOK, name="h.json")
    assert (report.kind, report.kept, len(report.entries)) == ("new", False, 3)
    assert not (novel / ".armarius" / "books").exists()
    assert len(engine.books) == 0


def test_the_original_is_kept_byte_for_byte_and_given_back(engine, novel):
    engine.importing.add(FILES["png-both"], name="card.png")
    assert (novel / ".armarius/books/harbour/original").read_bytes() == FILES["png-both"]
    assert engine.books["harbour"].export() == FILES["png-both"]


def test_a_book_is_found_by_id_and_by_name_and_a_wrong_name_has_a_near_one(engine):
    engine.importing.add(BOOK, name="h.json")
    assert engine.books["harbour"] is engine.books["Harbour"]
    with pytest.raises(UnknownId, match="harbour"):
        engine.books["harbor"]


def test_the_same_file_again_is_no_second_book(engine):
    engine.importing.add(BOOK, name="h.json")
    assert engine.importing.add(BOOK, name="h.json").kind == "same"
    assert list(engine.books) == ["harbour"]


def test_another_book_of_the_same_name_is_a_second_one(engine):
    engine.importing.add(BOOK, name="h.json")
    engine.importing.add(FILES["agnai-memory-book"], name="memory.json")
    assert list(engine.books) == ["harbour", "harbour-2"]


def test_an_edit_outlives_the_engine_and_the_next_import(engine, novel):
    engine.importing.add(BOOK, name="h.json")
    book = engine.books["harbour"]
    engine.books.update(
        book.with_entry(book.entry("0").changed(text="ours", match__keys=(armarius.lorebooks.Key("鹭"),)))
    )
    again = armarius.lorebooks.Books(novel)["harbour"]
    assert (again.entry("0").text, again.entry("0").match.keys) == ("ours", (armarius.lorebooks.Key("鹭"),))
    newer = json.loads(BOOK)
    newer["entries"]["e1"]["content"] = "Little magic."
    report = engine.importing.add(text(newer), name="h.json")
    assert (report.kind, report.conflicts) == ("update", ())
    assert [entry.text for entry in engine.books["harbour"]][:2] == ["ours", "Little magic."]


def test_a_field_changed_on_both_sides_is_a_conflict_and_ours_stays(engine):
    engine.importing.add(BOOK, name="h.json")
    book = engine.books["harbour"]
    engine.books.update(book.with_entry(book.entry("0").changed(text="ours")))
    newer = json.loads(BOOK)
    newer["entries"]["e0"]["content"] = "theirs"
    (conflict,) = engine.importing.add(text(newer), name="h.json").conflicts
    assert conflict == ("0", "text", "白鹭怕深水。", "ours", "theirs")
    assert engine.books["harbour"].entry("0").text == "ours"


def test_deleted_and_new_entries_outlive_the_engine(engine, novel):
    engine.importing.add(BOOK, name="h.json")
    new = armarius.lorebooks.Entry(
        "mine", name="Mine", text="t", match=armarius.lorebooks.Matching(keys=(armarius.lorebooks.Key("x"),))
    )
    engine.books.update(engine.books["harbour"].without("1").with_entry(new))
    assert {entry.id for entry in armarius.lorebooks.Books(novel)["harbour"]} == {"0", "2", "mine"}


def test_a_broken_book_costs_that_book_and_is_told(engine, novel):
    engine.importing.add(BOOK, name="h.json")
    engine.importing.add(FILES["agnai-memory-book"], name="memory.json")
    (novel / ".armarius/books/harbour/book.json").write_text("{", "utf-8")
    assert list(engine.books) == ["harbour-2"]
    pack = engine.assemble("白鹭")
    assert any(str(one).startswith("LORE_UNAVAILABLE: harbour") for one in pack.warnings)


def test_constant_entries_are_settings_and_woken_ones_are_retrieved(engine):
    engine.importing.add(BOOK, name="h.json")
    pack = engine.assemble("白鹭在哪", document="chapters/ch001.md")
    sources = {item.source: item for item in pack.items if item.source.startswith("lore:")}
    assert set(sources) == {"lore:constant:harbour/1", "lore:active:harbour/0"}
    assert sources["lore:constant:harbour/1"].layer == "settings"
    assert sources["lore:active:harbour/0"].evidence[0].detail == "key 白鹭"
    assert "[世界书 — 触发]\n## 条目：0（Harbour）\n白鹭怕深水。" in pack.prompt


def test_what_a_key_found_and_a_rule_kept_out_is_in_the_record(engine):
    engine.importing.add(BOOK, name="h.json")
    gone = {one.source: one for one in engine.assemble("灯塔", document="chapters/ch001.md").omitted}
    assert gone["lore:active:harbour/2"].detail == "secondary key 夜 missing"
    assert gone["lore:active:harbour/2"].code == "no match"


def test_constant_entries_are_rules_only_by_the_callers_word(engine, novel):
    engine.importing.add(BOOK, name="h.json")
    card = novel / ".armarius/books/harbour/book.json"
    card.write_text(card.read_text("utf-8").replace('"version": 1', '"version": 1, "rules": true'), "utf-8")
    assert all(item.layer != "rules" for item in engine.assemble("x").items)
    engine.books.allow_rules("harbour")
    assert [item.source for item in engine.assemble("x").items if item.layer == "rules"] == ["lore:rule:harbour/1"]
    engine.books.allow_rules("harbour", False)
    assert all(item.layer != "rules" for item in engine.assemble("x").items)


def test_constant_entries_are_left_out_last_of_the_settings(engine):
    engine.importing.add(BOOK, name="h.json")
    for number in range(40):
        engine.memories.create(f"a fact of some length number {number} " * 6, confidence=1.0)
    pack = engine.assemble("x", budget=900)
    assert any(one.source.startswith("memory:") for one in pack.omitted)
    assert any(item.source == "lore:constant:harbour/1" for item in pack.items)


def test_the_same_request_gives_the_same_bytes_with_draws_in_it(engine):
    engine.importing.add(
        harbour(**{f"e{n}": {"key": ["白鹭"], "content": f"c{n}", "probability": 50} for n in range(20)})
    )
    first = engine.assemble("白鹭").prompt
    assert engine.assemble("白鹭").prompt == first
    assert 0 < first.count("\nc") < 20


def test_the_keys_of_a_book_are_made_ready_once_for_questions_and_prompts(engine, monkeypatch):
    made = []

    class Counted(CompiledBooks):
        def __init__(self, books, *rest):
            made.append([book.id for book in books])
            super().__init__(books, *rest)

    monkeypatch.setattr(activation, "CompiledBooks", Counted)
    engine.importing.add(harbour(e0={"key": ["boat"], "content": "It leaks."}))
    assert len(engine.active(text="the boat").active) == 1
    for question in ("where is the boat", "the boat again"):
        assert "It leaks." in engine.assemble(question, budget=4000).prompt
    assert made == [["harbour"]]


def test_active_answers_with_book_entry_place_and_reason(engine):
    engine.importing.add(BOOK, name="h.json")
    found = engine.active(messages=[{"role": "user", "content": "白鹭 灯塔"}], settings={"world_info_depth": 1})
    assert [(one.book, one.entry.id, one.place.slot, one.reason) for one in found] == [
        ("harbour", "1", "before", "always"),
        ("harbour", "0", "before", "key 白鹭"),
    ]
    assert [(left.entry.id, left.reason) for left in found.left] == [("2", "secondary key 夜 missing")]


def test_messages_of_a_chat_library_wake_entries(engine):
    engine.importing.add(BOOK, name="h.json")
    chat = [SimpleNamespace(type="human", content=[{"type": "text", "text": "白鹭 灯塔"}]), ("assistant", "x")]
    assert engine.active(messages=chat).to_wire() == engine.active(messages=["白鹭 灯塔", "x"]).to_wire()
    with pytest.raises(ContractError, match=r"^messages\[1\]: expected \{role, content\}, got 3$"):
        engine.active(messages=["x", 3])


def test_state_is_replayed_from_the_messages_or_handed_over(engine):
    engine.importing.add(harbour(e0={"key": ["boat"], "content": "c", "sticky": 2}))
    chat = [{"role": "user", "content": "a boat"}, {"role": "user", "content": "x"}, {"role": "user", "content": "y"}]
    replayed = engine.active(messages=[chat[0], chat[1]], settings={"world_info_depth": 1})
    assert [one.reason for one in replayed] == ["sticky, 1 turns left"]
    state = engine.active(messages=chat[:1]).state
    assert armarius.lorebooks.State.from_wire(json.loads(json.dumps(state.to_wire()))) == state
    handed = engine.active(messages=chat[:2], state=state, settings={"world_info_depth": 1})
    assert [one.entry.id for one in handed] == ["0"]
    assert len(engine.active(messages=chat, settings={"world_info_depth": 1})) == 0


def test_a_setting_that_no_profile_knows_has_a_near_one(engine):
    engine.importing.add(BOOK, name="h.json")
    with pytest.raises(ContractError, match="world_info_depth"):
        engine.active(text="x", settings={"world_info_dept": 1})


def test_another_profile_is_the_users_choice_and_differs_entry_by_entry(engine):
    engine.importing.add(harbour(e0={"key": ["caf"], "content": "c"}, e1={"key": ["café"], "content": "d"}))
    book = engine.books["harbour"]
    (one,) = armarius.lorebooks.profile_differences(book, "armarius", armarius.lorebooks.scan_of(messages=["the café"]))
    assert (one.entry.id, one.before, one.after) == ("0", "key caf", "")
    assert engine.books.use_profile("harbour", "armarius").profile == "armarius"
    assert [active.entry.id for active in engine.active(text="the café")] == ["1"]


def test_a_story_in_a_file_is_searched_by_the_books_id(engine):
    engine.importing.add(FILES["koboldai-story"], name="story.json")
    assert [one.entry.text for one in engine.active(story="story")] == []
    assert [one.entry.text for one in engine.active(story=("", ["boat at night"]))] == ["A boat."]


def test_the_entities_that_a_book_is_about_are_proposed_and_only_the_one_of_its_card_is_made(engine):
    report = engine.importing.add(text({**CARD}), name="card.json")
    assert [(one.name, one.aliases) for one in report.entities] == [("白鹭", ("Heron",))]
    assert [(one.name, one.type, one.description) for one in engine.entities()] == [("Alma", "character", "A pilot.")]


def test_books_without_a_folder_live_in_memory():
    books = armarius.lorebooks.Books(None)
    armarius.lorebooks.Importing(books).add(BOOK, name="h.json")
    assert [entry.id for entry in books["harbour"]] == ["0", "1", "2"]
    books.delete("harbour")
    assert len(books) == 0


def test_a_book_can_be_taken_out(engine, novel):
    engine.importing.add(BOOK, name="h.json")
    engine.books.delete("harbour")
    assert not (novel / ".armarius/books/harbour").exists()


def test_a_link_in_the_place_of_an_original_is_not_followed(engine, novel, tmp_path_factory):
    engine.importing.add(BOOK, name="h.json")
    outside = tmp_path_factory.mktemp("outside") / "secret.json"
    outside.write_bytes(BOOK)
    original = novel / ".armarius/books/harbour/original"
    original.unlink()
    original.symlink_to(outside)
    assert list(engine.books) == []
    assert "harbour" in engine.books.problems


def test_the_command_line_shows_first_and_imports_when_told(novel, tmp_path, capsys):
    file = tmp_path / "world.json"
    file.write_bytes(text(NATIVE))
    assert main(["import", str(file), "--into", str(novel)]) == 0
    shown = capsys.readouterr()
    assert "sillytavern-world-info, 2 entries" in shown.out
    assert "automationId" in shown.out
    assert "nothing was written" in shown.out
    assert not (novel / ".armarius").exists()
    assert main(["import", str(file), "--into", str(novel), "--yes", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["files"][0]["book"]["id"] == "harbour"
    assert report["files"][0]["kept"] is True


def test_nothing_in_a_file_is_a_command_to_the_terminal(novel, tmp_path, capsys):
    evil = "x\x1b]0;title\x07\x1b[2J\x9b\u202ey"
    entries = {f"e{evil}": {"uid": evil, "key": [evil], "comment": evil, "content": "c", evil: evil}}
    file = tmp_path / "world.json"
    file.write_bytes(text({"name": evil, "entries": entries}))
    assert main(["import", str(file), str(tmp_path / f"{evil}.json"), "--into", str(novel)]) == 2
    shown = capsys.readouterr()
    assert "x\\x1b]0;title\\x07\\x1b[2J\\x9b\\u202ey" in shown.out
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*shown.out, *shown.err}


def test_an_id_has_no_control_characters_and_that_is_told():
    book = armarius.lorebooks.read_book(
        text([{"keys": "boat", "value": "A boat.", "type": "item", "title": "Boat", "id": "a\n\x1b[2Jb"}]),
        name="d.json",
    )
    assert [entry.id for entry in book] == ["a\ufffd\ufffd[2Jb"]
    assert any(row.reason.startswith("control characters in an id") for row in book.losses)


def test_the_command_line_gives_a_book_back(novel, tmp_path, capsysbinary):
    file = tmp_path / "world.json"
    file.write_bytes(text(NATIVE))
    main(["import", str(file), "--into", str(novel), "--yes"])
    capsysbinary.readouterr()
    assert main(["export", str(novel), "--book", "harbour"]) == 0
    assert capsysbinary.readouterr().out == text(NATIVE)
    assert main(["export", str(novel), "--book", "Harbour", "--as", "agnai"]) == 0
    done = capsysbinary.readouterr()
    assert json.loads(done.out)["kind"] == "memory"
    assert b"cannot say" in done.err


def test_a_file_that_is_nothing_is_one_line_and_the_others_are_imported(novel, tmp_path, capsys):
    (tmp_path / "bad.bin").write_bytes(b"no")
    (tmp_path / "world.json").write_bytes(text(NATIVE))
    status = main(["import", str(tmp_path / "bad.bin"), str(tmp_path / "world.json"), "--into", str(novel), "--yes"])
    assert status == 2
    assert "bad.bin: no card" in capsys.readouterr().err
    assert list(armarius.lorebooks.Books(novel)) == ["harbour"]


def test_a_file_that_is_not_there_is_our_error(engine, tmp_path):
    with pytest.raises(BookError, match="no such file"):
        engine.importing.add(tmp_path / "none.json")
