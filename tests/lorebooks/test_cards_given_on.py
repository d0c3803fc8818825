"""A card that became a book: its members in other cards, its books told by name, its names in prompts."""

import json

import pytest
from tests.lorebooks.samples import AGNAI, CARD, DUNGEON, FILES, V1, picture, text

import armarius
from armarius import UnknownId
from armarius.cli import main
from armarius.lorebooks.book import read_book

MEMBERS = {
    "name": "Vesna", "description": "{{char}} flies.", "personality": "calm", "scenario": "A quay.",
    "first_mes": "Hi {{user}}", "mes_example": "<START>", "creator_notes": "mine", "system_prompt": "Be kind.",
    "post_history_instructions": "Stay calm.", "alternate_greetings": ["Oh."], "tags": ["sea"], "creator": "me",
    "character_version": "2", "extensions": {"depth_prompt": {"depth": 4, "prompt": "x"}},
}  # fmt: skip
BOOK = {
    "name": "Lotus", "scan_depth": 3, "token_budget": 100, "recursive_scanning": True, "extensions": {"vendor": 1},
    "entries": [
        {"id": 0, "keys": ["heron"], "content": "{{char}} likes {{user}}.", "enabled": True, "insertion_order": 1,
         "extensions": {"position": 0, "automation_id": "z", "other": 1}, "vendor": "v"},
    ],
}  # fmt: skip
SINCE_3 = {"nickname": "Ves", "group_only_greetings": ["All."], "source": ["chub"]}


def card(version=3, **members):
    tree = {"spec": f"chara_card_v{version}", "spec_version": f"{version}.0"}
    return {**tree, "data": {**MEMBERS, "character_book": BOOK, **members}}


def given(source, to):
    done = read_book(source, name="card.json").exported(to)
    return json.loads(done.data), {loss.path for loss in done.losses}


@pytest.mark.parametrize(("version", "to"), [(2, "card-v3"), (3, "card-v2")])
def test_a_card_in_the_other_version_has_every_member_and_loses_none(version, to):
    tree, losses = given(text(card(version)), to)
    assert tree["spec"] == f"chara_card_v{5 - version}"
    assert {name: tree["data"][name] for name in MEMBERS} == MEMBERS
    assert losses == set()


def test_the_book_of_a_card_keeps_its_settings_and_the_fields_of_other_programs():
    tree, _ = given(text(card(2)), "card-v3")
    book = tree["data"]["character_book"]
    assert {name: book[name] for name in BOOK if name != "entries"} == {n: v for n, v in BOOK.items() if n != "entries"}
    (entry,) = book["entries"]
    assert (entry["vendor"], entry["extensions"]["other"], entry["extensions"]["automation_id"]) == ("v", 1, "z")


def test_what_only_version_3_says_is_a_loss_in_version_2_and_nothing_else_is():
    tree, losses = given(text(card(3, **SINCE_3)), "card-v2")
    assert losses == {f"data.{name}" for name in SINCE_3}
    assert not SINCE_3.keys() & tree["data"].keys()


def test_an_edited_entry_goes_with_the_card_into_the_other_version():
    book = read_book(text(card(2)), name="card.json")
    tree = json.loads(book.with_entry(book.entry("0").changed(text="ours")).export("card-v3"))
    assert tree["data"]["character_book"]["entries"][0]["content"] == "ours"
    assert tree["data"]["first_mes"] == MEMBERS["first_mes"]


def test_a_card_of_version_1_becomes_one_of_version_3_with_its_prompts():
    tree, losses = given(text(V1), "card-v3")
    assert {name: tree["data"][name] for name in V1} == V1
    assert losses == set()


def test_the_card_of_a_picture_is_given_on_and_the_pictures_it_names_are_a_loss():
    assets = [{"type": "icon", "uri": "embeded://a.png", "name": "main", "ext": "png"}]
    done = read_book(picture(ccv3=card(3, assets=assets)), name="card.png").exported("card-v2")
    assert json.loads(done.data)["data"]["personality"] == "calm"
    assert "data.assets" in {loss.path for loss in done.losses}


def test_a_format_that_holds_no_card_says_each_prompt_that_is_lost():
    _, losses = given(text(card()), "novelai")
    assert {"data.description", "data.personality", "data.first_mes", "data.extensions.depth_prompt"} <= losses


@pytest.mark.parametrize("to", ["novelai", "agnai", "kobold", "ai-dungeon", "risu"])
def test_what_an_entry_leaves_to_its_program_is_no_loss_in_another(to):
    done = read_book(text({"kind": "memory", "name": "B", "entries": [AGNAI["entries"][0]]})).exported(to)
    assert not [loss for loss in done.losses if loss.value in (None, "", ())]
    bare = read_book(text([{"keys": "oar", "value": "Ash.", "title": "Oar"}])).exported("novelai")
    assert bare.losses == ()


def test_what_an_entry_says_and_the_target_cannot_is_still_a_loss():
    _, losses = given(text(card(2)), "ai-dungeon")
    assert "0.share.order" in losses
    assert {row["title"] for row in DUNGEON} == {entry.name for entry in read_book(text(DUNGEON))}


def test_an_edit_back_to_the_default_that_the_file_cannot_say_is_a_loss():
    book = read_book(FILES["novelai-lorebook"])
    edited = book.with_entry(book.entries[0].changed(match__range=None))
    assert f"{book.entries[0].id}.match.range" in {loss.path for loss in edited.exported().losses}


@pytest.fixture
def novel(tmp_path):
    (tmp_path / "novel/chapters").mkdir(parents=True)
    (tmp_path / "novel/chapters/ch001.md").write_text("# One\n\nThe heron came.\n", "utf-8")
    (tmp_path / "card.json").write_bytes(text(card()))
    (tmp_path / "alma.json").write_bytes(text(CARD))
    return tmp_path / "novel"


def test_an_import_says_who_the_card_is_and_what_was_written_where(novel, capsys):
    word = str(novel.parent / "card.json")
    assert main(["import", word, "--into", str(novel), "--yes"]) == 0
    said = capsys.readouterr().out
    assert "character: Vesna" in said
    assert "wrote: .armarius/books/lotus/ (original, book.json)" in said
    assert (novel / ".armarius/books/lotus/original").is_file()
    assert main(["import", word, "--into", str(novel), "--yes"]) == 0
    assert "nothing was written" in capsys.readouterr().out
    assert main(["import", word, "--into", str(novel), "--json"]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert (file["character"], file["folder"]) == ("Vesna", None)


def test_an_export_without_a_book_lists_the_books_there_are(novel, capsys):
    assert main(["export", str(novel)]) == 0
    assert "no books" in capsys.readouterr().err
    main(["import", str(novel.parent / "card.json"), str(novel.parent / "alma.json"), "--into", str(novel), "--yes"])
    capsys.readouterr()
    assert main(["export", str(novel)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "harbour (Harbour): character-card-v2, 2 entries, from alma.json",
        "lotus (Lotus): character-card-v3, 1 entries, from card.json",
    ]
    assert main(["export", str(novel), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["books"]
    assert [(row["id"], row["character"]) for row in rows] == [("harbour", "Alma"), ("lotus", "Vesna")]
    assert main(["export", str(novel), "--as", "novelai"]) == 2
    assert "--book; there are harbour, lotus" in capsys.readouterr().err


def test_a_book_that_is_not_there_names_near_ones_also_by_file_or_else_all(novel):
    books = armarius.lorebooks.Books(novel)
    with pytest.raises(UnknownId, match="the project has none"):
        books["unknown"]
    main(["import", str(novel.parent / "card.json"), "--into", str(novel), "--yes"])
    with pytest.raises(UnknownId, match="near it: lotus"):
        books["card"]
    with pytest.raises(UnknownId, match="there are lotus"):
        books["unknown"]


def test_each_card_has_its_own_name_for_char_and_prompts_have_a_word_for_user(novel, tmp_path_factory):
    with armarius.open(novel, watch=False, index_dir=tmp_path_factory.mktemp("index")) as engine:
        engine.importing.add(text(card()), name="a.json")
        engine.importing.add(text(card(2, name="Orla")), name="b.json")
        texts = {one.book: one.text for one in engine.active(text="heron")}
        assert texts == {"lotus": "Vesna likes {{user}}.", "lotus-2": "Orla likes {{user}}."}
        told = engine.active(text="heron", character="Ida", user="Tom")
        assert {one.text for one in told} == {"Ida likes Tom."}
        assert "Vesna flies." in engine.card("Vesna")
        assert "Orla flies." in engine.assemble("Orla", document="chapters/ch001.md").prompt
        prompt = engine.assemble("heron", document="chapters/ch001.md").prompt
        assert "Vesna likes User." in prompt
        assert "{{user}}" not in prompt
