"""Killing servers and workers again and again, and counting what became of what had been acknowledged."""

import multiprocessing
import os
import random
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import armarius
from armarius.errors import StoreError
from armarius.workspace.folder import connect

__all__ = ["kill_server", "kill_workers"]

_CONTEXT = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
_CONTEXT.set_forkserver_preload(["armarius.workspace.server", "armarius.embedders.lexical", "tests.server.kills"])
_TENANT = "kill"


def page(who: str, number: int) -> tuple[str, str]:
    """Path and text of a page that nobody else writes."""
    return f"{who}/{number:06}.md", f"# {who}\n\n第{number}次，林默走进钟楼。\n"


def _said(log: Path, path: str) -> None:
    with log.open("a") as file:
        file.write(path + "\n")


def work(dsn: str, how: str, who: str, log: str, at_it: Any) -> None:
    """A worker that does one thing until it is killed; what the server acknowledged is in its log."""
    embedder = armarius.embedders.lexical() if how == "embed" else None
    with connect(dsn, connections=2, memory="64 MiB", embedder=embedder) as shelf:
        novel = shelf.project("p", tenant=_TENANT)
        number = 0
        while True:
            if number:  # one is done: what is killed is work, not a beginning
                at_it.set()
            if how == "write":
                path, text = page(who, number)
                with suppress(StoreError):
                    novel.write({path: text})
                    _said(Path(log), path)
                    number += 1
            elif how == "build":  # many files at once, all or nothing
                files = dict(page(f"{who}-{number}", one) for one in range(40))
                with suppress(StoreError):
                    novel.write(files)
                    _said(Path(log), "\n".join(files))
                    number += 1
            else:
                with suppress(StoreError):
                    novel.recall.focus(f"mine/{number}.md")  # opened: embedding goes on in its own thread
                    number += 1
                    time.sleep(0.01)


def started(dsn: str, how: str, who: str, log: Path) -> Any:
    """A worker that is at it, in a process of its own, forked from one that has everything imported."""
    at_it = _CONTEXT.Event()
    process = _CONTEXT.Process(target=work, args=(dsn, how, who, str(log), at_it), daemon=True)
    process.start()
    at_it.wait(60)
    return process


def acknowledged(folder: Path) -> set[str]:
    """What any worker was told is there."""
    return {path for log in folder.glob("*.log") for path in log.read_text().split()}


def kill_server(server: Any, folder: Path, times: int, *, seed: int = 1) -> dict[str, Any]:
    """Kill the server so often while two workers write and this process asks; the figures.

    Args:
        server: A `TemporaryPostgres` whose commits wait for the disk, with tables.
        folder: For logs.
        times: Kills.
        seed: Of when.
    """
    chance = random.Random(seed)
    workers = [started(server.dsn, "write", who, folder / f"{who}.log") for who in "ab"]
    warm: list[float] = []
    failed: list[str] = []
    unmarked = 0
    away = threading.Event()
    over = threading.Event()
    with connect(server.dsn, wait_s=1.0) as shelf:
        novel = shelf.project("warm", tenant=_TENANT)
        novel.write({"a.md": "# 第一章\n\n林默走进钟楼。\n"})
        expected = novel.assemble("钟楼", document="a.md").prompt

        def ask() -> None:
            nonlocal unmarked
            while not over.is_set():
                was_away = away.is_set()
                began = time.monotonic()
                try:
                    pack = novel.assemble("钟楼", document="a.md")
                except Exception as error:
                    failed.append(f"{type(error).__name__}: {error}"[:200])
                    continue
                if was_away and away.is_set():
                    warm.append(time.monotonic() - began)
                    unmarked += not any(one.startswith("INDEX_STALE") for one in pack.warnings)
                failed.extend(["another prompt"] * (pack.prompt != expected))
                time.sleep(0.02)

        asking = threading.Thread(target=ask)
        asking.start()
        lost: set[str] = set()
        damaged: list[str] = []
        outages: list[float] = []
        try:
            for _ in range(times):
                time.sleep(chance.uniform(0.05, 0.4))
                server.kill()
                away.set()
                time.sleep(0.25)
                away.clear()
                server.start()
                began = time.monotonic()
                known = acknowledged(folder)
                while not acknowledged(folder) - known and time.monotonic() - began < 30:
                    time.sleep(0.01)
                outages.append(time.monotonic() - began)
                with connect(server.dsn) as looking:
                    here = {one.path for one in looking.project("p", tenant=_TENANT).documents()}
                    lost |= known - here
                    damaged += looking.verify("p", tenant=_TENANT)
        finally:
            over.set()
            asking.join()
            for one in workers:
                one.kill()
                one.join()
    warm.sort()
    outages.sort()
    return {
        "kills": times,
        "writes acknowledged": len(acknowledged(folder)),
        "acknowledged writes lost": len(lost),
        "things wrong in the rows": len(damaged),
        "questions while the server was away": len(warm),
        "of them failed": len(failed),
        "of them without INDEX_STALE": unmarked,
        "ms of one of them, p50": round(1000 * warm[len(warm) // 2], 1) if warm else None,
        "ms of one of them, p95": round(1000 * warm[len(warm) * 95 // 100], 1) if warm else None,
        "s from the start of the server to the next write, p50": round(outages[len(outages) // 2], 2),
        "s from the start of the server to the next write, most": round(outages[-1], 2),
        "errors": failed[:3],
    }


def kill_workers(dsn: str, folder: Path, times: int, *, seed: int = 2) -> dict[str, Any]:
    """Kill so many workers in `write`, in a write of 40 files, and while they embed; the figures."""
    chance = random.Random(seed)
    kinds = ["write", "build", "embed"]
    waits: list[float] = []
    with connect(dsn) as shelf:
        mine = shelf.project("p", tenant=_TENANT)
        mine.write({"mine/0.md": "我的一页"})
        for number in range(times):
            how = kinds[number % 3]
            worker = started(dsn, how, f"{how}{number}", folder / f"{number}.log")
            time.sleep(chance.uniform(0.0, 0.5))
            worker.kill()
            worker.join()
            began = time.monotonic()
            assert mine.write({"mine/0.md": f"我的第{number}页"}) == mine.version
            waits.append(time.monotonic() - began)
        here = {one.path for one in mine.documents()}
        halves = 0
        groups: dict[str, int] = {}
        for path in here:
            if path.startswith("build"):
                groups[path.split("/")[0]] = groups.get(path.split("/")[0], 0) + 1
        halves = sum(count != 40 for count in groups.values())
        known = acknowledged(folder)
        wrong = shelf.verify("p", tenant=_TENANT)
    began = time.monotonic()
    with connect(dsn, embedder=armarius.embedders.lexical()) as shelf:
        done = shelf.project("p", tenant=_TENANT).recall.embed()
        embedded = time.monotonic() - began
        wrong += shelf.verify("p", tenant=_TENANT)
    waits.sort()
    return {
        "kills": times,
        "files acknowledged": len(known),
        "acknowledged files lost": len(known - here),
        "writes of 40 files that are there": len(groups),
        "of them halves": halves,
        "things wrong in the rows": len(wrong),
        "s that another writer waited after a kill, p95": round(waits[len(waits) * 95 // 100], 3),
        "s that another writer waited after a kill, most": round(waits[-1], 3),
        "texts embedded in the end": f"{done.done} of {done.total}",
        "s until they were, the lease of a killed one included": round(embedded, 1),
    }
