"""Names that no profile lists, derived from those it does."""

import tomllib
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from armarius import EntityMatcher
from armarius.codex import load_codex, short_names
from armarius.index.freshness import snapshot_of

LARKMOOR = Path(__file__).parents[1] / "data" / "larkmoor"


def person(name, *aliases, kind="character"):
    return {"id": name, "name": name, "type": kind, "aliases": list(aliases)}


def found(people, text):
    matcher = EntityMatcher(people, short_names=short_names(people))
    return [(one.entity_id, one.term) for one in matcher.find_all(text)]


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("林雨桐", ["雨桐"]),
        ("欧阳明玥", ["明玥"]),
        ("周默", []),
        ("王夫人", []),
        ("马成功", []),
        ("安娜·彼得罗娃", ["安娜", "彼得罗娃"]),
        ("桜咲 さくら", ["さくら", "桜咲", "桜咲さくら"]),
        ("桐島 勇", ["桐島", "桐島勇"]),
        ("佐々木 美咲", ["佐々木", "佐々木美咲", "美咲"]),
        ("约翰逊 博士", ["约翰逊", "约翰逊博士"]),
        ("アンナ・ベル", ["アンナ", "ベル"]),
        ("김민수", ["민수"]),
        ("Bob Finch", ["Bob", "Finch"]),
        ("Dr. Alan Reed", ["Alan", "Alan Reed", "Reed"]),
        ("High Cleric Aldric", ["Aldric"]),
        ("Mr. Hubble", ["Hubble"]),
        ("Mrs. Joe", []),
        ("Aunt Mary", ["Mary"]),
        ("John Q. Vale Jr.", ["John", "John Vale", "Vale"]),
        ("Robert “Bob” Stone", ["Bob", "Robert", "Robert Stone", "Stone"]),
        ("Ludwig van der Berg", ["Ludwig", "van der Berg"]),
        ("The Avenger", []),
        ("Night Watchman", []),
        ("Paladin King", []),
        ("West Kingdom Emissary", []),
        ("the widow", []),
        ("小雨", []),
        ("x", []),
    ],
)
def test_a_name_allows_these_short_forms(name, forms):
    assert [one.text for one in short_names([person(name)])] == forms


@pytest.mark.parametrize(
    ("people", "forms"),
    [
        ([person("林雨桐"), person("赵雨桐")], []),
        ([person("林雨桐"), person("雨桐", kind="宠物")], []),
        ([person("Bob Finch"), person("Mary Finch")], ["Bob", "Mary"]),
        ([person("Henry Vale", "Mr. Vale")], []),
        ([person("Henry Vale", "the Squire")], ["Henry", "Vale"]),
        ([person("林雨桐", "阿桐")], ["雨桐"]),
        ([person("RUTH CALDER", "Ruth Calder")], ["Calder", "Ruth"]),
        ([person("Harrow Lighthouse", kind="location")], []),
    ],
    ids=[
        "of two",
        "listed of another",
        "family",
        "a part is listed",
        "an epithet is listed",
        "小名",
        "capitals",
        "no person",
    ],
)
def test_a_form_that_another_may_have_and_a_list_that_is_complete_add_nothing(people, forms):
    assert [one.text for one in short_names(people)] == forms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Then Bob ran, and Bob's lamp went out.", ["Bob Finch", "Bob Finch"]),
        ("Finch said nothing.", []),
        ("Dr. Reed dried his hands. Reed sighed.", ["Dr. Alan Reed", "Dr. Alan Reed"]),
        ("A reed bent in the wind.", []),
        ("Do you hope, Hope?", ["Hope Sumner"]),
        ("Will you come, Will?", ["Will Marsh"]),
        ("She will; Will did.", ["Will Marsh"]),
        ("Mr. Crane's clock, old Crane's hand", ["Walter Crane", "Walter Crane"]),
        ("Captain Okafor and Ruth", ["Captain Ruth Okafor", "Captain Ruth Okafor"]),
        ("Lady Vane-Tempest wrote.", ["Lady Honoria Vane-Tempest"]),
        ("Admiral, said the parrot.", []),
        ("The marsh was wet, and Marsh was dry.", ["Will Marsh"]),
    ],
)
def test_a_short_form_needs_its_capital_in_prose(text, expected):
    codex = load_codex(LARKMOOR)
    names = {one.id: one.name for one in codex.entities}
    assert [names[one.entity_id] for one in snapshot_of(codex).matcher.find_all(text)] == expected


def test_short_forms_by_which_the_story_calls_a_person_are_aliases_and_found_as_before(tmp_path):
    people = "# Characters\n\n## Bob Finch\n\nA pilot.\n\n## Mara Vane\n\n- Friend: Bob\n"
    (tmp_path / "characters.md").write_text(people, encoding="utf-8")
    (tmp_path / "chapters").mkdir()
    told = "That night Bob came home, and Bob slept. Nobody saw Bob.\n"
    (tmp_path / "chapters" / "ch01.md").write_text(f"# Chapter 1\n\n{told * 20}", encoding="utf-8")
    codex = load_codex(tmp_path)
    bob, mara = codex.entities
    assert (bob.aliases, mara.aliases) == (("Bob",), ())
    assert [(one.source, one.target) for one in codex.relations] == [(bob.id, mara.id)]
    snapshot = snapshot_of(codex)
    assert snapshot.who.find("Bob") == bob.id
    assert [one.term for one in snapshot.matcher.find_all("The bob swung. Bob ran. Finch sat.")] == ["Bob", "Finch"]
    (tmp_path / "codex.json").write_text('{"entities": [{"id": "bob", "name": "Bob", "type": "other"}]}')
    assert [(one.name, one.aliases) for one in load_codex(tmp_path).entities if "Bob" in one.name] == [
        ("Bob Finch", ()),
        ("Bob", ()),
    ]


@pytest.mark.parametrize(
    ("names", "story", "called"),
    [
        ("佐藤美咲", "美咲は笑った。佐藤さんが来た。", [("佐藤", "美咲")]),
        ("長谷川千尋", "長谷川が来た。千尋は笑った。", [("千尋", "長谷川")]),
        ("武藤章 森鴎外", "武藤さんが来た。鴎外は笑った。", [("武藤",), ("鴎外",)]),
        ("佐々木一郎", "佐々木が来た。一郎は笑った。誠一郎は笑わない。", [("佐々木",)]),
        ("佐藤ミサキ 桐島さくら", "ミサキは笑った。さくらちゃんも笑った。", [("ミサキ",), ("さくら",)]),
        ("佐藤美咲 佐藤健太", "佐藤さんが来た。健太は笑った。美咲は泣いた。", [("美咲",), ("健太",)]),
        (
            "騎士団長 山田先生 花園ことは",
            "騎士は笑った。先生は来た。山田は泣いた。そのことは忘れた。",
            [(), ("山田",), ()],
        ),
        ("天山童姥 山中老人", "她上了天山。老人在山中。", [(), ()]),
    ],
)
def test_a_japanese_name_has_the_parts_by_which_its_story_speaks_of_one_person(names, story, called, tmp_path):
    people = "\n\n".join(f"## {name}\n\n身長百六十。" for name in names.split())
    (tmp_path / "人物.md").write_text(f"# 人物\n\n{people}\n", encoding="utf-8")
    (tmp_path / "第1章.md").write_text(f"# 第1章\n\n{names}。{story * 4}\n", encoding="utf-8")
    assert [entity.aliases for entity in load_codex(tmp_path).entities] == called


def test_a_form_of_somebody_who_lists_his_names_is_nobody_elses():
    assert short_names([person("Draco Malfoy", "Draco"), person("Scorpius Malfoy")])[0].text == "Scorpius"


def test_a_question_may_write_a_short_form_small_if_it_names_nobody_else():
    people = [person("Bob Finch"), person("Hope Sumner")]
    matcher = EntityMatcher(people, short_names=short_names(people))
    assert [one.entity_id for one in matcher.find_in_question("where is bob?")] == ["Bob Finch"]
    assert [one.entity_id for one in matcher.find_in_question("what does Bob hope?")] == ["Bob Finch"]
    assert [(one.term, one.reason) for one in matcher.explain("hope")] == [("hope", "a word")]


def test_a_derived_name_is_known_for_one_with_any_apostrophe():
    people = [person("Sean O'Neill"), person("林雨桐")]
    matcher = EntityMatcher(people, short_names=short_names(people))
    (mention,) = matcher.find_all("“O’Neill,” she said")
    derived = matcher.derived(mention.entity_id, mention.term)
    assert derived.said("O’Neill") == "O’Neill (derived: family name of Sean O'Neill)"
    assert matcher.derived("林雨桐", "雨桐").said("雨桐") == "雨桐 (derived: given name of 林雨桐)"
    assert matcher.derived("林雨桐", "林雨桐") is None


def test_a_short_name_of_somebody_unknown_is_ignored():
    bob = short_names([person("Bob Finch")])
    assert EntityMatcher([person("林雨桐")], short_names=bob).find_all("Bob") == []


def test_a_kin_term_inside_a_longer_one_is_explained_and_still_covers_the_names_inside():
    matcher = EntityMatcher([{"id": "e", "name": "二姐", "type": "character"}, {"id": "x", "name": "姐"}])
    assert [(m.entity_id, m.start) for m in matcher.find_all("二姐姐")] == [("x", 2)]
    assert [(r.entity_id, r.start, r.reason) for r in matcher.explain("二姐姐")] == [
        ("e", 0, "a longer kin term"),
        ("x", 1, "shadowed"),
    ]


def test_no_word_is_listed_twice():
    data = tomllib.loads(files("armarius.lexicon").joinpath("names.toml").read_text(encoding="utf-8"))
    for table, rows in data.items():
        for row, listed in rows.items():
            single = row in ("surnames", "acts", "done_to", "bare_titles", "function", "numbers", "measures")
            counts = Counter("".join(listed.split()) if single else listed.split())
            assert counts.most_common(1)[0][1] == 1, (table, row, counts.most_common(5))
