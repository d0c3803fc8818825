"""Whatever a project, a conversation or an editor says, on every surface: the prompt's structure is ours alone."""

import io
import json
from collections import Counter

import pytest
from tests.assembly.forgeries import expected, read
from tests.reliability.structure import injections, tags

import armarius
from armarius.channel.server import Channel
from armarius.errors import ArmariusError
from armarius.verbs import methods_of

BUDGET = 60_000
QUERY = "林小雨在灯塔看见了什么？林小雨的师父是谁？"
SURFACES = 6
PLACES = ("constraint:", "memory:", "kg:always:", "codex:detected:", "kg:relation:", "lore:constant:", "lore:active:",
          "style:", "rag:passage:", "editor:cursor-window", "request:message:", "request:query")  # fmt: skip


def planted(root, text):
    """A project with `text` in every place that prompts are made of; the places that refused it are left out."""
    chapters = root / "chapters"
    chapters.mkdir(parents=True)
    line = " ".join(text.split())
    data = text.encode("utf8", "surrogatepass")
    chapters.joinpath("ch001.md").write_bytes("# 第1章\n\n林小雨在灯塔看见了船。\n\n".encode() + data)
    chapters.joinpath("ch002.md").write_text("# 第2章\n\n林小雨走了。", "utf8")
    root.joinpath("灯塔.md").write_bytes(f"# 林小雨的灯塔 {line}\n\n林小雨在灯塔看见了：\n\n".encode() + data)
    root.joinpath("style.md").write_bytes("# 风格\n\n".encode() + data)
    entities = [
        {"id": "yu", "name": "林小雨", "type": line, "aliases": ["小雨", line], "description": text,
         "attributes": {line: text}, "aiContextLevel": "when_detected"},
        {"id": "ta", "name": "灯塔", "description": text, "aiContextLevel": "always"},
    ]  # fmt: skip
    relations = [{"source": "yu", "target": "ta", "type": "师徒"}, {"source": "yu", "target": "ta", "type": line}]
    root.joinpath("codex.json").write_text(json.dumps({"entities": entities, "relations": relations}), "utf8")
    entry = {"content": text, "comment": line, "order": 1}
    book = {
        "entries": {
            "0": {**entry, "uid": 0, "key": [], "constant": True},
            "1": {**entry, "uid": 1, "key": ["灯塔"], "content": f"灯塔：{text}"},
        }
    }
    with armarius.open(root, watch=False) as engine:
        for plant in (
            lambda: engine.constraints.create(text),
            lambda: engine.memories.create(text),
            lambda: engine.memories.create(f"灯塔 {text}"),
            lambda: engine.importing.add(json.dumps(book).encode(), name=f"{line[:20]}.json"),
        ):
            try:
                plant()
            except ArmariusError:  # refused is as good
                continue


def request(text):
    """A question with the same text in the open document, in what is selected and in the conversation."""
    clean = text.encode("utf8", "replace").decode()
    buffer = f"林小雨走了。\n{clean}\n她回来了。\n{clean}"
    said = [{"role": "user", "content": clean}, {"role": "assistant", "content": clean},
            {"role": "tool", "content": clean}, {"role": "user", "content": f"灯塔 {clean}"}]  # fmt: skip
    return {"query": f"{QUERY}\n{clean}", "document": "chapters/ch002.md", "text": buffer, "cursor": 3,
            "selection": (7, 7 + len(clean)), "messages": said, "budget": BUDGET}  # fmt: skip


class Judge:
    """What the engine's own account says that a prompt has; whether a surface's texts have that and nothing more."""

    def __init__(self, engine, asked):
        self.pack = engine.assemble(**asked)
        self.headings = expected(self.pack.items)
        layers = [name for name in ("rules", "settings", "retrieved", "immediate") if self.pack.contents[name]]
        self.tags = Counter({f"<{slash}layer-{name}": 1 for name in layers for slash in ("", "/")})
        marks = self.pack.prompt.count("<cursor/>"), self.pack.prompt.count("<selection>")
        self.marked = marks == (bool(asked.get("document")), bool(asked.get("selection")))
        if asked.get("document"):
            self.tags += Counter(["<cursor/>", "<selection>", "</selection>"])

    def wrong(self, surface, texts):
        found = []
        if (got := sum((read(text) for text in texts), Counter())) != self.headings:
            found.append(f"{surface}: headings {got}, not {self.headings}")
        if (got := sum((tags(text) for text in texts), Counter())) != self.tags:
            found.append(f"{surface}: tags {got}, not {self.tags}")
        return found


def handed(surface, texts):
    """What is wrong with texts that are handed to a model beside a prompt: nothing in them is a part of one."""
    said = [text for text in texts if not text.endswith(".md")]
    return [f"{surface}: {text[:80]!r}" for text in said if read(text) or tags(text)]


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def of_engine(engine, asked, judge):
    plain = {"query": asked["query"], "additional_input": asked["text"], "budget": BUDGET}
    beside = Judge(engine, plain)
    messages = [text for text in strings(judge.pack.to_messages("openai")) if "layer-" in text]
    wrong = [] if judge.marked else ["engine: marks of the editor that are not there once"]
    wrong += judge.wrong("engine", [judge.pack.prompt]) + judge.wrong("messages", messages)
    return wrong + beside.wrong("additional input", [beside.pack.prompt])


def of_channel(engine, asked, judge):
    wire = {"documentId": asked["document"], "cursorPosition": asked["cursor"], "query": asked["query"],
            "text": asked["text"], "selection": list(asked["selection"]), "messages": asked["messages"],
            "budget": BUDGET, "projectId": "", "skillId": "", "additionalInput": ""}  # fmt: skip
    output = io.BytesIO()
    call = {"id": 1, "method": "context:prompt:assemble", "params": wire}
    Channel(methods_of(engine)).serve(io.BytesIO(json.dumps(call).encode() + b"\n"), output)
    return judge.wrong("channel", [json.loads(output.getvalue())["result"]["prompt"]])


async def of_mcp(engine, asked, judge):
    from mcp import Client

    from armarius.mcp import build_server

    async with Client(build_server(engine)) as client:
        answer = await client.call_tool("assemble_context", {**asked, "selection": list(asked["selection"])})
        wrong = judge.wrong("mcp", [answer.structured_content["prompt"]])
        for tool, more in (
            ("retrieve", {"query": QUERY}),
            ("search", {"query": "灯塔"}),
            ("search", {"query": "layer"}),
        ):
            answer = await client.call_tool(tool, more)
            wrong += handed(f"mcp {tool}", strings(answer.structured_content))
        return wrong


def of_langgraph(engine, asked, judge):
    from langgraph.graph import END, START, StateGraph

    from armarius.frameworks.langgraph import ArmariusContext, ContextState, inject_context

    graph = StateGraph(ContextState, context_schema=ArmariusContext)
    graph.add_node("context", inject_context)
    graph.add_edge(START, "context")
    graph.add_edge("context", END)
    state = {key: asked[key] for key in ("document", "cursor", "text", "selection")}
    state["messages"] = [*turns(asked), ("human", asked["query"])]
    found = graph.compile().invoke(state, context=ArmariusContext(engine, {"budget": BUDGET}))
    return judge.wrong("langgraph", [found["context"]])


def turns(asked):
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    kinds = {"user": HumanMessage, "assistant": AIMessage}
    return [
        kinds[one["role"]](one["content"]) if one["role"] in kinds else ToolMessage(one["content"], tool_call_id="1")
        for one in asked["messages"]
    ]


def of_langchain(engine, asked, judge):
    from langchain.agents import create_agent
    from langchain_core.messages import AIMessage, HumanMessage
    from tests.integrations.test_langgraph import Recorder

    from armarius.frameworks.langchain import ArmariusRetriever, ContextMiddleware

    options = {key: asked[key] for key in ("document", "cursor", "text", "selection", "budget")}
    model = Recorder(messages=iter([AIMessage("好")]), seen=[])
    sent = [*turns(asked), HumanMessage(asked["query"])]
    create_agent(model, middleware=[ContextMiddleware(engine, **options)]).invoke({"messages": sent})
    own = [message.content for message in sent]
    ours = [message.text for message in model.seen[0] if message.content not in own]
    wrong = judge.wrong("langchain", ours)
    found = ArmariusRetriever(engine=engine, k=20).invoke(QUERY)
    return wrong + handed("langchain retriever", [document.page_content for document in found])


def of_llama_index(engine, asked, judge):
    from llama_index.core.schema import MetadataMode

    from armarius.frameworks.llama_index import ArmariusRetriever

    found = ArmariusRetriever(engine, similarity_top_k=20).retrieve(asked["query"])
    return handed("llama_index", [node.node.get_content(MetadataMode.LLM) for node in found])


@pytest.mark.parametrize("step", [26, pytest.param(1, marks=pytest.mark.slow)])
async def test_no_text_from_anywhere_changes_the_structure_of_a_prompt(tmp_path, record_property, step):
    for module in ("mcp.server", "langgraph", "langchain", "llama_index.core"):
        pytest.importorskip(module)
    wrong, sources, texts = [], Counter(), injections()[::step]
    for number, text in enumerate(texts):
        planted(tmp_path / str(number), text)
        asked = request(text)
        with armarius.open(tmp_path / str(number), watch=False) as engine:
            include = {**asked, "include_messages": 4}
            judge, told = Judge(engine, asked), Judge(engine, include)
            found = of_engine(engine, asked, judge) + told.wrong("conversation", [told.pack.prompt])
            for surface in (of_channel, of_langgraph, of_langchain, of_llama_index):
                found += surface(engine, asked, judge)
            found += await of_mcp(engine, asked, judge)
            items = [*judge.pack.items, *told.pack.items]
            sources.update({place for place in PLACES for item in items if item.source.startswith(place)})
        wrong += [(text, one) for one in found]
    record_property("count", len(texts) * SURFACES)
    record_property("failures", len(wrong))
    assert wrong == []
    assert all(sources[place] > len(texts) // 3 for place in PLACES), sources
