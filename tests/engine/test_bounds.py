"""Bounds of a request: nothing outside `chapters` and `kinds`, nothing later than `as_of`, through any fetcher."""

import json
from pathlib import Path

import pytest

import armarius
from armarius.arguments import KINDS, Bounds
from armarius.prompt.fetchers.layers import Style
from armarius.text.tokens import TokenCounter

ROOT = Path(__file__).parents[2]
NOVELS = {
    "novel": (ROOT / "examples" / "novel", ROOT / "tests" / "data" / "dukou-truth"),
    **{name: (ROOT / "tests" / "data" / name,) * 2 for name in ("saltern", "larkmoor", "wintermere")},
}
ENDINGS = ["故事的结局是什么", "the ending of the book", "最后三章发生了什么", "What happens in the last chapter?"]
LEAST = 12  # code points: a shorter paragraph says nothing that is its own


def questions(truth):
    file = truth / "queries.jsonl" if truth.name == "dukou-truth" else truth / "truth" / "queries.jsonl"
    return [json.loads(line)["query"] for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module", params=NOVELS)
def book(request, tmp_path_factory):
    folder, truth = NOVELS[request.param]
    with armarius.open(folder, watch=False, index_dir=tmp_path_factory.mktemp("index")) as engine:
        yield engine, [*ENDINGS, *questions(truth)[::7]]


@pytest.fixture(scope="module")
def novel(tmp_path_factory):
    """Asked by every test, changed by none."""
    with armarius.open(ROOT / "examples" / "novel", watch=False, index_dir=tmp_path_factory.mktemp("index")) as engine:
        yield engine


def paragraphs(engine, outside):
    """Texts that stand in a chapter that is `outside`, and nowhere else."""
    inside, found = "", []
    for document in engine.documents():
        for one in document.paragraphs:
            text = document.text[one.start : one.end]
            chapter = document.chapter if one.chapter is None else one.chapter
            if chapter is None or not outside(chapter):
                inside += text + "\n"
            elif len(text) >= LEAST and one.role == "body":
                found.append(text)
    return [text for text in found if text not in inside]


def chapters(engine):
    return sorted({document.chapter for document in engine.documents() if document.chapter is not None})


def test_as_of_a_chapter_no_prompt_holds_a_paragraph_of_a_later_one(book):
    engine, asked = book
    held = "".join(engine.assemble(query, budget=16_000).prompt for query in asked)
    assert [text for text in paragraphs(engine, lambda number: number > 1) if text in held]  # without it, one does
    for n in chapters(engine):
        later = paragraphs(engine, lambda number, n=n: number > n)
        for at, query in enumerate(asked[n % 3 :: 3]):
            numbers = chapters(engine)
            document = f"{next(d.path for d in engine.documents() if d.chapter == numbers[-1 - at % 2])}" * (at % 2)
            query += f"（第{n + 1}章, chapter {n + 1}）" * (at % 4 == 0)
            pack = engine.assemble(query, as_of=n, document=document, budget=16_000)
            assert [text for text in later if text in pack.prompt] == [], (n, query)


def test_as_of_a_chapter_nothing_of_a_later_one_is_retrieved(book):
    engine, asked = book
    for n in chapters(engine):
        later = paragraphs(engine, lambda number, n=n: number > n)
        for query in asked[n % 3 :: 3]:
            hits = engine.retrieve(f"{query} chapter {n + 1}", as_of=n, limit=20, also=["第十八页", "the ending"])
            assert all(hit.chapter is None or hit.chapter <= n for hit in hits)
            texts = [engine.excerpt(hit, as_of=n) for hit in hits]
            assert [text for text in later if any(text in said for said in texts)] == []


def test_within_chapters_no_prompt_holds_a_paragraph_of_another(book):
    engine, asked = book
    last = chapters(engine)[-1]
    for first, end in ((1, 2), (2, last - 1), (last, None)):
        other = paragraphs(engine, lambda n, a=first, b=end or last: not a <= n <= b)
        for query in asked:
            pack = engine.assemble(f"{query} 第1章 chapter {last}", chapters=(first, end), budget=16_000)
            assert [text for text in other if text in pack.prompt] == [], (first, end, query)
            hits = engine.retrieve(query, chapters=(first, end), limit=20)
            assert all(hit.kind == "chapter" and first <= hit.chapter <= (end or last) for hit in hits)


@pytest.mark.parametrize("kind", KINDS)
def test_of_kinds_only_documents_of_those_are_looked_into(book, kind):
    engine, asked = book
    kinds = {document.path: document.kind for document in engine.documents()}
    for query in asked[::4]:
        pack = engine.assemble(query, kinds=kind, budget=8000)
        passages = [item for item in pack.items if item.source.startswith("rag:passage:")]
        assert {kinds[path] for item in passages for path in item.documents} <= {kind}
        assert {hit.kind for hit in engine.retrieve(query, kinds=[kind], limit=9)} <= {kind}


def test_whoever_asks_for_the_outline_alone_is_answered_by_it(novel):
    found = novel.retrieve("谁裁了第十八页", kinds="outline")
    assert found.outcome == "found"
    assert {hit.path for hit in found} == {"spec/outline.md"}
    assert any("第十八页" in hit.text for hit in found)


def test_as_of_the_current_chapter_decides_over_the_open_document(novel):
    seven, three = "chapters/ch007.md", "chapters/ch003.md"
    assert "搬到白鹭洲" in novel.assemble("林默", document=seven).prompt
    pack = novel.assemble("林默", document=seven, as_of=6)
    assert "搬到白鹭洲" not in pack.prompt
    (gone,) = [one for one in pack.omitted if one.source == "editor:cursor-window"]
    assert (gone.code, gone.layer) == ("timeline", "immediate")
    assert "搬到白鹭洲" in novel.assemble("林默", document=three, as_of=7).prompt


def test_without_bounds_a_later_chapter_that_is_named_is_there(novel):
    asked = {"query": "第5章谁交出了第十八页", "document": "chapters/ch003.md", "budget": 8000}
    assert "chapters/ch005.md" in novel.assemble(**asked).documents
    assert "chapters/ch005.md" not in novel.assemble(**asked, as_of=3).documents


def test_facts_of_a_card_hold_as_of_the_chapter_and_within_the_chapters(novel):
    def card(**bounds):
        return next(i for i in novel.assemble("林渡是谁？", **bounds).items if i.source == "codex:detected:林渡")

    def text(**bounds):
        pack = novel.assemble("林渡是谁？", **bounds)
        assert card(**bounds)
        return pack.prompt.split("[检索")[0]

    assert "已知沉船后藏身白鹭洲" in text(as_of=4)
    assert "已知沉船后藏身白鹭洲" not in text(as_of=3)
    assert "已知沉船后藏身白鹭洲" not in text(chapters=(1, 3))
    assert "已知沉船后藏身白鹭洲" in text(chapters=(2, None))
    gone = [one for one in novel.assemble("林渡是谁？", chapters=(1, 3)).omitted if one.id == "entity:林渡#fact0"]
    assert [one.code for one in gone] == ["timeline"]


@pytest.mark.parametrize(
    ("bounds", "reason", "detail"),
    [
        (
            {"chapters": (1, 3)},
            "excluded",
            "the question names it: chapter 5, and the request is limited to chapters 1–3",
        ),
        ({"as_of": 3}, "timeline", "the question names it: chapter 5 is later than chapter 3"),
        (
            {"kinds": "outline"},
            "excluded",
            "the question names it: a chapter, and the request is limited to kinds outline",
        ),
    ],
)
def test_a_chapter_that_the_question_names_and_the_request_leaves_out_is_on_record(novel, bounds, reason, detail):
    wanted = ("request:chapter:5", reason, detail)
    pack = novel.assemble("检查第5章", **bounds)
    found = novel.retrieve("检查第5章", **bounds)
    assert wanted in [(one.id, one.code, one.detail) for one in pack.omitted]
    assert wanted in [(one.id, one.reason, one.detail) for one in found.omitted]
    assert not found.understanding.remarks


def test_any_paragraph_is_explained_by_the_bound_that_leaves_it_out(novel):
    later = novel.assemble("灯塔", as_of=3).why("chapters/ch006.md#3").omitted[0]
    assert (later.code, later.detail) == ("timeline", "chapter 6 is later than chapter 3")
    assert novel.assemble("灯塔", chapters=6).why("chapters/ch003.md#2").omitted[0].code == "excluded"


def test_the_ending_is_that_of_the_last_chapter_that_may_be_known(novel):
    pack = novel.assemble("故事的结局是什么", as_of=4, budget=8000)
    assert "chapters/ch004.md" in pack.documents
    assert novel.retrieve("故事的结局是什么", as_of=4)[0].path == "chapters/ch004.md"
    assert novel.retrieve("故事的结局是什么", chapters=(2, 5))[0].path == "chapters/ch005.md"


def test_what_the_previous_prompt_held_goes_when_it_lies_outside(novel):
    before = novel.assemble("周远交出第十八页，灯塔点亮", budget=8000)
    assert {"chapters/ch005.md", "chapters/ch006.md"} & set(before.documents)
    for previous in (before, before.continuation()):
        after = novel.assemble("周远交出第十八页，灯塔点亮", budget=8000, as_of=3, previous=previous)
        assert not {f"chapters/ch00{n}.md" for n in (4, 5, 6, 7)} & set(after.documents)
        assert "已知沉船后藏身" not in after.prompt


def test_another_budget_keeps_the_bounds(novel):
    pack = novel.assemble("灯塔是谁点亮的", as_of=4, chapters=(2, 4), budget=2000)
    more = pack.what_if(budget=16_000)
    assert more.request.bounds == pack.request.bounds == Bounds(as_of=4, chapters=(2, 4))
    assert set(more.documents) <= {*pack.documents, "chapters/ch002.md", "chapters/ch003.md", "chapters/ch004.md"}


def test_a_chapter_that_serves_as_style_is_left_out_like_any_other(tmp_path):
    (tmp_path / "armarius.toml").write_text('[style]\nfiles = ["ch009.md"]\n', encoding="utf-8")
    (tmp_path / "ch009.md").write_text("# Chapter 9\n\nThe fog sang all night.\n", encoding="utf-8")
    (tmp_path / "ch001.md").write_text("# Chapter 1\n\nThe fog came.\n", encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert "The fog sang" in engine.assemble("how to write").prompt
        for bounds in ({"as_of": 8}, {"chapters": (1, 8)}):
            pack = engine.assemble("the fog", **bounds)
            assert "The fog sang" not in pack.prompt
            assert [one.source for one in pack.omitted if one.layer == "settings"] == ["style:ch009.md"]
    assert Style("a.md", "text").chapters == ()


@pytest.mark.parametrize(
    ("query", "bounds", "said"),
    [
        ("检查第99章的角色一致性", {}, ["第99章: no chapter 99; the chapters are 1 to 7"]),
        ("灯塔在第7章和第9章", {}, ["第7章和第9章: no chapter 9; the chapters are 1 to 7"]),
        ("第99章的灯塔", {"chapters": (2, 4)}, ["第99章: no chapter 99; the chapters are 1 to 7"]),
        ("灯塔", {"chapters": (90, 95)}, ["the request is limited to chapters 90–95; the chapters are 1 to 7"]),
        ("灯塔", {"chapters": 9}, ["the request is limited to chapter 9; the chapters are 1 to 7"]),
        ("上一章的灯塔", {}, ["上一章: the current chapter is not known"]),
        ("灯塔", {"chapters": (5, 95)}, []),
        ("灯塔", {"as_of": 95}, []),
        ("第7章的灯塔", {"as_of": 3}, []),
        ("第7章的灯塔", {"kinds": "setting"}, []),
    ],
)
def test_a_chapter_that_there_is_not_is_a_warning(novel, query, bounds, said):
    wanted = [f"CHAPTER_UNKNOWN: {one}" for one in said]
    answer, pack = novel.retrieve(query, **bounds), novel.assemble(query, budget=2000, **bounds)
    assert [str(one) for one in answer.warnings if one.code == "CHAPTER_UNKNOWN"] == wanted
    assert [one for one in pack.warnings if one.startswith("CHAPTER_UNKNOWN")] == wanted
    assert answer.outcome in ("found", "nothing found")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("summarise chapter 2", ["CHAPTER_UNKNOWN: chapter 2: no chapter 2; there are no chapters"]),
        ("检查第3章", ["CHAPTER_UNKNOWN: 第3章: no chapter 3; there are no chapters"]),
        ("Who lit the lamp of chapter 2?", []),
        ("write chapter 2", []),
    ],
)
def test_a_chapter_to_be_read_is_a_warning_where_there_are_none(tmp_path, query, said):
    (tmp_path / "lamp.py").write_text('"""The lamp of chapter 2."""\n', encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert [one for one in engine.assemble(query, budget=2000).warnings if "CHAPTER" in one] == said


def test_a_selection_that_tells_of_a_chapter_there_is_not_asks_for_none(novel):
    assert not novel.assemble(additional_input="她翻到第99章，灯塔亮了。", budget=2000).warnings


def test_a_search_as_of_a_chapter_finds_what_stands_there_now(novel):
    assert {hit.chapter for hit in novel.search("灯塔", kinds="chapter", limit=50)} >= {6, 7}
    found = novel.search("灯塔", as_of=4, limit=50)
    assert found
    assert max(hit.chapter for hit in found if hit.chapter is not None) == 4
    assert novel.search("守灯塔", kinds="setting")
    assert not novel.search("守灯塔", kinds="setting", as_of=6)


def test_search_asks_for_enough_where_most_of_it_is_later(tmp_path):
    for n in range(1, 40):
        (tmp_path / f"ch{n:03}.md").write_text(f"# Chapter {n}\n\nThe bell rang {n} times.\n", encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert {hit.chapter for hit in engine.search("bell rang", as_of=3, limit=3)} == {1, 2, 3}


def test_evidence_as_of_a_chapter_leaves_out_what_holds_later(novel):
    assert any("守灯塔" in one.text for one in novel.evidence("林默"))
    assert not any("守灯塔" in one.text for one in novel.evidence("林默", as_of=6))
    assert {one.path for one in novel.evidence("林默", attribute="住处", chapters=(1, 7))} <= {
        f"chapters/ch00{n}.md" for n in range(1, 8)
    }
    assert {one.path for one in novel.evidence("林默", kinds="setting")} <= {"spec/characters.md", "spec/locations.md"}


def test_the_budget_is_kept_within_bounds(novel):
    counter = TokenCounter.for_model("gpt-4")
    for bounds in ({"as_of": 2}, {"chapters": 3}, {"kinds": ["setting", "outline"]}):
        pack = novel.assemble("林小雨的旧烫伤", budget=1500, model="gpt-4", **bounds)
        assert pack.token_count == counter.count(pack.prompt) <= 1500


@pytest.mark.parametrize(
    ("query", "document", "told"),
    [
        ("林默住在哪里", "chapters/ch003.md", False),
        ("林默住在哪里", "chapters/ch007.md", True),
        ("林默住在哪里", "", True),
        ("第7章里林默住在哪里", "chapters/ch003.md", True),
    ],
)
def test_settings_tell_no_more_of_later_chapters_than_a_card_does(query, document, told):
    with armarius.open("examples/novel", watch=False) as engine:
        prompt = engine.assemble(query, document=document, budget=6000).prompt
    assert ("搬到白鹭洲守灯塔" in prompt) == told
