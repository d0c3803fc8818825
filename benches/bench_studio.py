"""How long a page of the studio takes, over a folder of your own.

`python benches/bench_studio.py FOLDER [--name NAME]` copies the folder, serves it on the loopback address as
`armarius studio` does, opens every page of every kind over HTTP (each chapter and each entity once, so that the first
look at it counts) and writes `benches/results/studio-NAME.json`: milliseconds to the last byte, as a browser waits, and
of processor, this client included, which a busy machine does not change.
"""

import argparse
import http.client
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

sys.path.insert(0, str(Path(__file__).parent))

import armarius
from armarius.studio import serve
from record import record, summary

_TARGETS_MS = {"click": 100.0, "save": 300.0}
_PAGE_MS = 150.0
_ASKED = 40


def main() -> None:
    """Serve, look, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", default="")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "project"
        shutil.copytree(asked.folder, folder, ignore=shutil.ignore_patterns("truth"))
        with armarius.open(folder, index_dir=Path(place) / "index") as engine:
            engine.assemble("", budget=4000)
            figures = measured(engine)
    for kind, row in figures.items():
        print(f"{kind:12}", *(f"{name} {value:g}" for name, value in row.items()))
    slow = [kind for kind, row in figures.items() if row["p95 ms"] > _TARGETS_MS.get(kind.partition(" ")[0], _PAGE_MS)]
    print(f"over the target: {', '.join(slow)}" if slow else "every p95 is within the target")
    record(f"studio-{asked.name or asked.folder.name}", figures, peers=("starlette", "uvicorn", "jinja2"))


def measured(engine: armarius.ContextEngine) -> dict[str, dict[str, float]]:
    """Every kind of page: how many were opened, the median, the 95th percentile and the slowest."""
    ready, told = threading.Event(), []

    def say(text: str) -> None:
        told.append(text)
        ready.set()

    threading.Thread(target=serve, args=(engine,), kwargs={"browser": False, "say": say}, daemon=True).start()
    if not ready.wait(30):
        raise SystemExit("the studio did not start")
    port, _, token = told[0].removeprefix("http://127.0.0.1:").partition("/?token=")
    connection = http.client.HTTPConnection("127.0.0.1", int(port))
    connection.request("GET", f"/?token={token}")
    answer = connection.getresponse()
    answer.read()
    cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
    taken: dict[str, list[tuple[float, float]]] = {}
    size: dict[str, int] = {}
    for kind, path in visits(engine):
        start, worked = time.perf_counter(), time.process_time()
        connection.request("GET", path, headers={"cookie": cookie})
        answer = connection.getresponse()
        body = answer.read()
        taken.setdefault(kind, []).append((time.perf_counter() - start, time.process_time() - worked))
        size[kind] = max(size.get(kind, 0), len(body))
        if answer.status != http.client.OK:
            raise SystemExit(f"{path}: {answer.status}")
    rows = {kind: _row(times, size[kind]) for kind, times in taken.items()}
    return rows | in_chromium(engine, f"http://127.0.0.1:{port}", token)


def in_chromium(engine: armarius.ContextEngine, ground: str, token: str) -> dict[str, dict[str, float]]:
    """From a click into a chapter to the rows, from a save by another program to the text; {} without Chromium."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if browser is None:
        return {}
    clicked, saved = [], []
    with sync_playwright() as tool:
        chromium = tool.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page()
        page.goto(f"{ground}/?token={token}")
        chapters = [one.path for one in engine.documents() if one.kind == "chapter"]
        for path in chapters[:: max(1, len(chapters) // _ASKED)]:
            page.goto(f"{ground}/chapter/{quote(path)}")
            clicked += page.evaluate(_CLICK)
        loaded = page.evaluate(
            "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
            ".reduce((sum, one) => sum + (one.decodedBodySize || 0), 0)"
        )
        page.wait_for_selector("#live[data-generation]")
        for number in range(_ASKED):
            time.sleep(number % 7 / 20)  # at no fixed moment of the server's look
            with (engine.root / path).open("a", encoding="utf-8") as file:
                file.write(f"\n\nSaved {number}.\n")
            began = time.perf_counter()
            page.get_by_text(f"Saved {number}.").wait_for()
            saved.append(1e3 * (time.perf_counter() - began))
        chromium.close()
    rows = {"click to rows in Chromium": clicked, "save outside to text in Chromium": saved}
    found = {kind: _waited(taken) for kind, taken in rows.items()}
    found["click to rows in Chromium"]["a page with its files kB"] = round(loaded / 1e3, 1)
    return found


def _waited(taken: list[float]) -> dict[str, float]:
    seen = summary(taken)
    return {
        "times": len(taken),
        "p50 ms": round(seen["p50"], 1),
        "p95 ms": round(seen["p95"], 1),
        "slowest ms": round(max(taken), 1),
    }


_CLICK = """async () => {
  const taken = [], beside = document.getElementById("prompt"), prose = document.getElementById("text");
  for (const part of [...prose.querySelectorAll("div[id]")].filter((_, at) => at % 9 === 3).slice(0, 4)) {
    const done = new Promise((told) => new MutationObserver((_, by) => (by.disconnect(), told())).observe(beside, {
      childList: true }));
    getSelection().collapse(part.firstChild, 0);
    const began = performance.now();
    part.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    await done;
    taken.push(performance.now() - began);
  }
  return taken;
}"""


def visits(engine: armarius.ContextEngine) -> Iterator[tuple[str, str]]:
    """Kind and address of every page, as somebody would come to them."""
    chapters = [one.path for one in engine.documents() if one.kind == "chapter"]
    people = [one.id for one in engine.entities()]
    names = [one.name for one in engine.entities()]
    for _ in range(40):
        yield "home", "/"
        yield "entities", "/entities"
        yield "notes", "/notes"
    yield from (("chapter", f"/chapter/{quote(path)}") for path in chapters)
    yield from (("entity", f"/entity/{quote(one, safe='')}") for one in people)
    yield from (("search", f"/search?{urlencode({'words': one})}") for one in names[:_ASKED])
    yield from (("inbox", "/inbox") for _ in range(40))


def _row(taken: list[tuple[float, float]], size: int) -> dict[str, float]:
    times = [waited for waited, _ in taken]
    seen, worked = summary(times), summary([spent for _, spent in taken])
    return {
        "pages": len(times),
        "first ms": round(1e3 * times[0], 1),
        "p50 ms": round(1e3 * seen["p50"], 1),
        "p95 ms": round(1e3 * seen["p95"], 1),
        "slowest ms": round(1e3 * max(times), 1),
        "processor p95 ms": round(1e3 * worked["p95"], 1),
        "largest kB": round(size / 1e3, 1),
    }


if __name__ == "__main__":
    main()
