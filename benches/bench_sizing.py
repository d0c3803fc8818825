"""What a worker needs: memory of a project that is open, by its length; requests a second that one core answers.

ARMARIUS_CORPUS names a novel with chapters/*.md, whose chapters the projects are made of. Each row is a process of its
own over a shelf of folders: all projects are opened and asked for a prompt, then prompts (4,000 tokens, a chapter open,
another question each time) and searches are counted by the processor's time. Memory is what the process has more than
with one project of a page. A shelf on a server holds the same; its requests wait for the server besides.
"""

import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from benches.record import record

PROJECTS = ((50, 20_000), (20, 100_000), (10, 300_000), (4, 800_000))  # how many, of so many characters
ASKED = 200

CHILD = """
import gc, json, os, sys, time
import armarius

def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

questions = json.loads(sys.argv[3])
with armarius.shelf(sys.argv[1], watch=False, memory="4 GiB", most=1000) as shelf:
    def ask(name, at):
        shelf.project(name).assemble(questions[at % len(questions)], document="chapters/001.md", budget=4000)
    ask("page", 0)
    before, names = resident(), sorted(one.id for one in shelf.projects() if one.id != "page")
    for at, name in enumerate(names):
        ask(name, at)
    told = {"resident": resident() - before, "counted": shelf.status().bytes}
    for what, call in (("prompts", ask), ("searches", lambda name, at: shelf.project(name).search(questions[at][:12]))):
        began = time.process_time()
        for at in range(int(sys.argv[2])):
            call(names[at % len(names)], at % len(questions))
        told[what] = int(sys.argv[2]) / (time.process_time() - began)
print(json.dumps(told))
"""


def written(folder, chapters, characters):
    """A project of so many characters: the chapters in turn, the last one cut."""
    (folder / "chapters").mkdir(parents=True)
    number = 0
    while characters > 0:
        text = chapters[number % len(chapters)][:characters]
        number += 1
        characters -= len(text)
        (folder / "chapters" / f"{number:03}.md").write_text(text, encoding="utf8")


@pytest.mark.slow
def test_what_a_worker_needs(tmp_path, monkeypatch):
    folder = Path(os.environ.get("ARMARIUS_CORPUS", "").split(os.pathsep)[0])
    found = [path.read_text("utf-8") for path in sorted(folder.glob("chapters/*.md"))]
    if not found:
        pytest.skip("ARMARIUS_CORPUS names no novel")
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    lines = (line for text in found for line in text.splitlines() if 30 < len(line) < 400)
    questions = [line.strip()[:60] for line in islice(lines, 0, 40 * ASKED, 40)]
    rows = []
    for number, characters in PROJECTS:
        place = tmp_path / str(characters)
        written(place / "page", ["A page about a quay and a lamp."], 31)
        for one in range(number):
            written(place / f"project-{one}", found[one % len(found) :] + found[: one % len(found)], characters)
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", CHILD, place, str(ASKED), json.dumps(questions)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        told = json.loads(ran.stdout)
        row = {"projects": number, "characters each": characters}
        row |= {f"MB a project, {name}": round(told[name] / number / 1e6, 2) for name in ("resident", "counted")}
        row |= {f"{name} a second a core": round(told[name]) for name in ("prompts", "searches")}
        rows.append(row)
        print(row, flush=True)
    record("sizing", {"book": folder.name, "load": round(os.getloadavg()[0], 1), "rows": rows})
