"""A check of chapters: who is in them, the chapters themselves, and what came before to compare them with."""

import json
from collections import Counter
from pathlib import Path

import pytest

import armarius

ROOT = Path(__file__).resolve().parents[2]
NOVEL = ROOT / "examples" / "novel"
ROWS = json.loads((ROOT / "tests" / "cases" / "checks.json").read_text(encoding="utf8"))
CHECKS = [row for row in ROWS if row["chapters"]]
OTHERS = [row for row in ROWS if not row["chapters"]]
BUDGETS = (2000, 4000, 8000, 16000)
PEOPLE = ["顾长明", "白鹭", "林渡", "沈砚", "周远", "陆迟", "宋青", "何岸", "程默", "方晚", "许舟", "梁夏"]
KIN = ["哥哥", "妹妹", "父亲", "女儿"]
CHAPTERS, PARAGRAPHS = 24, 240


def name_of(row):
    return f"{row['query']}@{row.get('document', '')}"


def assembled(engine, row, budget, **more):
    where = {"document": row["document"]} if "document" in row else {}
    return engine.assemble(row["query"], budget=budget, model="gpt-4o", **where, **more)


def chapter_of(path):
    return int(Path(path).stem.removeprefix("ch")) if path.startswith("chapters/") else 0


def rows(pack):
    """The paragraphs on offer that are in, in the order of the prompt: (chapter, number)."""
    found = (
        one.source.removeprefix("rag:passage:").rpartition("#")
        for one in pack.items
        if one.source == f"rag:passage:{one.id}" and "competes" not in one.evidence[0].detail
    )
    return [(chapter_of(path), int(number)) for path, _, number in found if path.startswith("chapters/")]


def tokens(pack, row):
    """What cards take, what the chapters that are checked take with the window of them, and those before."""
    taken = Counter()
    for one in pack.items:
        chapter = chapter_of(one.source.removeprefix("rag:passage:").rpartition("#")[0])
        if one.layer == "retrieved" and one.id.startswith("entity:"):
            taken["cards"] += one.tokens
        elif chapter in row["chapters"]:
            taken["checked"] += one.tokens
        elif chapter:
            taken["before"] += one.tokens
        elif one.source == "editor:cursor-window" and chapter_of(row["document"]) in row["chapters"]:
            taken["checked"] += one.tokens
    return taken


@pytest.fixture(scope="module")
def novel():
    with armarius.open(NOVEL, watch=False) as engine:
        yield engine


def weather(chapter, n):
    return f"第{chapter}个夜里，雨落在第{n}级石阶上，江水慢慢涨起来，谁也不出声，只有灯在雾里一明一灭，照着空空的码头。"


def told(chapter, n):
    who, other = PEOPLE[(chapter + n // 3) % 12], PEOPLE[(chapter * 5 + n // 3 + 1) % 12]
    age, house = (chapter + n) % 40 + 10, chapter * 300 + n
    return f"{who}是{other}的{KIN[n % 4]}，那年{age}岁，住在第{house}号院子里，长相像他母亲，随身带着一把旧钥匙。"


@pytest.fixture(scope="module")
def long_novel(tmp_path_factory):
    root = tmp_path_factory.mktemp("long")
    (root / "chapters").mkdir()
    (root / "spec").mkdir()
    for chapter in range(1, CHAPTERS + 1):
        body = "\n\n".join((told if n % 3 == 0 else weather)(chapter, n) for n in range(PARAGRAPHS))
        (root / f"chapters/ch{chapter:03}.md").write_text(f"# 第{chapter}章\n\n{body}\n", encoding="utf-8")
    profiles = "".join(
        f"## {who}\n\n- 类型：人物\n- 描述：镇上的人，{'话不多，做事慢，' * 12}人人认得。\n- 住处：第{n}号院子\n\n"
        for n, who in enumerate(PEOPLE)
    )
    (root / "spec/people.md").write_text(f"# 人物\n\n{profiles}", encoding="utf-8")
    with armarius.open(root, watch=False, index_dir=tmp_path_factory.mktemp("index")) as engine:
        yield engine


LONG = [
    {"query": "检查第20章的角色一致性", "chapters": [20]},
    {"query": "Check chapter 20 for consistency", "chapters": [20]},
    {"query": "第20章和前文有没有矛盾", "chapters": [20]},
    {"query": "检查第18到20章", "chapters": [18, 19, 20]},
    {"query": "检查这一章的一致性", "document": "chapters/ch020.md", "chapters": [20]},
    {"query": "Check this chapter for consistency", "document": "chapters/ch020.md", "chapters": [20]},
]


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_a_question_is_a_check_when_it_checks_chapters_and_nothing_else(novel, row):
    where = {"document": row["document"]} if "document" in row else {}
    understood = novel.retrieve(row["query"], limit=1, **where).understanding
    checked = "before" in understood.recipe.parts and understood.reads and set(understood.chapters) <= set(range(1, 8))
    assert checked == bool(row["chapters"])
    if checked:
        assert list(understood.chapters) == row["chapters"]


@pytest.mark.parametrize("row", CHECKS, ids=name_of)
def test_the_chapters_that_are_checked_and_those_before_them_are_whole(novel, row):
    pack = assembled(novel, row, 8000)
    last = max(row["chapters"])
    for number in range(1, last + 1):
        document = next(one for one in novel.documents() if one.path == f"chapters/ch{number:03}.md")
        for paragraph in document.paragraphs:
            if paragraph.role == "body":
                assert document.text[paragraph.start : paragraph.end].strip() in pack.prompt
    shown = chapter_of(row.get("document", ""))
    assert {chapter for chapter, _ in rows(pack)} | {shown} - {0} <= {*range(1, last + 1), shown}


@pytest.mark.parametrize("row", [row for row in CHECKS if 3 in row["chapters"]], ids=name_of)
def test_everyone_in_the_chapter_has_a_card(novel, row):
    pack = assembled(novel, row, 8000)
    cards = {one.source.rpartition(":")[2] for one in pack.items if one.id.startswith("entity:")}
    assert {"lin-xiaoyu", "林默", "沈砚秋"} <= cards


def test_statements_that_compete_are_in_a_check(novel):
    prompt = novel.assemble("检查第3章的角色一致性", budget=2000).prompt
    assert "说法不一：chapters/ch003.md#3" in prompt
    assert "说法不一：spec/characters.md#2" in prompt


@pytest.mark.parametrize("row", OTHERS, ids=name_of)
def test_a_question_that_is_no_check_reads_no_chapter_for_comparison(novel, row):
    assert not any(
        "before what is checked" in why.detail for one in assembled(novel, row, 8000).items for why in one.evidence
    )


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("row", LONG, ids=name_of)
def test_a_check_is_divided_among_people_the_chapter_and_those_before_it(long_novel, row, budget):
    pack = assembled(long_novel, row, budget)
    taken = tokens(pack, row)
    assert 0.85 * budget < pack.token_count <= budget
    assert 0 < taken["cards"] <= 0.15 * budget
    assert 0.4 * budget < taken["checked"] <= 0.6 * budget
    assert taken["before"] >= 0.2 * budget
    assert {chapter for chapter, _ in rows(pack)} >= set(row["chapters"])


@pytest.mark.parametrize("row", LONG, ids=name_of)
def test_the_nearest_chapter_has_the_most_and_what_tells_of_people_comes_first(long_novel, row):
    found = rows(assembled(long_novel, row, 8000))
    before = Counter(chapter for chapter, _ in found if chapter not in row["chapters"])
    nearest = sorted(before, reverse=True)
    first = min(row["chapters"])
    assert nearest[:3] == [first - 1, first - 2, first - 3]
    assert [before[one] for one in nearest] == sorted(before.values(), reverse=True)
    assert all((number - 1) % 3 == 0 for chapter, number in found if chapter in before)


def test_rows_of_a_check_stand_in_the_order_of_the_story(long_novel):
    found = rows(long_novel.assemble("检查第20章的角色一致性", budget=8000))
    assert found == sorted(found)


def test_what_chapters_before_leave_goes_to_the_chapter_that_is_checked(long_novel):
    alone = long_novel.assemble("检查第1章的角色一致性", budget=8000)
    assert tokens(alone, {"chapters": [1]})["checked"] > 0.6 * 8000
    assert {chapter for chapter, _ in rows(alone)} == {1}


def test_what_the_chapter_leaves_goes_to_those_before_it(novel):
    taken = tokens(novel.assemble("检查第3章的角色一致性", budget=2000), {"chapters": [3]})
    assert taken["checked"] < 0.4 * 2000
    assert taken["before"] > 0.4 * 2000


def test_who_is_named_most_in_the_chapter_has_the_card_that_fits(novel):
    pack = novel.assemble("检查第3章的角色一致性", budget=800)
    assert [one.id for one in pack.items if one.id.startswith("entity:")][1:] == ["entity:lin-xiaoyu"]


def test_cards_beyond_their_share_are_listed(long_novel):
    pack = long_novel.assemble("检查第20章的角色一致性", budget=2000)
    (gone, *_) = [one for one in pack.omitted if one.id.startswith("entity:") and one.code == "budget"]
    assert "beyond 300 tokens, 15 % of the prompt, that cards may take" in gone.detail


def test_every_row_of_a_check_says_where_it_comes_from_and_why(novel):
    pack = novel.assemble("检查第3章的角色一致性", budget=8000)
    why = {one.source: one.evidence[0].detail for one in pack.items if one.source.startswith("rag:passage:chapters/")}
    assert why["rag:passage:chapters/ch003.md#15"].startswith("checked: ")
    assert why["rag:passage:chapters/ch001.md#9"].startswith("before what is checked: tells of its people")
    assert why["rag:passage:chapters/ch001.md#6"] == "before what is checked: the rest of the chapter"
    assert pack.why("chapters/ch001.md#6").reason == "所查章节之前的内容"


@pytest.mark.parametrize("row", LONG, ids=name_of)
def test_a_check_that_is_asked_again_is_the_same_prompt(long_novel, row):
    first = assembled(long_novel, row, 4000)
    assert assembled(long_novel, row, 4000).prompt == first.prompt
    assert assembled(long_novel, row, 4000, previous=first).prompt == first.prompt


def test_a_check_keeps_to_the_bounds_of_the_request(novel):
    def read(**bounds):
        return {chapter for chapter, _ in rows(novel.assemble("检查第5章的一致性", budget=8000, **bounds))}

    assert read() == {1, 2, 3, 4, 5}
    assert read(chapters=(3, 5)) == {3, 4, 5}
    assert read(document="chapters/ch002.md") >= {3, 4, 5}
    excluded = novel.assemble("检查第5章的一致性，除了第2章", budget=8000)
    assert 2 not in {chapter for chapter, _ in rows(excluded)}
