"""What fills the room that demand leaves: paragraphs by worth, in the order of the story, and nothing twice."""

import gc
import re
import weakref
from types import SimpleNamespace

import pytest

import armarius
from armarius.headings import heading
from armarius.prompt.fetch import FetchOutcome, apply_pins
from armarius.types import Fetched, Wish

PLACES = ["渡口", "钟楼", "盐仓", "灯塔", "药铺", "码头", "粮行", "石桥"]
SIZES = (500, 700, 900, 1100, 1300, 1600, 2000, 3000)
PEOPLE = ["顾长明", "白鹭", "林渡", "沈砚", "周远", "陆迟"]


def paragraph(chapter, n):
    who, other = PEOPLE[(chapter + n) % 6], PEOPLE[(chapter * 3 + n) % 6]
    where = PLACES[(chapter * 5 + n) % 8]
    return f"{who}在{where}遇见了{other}，说起第{n}件旧事，那天夜里{where}的灯一直没有熄，直到{chapter}更天才散去。"


@pytest.fixture(scope="module")
def novel(tmp_path_factory):
    root = tmp_path_factory.mktemp("novel")
    (root / "chapters").mkdir()
    for chapter in range(1, 13):
        body = "\n\n".join(paragraph(chapter, n) for n in range(12))
        if chapter == 7:
            body += "\n\n沈砚把青铜罗盘埋在了药铺后院的枣树底下，谁也没有告诉。"
        (root / f"chapters/ch{chapter:03}.md").write_text(f"# 第{chapter}章\n\n{body}\n", encoding="utf-8")
    (root / "spec").mkdir()
    profiles = "".join(f"## {who}\n\n- 类型：人物\n- 描述：镇上的人。\n\n" for who in PEOPLE)
    (root / "spec/people.md").write_text(f"# 人物\n\n{profiles}", encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def engine(novel, tmp_path_factory):
    with armarius.open(novel, watch=False, index_dir=tmp_path_factory.mktemp("index")) as engine:
        yield engine


def rows(pack):
    return [item for item in pack.items if item.source.startswith("rag:passage:")]


def place(source):
    path, _, number = source.removeprefix("rag:passage:").rpartition("#")
    return path, int(number)


@pytest.mark.parametrize("budget", [600, 1500, 4000, 8000])
def test_the_budget_is_used_and_never_exceeded(engine, budget):
    pack = engine.assemble("谁在药铺遇见了沈砚", budget=budget)
    assert pack.token_count <= budget
    assert pack.token_count > 0.8 * min(budget, 6000)


def test_the_paragraph_that_answers_is_in_the_smallest_prompt(engine):
    assert "枣树底下" in engine.assemble("青铜罗盘埋在哪里", budget=700).prompt


def test_a_chapter_asked_for_is_whole(engine):
    prompt = engine.assemble("检查第7章的角色一致性", budget=8000).prompt
    for n in range(12):
        assert paragraph(7, n) in prompt


@pytest.mark.parametrize(
    ("query", "shown", "missing"),
    [
        ("第7章的结尾", 11, 0),
        ("the end of chapter 7", 11, 0),
        ("第7章的开头", 0, 11),
        ("rewrite the second half of chapter 7", 11, 0),
        ("改写第7章的后半部分", 11, 0),
        ("Réécris la première moitié du chapitre 7", 0, 11),
    ],
)
def test_of_a_chapter_that_does_not_fit_the_end_asked_about_is_shown(engine, query, shown, missing):
    prompt = engine.assemble(query, budget=450).prompt
    assert paragraph(7, shown) in prompt
    assert paragraph(7, missing) not in prompt


def test_a_bigger_budget_never_holds_less_of_a_chapter_asked_for(engine):
    held = [
        sum(paragraph(7, n) in engine.assemble("总结第7章", budget=budget).prompt for n in range(12))
        for budget in SIZES
    ]
    assert held == sorted(held)
    assert held[-1] == 12


def test_the_maximum_of_the_layer_holds_for_paragraphs(engine):
    for most in (0, 100, 400):
        pack = engine.assemble("谁在药铺遇见了沈砚", budget=4000, layers={"retrieved": {"max": most}})
        assert pack.layers.retrieved.token_count <= most


@pytest.mark.parametrize("query", ["沈砚", "沈砚是谁", "介绍沈砚", "青铜罗盘", "枣树底下"])
def test_a_name_alone_or_words_that_stand_together_are_never_a_weak_answer(engine, query):
    assert heading("weak") not in engine.assemble(query, budget=4000).prompt


WEAK = "沈砚的熊猫爱吃什么竹笋"


@pytest.mark.parametrize("budget", [500, 2000, 4000, 8000])
def test_a_weak_answer_is_called_one_and_has_the_room_of_any_other(engine, budget):
    pack = engine.assemble(WEAK, budget=budget)
    assert engine.retrieve(WEAK).outcome == "weak"
    assert heading("weak") in pack.prompt
    assert pack.token_count > 0.8 * min(budget, 6000)


def test_the_check_of_a_chapter_brings_the_cards_of_who_is_in_it(engine):
    sources = engine.assemble("检查第7章的角色一致性", budget=8000).layers.retrieved.source
    assert sum(source.startswith("kg:related:") for source in sources) == len(PEOPLE)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_cards_stand_under_the_heading_of_cards_and_passages_under_theirs(engine, language):
    pack = engine.assemble("检查第7章的角色一致性", budget=8000, language=language)
    groups = {item.source.split(":")[1]: set() for item in pack.items if item.layer == "retrieved"}
    for item in pack.items:
        if item.layer == "retrieved":
            groups[item.source.split(":")[1]].add(item.group)
    assert groups == {"related": {heading("detected", language)}, "passage": {heading("passages", language)}}
    for name in ("detected", "passages"):
        assert pack.prompt.count(heading(name, language)) == 1


@pytest.fixture
def lines(project):
    scenes = [[f"{who}走上第{n}级台阶。" for n in range(60)] for who in PEOPLE]
    scenes[3][12] = "“罗盘在井里。”"
    text = "\n\n***\n\n".join("\n\n".join(scene) for scene in scenes)
    return project({"正文/第0001章-台阶.md": f"# 第1章 台阶\n\n{text}\n\n***\n\n罗盘。\n"})


def passages(pack):
    """What stands under each heading and mark of the paragraphs."""
    text = pack.prompt.partition(heading("passages"))[2].partition("</layer-retrieved>")[0]
    return [part.strip() for part in re.split(r"^(?:##.*|…)$", text, flags=re.MULTILINE) if part.strip()]


def test_where_paragraphs_are_short_a_stretch_of_the_scene_stands_under_one_heading(lines):
    best = next(one for one in passages(lines.assemble("罗盘在井里", budget=8000)) if "罗盘在井里" in one)
    assert "沈砚走上第11级台阶。" in best
    assert "沈砚走上第13级台阶。" in best
    assert len(best) > 300


def test_no_passage_is_shorter_than_sixty_characters_unless_its_scene_is(lines):
    short = [one for one in passages(lines.assemble("罗盘在井里", budget=4000)) if len(one) < 60]
    assert short == ["罗盘。"]  # a scene of its own


def test_a_title_that_the_name_of_the_file_says_is_not_said_twice(lines):
    prompt = lines.assemble("罗盘在井里", budget=2000).prompt
    assert "## 段落：正文/第0001章-台阶.md#" in prompt
    assert "第1章 台阶（" not in prompt


@pytest.mark.parametrize("budget", [0, -1, 1 << 31, 10**12])
def test_a_budget_that_no_prompt_can_have_is_refused_by_name(engine, budget):
    with pytest.raises(armarius.BudgetError, match=f"budget must be .*got {budget}"):
        engine.assemble("谁", budget=budget)


def test_a_question_about_a_chapter_alone_is_answered_by_it_alone(engine):
    shown = {place(item.source)[0] for item in rows(engine.assemble("总结第7章", budget=8000))}
    assert shown == {"chapters/ch007.md"}


def test_the_ending_is_that_of_the_open_chapter_and_the_ending_of_the_book_is_not_told_before_its_time(engine):
    where = {"document": "chapters/ch004.md", "cursor": 30}
    assert paragraph(4, 11) in engine.assemble("改写结尾", budget=1200, **where).prompt
    assert engine.retrieve("全书的结局是什么", document="chapters/ch004.md").understanding.chapters == (4,)
    for query in ("全书的结局是什么", "结局如何？", "故事怎么结束的", "How does the novel end?", "ending of the book"):
        assert engine.retrieve(query).understanding.chapters == (12,), query
    assert engine.retrieve("沈砚的结局").understanding.chapters == ()


def test_paragraphs_stand_in_the_order_of_the_story(engine):
    chapters = [place(item.source) for item in rows(engine.assemble("谁在药铺遇见了沈砚", budget=4000))]
    story = [one for one in chapters if one[0].startswith("chapters/")]
    assert story == sorted(story)
    assert len(story) > 10


def test_a_document_has_one_heading_and_a_gap_in_it_a_mark(engine):
    pack = engine.assemble("谁在药铺遇见了沈砚", budget=4000)
    before = None
    for item in rows(pack):
        text = pack.prompt[item.span[0] : item.span[1]]
        path, number = place(item.source)
        if before is None or before[0] != path:
            assert text.startswith("## 段落：")
        elif before[1] + 1 == number:
            assert not text.startswith("#")
        else:
            assert text.startswith("…\n")
        before = path, number


def test_what_the_window_shows_is_not_said_again(engine):
    pack = engine.assemble("谁在药铺遇见了沈砚", document="chapters/ch007.md", budget=6000)
    for n in range(12):
        assert pack.prompt.count(paragraph(7, n)) <= 1


def test_later_chapters_are_withheld_from_who_writes_an_earlier_one(engine):
    pack = engine.assemble("青铜罗盘埋在哪里", document="chapters/ch003.md", budget=6000)
    assert "枣树底下" not in pack.prompt
    assert max(place(item.source)[0] for item in rows(pack) if "chapters" in item.source) <= "chapters/ch003.md"


def test_what_a_previous_prompt_held_keeps_its_place_byte_for_byte(engine):
    first = engine.assemble("谁在药铺遇见了沈砚", budget=3000)
    again = engine.assemble("谁在药铺遇见了沈砚", budget=3000, previous=first)
    assert again.prompt == first.prompt
    other = engine.assemble("白鹭在药铺遇见了谁", budget=3000, previous=first)
    kept = [item.source for item in rows(other) if item.source in {one.source for one in rows(first)}]
    assert kept == [item.source for item in rows(first) if item.source in set(kept)]
    new = [place(item.source) for item in rows(other)[len(kept) :] if "chapters" in item.source]
    assert new == sorted(new)


def test_any_paragraph_can_be_explained(engine):
    pack = engine.assemble("青铜罗盘埋在哪里", budget=700)
    assert "与问题相同的词" in pack.why("chapters/ch007.md#13").reason
    outside = pack.why("chapters/ch002.md#3")
    assert not outside.included
    assert outside.omitted[0].code in ("budget", "no match")
    assert outside.omitted[0].score is not None


def test_a_paragraph_that_was_not_on_offer_is_said_to_say_too_little_and_not_to_be_too_long(engine):
    (gone,) = engine.assemble("青铜罗盘枣树底下", budget=8000).why("chapters/ch002.md#3").omitted
    assert gone.code == "no match"
    assert "too long" not in gone.detail


def test_what_did_not_enter_is_one_omission_with_a_count(engine):
    pack = engine.assemble("谁在药铺遇见了沈砚", budget=1500)
    (omission,) = [one for one in pack.omitted if one.id == "rag:passages"]
    assert re.match(r"\d+ more paragraphs", omission.detail)


def test_a_question_about_what_is_not_there_is_called_one_and_names_the_words(engine):
    pack = engine.assemble("量子计算机的芯片型号", budget=8000)
    assert "可能无答案" in pack.prompt
    (words,) = [one for one in pack.omitted if one.id == "request:words"]
    assert "量子" in words.detail


def test_paragraphs_on_offer_are_no_demand(engine):
    pack = engine.assemble("谁在药铺遇见了沈砚", budget=2000)
    assert not any("CAPACITY" in warning for warning in pack.warnings)


def test_the_window_gets_back_what_no_paragraph_wants(engine):
    shared = engine.assemble("谁在药铺遇见了沈砚", document="chapters/ch012.md", budget=2500)
    alone = engine.assemble(document="chapters/ch012.md", budget=2500)
    window = {item.source: item.tokens for item in shared.items}["editor:cursor-window"]
    whole = {item.source: item.tokens for item in alone.items}["editor:cursor-window"]
    assert 0 < window <= whole
    assert rows(shared)
    assert not rows(alone)


def test_a_pack_let_go_is_gone_with_all_it_held(engine):
    pack = engine.assemble(document="chapters/ch003.md", query="谁在渡口遇见了白鹭", budget=3000)
    assert pack.omitted
    assert rows(pack.what_if(budget=2500))
    held = [weakref.ref(pack), *map(weakref.ref, pack._fitted.admitted.offers)]
    assert len(held) == 2
    gc.disable()
    try:
        del pack
        assert [one() for one in held] == [None, None]
    finally:
        gc.enable()


def test_rows_are_the_same_to_whoever_looks_at_them_at_once(engine):
    offer = engine.assemble(query="谁在渡口遇见了白鹭", budget=1500)._fitted.admitted.offers[0]
    slow, whole = offer.rows, []
    whole.append(next(slow))
    everything = list(offer.rows)
    whole += slow
    assert whole == everything == list(offer.rows)
    assert len(everything) > 40


@pytest.mark.parametrize(
    ("kind", "key", "wrapped"),
    [
        ("source", "kg:relation:a-b", False),
        ("entity", "a", False),
        ("paragraph", "a.md#1", True),
        ("document", "a.md", True),
    ],
)
def test_rows_are_looked_through_for_what_is_muted_only_where_a_text_is(kind, key, wrapped):
    offer = SimpleNamespace(shares=None, group="", evidence=None, explain=None)
    answer = FetchOutcome("passages", "retrieved", Fetched(offer=offer))
    wish = Wish(kind, key, "muted", True, "excluded")
    assert (apply_pins([answer], [wish])[0].fetched.offer is not offer) == wrapped
