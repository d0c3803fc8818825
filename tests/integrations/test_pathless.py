"""No absolute path in what a wire says: texts of all shapes, and every reason why there is no code graph."""

import importlib.util
import io
import json
import re
import shutil
from pathlib import Path

import pytest
from tests.code import wire
from tests.code.support import EXAMPLE_INDEX, fake_ckb

import armarius
from armarius.channel import Channel
from armarius.io.files import answer_without_paths, without_paths
from armarius.verbs import methods_of

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "code-project"
ABSOLUTE = re.compile(r"(?<![\w.<])/\w|[A-Za-z]:\\|\\\\")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see /etc/passwd", "see passwd"),
        ("names '/srv/my own/ckb', which", "names 'ckb', which"),
        ('got "C:\\Users\\me\\x y"', 'got "x y"'),
        ("at file:///srv/secret/novel/a.md", "at a.md"),
        ("project_root:/srv/other/x", "project_root:x"),
        ("/srv/my novel/a.md is gone from /srv/my novel", "a.md is gone from ."),
        ("/srv/my novel-2/a.md", "my novel-2/a.md"),
        ("https://example.org/a/b", "https://example.org/a/b"),
        ("3/4 of 角色/地点, tests/a.py:12", "3/4 of 角色/地点, tests/a.py:12"),
    ],
)
def test_absolute_paths_lose_all_but_their_last_part(text, expected):
    assert without_paths(text, root=Path("/srv/my novel")) == expected


def test_warnings_of_layers_lose_their_paths_and_nothing_else_changes():
    answer = {
        "prompt": "in /etc/passwd",
        "warnings": ["X: /etc/passwd"],
        "layers": {"rules": {"warnings": ["Y: /srv/novel/a.md"], "content": "/etc/passwd"}},
    }
    assert answer_without_paths(answer, Path("/srv/novel")) == {
        "prompt": "in /etc/passwd",
        "warnings": ["X: passwd"],
        "layers": {"rules": {"warnings": ["Y: a.md"], "content": "/etc/passwd"}},
    }


def absent(root, outside, monkeypatch):
    pass


def damaged(root, outside, monkeypatch):
    (root / "index.scip").write_bytes(EXAMPLE_INDEX.read_bytes()[:-9])


def changed(root, outside, monkeypatch):
    shutil.copy(EXAMPLE_INDEX, root / "index.scip")
    for path in root.rglob("*.*"):
        if path.suffix in (".py", ".ts"):
            path.write_text("# not what was indexed\n" * 60, encoding="utf8")


def outside_file(root, outside, monkeypatch):
    (root / "armarius.toml").write_text(f'[code]\nindex = "{outside}/my index/index.scip"\n', encoding="utf8")


def configured_away(root, outside, monkeypatch):
    (root / "armarius.toml").write_text('[code]\nindex = "build/index.scip"\n', encoding="utf8")


def program_of_the_project(root, outside, monkeypatch):
    (root / "armarius.toml").write_text(f'[code]\nckb = "{outside}/my tools/ckb"\n', encoding="utf8")


def no_program(root, outside, monkeypatch):
    monkeypatch.setenv("CKB_BIN", str(outside / "no where" / "ckb"))
    monkeypatch.setenv("ARMARIUS_TRUSTED", str(root))


def hostile_documents(root, outside, monkeypatch):
    path = str(outside / "secret.py")
    at = wire.occurrence("s python p _ m/f().", roles=1, at=(0, 0, 1))
    (root / "index.scip").write_bytes(wire.index(wire.document(path, at)))


def program_in(mode):
    def server(root, outside, monkeypatch):
        (root / "armarius.toml").write_text('[code]\nsource = "ckb"\ntimeout_s = 5\n', encoding="utf8")
        (root / "index.scip").write_bytes(b"x")
        monkeypatch.setenv("CKB_BIN", fake_ckb(outside, mode)[0])
        monkeypatch.setenv("ARMARIUS_TRUSTED", str(root))

    server.__name__ = mode
    return server


def untrusted(root, outside, monkeypatch):
    monkeypatch.setenv("CKB_BIN", fake_ckb(outside, "no index")[0])


SITUATIONS = {
    absent: "no_index: neither in the cache nor index.scip in the project; make one with: armarius code-index PROJECT",
    damaged: "crashed: ",
    changed: "stale: ",
    outside_file: "no_index: neither in the cache nor index.scip",
    configured_away: "no_index: no file where code.index says",
    program_of_the_project: "no_index: neither in the cache nor index.scip",
    no_program: "no_binary: ",
    hostile_documents: "untrusted: the index describes",
    untrusted: "untrusted: ckb is not run over",
    program_in("wrong repository"): "wrong_repo: ",
    program_in("no index"): "crashed: CKB cannot read index.scip",
    program_in("dies at once"): "crashed: CKB failed twice",
}


@pytest.fixture(params=list(SITUATIONS.items()), ids=lambda one: one[0].__name__)
def situation(request, tmp_path, monkeypatch):
    """An engine over a copy of the code project, in one of the situations; and what its warnings must say."""
    prepare, said = request.param
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    for variable in ("CKB_BIN", "SCIP_PYTHON_BIN", "SCIP_TYPESCRIPT_BIN", "ARMARIUS_TOOLS"):
        monkeypatch.delenv(variable, raising=False)
    root = Path(shutil.copytree(EXAMPLE, tmp_path / "my project" / "code"))
    outside = tmp_path / "out side"
    outside.mkdir()
    prepare(root, outside, monkeypatch)
    with armarius.open(root, watch=False) as engine:
        yield engine, said


def answers(engine, *calls):
    lines = b"".join(
        json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}).encode() + b"\n"
        for n, (method, params) in enumerate(calls)
    )
    output = io.BytesIO()
    Channel(methods_of(engine), root=engine.root.resolve(), workers=1).serve(io.BytesIO(lines), output)
    return sorted((json.loads(line) for line in output.getvalue().splitlines()), key=lambda one: one["id"])


async def test_no_reason_for_a_missing_code_graph_holds_an_absolute_path_on_a_wire(situation):
    engine, said = situation
    query = "what calls `burning_time`"
    asked = {"projectId": "", "documentId": "", "cursorPosition": 0, "skillId": "s", "query": query}
    graph, prompt, inspected = answers(
        engine,
        ("code:subgraph", {"symbol": "burning_time", "includeTree": True}),
        ("context:prompt:assemble", asked),
        ("context:prompt:inspect", asked),
    )
    texts = [*graph["result"]["warnings"], *prompt["result"]["warnings"]]
    texts += [line for line in graph["result"]["tree"].splitlines() if line.startswith("! ")]
    layers = [*prompt["result"]["layers"].values(), *inspected["result"]["layersDetail"].values()]
    texts += [one for layer in layers for one in layer.get("warnings", ())]
    texts += await of_the_server(engine, query)
    assert sum(f"CODE_GRAPH_REASON: {said}" in text for text in texts) >= 4, texts
    place = engine.root.resolve().parent.parent
    for text in texts:
        assert not ABSOLUTE.search(text), text
        assert str(place) not in text


async def of_the_server(engine, query):
    """The warnings that tools of the MCP server give; none where its extra is not installed."""
    if importlib.util.find_spec("mcp") is None:
        return []
    from mcp import Client

    from armarius.mcp import build_server

    async with Client(build_server(engine)) as client:
        found = await client.call_tool("subgraph", {"symbol": "burning_time"})
        pack = await client.call_tool("context", {"query": query})
    texts = (found.content[0].text, *(block.text for block in pack.content[1:]))
    return [line for text in texts for line in text.splitlines() if line.startswith("! ")]
