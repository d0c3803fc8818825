"""LangChain's conformance tests and a LlamaIndex query, over the real retrieval of the example novel."""

import importlib
import inspect
import re
import shutil

import pytest
from tests.integrations.conftest import NOVEL

import armarius

pytest.importorskip("langchain_tests", reason="langchain-tests is not installed")

from langchain_tests.integration_tests import RetrieversIntegrationTests

from armarius.frameworks.langchain import ArmariusRetriever, retrieve_tool
from armarius.verbs import wire

QUESTION = "谁从档案馆裁走了第十八页"


class TestLangChainConformance(RetrieversIntegrationTests):
    """The five tests that LangChain asks of every retriever."""

    @pytest.fixture(autouse=True)
    def _project(self, tmp_path):
        with armarius.open(shutil.copytree(NOVEL, tmp_path / "novel"), watch=False) as engine:
            type(self).engine = engine
            yield

    @property
    def retriever_constructor(self):
        return ArmariusRetriever

    @property
    def retriever_constructor_params(self):
        return {"engine": self.engine}

    @property
    def retriever_query_example(self):
        return QUESTION


async def test_the_number_of_documents_may_be_given_with_each_call(engine):
    retriever = ArmariusRetriever(engine=engine, k=2)
    found = [retriever.invoke(QUESTION), retriever.invoke(QUESTION, k=4), await retriever.ainvoke(QUESTION, k=3)]
    assert [len(documents) for documents in found] == [2, 4, 3]
    assert await retriever.ainvoke(QUESTION) == found[0]


def test_documents_carry_text_place_and_reasons(engine):
    documents = ArmariusRetriever(engine=engine).invoke(QUESTION)
    assert any("第十八页" in document.page_content for document in documents)
    first = documents[0]
    assert first.metadata["path"] in first.id
    assert first.metadata["evidence"]


async def test_llama_index_finds_the_same_sync_and_async(engine):
    pytest.importorskip("llama_index.core", reason="the llama-index extra is not installed")
    from llama_index.core.schema import MetadataMode

    from armarius.frameworks.llama_index import ArmariusRetriever as LlamaRetriever

    retriever = LlamaRetriever(engine, similarity_top_k=3)
    found = retriever.retrieve(QUESTION)
    again = await retriever.aretrieve(QUESTION)
    assert [node.node_id for node in found] == [node.node_id for node in again]
    content = found[0].node.get_content(MetadataMode.LLM)
    assert found[0].node.metadata["path"] in content
    assert "evidence" not in content
    assert [node.node_id for node in found] == [hit.reference for hit in engine.retrieve(QUESTION, limit=3)]


def test_bounds_of_a_retriever_hold_for_the_texts_too(engine):
    from armarius.frameworks.llama_index import ArmariusRetriever as LlamaRetriever

    options = {"as_of": 6, "also": ["林默守灯塔"]}
    texts = [one.page_content for one in ArmariusRetriever(engine=engine, k=20, options=options).invoke("林默")]
    texts += [one.text for one in LlamaRetriever(engine, similarity_top_k=20, options=options).retrieve("林默")]
    assert any("钟表铺的主人" in text for text in texts)
    assert not any("搬到白鹭洲守灯塔" in text for text in texts)


async def test_a_conversation_goes_with_each_call_and_never_with_a_retriever(engine):
    said = [("user", "谁裁走了卷宗的第十八页？"), ("assistant", "周远。")]
    retriever = ArmariusRetriever(engine=engine, k=3)
    spelled = [one.id for one in retriever.invoke("周远多大了？")]
    assert [one.id for one in retriever.invoke("他多大了？", messages=said)] == spelled
    assert [one.id for one in await retriever.ainvoke("他多大了？", messages=said)] == spelled
    pytest.importorskip("llama_index.core", reason="the llama-index extra is not installed")
    from armarius.frameworks.llama_index import ArmariusRetriever as LlamaRetriever

    with pytest.raises(armarius.ContractError, match="messages: a retriever outlives a conversation"):
        LlamaRetriever(engine, options={"messages": said})


def test_a_tool_asks_the_calling_model_for_other_wordings_and_takes_them(engine):
    tool = retrieve_tool(engine, k=3)
    asked = tool.get_input_schema().model_json_schema()["properties"]["also"]["description"]
    assert "Three to five" in asked
    assert "谁替他还了债" in asked
    given = {"query": "who cut the page", "also": ["周远裁下第十八页"]}
    found = engine.retrieve("who cut the page", limit=3, also=given["also"])
    answer = tool.invoke(given)
    assert answer.startswith(f"{found[0].reference}\n")
    assert all(f"{hit.reference}\n" in answer for hit in found)
    assert "also" in tool.invoke({"query": "x", "also": ["x"] * 9})


def test_the_hits_of_the_tool_are_its_artifact(engine):
    call = {"name": "retrieve", "args": {"query": QUESTION}, "id": "t", "type": "tool_call"}
    message = retrieve_tool(engine, k=3).invoke(call)
    assert message.artifact == [wire(hit) for hit in engine.retrieve(QUESTION, limit=3)]
    assert all(one["title"] and one["reason"] for one in message.artifact)
    assert "evidence" not in message.content


ADAPTERS = ("langchain", "langgraph", "llama_index", "otel")


@pytest.mark.parametrize("name", ADAPTERS)
def test_no_public_signature_of_an_adapter_has_any_and_each_has_a_docstring(name):
    pytest.importorskip({"llama_index": "llama_index.core", "otel": "opentelemetry"}.get(name, name))
    module = importlib.import_module(f"armarius.frameworks.{name}")
    wrong = []
    for key, one in vars(module).items():
        if key.startswith("_") or getattr(one, "__module__", "") != module.__name__:
            continue
        members = [(key, one)]
        if inspect.isclass(one):
            own = {
                part: value for part, value in vars(one).items() if getattr(value, "__module__", "") == one.__module__
            }
            members += [(f"{key}.{part}", value) for part, value in own.items() if not part.startswith("_")]
            members += [(f"{key}.__init__", vars(one)["__init__"])] if "__init__" in vars(one) else []
            said = inspect.get_annotations(one)
            wrong += [f"{key}.{part}" for part, kind in said.items() if re.search(r"\bAny\b", str(kind))]
        for part, value in members:
            if inspect.isfunction(value) and re.search(r"\bAny\b", str(inspect.signature(value))):
                wrong.append(part)
            if callable(value) and not part.endswith("__init__") and not inspect.getdoc(value):
                wrong.append(f"{part}: no docstring")
    assert wrong == []
