"""The code graph: building it from a SCIP file and over CKB, walking it, and an index of 5,000 files.

Answers are asserted before anything is timed. The real parts come from `make code-tools`; without them only the
generated index is measured. Limits: click by SCIP 100 ms, over CKB 2 s, a walk of depth 3 5 ms (p95), 5,000 files
5 s and 500 MB.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from benches.record import interleaved, record, summary
from tests.code.wire import document, field, index, occurrence

from armarius.code import CodeIndex, build_graph
from armarius.code.ckb import CkbSource
from armarius.code.scip import ScipSource

TOOLS = Path(os.environ.get("ARMARIUS_TOOLS") or Path(__file__).parents[1] / ".cache" / "code-tools").resolve()
CLICK, CLICK_INDEX = TOOLS / "click-8.1.8", TOOLS / "click-index" / "index.scip"
CKB = next(iter(sorted((TOOLS / "node_modules" / "@tastehub").glob("ckb-*/bin/ckb*"))), None)
FILES, FUNCTIONS, CALLS = 5_000, 20, 4
FIGURES: dict[str, object] = {}


def decode_in_python(data):
    """The peer: what it takes to see every occurrence of an index without a core (no texts, no graph)."""

    def varint(data, at):
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, at
            shift += 7

    def fields(data):
        at = 0
        while at < len(data):
            key, at = varint(data, at)
            value, at = varint(data, at)
            if key & 7 == 2:
                value, at = data[at : at + value], at + value
            yield key >> 3, value

    count = 0
    for number, body in fields(data):
        if number == 2:
            for inner, item in fields(body):
                if inner == 2:
                    found = dict(fields(item))
                    found[2].decode()
                    count += 1
    return count


def generate(folder):
    """5,000 Python files of 20 functions that call 4 others each, and their index."""
    line_of = {}
    for place in range(FUNCTIONS):
        line_of[place] = place * (CALLS + 3)
    with (folder / "index.scip").open("wb") as out:
        out.write(index())
        for number in range(FILES):
            lines, rows = [], [occurrence(f"g python g _ `p.m{number}`/__init__:", roles=1, at=[0, 0, 0])]
            for place in range(FUNCTIONS):
                head = line_of[place]
                name = f"`p.m{number}`/f{place}()."
                lines += [f"def f{place}(value):", f'    """Function {place} of file {number}."""']
                width = len(f"f{place}")
                extent = [head, 0, head + CALLS + 2, 0]
                rows.append(occurrence(f"g python g _ {name}", roles=1, at=[head, 4, 4 + width], extent=extent))
                for call in range(CALLS):
                    file, target = (number + call * 7) % FILES, (place + call + 1) % FUNCTIONS
                    line = head + 2 + call
                    lines.append(f"    f{target}(value + {call})")
                    at = [line, 4, 4 + len(f"f{target}")]
                    rows.append(occurrence(f"g python g _ `p.m{file}`/f{target}().", roles=8, at=at))
                lines.append("")
            (folder / "p").mkdir(exist_ok=True)
            (folder / "p" / f"m{number}.py").write_text("\n".join(lines))
            out.write(field(2, document(f"p/m{number}.py", *rows)))
    return FILES * FUNCTIONS * (CALLS + 1) + FILES


CHILD = """
import json, resource, sys, time
from armarius.code import build_graph
from armarius.code.scip import ScipSource
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
source = ScipSource(sys.argv[1] + "/index.scip", sys.argv[1])
read = time.perf_counter()
graph = build_graph(source)
built = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"read_s": read - start, "build_s": built - read, "total_s": built - start, "nodes": len(graph),
    "edges": len(graph.edges()), "peak_mb": peak / 1024, "before_mb": before / 1024}))
"""


def test_five_thousand_files():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        occurrences = generate(folder)
        runs = []
        for _ in range(3):
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", CHILD, name], capture_output=True, text=True, check=True
            )
            runs.append(json.loads(done.stdout))
            assert runs[-1]["nodes"] == FILES * (FUNCTIONS + 1)
            assert runs[-1]["edges"] == FILES * FUNCTIONS * CALLS
        size = (folder / "index.scip").stat().st_size
        median = sorted(runs, key=lambda run: run["total_s"])[1]
        FIGURES["five_thousand_files"] = {"occurrences": occurrences, "index_mb": size / 1e6, **median}
        whole = CodeIndex(folder, cache_dir=folder / "cache")
        FIGURES["five_thousand_files"]["subgraph_depth_3_s"] = walks(whole, [f"p.m{i * 50}.f3" for i in range(100)])


def walks(code_index, symbols):
    samples = []
    code_index.subgraph(symbols[0], depth=3)
    for symbol in symbols:
        start = time.perf_counter()
        code_index.subgraph(symbol, depth=3)
        samples.append(time.perf_counter() - start)
    return summary(samples)


needs_click = pytest.mark.skipif(not CLICK_INDEX.exists(), reason="click is not indexed: make code-tools test")


@needs_click
def test_click_by_scip():
    graph = build_graph(ScipSource(CLICK_INDEX, CLICK))
    assert len(graph.find("src.click.formatting.measure_table")) == 1
    data = CLICK_INDEX.read_bytes()
    assert decode_in_python(data) > 15_000
    FIGURES["click_by_scip_s"] = interleaved(
        {
            "whole graph": lambda: build_graph(ScipSource(CLICK_INDEX, CLICK)),
            "decoding alone, in Python": lambda: decode_in_python(data),
        },
        rounds=20,
    )


@needs_click
def test_walks_on_click(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "index.scip").write_bytes(CLICK_INDEX.read_bytes())
    whole = CodeIndex(CLICK, cache_dir=tmp_path / "cache")
    graph = whole.graph
    names = [graph.node(n).qualified for n in range(len(graph)) if not graph.node(n).external]
    assert whole.subgraph("measure_table", depth=3).root.name == "measure_table"
    FIGURES["subgraph_depth_3_s"] = {"symbols": len(names), **walks(whole, names)}


@needs_click
@pytest.mark.skipif(CKB is None, reason="CKB is not installed: make code-tools")
def test_click_over_ckb(tmp_path):
    repo = tmp_path / "click"
    subprocess.run(["cp", "-r", str(CLICK), str(repo)], check=True)
    (repo / "index.scip").write_bytes(CLICK_INDEX.read_bytes())
    by_scip = len(build_graph(ScipSource(repo / "index.scip", repo)).edges())
    samples = []
    for _ in range(7):
        start = time.perf_counter()
        with CkbSource(repo, binary=str(CKB)) as source:
            found = len(build_graph(source).edges())
        samples.append(time.perf_counter() - start)
        assert 0 < found <= by_scip
    FIGURES["click_over_ckb_s"] = summary(samples)


def test_record():
    FIGURES["load_average"] = os.getloadavg()[0]  # other work on the machine while measuring
    print(record("code_graph", FIGURES, peers=["mcp"]))
