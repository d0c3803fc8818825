"""Names of a story found in the text alone: who is in it, and who only looks as if."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

import armarius
from armarius.cli import main
from armarius.cli.retrieving import as_profiles
from armarius.codex import propose_names

DATA = Path(__file__).parents[1] / "data"
NOVEL = Path(__file__).parents[2] / "examples" / "novel"
ENGLISH = (
    "The ferry left Saltmouth at dawn. Mr. Harrow stood at the rail, and Alma Reed said nothing. "
    "“Will you come?” asked Harrow. Alma shook her head. In Saltmouth nobody spoke to Harrow. "
    "Then Alma went to Saltmouth with Mr. Harrow. Nothing moved. Nothing at all. They watched Alma Reed. "
)
CHINESE = (
    "苏晚晴说道：“走罢。”顾长明笑道：“何必。”众人看着苏晚晴，苏晚晴点头。他到望海镇去，又从望海镇回来。"
    "苏晚晴问顾长明，顾长明叹气。忽然下雨。望海镇里没有人。苏晚晴想了想，走到望海镇，劝顾长明。"
    "那天风很大，水声不断，灯火在远处亮着，船夫们收起缆绳，慢慢离开码头，谁也不再开口。"
)


def names(found):
    return {one.name: one for one in found}


def test_english_names_keep_their_capitals_and_common_words_do_not():
    found = names(propose_names([("a.md", ENGLISH * 6)]))
    assert set(found) == {"Mr. Harrow", "Alma Reed", "Saltmouth"}
    assert (found["Alma Reed"].kind, found["Alma Reed"].aliases) == ("person", ("Alma",))
    assert found["Saltmouth"].kind == "place"
    assert (found["Saltmouth"].document, found["Saltmouth"].position) == ("a.md", ENGLISH.index("Saltmouth"))


def test_chinese_names_act_and_places_are_gone_to():
    found = names(propose_names([("ch.md", CHINESE * 12)]))
    people = {name for name, one in found.items() if one.kind == "person"}
    assert people == {"苏晚晴", "顾长明"}
    assert found["望海镇"].kind == "place"
    assert "众人" not in found
    assert "忽然" not in found


def among_names(sentence):
    """Proposals of a story in which this sentence stands between others, often."""
    return set(names(propose_names([("ch.md", (CHINESE + sentence) * 12)])))


def test_a_family_name_before_a_given_name_that_is_known_is_a_name_and_a_preposition_is_none():
    given = "明竟说了，明竟笑着走。我劝明竟，他见明竟。明竟听见，明竟问道。"
    assert "甘明竟" not in among_names(given)
    story = CHINESE + given + "甘明竟是谁。有人提起甘明竟的船。"
    assert names(propose_names([("ch.md", story * 12)]))["甘明竟"].aliases == ("明竟",)
    assert "和明竟" not in among_names(given + "和明竟同去。他和明竟不来。")


def test_a_noun_that_is_pointed_at_is_no_name():
    said = "{0}说了，{0}笑着走。我劝{0}，他见{0}。{0}听见，{0}问道。"
    assert "脚夷" in among_names(said.format("脚夷"))
    assert "脚夷" not in among_names(said.format("脚夷") + "这脚夷不好，那脚夷也不好。")


def test_a_building_of_two_characters_is_no_name_and_a_town_is():
    gone = "他到{0}去，又从{0}回来。人在{0}等。他们回{0}，不出{0}。{0}很远，{0}下雨。"
    assert "杏园" not in among_names(gone.format("杏园"))
    assert {"杏州", "红杏园"} <= among_names(gone.format("杏州") + gone.format("红杏园"))


def test_an_adverb_beside_pronouns_is_no_person_and_a_name_in_its_place_is():
    said = "{0}说了，{0}笑着走。我{0}看见你，他{0}想起。{0}听见，{0}问我。"
    assert "明竟" not in among_names(said.format("明竟"))
    assert "明竟" in among_names("明竟说了，明竟笑着走。我劝明竟，他和明竟想起。明竟听见，明竟问道。")


def test_what_is_counted_with_a_measure_word_is_a_noun_and_no_name():
    said = "巷口阿嬷说了，{}阿嬷笑着走。众人问阿嬷，阿嬷想起，阿嬷听见，阿嬷问道。大家劝阿嬷。"
    assert "阿嬷" in among_names(said.format("，"))
    assert "阿嬷" not in among_names(said.format("一个"))


def test_a_demonstrative_that_is_a_family_name_too_makes_no_name_of_the_noun_behind_it():
    acting = "那掌柜说了，那掌柜笑着走。那掌柜想起，那掌柜问他。"
    named = "掌柜的网，掌柜的船，掌柜也老。众人见掌柜，掌柜不来。"
    assert "那掌柜" not in among_names(CHINESE * 3 + acting + named)
    assert "那掌柜" not in among_names(CHINESE * 3 + acting)
    assert "甘掌柜" in among_names(CHINESE * 3 + acting.replace("那", "甘"))


def test_a_name_must_be_written_often_enough():
    assert propose_names([("a.md", ENGLISH)]) == ()
    assert names(propose_names([("a.md", ENGLISH)], least=3))


def test_names_that_are_described_are_left_out():
    assert "Alma Reed" not in names(propose_names([("a.md", ENGLISH * 6)], known=["Alma"]))


def test_names_that_are_described_can_be_kept_and_are_marked(tmp_path, capsys):
    found = names(propose_names([("a.md", ENGLISH * 6)], known=["Alma"], keep_known=True))
    assert {name: one.known for name, one in found.items()} == {
        "Alma Reed": True, "Mr. Harrow": False, "Saltmouth": False
    }  # fmt: skip
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "ch001.md").write_text("# Chapter 1\n\n" + ENGLISH * 6, "utf8")
    (tmp_path / "characters.md").write_text("# Characters\n\n## Alma Reed\n\n- Aliases: Alma\n", "utf8")
    assert main(["propose", str(tmp_path), "--known", "--json"]) == 0
    rows = {one["name"]: one["known"] for one in json.loads(capsys.readouterr().out)["names"]}
    assert (rows["Alma Reed"], rows["Saltmouth"]) == (True, False)
    assert main(["propose", str(tmp_path), "--known", "--write", str(tmp_path / "settings" / "new.md")]) == 0
    assert "Alma Reed" not in (tmp_path / "settings" / "new.md").read_text("utf8")


def test_an_empty_result_is_one_sentence(tmp_path, capsys):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "ch001.md").write_text("# Chapter 1\n\nNobody came.\n", "utf8")
    assert main(["propose", str(tmp_path), "--write", str(tmp_path / "settings" / "new.md")]) == 0
    assert main(["propose", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1:] == ["armarius: no name that nobody has described is written 10 times or more"]
    assert not (tmp_path / "settings").exists()


def test_the_same_text_gives_the_same_proposals_whatever_it_is_cut_into():
    whole = propose_names([("a.md", ENGLISH * 6)])
    parts = propose_names([("a.md", ENGLISH)] * 6)
    assert [(one.name, one.aliases, one.count) for one in whole] == [
        (one.name, one.aliases, one.count) for one in parts
    ]


def gold(spec):
    """Names of the profiles of a book."""
    found = armarius.codex.load_codex(spec)
    return {name for one in found.entities for name in (one.name, *one.aliases)}


def test_a_book_without_its_profiles_yields_its_cast_above_a_frequency_list():
    texts = [(path.name, path.read_text("utf8")) for path in sorted((DATA / "saltern/chapters").glob("*.md"))]
    whole = "\n".join(text for _, text in texts)
    wanted = {name for name in gold(DATA / "saltern") if whole.count(name) >= 5}
    forms = {form for one in propose_names(texts, least=5) for form in (one.name, *one.aliases)}
    frequent = {word for word, _ in Counter(re.findall(r"\b[A-Z][a-z]+\b", whole)).most_common(len(forms))}
    assert len(wanted) == 5
    assert len(forms & wanted) >= 4
    assert len(forms & wanted) > len(frequent & wanted)


def test_the_engine_proposes_and_makes_nothing(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "ch001.md").write_text("# Chapter 1\n\n" + ENGLISH * 6, "utf8")
    with armarius.open(tmp_path, watch=False, index_dir=tmp_path / ".index") as engine:
        assert {one.name for one in engine.propose()} == {"Mr. Harrow", "Alma Reed", "Saltmouth"}
        assert engine.entities() == []
        engine.codex.create("Alma Reed", aliases=["Alma"])
        assert "Alma Reed" not in {one.name for one in engine.propose()}
        with pytest.raises(ValueError, match="least"):
            engine.propose(least=1)


def test_profiles_are_written_on_command_into_a_new_file_and_are_read_as_profiles(tmp_path, capsys):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "ch001.md").write_text("# Chapter 1\n\n" + ENGLISH * 6, "utf8")
    assert main(["propose", str(tmp_path), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["names"]) == 3
    assert main(["propose", str(tmp_path), "--write", str(tmp_path / "settings" / "new.md")]) == 0
    codex = armarius.codex.load_codex(tmp_path)
    assert {one.name for one in codex.entities} == {"Mr. Harrow", "Alma Reed", "Saltmouth"}
    assert next(one for one in codex.entities if one.name == "Alma Reed").aliases == ("Alma",)
    assert main(["propose", str(tmp_path), "--write", str(tmp_path / "settings" / "new.md")]) == 2
    assert main(["propose", str(tmp_path), "--write", str(tmp_path / ".." / "out.md")]) == 2


def test_the_file_that_profiles_are_written_to_is_a_path_of_the_shell(tmp_path, monkeypatch, capsys):
    (tmp_path / "网文").mkdir()
    (tmp_path / "网文" / "ch001.md").write_text("# 第一章\n\n" + CHINESE * 12, "utf8")
    for folder, project, path in (("网文", ".", "设定.md"), (".", "网文", "网文/设定.md")):
        monkeypatch.chdir(tmp_path / folder)
        assert main(["propose", project, "--write", path]) == 0
        assert f"to {path}: " in capsys.readouterr().err
        (tmp_path / "网文" / "设定.md").unlink()
    assert main(["propose", "网文", "--write", "设定.md"]) == 2


def test_chinese_profiles_are_in_chinese(tmp_path):
    (tmp_path / "设定").mkdir()
    (tmp_path / "设定" / "新.md").write_text(as_profiles(propose_names([("ch.md", CHINESE * 12)])), "utf8")
    kinds = {one.name: one.type for one in armarius.codex.load_codex(tmp_path).entities}
    assert kinds["苏晚晴"] == "character"
    assert kinds["望海镇"] == "location"


@pytest.mark.parametrize(("text", "typed"), [(CHINESE * 12, "- 类型：人物"), (ENGLISH * 12, "- Type: character")])
def test_a_proposed_profile_states_its_type_and_gives_its_card_nothing_else(tmp_path, text, typed):
    (tmp_path / "settings").mkdir()
    profiles = as_profiles(propose_names([("ch.md", text)]))
    (tmp_path / "settings" / "new.md").write_text(profiles, "utf8")
    assert typed in profiles.splitlines()
    assert not any(one.attributes or one.description for one in armarius.codex.load_codex(tmp_path).entities)


def test_the_list_of_names_gives_the_chapter_inside_a_book_in_one_file(tmp_path, capsys, monkeypatch):
    told = ("雾从海上来，没有人说话。" * 60, CHINESE * 6, "雾散了，没有人说话。" * 60)
    book = "".join(f"第{n}章 夜\n\n{text}\n\n" for n, text in enumerate(told, 1))
    (tmp_path / "book.txt").write_text(book, "utf8")
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["propose", str(tmp_path)]) == 0
    assert "book.txt, chapter 2" in capsys.readouterr().out


def test_the_example_needs_no_proposal_for_who_is_described(tmp_path):
    shutil.copytree(NOVEL, tmp_path / "novel")
    with armarius.open(tmp_path / "novel", watch=False, index_dir=tmp_path / ".index") as engine:
        described = {name for one in engine.entities() for name in (one.name, *one.aliases)}
        assert not described & {one.name for one in engine.propose(least=2)}


CRANE = "Crane said nothing. “Go,” said Crane. They met Crane, and Alma saw Crane at noon. "


def test_a_title_with_a_surname_makes_the_surname_known_and_nobody_else_of_that_name():
    assert "Crane" in names(propose_names([("a.md", CRANE * 6)]))
    assert "Crane" not in names(propose_names([("a.md", CRANE * 6)], known=["Silas Crane", "Mr Crane"]))
    others = CRANE + "Then Edwin Crane came. He saw Edwin Crane. They told Mrs. Crane. Later Mrs. Crane left. "
    found = names(propose_names([("a.md", others * 6)], known=["Mr Crane"]))
    assert {"Edwin Crane", "Mrs. Crane"} & set(found)
    assert "Crane" not in found
    assert "Mr. Harrow" not in names(propose_names([("a.md", ENGLISH * 6)], known=["Mr Harrow"]))


def test_a_wife_with_her_husbands_name_is_not_her_husband_and_a_miss_is_who_she_is():
    wife = "Then Joe said no. Mrs. Joe came. I saw Joe. So Joe went on, and Joe laughed. We met Mrs. Joe. He told Joe. "
    found = names(propose_names([("a.md", wife * 6)], least=6))
    assert [one.aliases for one in found.values() if "Joe" in one.name.split()] == [(), ()]
    miss = "Then came Miss Vale. I saw Miss Vale and told Miss Vale. Of Vale nothing. It was Vale. "
    assert names(propose_names([("a.md", miss * 6)], least=6))["Miss Vale"].aliases == ("Vale",)


def test_one_person_with_two_titles_is_proposed_once():
    text = "Then Vale said no. We met Mr. Vale. I told Uncle Vale. So Vale went. He saw Mr. Vale. It was Uncle Vale. "
    found = names(propose_names([("a.md", text * 6)], least=6))
    assert [sorted({one.name, *one.aliases}) for one in found.values()] == [["Mr. Vale", "Uncle Vale", "Vale"]]


def test_the_first_character_of_a_verb_is_no_part_of_a_known_name_and_headings_of_a_template_are_nobody():
    cold = "".join(f"苏晚晴冷{what}。" for what in ("笑道走罢", "哼一声", "眼看着", "笑着说", "冷地问", "淡地想"))
    told = "苏晚晴冷问道：何必。有人见苏晚晴冷，苏晚晴冷说。"
    found = propose_names([("ch.md", (CHINESE + cold + told) * 12)], known=["苏晚晴"])
    assert not [one for one in found if "苏晚晴" in one.name]
    page = "# New Concepts\n\n## Plans For Synopsis\n\n" + ENGLISH + "\n"
    assert "Harrow" in {one.name.split()[-1] for one in propose_names([("a.md", page * 12)])}
    assert not {"Concepts", "Plans", "Synopsis"} & {
        word for one in propose_names([("a.md", page * 12)]) for word in one.name.split()
    }


def test_a_reason_counts_one_time_in_the_singular():
    said = "".join(f"沈白鹭{what}。" for what in ["怕水", "不走", "还小", "在船上", "又来了", "要睡", "很老", "没有家"])
    said += "有人提起沈白鹭。那是沈白鹭的船。沈白鹭说道：“走罢。”"
    reasons = {one.name: one.reason for one in propose_names([("ch.md", CHINESE * 12 + said)])}
    assert reasons["沈白鹭"] == "acts or is spoken to 1 time"
    assert reasons["苏晚晴"].endswith(" times")


def test_common_nouns_and_adverbs_that_stand_where_names_do_are_not_proposed():
    place = "他到书房门口去，又从书房门口回来。在书房门口，书房门口没有人。"
    assert "书房门口" not in among_names(place)
    assert "死死" not in among_names("死死盯着门，他死死握住手。死死咬住牙，又死死盯着。")
    assert "郑重地" not in among_names("郑重地点头。他郑重地说道。郑重地说，又郑重地看着。")


def test_a_name_with_an_ending_of_endearment_is_the_same_person():
    story = CHINESE + "凤姐笑道。凤姐说话。众人劝凤姐，凤姐看着他。凤姐儿笑道，凤姐儿说话。众人劝凤姐儿。"
    found = names(propose_names([("ch.md", story * 12)]))
    assert len([one for one in found if one.startswith("凤姐")]) == 1


def test_what_counts_scenes_and_what_stands_in_every_page_is_no_name():
    nav = "[[00 Index|Back to Index]] | [[02 The Quay|Next Leaf]]\n\n"
    labels = "In Scene 4 the lamp goes out, and in Scene 9 Alma goes. "
    found = names(propose_names([("a.md", (nav + ENGLISH + "\n\n" + labels + "\n\n") * 12)]))
    assert set(found) == {"Mr. Harrow", "Alma Reed", "Saltmouth"}


def test_a_word_of_a_described_name_and_what_front_matter_says_is_not_proposed():
    text = "---\nauthor: The Silver Heron\n---\n" + ENGLISH * 6
    assert set(names(propose_names([("a.md", text)] * 12, known=["Alma Reed of Saltmouth"]))) == {"Mr. Harrow"}


def test_a_translation_proposes_nothing(tmp_path):
    said = "Prose is told by Ada Brook. She said nothing to Ada Brook, and then Ada Brook went. "
    other = "La marée monte et le vent se lève sur la baie, et tout le monde attend la barque. "
    for number in (1, 2, 3):
        for folder, text in (("chapters", said * 2), ("translation", other + "Il dit à Ada Ruisseau que non. ")):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / f"chapter{number}.md").write_text(f"# Chapter {number}\n\n{text * 12}")
    with armarius.open(tmp_path, watch=False) as engine:
        assert {one.name for one in engine.propose()} == {"Ada Brook"}
