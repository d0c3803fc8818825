from armarius.codex import Codex, Entity, Fact
from armarius.codex.model import Constraint
from armarius.prompt.fetchers.entities import CodexSource
from armarius.prompt.fetchers.layers import RulesFetcher
from armarius.types import Fetcher, FetchRequest
from armarius.warnings import KG_UNAVAILABLE

MO = Entity("e2", "林默", "character", description="钟表匠", level="always", facts=(Fact("守灯", 7),))
XIAOYU = Entity("e1", "林小雨", "character")


class Constraints:
    def __init__(self, *items, error=None):
        self.items, self.error = items, error

    def constraint_list(self, project_id):
        if self.error:
            raise self.error
        return self.items


def fetch(source=None, constraints=None, **values):
    return RulesFetcher(source, constraints=constraints).fetch(FetchRequest(project_id="p", **values))


def test_always_entity_is_a_pinned_card_with_its_source():
    (item,) = fetch(CodexSource(Codex((MO, XIAOYU))), chapter=7).candidates
    assert (item.source, item.group, item.pinned) == ("kg:always:e2", "[知识图谱 — 始终]", True)
    assert item.content == "## 角色：林默\n- 类型：character\n- 描述：钟表匠\n- 第7章起：守灯"
    assert item.keep is None


def test_constraint_carries_source_and_priority():
    (item,) = fetch(constraints=Constraints(Constraint("c1", "不写旁人的心理", "kg", 3))).candidates
    assert (item.source, item.content, item.group) == ("constraint:kg:c1", "- 不写旁人的心理", "[约束]")
    assert item.score == 4.0


def test_constraints_rank_by_priority_above_entities():
    constraints = Constraints(Constraint("a", "甲", priority=0), Constraint("b", "乙", priority=5))
    found = fetch(CodexSource(Codex((MO,))), constraints).candidates
    assert [item.id for item in sorted(found, key=lambda item: -item.score)] == [
        "constraint:b",
        "constraint:a",
        "entity:e2",
    ]


def test_query_changes_nothing():
    source = CodexSource(Codex((MO, XIAOYU)))
    assert fetch(source, query="小雨") == fetch(source, query="林默", text="林默", cursor=1)


def test_failing_list_leaves_the_constraints():
    class Down:
        def entity_list(self, project_id, level):
            raise OSError("down")

    fetched = fetch(Down(), Constraints(Constraint("c1", "甲")))
    assert [item.id for item in fetched.candidates] == ["constraint:c1"]
    assert list(fetched.warnings) == [KG_UNAVAILABLE()]


def test_failing_constraints_leave_the_entities():
    fetched = fetch(CodexSource(Codex((MO,))), Constraints(error=OSError("down")))
    assert [item.id for item in fetched.candidates] == ["entity:e2"]
    assert [warning.code for warning in fetched.warnings] == ["RULES_UNAVAILABLE"]


def test_later_facts_are_withheld_and_reported():
    fetched = fetch(CodexSource(Codex((MO,))), chapter=2)
    assert "守灯" not in fetched.candidates[0].content
    assert [(item.reason, item.layer) for item in fetched.omitted] == [("timeline", "rules")]
    assert fetched.omitted[0].detail == "holds from chapter 7"


def test_host_that_ignores_the_filter_gets_only_its_always_entities_injected():
    class Host:
        def entity_list(self, project_id, level):
            return [MO, XIAOYU]

    assert [item.source for item in fetch(Host()).candidates] == ["kg:always:e2"]


def test_fetcher_is_a_fetcher():
    assert isinstance(RulesFetcher(), Fetcher)
