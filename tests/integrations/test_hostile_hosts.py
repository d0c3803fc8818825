"""The adapters to hosts under the inputs that the channel is given: an answer, or an error of ours; nothing leaks."""

import pytest
from tests.integrations.hostile import SECRET, inputs, paths

from armarius.errors import ArmariusError

TEXTS = inputs()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    import armarius

    root = tmp_path_factory.mktemp("hosts") / "novel"
    root.mkdir()
    (root / "a.md").write_text("# 第一章\n\n小雨来了。\n", encoding="utf-8")
    (root / "codex.json").write_text('{"entities": [{"id": "yu", "name": "小雨"}]}', encoding="utf-8")
    (root.parent / "secret.md").write_text(SECRET, encoding="utf-8")
    (root / "link.md").symlink_to(root.parent / "secret.md")
    with armarius.open(root, watch=False) as engine:
        yield engine


def answered(call):
    """What a call says, of its answer or of its error."""
    try:
        return repr(call())
    except ArmariusError as error:
        return f"{type(error).__name__}: {error}"


def clean(said, engine):
    return SECRET not in said and str(engine.root.parent) not in said


def test_there_are_as_many_inputs_as_the_channel_has():
    assert len(TEXTS) >= 100


def test_langgraph_takes_every_hostile_text_and_path(guarded, tmp_path):
    pytest.importorskip("langgraph", reason="the langgraph extra is not installed")
    from langchain_core.messages import HumanMessage
    from langgraph.graph import END, START, StateGraph

    from armarius.frameworks.langgraph import ArmariusContext, ContextState, inject_context

    graph = StateGraph(ContextState, context_schema=ArmariusContext)
    graph.add_node("context", inject_context)
    graph.add_edge(START, "context")
    graph.add_edge("context", END)
    compiled, context = graph.compile(), ArmariusContext(guarded)

    def said(text, **state):
        return answered(
            lambda: compiled.invoke({"messages": [HumanMessage(text)], **state}, context=context)["context"]
        )

    for text in TEXTS:
        assert clean(said(text), guarded), ascii(text)
    for path in paths(tmp_path):
        assert clean(said("小雨", document=path), guarded), ascii(path)


def test_langchain_takes_every_hostile_text(guarded):
    pytest.importorskip("langchain_core", reason="the langchain extra is not installed")
    from armarius.frameworks.langchain import ArmariusRetriever

    retriever = ArmariusRetriever(engine=guarded)
    for text in TEXTS:
        assert clean(answered(lambda text=text: retriever.invoke(text)), guarded), ascii(text)


def test_llama_index_takes_every_hostile_text(guarded):
    pytest.importorskip("llama_index.core", reason="the llama-index extra is not installed")
    from armarius.frameworks.llama_index import ArmariusRetriever

    retriever = ArmariusRetriever(guarded)
    for text in TEXTS:
        assert clean(answered(lambda text=text: retriever.retrieve(text)), guarded), ascii(text)
