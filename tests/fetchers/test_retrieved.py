from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.codex import Codex, Entity, Fact, Origin
from armarius.codex.cards import short_card
from armarius.prompt.fetchers.detected import MAX_SEARCHED, RetrievedFetcher
from armarius.prompt.fetchers.entities import Cards, CodexSource, card_of
from armarius.text.matcher import EntityMatcher
from armarius.types import Fetcher, FetchRequest
from armarius.warnings import ENTITY_MATCH_FAILED, KG_UNAVAILABLE

XIAOYU = Entity(
    "e1", "林小雨", "character", ("小雨",), "林默的妹妹", {"年龄": "16", "住处": "江城"}, origins=(Origin("人物.md"),)
)
MO = Entity("e2", "林默", "character", level="always")
SECRET = Entity("e3", "灯塔", "location", level="never")
ENDING = Entity("e4", "结局", level="manual_only")
CAT = Entity("e5", "小雨点", "宠物")


class RecordingMatcher(EntityMatcher):
    searched = ()

    def scene(self, text, near, speech):
        RecordingMatcher.searched = (*RecordingMatcher.searched, text)
        return super().scene(text, near, speech)


class Source:
    def __init__(self, entities=(), error=None):
        self.entities, self.error, self.filters = entities, error, []

    def entity_list(self, project_id, level):
        self.filters.append((project_id, level))
        if self.error:
            raise self.error
        return self.entities


def request(**values):
    return FetchRequest(project_id="p", **values)


def codex_fetcher(*entities, **options):
    return RetrievedFetcher(CodexSource(Codex(entities)), report_levels=True, **options)


def test_mentioned_entity_is_a_card_with_its_source():
    fetched = codex_fetcher(XIAOYU).fetch(request(additional_input="小雨推开门走了进来"))
    (item,) = fetched.candidates
    assert item.source == "codex:detected:e1"
    assert item.group == "[知识图谱 — 引用检测]"
    assert (
        item.content
        == "## 角色：林小雨\n- 类型：character\n- 描述：林默的妹妹\n- 属性：年龄=16, 住处=江城\n- 别名：小雨"
    )
    assert item.layer == "retrieved"
    assert item.documents == ("人物.md",)
    assert fetched.warnings == ()


@pytest.mark.parametrize("blank", ["", "  \n\t", "　"])
def test_without_text_nothing_is_listed_and_the_matcher_is_not_called(blank):
    def matcher(entities):
        raise AssertionError("called")

    source = Source([XIAOYU])
    fetched = RetrievedFetcher(source, matcher=matcher).fetch(request(additional_input=blank, query=blank))
    assert (fetched.candidates, fetched.warnings, source.filters) == ((), (), [])


def test_entities_are_listed_with_the_filter_when_detected():
    source = Source([XIAOYU])
    RetrievedFetcher(source).fetch(request(query="小雨"))
    assert source.filters == [("p", "when_detected")]


def test_failing_list_is_a_warning_and_no_candidates():
    fetched = RetrievedFetcher(Source(error=OSError("down"))).fetch(request(query="小雨"))
    assert fetched.candidates == ()
    assert list(fetched.warnings) == [KG_UNAVAILABLE()]
    assert str(fetched.warnings[0]) == "KG_UNAVAILABLE: 知识图谱数据未注入"
    assert fetched.omitted[0].reason == "source failed"


@pytest.mark.parametrize("answer", [None, 3, "text", {"items": []}])
def test_list_that_is_no_list_is_a_failing_list(answer):
    assert list(RetrievedFetcher(Source(answer)).fetch(request(query="小雨")).warnings) == [KG_UNAVAILABLE()]


@pytest.mark.parametrize("broken", ["build", "search"])
def test_failing_matcher_is_a_warning_and_no_candidates(broken):
    class Broken(EntityMatcher):
        def __init__(self, entities):
            if broken == "build":
                raise RuntimeError("no")
            super().__init__(entities)

        def find_all(self, text):
            raise RuntimeError("no")

    fetched = RetrievedFetcher(Source([XIAOYU]), matcher=Broken).fetch(request(query="小雨"))
    assert fetched.candidates == ()
    assert list(fetched.warnings) == [ENTITY_MATCH_FAILED()]
    assert str(fetched.warnings[0]) == "ENTITY_MATCH_FAILED: 实体匹配异常"


def test_whom_a_file_only_names_has_no_card_and_one_with_another_name_has():
    bare = Entity("e6", "老赵", "character", origins=(Origin("大纲.md"),))
    called = replace(bare, id="e7", name="沈雨", aliases=("雨丫头",))
    fetched = codex_fetcher(bare, called).fetch(request(query="老赵和沈雨在哪"))
    assert [item.source for item in fetched.candidates] == ["codex:detected:e7"]
    assert [(one.source, one.reason) for one in fetched.omitted] == [("codex:detected:e6", "excluded")]


def test_other_levels_are_reported_and_not_injected():
    fetched = codex_fetcher(XIAOYU, MO, SECRET, ENDING).fetch(request(query="小雨、林默、灯塔与结局"))
    assert [item.source for item in fetched.candidates] == ["codex:detected:e1"]
    reasons = {(item.source, item.reason, item.detail) for item in fetched.omitted}
    assert reasons == {
        ("codex:detected:e2", "level", "level always"),
        ("codex:detected:e3", "level", "level never"),
        ("codex:detected:e4", "level", "level manual_only"),
    }


def test_host_that_ignores_the_filter_does_not_get_other_levels_injected():
    fetched = RetrievedFetcher(Source([XIAOYU, MO, SECRET])).fetch(request(query="小雨 林默 灯塔"))
    assert [item.source for item in fetched.candidates] == ["codex:detected:e1"]


def test_name_inside_a_longer_name_is_reported_as_shadowed():
    fetched = codex_fetcher(XIAOYU, CAT).fetch(request(query="小雨点跳上桌子"))
    assert [item.source for item in fetched.candidates] == ["codex:detected:e5"]
    assert [(item.source, item.reason) for item in fetched.omitted] == [("codex:detected:e1", "shadowed")]


def test_entity_without_a_mention_is_reported():
    fetched = codex_fetcher(XIAOYU, CAT).fetch(request(query="小雨"))
    assert [(item.source, item.reason) for item in fetched.omitted] == [("codex:detected:e5", "no match")]


def test_very_many_entities_without_a_mention_share_one_line():
    many = [Entity(f"x{number}", f"人物{number:05d}号") for number in range(3000)]
    fetched = codex_fetcher(XIAOYU, *many).fetch(request(query="小雨与人物00007号"))
    assert [item.source for item in fetched.candidates] == ["codex:detected:e1", "codex:detected:x7"]
    assert [(item.id, item.reason, item.detail) for item in fetched.omitted] == [
        ("entity:*", "no match", "2999 entities are not mentioned")
    ]


def test_evidence_says_where_the_name_stands():
    text = "一" * 3000 + "灯下的小雨点" + "二" * 3000
    fetched = codex_fetcher(XIAOYU, CAT).fetch(
        request(query="小雨在哪", additional_input="她叫林小雨", document="ch.md", text=text, cursor=3002)
    )
    evidence = {item.source: item.evidence for item in fetched.candidates}
    assert [(e.kind, e.detail) for e in evidence["codex:detected:e1"]] == [
        ("mention", "the question mentions “小雨”"),
        ("mention", "the additional input mentions “林小雨”"),
    ]
    (cursor,) = evidence["codex:detected:e5"]
    assert (cursor.detail, cursor.path) == ("“小雨点” is mentioned near the cursor", "ch.md")
    assert text[slice(*cursor.span)] == "小雨点"


def test_the_words_of_the_user_rank_above_the_text_around_the_cursor():
    fetched = codex_fetcher(XIAOYU, CAT).fetch(request(query="小雨点", text="小雨" * 20, document="a.md", cursor=3))
    assert [item.source for item in fetched.candidates] == ["codex:detected:e5", "codex:detected:e1"]


def test_text_far_from_the_cursor_does_not_count():
    text = "小雨" + "。" * 5000
    assert codex_fetcher(XIAOYU).fetch(request(text=text, document="a.md", cursor=4000)).candidates == ()
    assert codex_fetcher(XIAOYU).fetch(request(text=text, document="a.md", cursor=500)).candidates != ()


def test_search_is_bounded_and_says_so():
    fetcher = RetrievedFetcher(Source([XIAOYU]), matcher=RecordingMatcher)
    fetched = fetcher.fetch(request(additional_input="。" * (MAX_SEARCHED + 5)))
    assert [len(text) for text in RecordingMatcher.searched] == [MAX_SEARCHED]
    assert any(item.reason == "excluded" and str(MAX_SEARCHED + 5) in item.detail for item in fetched.omitted)


def test_card_is_confirmed_while_it_would_read_the_same_in_this_chapter():
    said = request(query="小雨和小雨点", chapter=3)
    offered = codex_fetcher(XIAOYU, CAT).fetch(said).candidates
    later = replace(XIAOYU, facts=(Fact("不再逃课", since=7),))
    fetcher = codex_fetcher(later, replace(CAT, description="一只猫"))
    assert fetcher.confirm(offered, said) == {"entity:e1"}
    assert fetcher.confirm(offered, request(chapter=7)) == set()
    assert codex_fetcher(replace(XIAOYU, level="never")).confirm(offered, said) == set()
    foreign = [replace(item, source="host:card") for item in offered]
    assert codex_fetcher(XIAOYU).confirm(foreign, said) == set()


def test_matcher_is_built_once_while_the_entities_stay_the_same():
    built = []

    def matcher(entities):
        built.append(len(entities))
        return EntityMatcher(entities)

    source = Source([{"id": "e1", "name": "林小雨"}])
    fetcher = RetrievedFetcher(source, matcher=matcher)
    for _ in range(3):
        fetcher.fetch(request(query="林小雨"))
    source.entities = [{"id": "e1", "name": "林小雨", "aliases": ["小雨"]}]
    assert fetcher.fetch(request(query="小雨")).candidates
    assert built == [1, 1]


def test_later_facts_are_withheld_and_reported():
    entity = Entity("e1", "林默", facts=(Fact("守灯", 7), Fact("修表", 1)))
    fetched = codex_fetcher(entity).fetch(request(query="林默", chapter=3))
    assert "守灯" not in fetched.candidates[0].content
    assert "修表" in fetched.candidates[0].content
    assert [(item.id, item.reason) for item in fetched.omitted] == [("entity:e1#fact0", "timeline")]
    assert fetched.omitted[0].aspect.startswith("fact “")


class HostEntity:
    id, name, aliases, ai_context_level = "h1", "白鹭", ["阿鹭"], "when_detected"


@pytest.mark.parametrize(
    "item",
    [HostEntity(), {"id": "h1", "name": "白鹭", "aliases": ["阿鹭"], "aiContextLevel": "when_detected", "extra": 1}],
    ids=["object", "mapping"],
)
def test_host_may_list_objects_or_mappings(item):
    (found,) = RetrievedFetcher(Source([item])).fetch(request(query="阿鹭")).candidates
    assert found.source == "codex:detected:h1"


async def test_host_may_answer_later_even_inside_a_running_loop():
    class Later:
        async def entity_list(self, project_id, level):
            return [XIAOYU]

    assert RetrievedFetcher(Later()).fetch(request(query="小雨")).candidates


def test_unusable_entry_costs_only_itself():
    fetched = RetrievedFetcher(Source([{"name": "无号"}, XIAOYU])).fetch(request(query="小雨"))
    assert [item.source for item in fetched.candidates] == ["codex:detected:e1"]
    assert fetched.omitted[0].detail == "entity_list[0]: id: expected a non-empty string, got None"


def test_lone_surrogates_are_searched_around():
    assert codex_fetcher(XIAOYU).fetch(request(query="\ud83d小雨\udc00")).candidates


def test_fetcher_is_a_fetcher():
    assert isinstance(codex_fetcher(XIAOYU), Fetcher)


@given(st.permutations([XIAOYU, MO, SECRET, ENDING, CAT]), st.text("小雨点林默灯塔。 ", max_size=30))
def test_order_of_entities_changes_nothing(entities, text):
    expected = codex_fetcher(XIAOYU, MO, SECRET, ENDING, CAT).fetch(request(query=text))
    found = codex_fetcher(*entities).fetch(request(query=text))
    assert found.candidates == expected.candidates
    assert sorted(found.omitted, key=repr) == sorted(expected.omitted, key=repr)


def test_a_card_written_before_is_that_of_the_chapter_at_hand():
    told = Entity(id="e1", name="白鹭", facts=(Fact("守灯塔", since=7), Fact("学徒", until=7)))
    plain = Entity(id="e2", name="林渡", description="钟表匠")
    cards = Cards()
    for chapter in (3, 7, None, 3, 7):
        request = FetchRequest(project_id="p", chapter=chapter)
        for entity in (told, plain):
            assert cards.of(entity, request) == (card_of(entity, request), short_card(entity))
    early, late = (cards.of(told, FetchRequest(project_id="p", chapter=chapter)) for chapter in (3, 7))
    assert early != late
