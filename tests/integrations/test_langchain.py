"""LangChain agents for real: what the model is sent, and what the agent remembers."""

import pytest

pytest.importorskip("langchain", reason="the langchain extra is not installed")

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from tests.integrations.test_langgraph import Recorder

from armarius.frameworks.langchain import ContextMiddleware


class Tooled(Recorder):
    """The recorder, willing to be given tools."""

    def bind_tools(self, tools, **kwargs):
        return self


@tool
def weather(place: str) -> str:
    """The weather at a place."""
    return "rain"


CALL = AIMessage("", tool_calls=[{"name": "weather", "args": {"place": "江城"}, "id": "t1"}])
QUESTION = "检查第3章的角色一致性"


class Counting:
    """Counts assemblies; everything else is the engine's."""

    def __init__(self, engine):
        self.engine, self.calls = engine, 0

    def assemble(self, **arguments):
        self.calls += 1
        return self.engine.assemble(**arguments)

    async def aassemble(self, **arguments):
        self.calls += 1
        return await self.engine.aassemble(**arguments)


def agent(model, engine, **options):
    middleware = ContextMiddleware(engine, document="chapters/ch003.md", cursor=30, **options)
    return create_agent(model, [weather], system_prompt="You help a writer.", middleware=[middleware])


def tooled(*answers):
    return Tooled(messages=iter(answers), seen=[])


def test_stable_layers_end_the_system_message_and_volatile_ones_precede_the_newest_human(engine):
    model = tooled(AIMessage("好"))
    agent(model, engine).invoke({"messages": [HumanMessage("早"), AIMessage("早"), HumanMessage(QUESTION)]})
    system, *rest = model.seen[0]
    assert system.content[0]["text"] == "You help a writer."
    assert "<layer-rules>" in system.content[-1]["text"]
    assert [m.type for m in rest] == ["human", "ai", "human", "human"]
    assert "<layer-retrieved>" in rest[2].text
    assert rest[3].text == QUESTION


def test_one_cache_marker_stands_after_the_stable_prefix_for_anthropic_only(engine):
    for provider, marks in (("anthropic", 1), ("openai", 0)):
        model = tooled(AIMessage("好"))
        agent(model, engine, provider=provider).invoke({"messages": [HumanMessage(QUESTION)]})
        blocks = model.seen[0][0].content
        assert sum("cache_control" in block for block in blocks) == marks
        assert ("cache_control" in blocks[-1]) == bool(marks)


def test_one_human_message_is_assembled_once_over_a_tool_loop(engine):
    counting, model = Counting(engine), tooled(CALL, AIMessage("雨"))
    state = agent(model, counting).invoke({"messages": [HumanMessage(QUESTION)]})
    assert counting.calls == 1
    assert len(model.seen) == 2
    types = [m.type for m in model.seen[1]]
    assert types == ["system", "human", "human", "ai", "tool"]
    assert [m.type for m in state["messages"]] == ["human", "ai", "tool", "ai"]


async def test_the_middleware_asks_a_model_for_other_wordings_once_per_message(engine):
    worded = tooled(*[AIMessage('["周远把第十八页交给林默"]')] * 4)
    asked = {"messages": [HumanMessage("who handed over the missing sheet")]}
    options = {"reword": worded, "budget": 2000, "document": "", "cursor": None}
    for answer in ("invoke", "ainvoke"):
        model = tooled(CALL, AIMessage("雨"))
        middleware = ContextMiddleware(engine, **options)
        one = create_agent(model, [weather], middleware=[middleware])
        state = one.invoke(asked) if answer == "invoke" else await one.ainvoke(asked)
        assert "chapters/ch005.md" in "".join(str(message.text) for message in model.seen[0])
        assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "ai"]
    assert len(worded.seen) == 1


async def test_async_agent_is_sent_the_same(engine):
    first, second = tooled(AIMessage("好")), tooled(AIMessage("好"))
    agent(first, engine).invoke({"messages": [HumanMessage(QUESTION)]})
    await agent(second, engine).ainvoke({"messages": [HumanMessage(QUESTION)]})
    assert [m.content for m in first.seen[0]] == [m.content for m in second.seen[0]]


def test_nothing_of_the_context_is_remembered(engine):
    model = tooled(AIMessage("好"), AIMessage("好"))
    middleware = ContextMiddleware(engine)
    graph = create_agent(model, [], middleware=[middleware], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    graph.invoke({"messages": [HumanMessage(QUESTION)]}, thread)
    state = graph.invoke({"messages": [HumanMessage("小雨点是谁")]}, thread)
    assert not [m for m in state["messages"] if "<layer-" in m.text]
    assert sum("<layer-retrieved>" in m.text for m in model.seen[1]) == 1


def test_the_messages_before_the_newest_human_one_are_the_conversation_it_stands_in(engine):
    asked = [HumanMessage("谁裁走了卷宗的第十八页？"), AIMessage("周远。"), HumanMessage("他多大了？")]
    other = [HumanMessage("谁把怀表捞了上来？"), AIMessage("顾长河。"), HumanMessage("他多大了？")]
    model = tooled(AIMessage("十九岁"), AIMessage("六十二岁"))
    counting = Counting(engine)
    talking = agent(model, counting)
    for said in (asked, other):  # the same words, after other messages: another question
        talking.invoke({"messages": said})
    assert counting.calls == 2
    first, second = (sent[3].text for sent in model.seen)
    assert "## 角色：周远\n" in first
    assert "## 角色：顾长河\n" in second
    assert "[对话记录]" not in first  # the agent sends them itself


def test_a_task_continues_the_last_prompt_of_its_name_and_its_account_is_in_the_metadata(engine):
    model = tooled(AIMessage("好"), AIMessage("好"))
    talking = agent(model, engine, task="chat", budget=3000)
    for said in (QUESTION, "小雨点是谁"):
        talking.invoke({"messages": [HumanMessage(said)]})
    asked = {"document": "chapters/ch003.md", "cursor": 30, "budget": 3000, "messages": [], "task": "other"}
    packs = [engine.assemble(said, **asked) for said in (QUESTION, "小雨点是谁")]
    for sent, pack in zip(model.seen, packs, strict=True):
        volatile = sent[1]
        assert volatile.text == pack.contents["retrieved"] + pack.contents["immediate"]
        rows = volatile.response_metadata["armarius"]["items"]
        assert [(row["id"], row["title"], row["reason"]) for row in rows] == [
            (one.id, one.title, one.reason) for one in pack.items
        ]
