"""LangGraph for real: compiled graphs, sync and async, with a checkpointer and a tool loop."""

import asyncio
from typing import TypedDict

import pytest

pytest.importorskip("langgraph", reason="the langgraph extra is not installed")

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

import armarius
from armarius.errors import ContractError, ScopeViolation
from armarius.frameworks.langgraph import (
    ArmariusContext,
    ContextState,
    ProjectContext,
    inject_context,
    inject_from,
)


class Recorder(GenericFakeChatModel):
    """A chat model that keeps every list of messages it was sent."""

    seen: list = []  # noqa: RUF012 - pydantic copies the default

    def _generate(self, messages, *args, **kwargs):
        self.seen.append(messages)
        return super()._generate(messages, *args, **kwargs)


def recorder(*answers):
    return Recorder(messages=iter(answers or [AIMessage("好的")] * 20), seen=[])


def compiled(model, *, loops=0, checkpointer=None):
    """context -> model, with `loops` rounds of a tool before the last answer."""

    def call(state):
        return {"messages": [model.invoke([SystemMessage(state["context"]), *state["messages"]])]}

    def tool(state):
        return {"messages": [ToolMessage("done", tool_call_id="t")]}

    def after(state):
        return "tool" if sum(m.type == "tool" for m in state["messages"]) < loops else END

    graph = StateGraph(ContextState, context_schema=ArmariusContext)
    graph.add_node("context", inject_context)
    graph.add_node("model", call)
    graph.add_node("tool", tool)
    graph.add_edge(START, "context")
    graph.add_edge("context", "model")
    graph.add_conditional_edges("model", after, ["tool", END])
    graph.add_edge("tool", "context")
    return graph.compile(checkpointer=checkpointer)


def question(text="检查第3章的角色一致性"):
    return {"messages": [HumanMessage(text)], "document": "chapters/ch003.md", "cursor": 30}


def test_chapter_and_profiles_reach_the_model(engine):
    model = recorder()
    state = compiled(model).invoke(question(), context=ArmariusContext(engine))
    sent = model.seen[0][0].text
    assert "小雨推开门走了进来" in sent
    assert "林默的妹妹" in sent
    assert "chapters/ch003.md" in state["context_files"]
    assert "spec/characters.md" in state["context_files"]
    assert all(one["title"] and one["reason"] for one in state["context_account"]["items"])


def test_the_state_and_the_options_may_bound_and_reword_the_question(engine):
    asked = {"messages": [HumanMessage("谁交出了第十八页")], "chapters": [1, 3], "also": ["周远交出第十八页"]}
    files = compiled(recorder()).invoke(asked, context=ArmariusContext(engine))["context_files"]
    assert [path for path in files if path.startswith("chapters/")]
    assert not {f"chapters/ch00{n}.md" for n in (4, 5, 6, 7)} & set(files)
    files = compiled(recorder()).invoke(
        {"messages": asked["messages"]}, context=ArmariusContext(engine, options={"as_of": 2})
    )["context_files"]
    assert not {f"chapters/ch00{n}.md" for n in (3, 4, 5, 6, 7)} & set(files)


def test_a_model_for_other_wordings_may_be_given_with_the_context(engine):
    worded = recorder(*[AIMessage('["周远把第十八页交给林默"]')] * 4)
    asked = {"messages": [HumanMessage("who handed over the missing sheet")]}
    context = ArmariusContext(engine, options={"budget": 2000}, reword=worded)
    streamed = [part for part, _ in compiled(recorder()).stream(asked, context=context, stream_mode="messages")]
    assert [one.text for one in streamed if one.type in ("ai", "AIMessageChunk")] == ["好的"]  # not the wordings
    assert [one.type for one in worded.seen[0]] == ["system", "human"]
    state = compiled(recorder()).invoke(asked, context=ArmariusContext(engine, {"budget": 2000}, reword=worded))
    assert "chapters/ch005.md" in state["context_files"]
    assert len(worded.seen) == 1  # remembered by the engine, whichever context brings the model


async def test_async_graph_asks_the_model_on_its_own_loop(engine):
    loops = []

    async def model(messages):
        loops.append(asyncio.get_running_loop())
        return '["周远把第十八页交给林默"]'

    asked = {"messages": [HumanMessage("who handed over the missing sheet")]}
    context = ArmariusContext(engine, options={"budget": 2000}, reword=model)
    state = await compiled(recorder()).ainvoke(asked, context=context)
    assert "chapters/ch005.md" in state["context_files"]
    assert loops == [asyncio.get_running_loop()]


FOLLOWED = [
    ("human", "谁裁走了卷宗的第十八页？"),
    ("ai", "周远。"),
    ("human", "他多大了？"),
]


def test_a_messages_state_is_a_conversation_as_it_is(engine):
    def told(state):
        return {"messages": [AIMessage(state["context"])]}

    def again(state):
        return {"messages": [ToolMessage("42", tool_call_id="t")]}

    graph = StateGraph(ContextState, context_schema=ArmariusContext)
    graph.add_node("tool", again)  # what a tool says of this very turn is no turn before it
    graph.add_node("context", inject_context)
    graph.add_node("told", told)
    graph.add_edge(START, "tool")
    graph.add_edge("tool", "context")
    graph.add_edge("context", "told")
    app = graph.compile()
    state = app.invoke({"messages": FOLLOWED, "include_messages": 5}, context=ArmariusContext(engine))
    assert "## 角色：周远\n" in state["context"]
    assert "> 周远。" in state["context"]
    assert state["context"].count("他多大了？") == 1
    assert "42" not in state["context"].split("[对话记录]")[1]
    alone = app.invoke({"messages": FOLLOWED[-1:]}, context=ArmariusContext(engine))
    assert "## 角色：周远\n" not in alone["context"]
    assert "[对话记录]" not in alone["context"]


def test_a_role_that_nobody_knows_is_said_loudly(engine):
    asked = {"messages": [ChatMessage(role="narrator", content="夜深了。"), *FOLLOWED]}
    with pytest.raises(ContractError, match=r"messages\[0\]\.role: expected one of ai, assistant, .*got 'narrator'"):
        compiled(recorder()).invoke(asked, context=ArmariusContext(engine))


async def test_async_graph_gets_the_same_context(engine):
    once = compiled(recorder()).invoke(question(), context=ArmariusContext(engine))
    again = await compiled(recorder()).ainvoke(question(), context=ArmariusContext(engine))
    assert again["context"] == once["context"]
    assert again["context_files"] == once["context_files"]


def test_context_does_not_accumulate_over_tool_loops(engine):
    model = recorder()
    state = compiled(model, loops=3).invoke(question(), context=ArmariusContext(engine))
    assert [sum(m.type == "system" for m in sent) for sent in model.seen] == [1, 1, 1, 1]
    assert len({sent[0].text for sent in model.seen}) == 1
    assert not [m for m in state["messages"] if m.type == "system"]


def test_state_is_plain_and_survives_a_checkpoint(engine):
    graph = compiled(recorder(), checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    graph.invoke(question(), thread, context=ArmariusContext(engine))
    graph.invoke(question("小雨点是谁"), thread, context=ArmariusContext(engine))
    values = graph.get_state(thread).values
    assert isinstance(values["context"], str)
    assert all(isinstance(path, str) for path in values["context_files"])
    assert "小雨点是谁" in values["context"]
    assert "检查第3章的角色一致性" not in values["context"]


def test_options_reach_the_assembly(engine):
    context = ArmariusContext(engine, {"budget": 4000, "model": "deepseek-chat"})
    state = compiled(recorder()).invoke(question(), context=context)
    assert (
        state["context"]
        == engine.assemble(
            query="检查第3章的角色一致性", document="chapters/ch003.md", cursor=30, budget=4000, model="deepseek-chat"
        ).prompt
    )


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": "小雨点是谁"}],
        [("human", "小雨点是谁"), ("ai", "一只猫")],
        "小雨点是谁",
        [HumanMessage([{"type": "text", "text": "小雨点是谁"}])],
    ],
)
def test_a_state_without_a_reducer_is_read_all_the_same(engine, messages):
    class Plain(TypedDict, total=False):
        messages: object
        context: str
        context_files: list[str]

    graph = StateGraph(Plain, context_schema=ArmariusContext)
    graph.add_node("context", inject_context)
    graph.add_edge(START, "context")
    graph.add_edge("context", END)
    state = graph.compile().invoke({"messages": messages}, context=ArmariusContext(engine))
    assert "[用户请求]\n小雨点是谁" in state["context"]
    with pytest.raises(ContractError, match="no message"):
        graph.compile().invoke({"messages": [object()]}, context=ArmariusContext(engine))


def test_a_task_of_the_state_continues_the_last_prompt_of_its_name(engine):
    graph, prompts = compiled(recorder()), []
    for text in ("检查第3章的角色一致性", "小雨点是谁"):
        state = graph.invoke({**question(text), "task": "chat"}, context=ArmariusContext(engine, {"budget": 3000}))
        prompts.append(state["context"])
    asked = {"document": "chapters/ch003.md", "cursor": 30, "budget": 3000, "task": "other"}
    assert prompts == [engine.assemble(text, **asked).prompt for text in ("检查第3章的角色一致性", "小雨点是谁")]
    assert prompts[1] != engine.assemble("小雨点是谁", **{**asked, "task": None}).prompt


def test_a_forgotten_context_is_said(engine):
    with pytest.raises(ContractError, match="context=ArmariusContext"):
        compiled(recorder()).invoke(question())


class TestManyProjects:
    """A graph over a shelf: the context is a project id."""

    @pytest.fixture
    def shelf(self, tmp_path):
        for number in range(2):
            (tmp_path / f"n{number}").mkdir()
            (tmp_path / f"n{number}" / "a.md").write_text(f"# 第一章\n\n林默的暗号是{number}号。\n", encoding="utf-8")
        with armarius.shelf(tmp_path, watch=False) as shelf:
            yield shelf

    @staticmethod
    def graph(node):
        graph = StateGraph(ContextState, context_schema=ProjectContext)
        graph.add_node("context", node)
        return graph.add_edge(START, "context").add_edge("context", END).compile()

    async def test_each_run_has_the_context_of_the_project_it_names(self, shelf):
        graph = self.graph(inject_from(shelf))
        asked = {"messages": [("human", "林默的暗号是什么？")], "document": "a.md"}
        assert "暗号是0号" in graph.invoke(asked, context={"project": "n0"})["context"]
        found = await asyncio.gather(
            *(graph.ainvoke(asked, context=ProjectContext(f"n{number % 2}")) for number in range(20))
        )
        assert all(f"暗号是{number % 2}号" in one["context"] for number, one in enumerate(found))

    def test_what_the_context_says_stands_over_the_state(self, shelf):
        graph = self.graph(inject_from(shelf))
        context = ProjectContext("n0", options={"document": "a.md", "cursor": 3})
        assert "第<cursor/>一章" in graph.invoke({"messages": [("human", "暗号")]}, context=context)["context"]

    def test_no_run_reaches_a_project_of_another_tenant_or_none(self, shelf):
        asked = {"messages": [("human", "暗号")]}
        with pytest.raises(ScopeViolation):
            self.graph(inject_from(shelf, tenant="acme")).invoke(asked, context=ProjectContext("n0", tenant="other"))
        with pytest.raises(ContractError, match="tenant"):
            self.graph(inject_from(shelf)).invoke(asked, context=ProjectContext("n0", tenant="other"))
        with pytest.raises(armarius.UnknownId):
            self.graph(inject_from(shelf)).invoke(asked, context=ProjectContext("n9"))
        with pytest.raises(ContractError, match="ProjectContext"):
            self.graph(inject_from(shelf)).invoke(asked)
