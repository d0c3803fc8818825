"""A document that somebody names, over every surface: what the project lists is read, and nothing else."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import anyio
import pytest

pytest.importorskip("mcp.server", reason="the mcp extra is not installed")
pytest.importorskip("starlette", reason="armarius[studio]")

from mcp import Client, MCPError
from starlette.testclient import TestClient

import armarius
from armarius.cli import main
from armarius.errors import ArmariusError
from armarius.mcp import build_server
from armarius.studio.app import build_app
from armarius.verbs import methods_of

ROWS = json.loads((Path(__file__).parents[1] / "cases" / "named_documents.json").read_text("utf-8"))
KEPT = "THE-KEPT-WORD"
CODE = "UNKNOWN_DOCUMENT"
PYTHON = {
    "assemble": lambda engine, path: engine.assemble("x", document=path, budget=4000).prompt,
    "inspect": lambda engine, path: engine.inspect("x", document=path, budget=4000),
    "retrieve": lambda engine, path: engine.retrieve("x", document=path),
    "locate": lambda engine, path: engine.locate(KEPT, document=path),
    "document": lambda engine, path: engine.document(path).text,
    "summaries.set": lambda engine, path: engine.summaries.set(path, "x"),
}
CHANNEL = {
    "context:prompt:assemble": ("documentId", {"query": "x", "cursorPosition": 0, "skillId": "", "projectId": ""}),
    "context:prompt:inspect": ("documentId", {"query": "x", "cursorPosition": 0, "skillId": "", "projectId": ""}),
    "documents:get": ("documentId", {}),
    "documents:retrieve": ("documentId", {"query": "x"}),
    "documents:locate": ("documentId", {"quote": KEPT}),
    "summaries:set": ("documentId", {"text": "x"}),
}
MCP = {"context": {"query": "x"}, "read": {}}


def by_python(engine, verb, path):
    try:
        return str(PYTHON[verb](engine, path))
    except ArmariusError as error:
        return f"{error.code}: {error}"


def by_channel(engine, method, path):
    name, others = CHANNEL[method]
    try:
        return json.dumps(methods_of(engine)[method]({name: path, **others}), ensure_ascii=False)
    except ArmariusError as error:
        return f"{error.code}: {error}"


def by_mcp(engine, tool, path):
    async def ask():
        async with Client(build_server(engine)) as client:
            try:
                if tool == "resource":
                    return (await client.read_resource(f"armarius://documents/{path}")).contents[0].text
                if tool == "prompt":
                    return str(await client.get_prompt("with_context", {"query": "x", "document": path}))
                asked = {**MCP[tool], "path" if tool == "read" else "document": path}
                return (await client.call_tool(tool, asked)).content[0].text
            except MCPError as error:
                return f"{CODE}: {error}" if tool == "resource" else str(error)

    return anyio.run(ask)


def by_studio(engine, page, path):
    client = TestClient(build_app(engine, "secret", 8123), base_url="http://127.0.0.1:8123")
    client.get("/?token=secret")
    if page == "chapter":
        answer = client.get(f"/chapter/{path.replace('../', '%2e%2e/')}")
    else:
        origin = {"origin": "http://127.0.0.1:8123"}
        answer = client.post("/text", data={"wish": "x", "path": path}, headers=origin)
    return f"{CODE}: {answer.text}" if answer.status_code in (400, 404) else answer.text


def by_cli(engine, verb, path):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main([verb, str(engine.root), "--query", "x", "--budget", "4000", "--document", path])
    return f"{CODE}: {out.getvalue()}{err.getvalue()}" if status else out.getvalue()


SURFACES = [
    *((by_python, verb) for verb in PYTHON),
    *((by_channel, method) for method in CHANNEL),
    *((by_mcp, tool) for tool in (*MCP, "resource", "prompt")),
    *((by_studio, page) for page in ("chapter", "text")),
    *((by_cli, verb) for verb in ("assemble", "inspect")),
]


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "novel"
    root.mkdir()
    (root / "outline.md").write_text("大纲\n", "utf-8")
    with armarius.open(root, watch=False) as engine:
        yield engine


def lay(root, row):
    """What the row says lies in and beside the folder, written while the engine is open."""
    for path, text in {**row.get("ignored", {}), **({row["path"]: row["file"]} if "file" in row else {})}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    if "outside" in row:
        (root / "chapters").mkdir()
        (root.parent / "outside.md").write_text(row["outside"], "utf-8")
    if "link" in row:
        try:
            (root / row["link"]).symlink_to(root.parent if row["link"] == "linked" else root.parent / "outside.md")
        except OSError:
            pytest.skip("needs links")


@pytest.mark.parametrize("row", ROWS, ids=[row["says"] for row in ROWS])
def test_only_a_listed_document_can_be_named(engine, row):
    lay(engine.root, row)
    listed, path = row.get("listed", False), row["path"]
    assert (path in [one.path for one in engine.documents()]) == listed
    wrong = []
    for by, verb in SURFACES:
        said = by(engine, verb, path)
        refused = said.startswith(CODE) or f": {CODE}: " in said
        if refused == listed or (not listed and KEPT in said):
            wrong.append(f"{by.__name__} {verb}: {said[:300]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", [".env", ".git/config", "diary.md", "no.md"])
def test_a_text_that_is_not_saved_can_have_any_name(engine, path):
    (engine.root / ".armariusignore").write_text("diary.md\n", "utf-8")
    assert KEPT in engine.assemble("x", document=path, text=f"{KEPT}\n", budget=4000).prompt
    assert by_channel(engine, "documents:get", path).startswith(CODE), "and is no document afterwards"
