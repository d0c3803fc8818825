"""An answer from an index that may lack the last save says so, on every surface."""

import pytest

from armarius.index.project_index import ProjectIndex
from armarius.verbs.table import VERBS, methods_of
from armarius.warnings import INDEX_CANCELLED

STALE = INDEX_CANCELLED()
READ_FROM_FILES = {"constraints:list", "memories:list", "pins:list", "summaries:list", "books:list", "entities:undo"}
READ_FROM_FILES |= {"summaries:parse"}
FIELDS = {
    "entities:detect": {"text": "林默"},
    "entities:mentions": {"text": "林默"},
    "entities:evidence": {"name": "林默"},
    "documents:search": {"query": "怀表"},
    "documents:find": {"query": "怀表"},
    "documents:retrieve": {"query": "怀表"},
    "documents:locate": {"quote": "怀表"},
    "summaries:parse": {"documents": ["chapters/ch001.md"], "reply": "怀表走了。"},
}
LISTS = [one.name for one in VERBS if isinstance(one.result, dict) and "items" in one.result] + [
    "documents:retrieve",
    "documents:find",
]


@pytest.fixture
def stale(engine, monkeypatch):
    monkeypatch.setattr(ProjectIndex, "freshen", lambda *_: (STALE,))
    return engine


def test_answers_in_python_have_the_warning(stale):
    assert stale.search("怀表").warnings == (STALE,)
    assert stale.retrieve("怀表在哪里？").warnings == (STALE,)
    assert stale.evidence("林默").warnings == (STALE,)
    assert stale.entities().warnings == stale.documents().warnings == (STALE,)
    assert str(STALE) in stale.assemble("怀表在哪里？").warnings


@pytest.mark.parametrize("name", LISTS)
def test_every_list_on_the_wire_has_warnings(stale, name):
    found = methods_of(stale)[name](FIELDS.get(name, {}))
    assert found["warnings"] == ([] if name in READ_FROM_FILES else [str(STALE)])


def test_a_list_of_an_index_that_is_equal_has_none(engine):
    assert methods_of(engine)["documents:search"]({"query": "nowhere"}) == {"items": [], "warnings": []}


@pytest.mark.parametrize(
    ("tool", "fields"),
    [("find", {"query": "怀表"}), ("find", {"query": "“怀表”"}), ("entities", {}), ("evidence", {"name": "林默"}),
     ("read", {"path": ""}), ("context", {"query": "怀表"})],
)  # fmt: skip
async def test_a_tool_says_it_to_the_model(stale, tool, fields):
    mcp = pytest.importorskip("mcp", reason="the mcp extra is not installed")
    from armarius.mcp import build_server

    async with mcp.Client(build_server(stale)) as client:
        answer = await client.call_tool(tool, fields)
    assert f"! {STALE}" in "\n".join(block.text for block in answer.content)


@pytest.mark.parametrize("path", ["/search?words=怀表", "/entities", "/inbox", "/"])
def test_a_page_says_it_to_the_writer(stale, path):
    starlette = pytest.importorskip("starlette.testclient", reason="the studio extra is not installed")
    from armarius.studio.app import build_app

    client = starlette.TestClient(build_app(stale, "secret", 8123), base_url="http://127.0.0.1:8123")
    client.get("/?token=secret&lang=en")
    assert "The files are still being read" in client.get(path).text
