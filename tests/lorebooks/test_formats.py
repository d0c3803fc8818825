"""Files told by their content, read, changed in one field, given back."""

import json

import pytest
from tests.lorebooks.samples import BOOK, CARD, CARD_3, FILES, NATIVE, NOVELAI, OTHER_NAMES, archive, picture, text

from armarius.errors import BookError
from armarius.lorebooks import Condition, Entry, Key, Range, detect_book, read_book
from armarius.lorebooks.book import EXPORTS
from armarius.lorebooks.formats.containers import open_container
from armarius.lorebooks.record import value_of

WITH_ENTRIES = [name for name in FILES if name != "character-card-v1"]


def trees(data):
    return open_container(data, "file").trees


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_told_by_its_content(name):
    assert detect_book(FILES[name]) == OTHER_NAMES.get(name, name)


@pytest.mark.parametrize("name", FILES)
def test_an_unchanged_book_is_given_back_byte_for_byte(name):
    assert read_book(FILES[name], name=name).export() == FILES[name]


@pytest.mark.parametrize("name", WITH_ENTRIES)
def test_an_edit_reads_back_and_touches_nothing_else(name):
    book = read_book(FILES[name], name=name)
    entry = book.entries[0]
    data = book.with_entry(entry.changed(text="another text")).export()
    again = read_book(data, name=name)
    assert again.entries[0] == entry.changed(text="another text")
    assert again.entries[1:] == book.entries[1:]
    changed = [pair for pair in zip(leaves(trees(FILES[name])), leaves(trees(data)), strict=True) if pair[0] != pair[1]]
    # Two chunks of a picture hold the same card; Kobold's second story holds its text twice.
    assert 1 <= len(changed) <= 2
    assert all("another text" in str(after) for _, (_, after) in changed)


def leaves(tree, path=()):
    """Every value of a tree with its path, in order; numbers with their kind."""
    if isinstance(tree, dict):
        return [leaf for key, value in tree.items() for leaf in leaves(value, (*path, key))]
    if isinstance(tree, list):
        return [leaf for at, value in enumerate(tree) for leaf in leaves(value, (*path, at))]
    return [(path, (type(tree).__name__, tree))]


def test_layout_of_the_text_survives_an_edit():
    for name in ("sillytavern-world-info", "bom", "character-card-v3", "tavernhelper-worldbook"):
        book = read_book(FILES[name])
        old = book.entries[0].text
        there = book.with_entry(book.entries[0].changed(text="Q")).export()
        before, after = json.dumps(old, ensure_ascii=False)[1:-1], b"Q"
        assert there == FILES[name].replace(before.encode(), after, 1), name


def test_decorators_stay_when_the_text_under_them_changes():
    book = read_book(FILES["sillytavern-world-info"])
    entry = book.entry("2")
    assert (entry.text, [one.name for one in entry.decorators]) == ("白鹭怕深水。", ["depth"])
    data = json.loads(book.with_entry(entry.changed(text="new")).export())
    assert data["entries"]["2"]["content"] == "@@depth 2\nnew"


def test_whole_numbers_come_first_and_ascending_whatever_the_file_says():
    assert [entry.id for entry in read_book(FILES["sillytavern-world-info"])] == ["2", "10"]


def test_every_field_of_a_native_entry_finds_its_part():
    entry = read_book(FILES["sillytavern-world-info"]).entry("2")
    match, place = entry.match, entry.place
    assert [(key.text, key.kind) for key in match.keys] == [("白鹭", "plain"), ("/Heron/i", "regex")]
    assert [(one.how, [key.text for key in one.keys]) for one in match.require] == [("all", ["夜"])]
    assert (match.range.count, match.range.unit) == (5, "messages")
    assert (place.slot, place.depth, place.role) == ("at_depth", 3, "user")
    assert (entry.chance.probability, entry.chance.groups, entry.timing.sticky) == (80, ("a", "b"), 2)
    assert (entry.wake.by_entries, entry.share.order, entry.scope.characters) == (False, 120, ("Alma",))


def test_an_entry_takes_from_its_category_what_it_leaves_out():
    tides, bare = read_book(FILES["novelai-lorebook"]).entries
    assert (tides.match.range.count, tides.share.keep_priority, tides.share.max_share) == (700, 300, 0.2)
    assert (bare.match.range.count, bare.share.keep_priority, bare.folder) == (50, 7, "Sea")
    changed = read_book(FILES["novelai-lorebook"]).with_entry(bare.changed(text="x")).export()
    assert set(json.loads(changed)["entries"][1]) == {"text", "displayName", "keys", "category"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sillytavern-world-info", ["automationId", "entries.10.order", "entries.10.vendor", "tags"]),
        ("character-card-v2", ["excludeRecursion", "data.description", "extensions.other", "extensions.vendor"]),
        ("novelai-lorebook", ["orderByKeyLocations", "createSubcontext", "BiasGroups", "keyRelative", "entries.0.new"]),
        ("risu-module", ["module.regex"]),
        ("risu-lorebook", ["loreCache"]),
        ("charx-module", ["module.risum", "character_book"]),
        ("agnai-memory-book", ["scanDepth", "secondaryKeys"]),
        ("koboldai-story-v2", ["wpp", "commentator", "prompt"]),
        ("ai-dungeon-world-info", ["description"]),
        ("novelcrafter-export", ["novel.md", "snippets", "notes.md"]),
        ("png-both", ["data.first_mes"]),
    ],
)  # fmt: skip
def test_what_has_no_effect_is_named_with_its_place(name, words):
    told = "\n".join(map(str, read_book(FILES[name]).losses))
    assert [word for word in words if word not in told] == []


def test_a_member_inside_an_object_is_named_with_its_whole_path():
    tree = {**NOVELAI, "entries": [{"text": "t", "contextConfig": {"insertionPosition": "low", "tokenBudget": "x"}}]}
    lost = {loss.path for loss in read_book(text(tree)).losses}
    assert {f"entries.0.contextConfig.{name}" for name in ("insertionPosition", "tokenBudget")} <= lost


def test_an_edit_of_what_belongs_into_an_object_that_is_none_is_a_loss():
    book = read_book(text({**NOVELAI, "entries": [{"id": "a", "text": "t", "contextConfig": "none"}]}))
    edited = book.with_entry(book.entry("a").changed(place__depth=3, text="u")).exported()
    assert [loss.path for loss in edited.losses] == ["a.place.depth"]
    assert json.loads(edited.data)["entries"] == [{"id": "a", "text": "u", "contextConfig": "none"}]


SAID = {
    "name": "Boat", "text": "Two.", "level": "never", "match.keys": (Key("oar"), Key("ash")),
    "match.require": (Condition("any", (Key("night"),)),), "match.case": True, "match.boundary": "word",
    "match.range": Range(7), "match.sources": ("persona", "scenario"), "wake.by_entries": False,
    "wake.wakes_others": False, "wake.by_text": False, "wake.level": 2, "chance.probability": 40,
    "chance.groups": ("a", "b"), "timing.delay": 2, "timing.sticky": 3, "timing.cooldown": 4, "share.order": 7,
    "share.keep_priority": 9, "share.max_tokens": 30, "share.max_share": 0.3, "share.reserved": 5,
    "share.exempt": True, "place.slot": "after", "scope.characters": ("Alma",), "scope.triggers": ("continue",),
}  # fmt: skip
IN_DECORATORS = {"match.range", "wake.by_entries", "wake.wakes_others", "chance.probability", "share.keep_priority"}


@pytest.mark.parametrize("leaf", SAID)
@pytest.mark.parametrize("to", EXPORTS)
def test_a_field_that_a_format_writes_is_read_back_or_its_loss_is_told(to, leaf):
    book = read_book(text({"entries": {}}))
    entry = Entry("1", text="t").changed(**{leaf.replace(".", "__"): SAID[leaf]})
    done = book.with_entry(entry).exported(to)
    (again,) = read_book(done.data)
    if to == "risu" and (leaf in IN_DECORATORS or leaf == "place.slot"):
        assert again.decorators or leaf == "place.slot"  # its rules read decorators, its places are settings
    elif f"1.{leaf}" not in {loss.path for loss in done.losses}:
        assert value_of(again, leaf) == SAID[leaf]


def test_two_chunks_that_differ_are_reported_and_v3_decides():
    other = {**CARD_3, "data": {**CARD_3["data"], "name": "Other"}}
    book = read_book(picture(chara=CARD, ccv3=other))
    assert book.format == "character-card-v3"
    assert any(loss.path == "chara" for loss in book.losses)


def test_an_edit_of_a_picture_changes_both_chunks_and_no_other():
    book = read_book(FILES["png-both"])
    data = book.with_entry(book.entries[0].changed(text="new")).export()
    for label in ("chara", "ccv3"):
        assert trees(data)[label]["data"]["character_book"]["entries"][0]["content"] == "new"
    assert b"Software\0a test" in data


def test_what_stands_before_an_archive_stays():
    book = read_book(FILES["charx"])
    data = book.with_entry(book.entries[0].changed(text="new")).export()
    assert data.startswith(b"\xff\xd8\xff\xe0 jpeg")
    assert open_container(data, "x").trees["card.json"]["data"]["character_book"]["entries"][0]["content"] == "new"


def test_a_deleted_entry_is_gone_and_a_new_one_is_there():
    for name in ("sillytavern-world-info", "character-book", "novelai-lorebook", "agnai-memory-book", "risu-lorebook"):
        book = read_book(FILES[name])
        gone = book.entries[0]
        new = gone.changed(id="new-one", text="fresh", name="Fresh")
        again = read_book(book.without(gone.id).with_entry(new).export(), name=name)
        texts = [entry.text for entry in again]
        assert "fresh" in texts, name
        assert len(again) == len(book), name


@pytest.mark.parametrize("to", EXPORTS)
@pytest.mark.parametrize("name", WITH_ENTRIES)
def test_any_book_can_be_given_as_any_format_and_says_what_is_lost(name, to):
    book = read_book(FILES[name], name=name)
    done = book.exported(to)
    again = read_book(done.data)
    assert [entry.text.strip() for entry in again] == [
        (entry.share.prefix + entry.text + entry.share.suffix).strip()
        if (entry.share.prefix, entry.share.suffix) != (again.entries[at].share.prefix, again.entries[at].share.suffix)
        else entry.text.strip()
        for at, entry in enumerate(book)
    ]
    told = "\n".join(map(str, done.losses))
    for entry, other in zip(book, again, strict=True):
        if [key.text.strip() for key in entry.match.keys] != [key.text.strip() for key in other.match.keys]:
            assert f"{entry.id}.match.keys" in told, (entry.match.keys, other.match.keys)
        if entry.level != other.level:
            assert f"{entry.id}.level" in told


def test_sillytavern_to_card_and_back_loses_nothing_it_has_words_for():
    book = read_book(FILES["sillytavern-world-info"])
    card = read_book(book.export("card-v3"))
    for entry, other in zip(book, card, strict=True):
        same = other.changed(id=entry.id, scope=entry.scope, match__patterns=None)
        assert (same.match, same.wake, same.chance, same.timing, same.place) == (
            entry.match, entry.wake, entry.chance, entry.timing, entry.place,
        )  # fmt: skip


def test_a_format_that_is_none_is_refused_with_those_there_are():
    with pytest.raises(BookError, match="sillytavern, card-v2"):
        read_book(FILES["character-book"]).export("doc")


def test_damage_costs_the_entry_it_is_in():
    tree = {"entries": {**NATIVE["entries"], "3": None, "4": [], "5": {"uid": 5, "key": 7, "content": 3, "order": {}}}}
    book = read_book(text(tree))
    assert [entry.id for entry in book] == ["2", "5", "10"]
    assert {loss.path for loss in book.losses} >= {"entries.3", "entries.4", "entries.5.key", "entries.5.order"}
    book = read_book(text({**BOOK, "entries": [None, *BOOK["entries"], "x"]}))
    assert [entry.id for entry in book] == ["0", "two"]


def test_two_entries_of_one_id_are_both_there():
    book = read_book(text({**BOOK, "entries": [{**BOOK["entries"][0]}, {**BOOK["entries"][0], "content": "b"}]}))
    assert [entry.id for entry in book] == ["0", "0#2"]


def test_a_lone_surrogate_survives_an_edit_elsewhere():
    data = (
        b'{"entries": {"0": {"uid": 0, "key": ["a"], "content": "\\ud83d", "x": 1e2}, "1": {"uid": 1, "key": ["b"]}}}'
    )
    book = read_book(data)
    again = book.with_entry(book.entry("1").changed(text="q")).export()
    assert json.loads(again)["entries"]["0"] == json.loads(data)["entries"]["0"]


def test_a_vault_is_read_from_a_folder_without_links_and_embeds(tmp_path):
    (tmp_path / "Lore").mkdir()
    note = "---\ntags: [lorebook]\nkeys: [boat]\nexcludeRecursion: true\n---\nSee [[Oar#x|the oar]].\n![[a.png]]\n"
    (tmp_path / "Lore" / "Boat.md").write_text(note, "utf-8")
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "x.md").write_text("---\nkeys: [a]\n---\n", "utf-8")
    book = read_book(tmp_path)
    assert [(entry.id, entry.text) for entry in book] == [("Lore/Boat.md", "See the oar.")]
    assert book.entries[0].wake.wakes_others is False  # DeepLore means its content


def test_an_archive_without_anything_known_is_refused():
    with pytest.raises(BookError, match=r"without card\.json"):
        read_book(archive({"a.txt": b"x"}))
