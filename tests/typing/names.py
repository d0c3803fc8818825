"""Checked by mypy: the names at the top are the classes that they are, and verbs show their keywords.

Never called: what is true at run time is in tests/test_package.py and tests/engine.
"""

from typing import assert_type

import armarius
import armarius.documents
import armarius.requests
import armarius.text
import armarius.workspace
from armarius.workspace.server import Novel


def verbs(engine: armarius.ContextEngine) -> None:
    """Every keyword is known, with its type; a wrong one is an error: mypy refuses an unused `type: ignore`."""
    pack = engine.assemble("小雨", document="a.md", cursor=3, budget=8000, layers={"retrieved": {"max": 900}})
    assert_type(pack, armarius.Pack)
    assert_type(engine.assemble(armarius.AssembleRequest(query="小雨", document="a.md"), previous=pack), armarius.Pack)
    assert_type(engine.inspect("小雨", requested_by="me"), armarius.requests.InspectResult)
    assert_type(engine.search("小雨", kinds=["chapter"]), armarius.Hits)
    assert_type(engine.search("小雨")[0], armarius.Hit)
    assert_type(engine.similar("小雨"), armarius.Hits)
    assert_type(engine.retrieve("小雨"), armarius.Retrieval)
    assert_type(engine.documents(), armarius.documents.Documents)
    assert_type(engine.detect("小雨"), armarius.text.Matches)
    engine.assemble("小雨", documnt="a.md")  # type: ignore[call-arg]
    engine.assemble("小雨", budget="8000")  # type: ignore[arg-type]
    engine.search("小雨", limits=3)  # type: ignore[call-arg]
    engine.assemble({"query": "小雨"})  # type: ignore[arg-type]


async def coroutines(engine: armarius.ContextEngine) -> None:
    """The forms for coroutines take and give the same."""
    assert_type(await engine.aassemble("小雨", document="a.md"), armarius.Pack)
    assert_type(await engine.ainspect("小雨", requested_by="me"), armarius.requests.InspectResult)
    await engine.aassemble("小雨", documnt="a.md")  # type: ignore[call-arg]


async def shelves(novel: armarius.workspace.LocalNovel, stored: Novel) -> None:
    """A project of a shelf has the verbs of an engine, with their keywords, and `at_least` with each."""
    assert_type(novel.search("小雨", kinds=["chapter"]), armarius.Hits)
    assert_type(await stored.asearch("小雨", at_least=3), armarius.Hits)
    assert_type(stored.assemble("小雨", document="a.md", at_least=3), armarius.Pack)
    assert_type(await stored.aassemble(armarius.AssembleRequest(query="小雨"), at_least=3), armarius.Pack)
    novel.search("小雨", limits=3)  # type: ignore[call-arg]
    novel.assemble("小雨", documnt="a.md")  # type: ignore[call-arg]
    await stored.asearch("小雨", at_last=3)  # type: ignore[call-arg]
    await stored.asearch("小雨", at_least="3")  # type: ignore[arg-type]
