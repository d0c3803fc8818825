"""CKB over MCP: a server that acts up, the recorded answers of the real one, and the real one."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.code.support import DATA, EXAMPLE_INDEX, edges, fake_ckb

from armarius.code import CodeIndex, CodeOptions, SourceUnavailable, build_graph
from armarius.code.ckb import REQUEST_CAP, CkbSource
from armarius.code.scip import ScipSource

pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'armarius[code]'")


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").exists() and ") Z" not in Path(f"/proc/{pid}/stat").read_text()


def wait_until_dead(pids, seconds=30.0):
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up and any(map(alive, pids)):
        time.sleep(0.05)
    return not any(map(alive, pids))


def ckb_index(project, program, **options):
    (project / "index.scip").unlink(missing_ok=True)
    options = CodeOptions(source="ckb", ckb=program, **{"timeout": 60.0, **options})
    return CodeIndex(project, cache_dir=project.parent / "cache", options=options)


def test_both_sources_give_the_same_edges(project, tmp_path):
    program, log = fake_ckb(tmp_path, "works")
    with CkbSource(project, binary=program) as source:
        over_ckb = edges(build_graph(source), resolution=False)
    assert over_ckb == edges(build_graph(ScipSource(EXAMPLE_INDEX, project)), resolution=False)
    assert wait_until_dead([int(pid) for pid in log.read_text().split()])


def test_node_ids_begin_with_the_source(project, tmp_path):
    program, _ = fake_ckb(tmp_path, "works")
    found = ckb_index(project, program).subgraph("handleToolCall", depth=1, direction="callees")
    assert found.root.id == "ckb:code-project:handleToolCall"
    assert {"from": "handleToolCall", "to": "runScript", "type": "calls"} in found.to_wire()["edges"]


@pytest.mark.parametrize("mode", ["dies at first", "dies in between once"])
def test_a_server_that_dies_once_is_restarted_once(project, tmp_path, mode):
    program, log = fake_ckb(tmp_path, mode)
    index = ckb_index(project, program)
    assert index.source == "ckb"
    assert len(log.read_text().split()) == 2


FAULTS = {
    "dies at once": ("crashed", "SQLITE_BUSY"),
    "dies in between": ("crashed", "CKB failed twice"),
    "wrong repository": ("wrong_repo", "/elsewhere"),
    "no index": ("no_index", "Index not found"),
    "errors inside": ("crashed", "something else"),
    "truncates": ("crashed", "truncated"),
    "slow": ("timeout", "within"),
}


@pytest.mark.parametrize("mode", FAULTS)
def test_every_fault_falls_back_to_text_with_its_reason(project, tmp_path, mode):
    reason, words = FAULTS[mode]
    program, log = fake_ckb(tmp_path, mode)
    found = ckb_index(project, program, timeout=1.0 if mode == "slow" else 60.0).subgraph("handleToolCall")
    wire = found.to_wire()
    assert wire["degraded"] is True
    assert wire["reason"] == "CKB MCP unavailable"
    assert {
        "file": "web/tools.ts",
        "line": 5,
        "match": "handleToolCall",
        "text": "export function handleToolCall(call: ToolCall): string {",
    } in (wire["results"])
    notice, precise = map(str, found.warnings)
    assert notice == "CKB 不可用，降级为文本搜索"
    assert precise.startswith(f"CODE_GRAPH_REASON: {reason}: ")
    assert words in precise
    pids = [int(pid) for pid in log.read_text().split()]
    assert len(pids) <= 2
    assert wait_until_dead(pids)


def test_a_missing_program_is_no_binary(project, tmp_path):
    found = ckb_index(project, str(tmp_path / "no-such-program")).subgraph("handleToolCall")
    assert str(found.warnings[1]).startswith("CODE_GRAPH_REASON: no_binary: ")


def test_stderr_is_drained_however_much_is_written(project, tmp_path):
    program, _ = fake_ckb(tmp_path, "noisy")
    assert ckb_index(project, program).source == "ckb"


def test_a_request_above_the_cap_is_refused_before_it_is_sent(project, tmp_path):
    program, _ = fake_ckb(tmp_path, "works")
    with CkbSource(project, binary=program) as source:
        with pytest.raises(ValueError, match=str(REQUEST_CAP)):
            source.references("s p n v " + "x" * REQUEST_CAP + "/f().")
        assert source.symbols(), "the server still answers"


def test_what_the_server_left_in_a_clean_folder_is_removed(project, tmp_path):
    program, _ = fake_ckb(tmp_path, "works")
    with CkbSource(project, binary=program):
        (project / ".ckb").mkdir()
        (project / ".ckb" / "ckb.db").write_text("x")
    assert not (project / ".ckb").exists()
    (project / ".ckb").mkdir()
    with CkbSource(project, binary=program):
        pass
    assert (project / ".ckb").exists(), "a folder that was there before stays"


@pytest.mark.parametrize("name", [".ckb", ".codecartographer_cache.json"])
@pytest.mark.parametrize("before", [True, False])
def test_a_link_in_the_place_of_what_the_server_leaves_is_neither_followed_nor_removed(project, tmp_path, name, before):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    target = outside if name == ".ckb" else outside / "kept"
    if before:
        (project / name).symlink_to(tmp_path / "nowhere")
    program, _ = fake_ckb(tmp_path, "works")
    with CkbSource(project, binary=program, timeout=20):
        if not before:
            (project / name).symlink_to(target)
    assert (project / name).is_symlink()
    assert (outside / "kept").read_text() == "kept"


CHILD = """
import sys, time
from armarius.code.ckb import CkbSource
source = CkbSource(sys.argv[1], binary=sys.argv[2]).__enter__()
print("ready", flush=True)
{ending}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("ending", ["", "raise SystemExit(3)", "time.sleep(60)"])
def test_no_server_outlives_us(project, tmp_path, ending):
    program, log = fake_ckb(tmp_path, "works")
    code = CHILD.format(ending=ending)
    with subprocess.Popen(
        [sys.executable, "-Wignore", "-c", code, str(project), program], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "ready\n"
        if "sleep" in ending:
            child.send_signal(signal.SIGKILL)
        child.wait(20)
    assert wait_until_dead([int(pid) for pid in log.read_text().split()])


def recorded():
    for path in sorted((DATA / "ckb").glob("*.json")):
        for exchange in json.loads(path.read_text("utf-8"))["exchanges"]:
            params = exchange["request"].get("params") or {}
            content = exchange["response"].get("result", {}).get("content")
            if content:
                yield path.stem, params["name"], params.get("arguments", {}), content[0]["text"]


def test_recorded_answers_are_read_as_what_they_say(tmp_path):
    source = CkbSource(tmp_path, binary=sys.executable)
    seen = set()
    for _, tool, arguments, text in recorded():
        if tool == "findReferences" and "SYMBOL_NOT_FOUND" in text:
            assert source._data(text) == {}
            seen.add("unknown")
        elif tool == "findReferences" and arguments.get("limit", 0) >= 1000:
            found = source._data(text)["references"]
            assert all(item["location"]["startLine"] >= 1 for item in found)
            seen.add("references")
        elif json.loads(text).get("data") is None:
            with pytest.raises(SourceUnavailable):
                source._data(text.replace("SYMBOL_NOT_FOUND", "OTHER"))
            seen.add("error")
    assert seen == {"unknown", "references", "error"}


def test_the_real_ckb_gives_the_edges_of_its_index(project, ckb_binary):
    with CkbSource(project, binary=ckb_binary) as source:
        over_ckb = edges(build_graph(source), resolution=False)
    assert over_ckb == edges(build_graph(ScipSource(EXAMPLE_INDEX, project)), resolution=False)
    assert not (project / ".ckb").exists()


@pytest.fixture
def click_repo(click, tmp_path):
    root, index = click
    repo = tmp_path / "click"
    subprocess.run(["cp", "-r", str(root), str(repo)], check=True)
    (repo / "index.scip").write_bytes(index.read_bytes())
    return repo


def test_the_real_ckb_gives_the_edges_of_click_one_for_one(click_repo, ckb_binary):
    with CkbSource(click_repo, binary=ckb_binary) as source:
        over_ckb = edges(build_graph(source))
    assert over_ckb == edges(build_graph(ScipSource(click_repo / "index.scip", click_repo)))
    assert len(over_ckb) > 1800


def test_the_real_ckb_serves_under_the_first_generation_of_the_sdk(project, tools, ckb_binary):
    first = tools / "mcp-1"
    if not (first / "mcp").is_dir():
        pytest.skip("the MCP SDK 1.30 is not there: make code-tools")
    code = (
        "import sys, importlib.metadata as m\n"
        "from armarius.code.ckb import CkbSource\nfrom armarius.code.scip import build_graph\n"
        "with CkbSource(sys.argv[1], binary=sys.argv[2]) as s: g = build_graph(s)\n"
        "print(m.version('mcp'), len(g.edges()))\n"
    )
    found = subprocess.run(
        [sys.executable, "-Wignore", "-c", code, str(project), ckb_binary],
        env={**os.environ, "PYTHONPATH": str(first)},
        capture_output=True,
        text=True,
        check=True,
    )
    version, count = found.stdout.split()
    assert version.startswith("1.30")
    assert int(count) >= 50


def test_the_real_ckb_without_an_index_is_no_index(project, ckb_binary):
    found = ckb_index(project, ckb_binary)
    assert [failure.reason for failure in found.failures] == ["no_index"]


@pytest.mark.parametrize("content", [b"this is not a scip index", b"garbage\xff" * 100], ids=["panics", "refuses"])
def test_the_real_ckb_on_a_corrupt_index_is_crashed(project, ckb_binary, tmp_path, content):
    (project / "index.scip").write_bytes(content)
    options = CodeOptions(source="ckb", ckb=ckb_binary, timeout=10.0)
    index = CodeIndex(project, cache_dir=tmp_path / "cache", options=options)
    assert [failure.reason for failure in index.failures] == ["crashed"]


def children(program):
    """Process ids of our children that run this program."""
    tasks = Path("/proc/self/task").glob("*/children")
    pids = [int(pid) for path in tasks for pid in path.read_text().split()]
    return [pid for pid in pids if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(program.encode())]


@pytest.mark.skipif(sys.platform != "linux", reason="the server's process id is only known on Linux")
def test_the_real_ckb_killed_in_the_middle_is_restarted(click_repo, ckb_binary):
    with CkbSource(click_repo, binary=ckb_binary) as source:
        symbols = source.symbols()
        (first,) = children(ckb_binary)
        os.kill(first, signal.SIGKILL)
        assert any(source.references_of(symbols[:20]))
        assert source.restarts == 1
        assert children(ckb_binary) != [first]


def test_two_real_servers_on_one_repository_at_once_both_answer(click_repo, ckb_binary, tmp_path):
    code = (
        "import sys\nfrom armarius.code import CodeIndex, CodeOptions\n"
        "i = CodeIndex(sys.argv[1], cache_dir=sys.argv[3], options=CodeOptions(source='ckb', ckb=sys.argv[2]))\n"
        "g = i.graph\nprint(len(g.edges()) if g else i.failures)\n"
    )
    command = [sys.executable, "-Wignore", "-c", code, str(click_repo), ckb_binary, str(tmp_path / "cache")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [process.communicate(timeout=60)[0] for process in running]
    assert answers[0] == answers[1]
    assert int(answers[0]) > 1800
