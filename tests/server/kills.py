"""Killing servers and workers again and again, and counting what became of what had been acknowledged."""

import argparse
import json
import multiprocessing
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import armarius
from armarius.errors import StoreError
from armarius.workspace.folder import connect

__all__ = ["kill_server", "kill_workers", "soak"]

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


_PROJECTS, _TENANTS = 400, 4
_MEMORY = 24  # MiB of projects in a worker: a tenth of them, so that others are closed all the time
_GROWN = "MB above a process with three projects"
_OWNER = re.compile(r"属于(t\d+/p\d+)")


def _resident() -> int:
    """MB that this process has; 0 where it cannot be told."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1_000_000 if status.exists() else 0


def turn(dsn: str, who: str, log: str) -> None:
    """A worker of a soak: writes a page, searches it and asks about it, in one project after another, until killed."""
    chance, count = random.Random(who), Counter[str]()
    with connect(dsn, connections=2, memory=f"{_MEMORY} MiB", wait_s=10.0) as shelf, Path(log).open("a") as file:
        base = 0
        for number in range(1, 10**9):
            project = int(_PROJECTS * chance.random() ** 2)  # some are asked for often, most seldom
            owner, mark, path = f"t{project % _TENANTS}/p{project}", f"{who}的第{number}封信", f"{who}.md"
            try:
                novel = shelf.project(f"p{project}", tenant=f"t{project % _TENANTS}")
                version = novel.write({path: f"# 信\n\n{mark}，属于{owner}。\n\n" + "雨停了，林默走进钟楼。" * 40})
                file.write(json.dumps([owner, path, number]) + "\n")
                hits = novel.search(mark, limit=20)
                pack = novel.assemble("这封信属于谁", document=path, budget=2000, at_least=version)
                count["stale"] += all(hit.path != path for hit in hits)
                count["stale"] += mark not in pack.prompt
                count["leaks"] += bool({*_OWNER.findall(pack.prompt)} - {owner})
            except StoreError:
                count["refused"] += 1
                time.sleep(0.05)  # as a client does that is told to come again
            except Exception as error:  # the figure says which
                count[f"{type(error).__name__}: {error}"[:200]] += 1
            count["turns"] += 1
            base = base if number > 3 else _resident()  # everything is imported now
            count[_GROWN] = max(count[_GROWN], _resident() - base)
            file.write(json.dumps(count) + "\n")
            file.flush()


def soak(server: Any, folder: Path, minutes: float, *, seed: int = 3) -> dict[str, Any]:
    """Four workers over 400 projects for so long; one is killed every few seconds, every tenth time the server.

    Args:
        server: A `TemporaryPostgres` whose commits wait for the disk, with tables.
        folder: For logs.
        minutes: Of work.
        seed: Of when, and whom.

    Returns:
        Counts of all workers: what was acknowledged and is not there, answers before the write, texts of others,
        errors that are none of a store that is away.
    """
    chance, until = random.Random(seed), time.monotonic() + 60 * minutes
    begun, killed = Counter[int](), Counter[str]()

    def start(slot: int) -> Any:
        begun[slot] += 1
        who = f"{'abcd'[slot]}{begun[slot]}"
        process = _CONTEXT.Process(target=turn, args=(server.dsn, who, str(folder / f"{who}.log")), daemon=True)
        process.start()
        return process

    workers = [start(slot) for slot in range(4)]
    try:
        while time.monotonic() < until:
            time.sleep(chance.uniform(2, 6))
            if sum(killed.values()) % 10 == 9:
                killed["kills of the server"] += 1
                server.kill()
                time.sleep(0.5)
                server.start()
                continue
            killed["kills of workers"] += 1
            slot = chance.randrange(4)
            workers[slot].kill()
            workers[slot].join()
            workers[slot] = start(slot)
    finally:
        for worker in workers:
            worker.kill()
            worker.join()
    total, last = Counter[str](), {}
    for log in sorted(folder.glob("*.log")):
        counts: Mapping[str, int] = {}
        for line in log.read_text().splitlines():
            with suppress(ValueError):  # cut by the kill
                row = json.loads(line)
                if isinstance(row, dict):
                    counts = row
                else:
                    last[row[0], row[1]] = row[2]
        most = max(
            total.pop(_GROWN, 0),
            counts.get(_GROWN, 0),
        )
        total.update({name: n for name, n in counts.items() if not name.startswith("MB")})
        total[_GROWN] = most
    lost, wrong = 0, 0
    with connect(server.dsn, memory=f"{_MEMORY} MiB") as shelf:
        for owner in sorted({owner for owner, _ in last}):
            tenant, project = owner.split("/")
            novel = shelf.project(project, tenant=tenant)
            there = {one.path: novel.document(one.path).text for one in novel.documents()}
            wrong += len(shelf.verify(project, tenant=tenant))
            for (mine, path), number in last.items():
                if mine == owner:  # a write that was never acknowledged may have followed
                    text = re.search(r"的第(\d+)封信", there.get(path, ""))
                    lost += text is None or int(text[1]) < number
    named = ("turns", "refused", "stale", "leaks")
    return {
        **killed, "minutes": minutes, "projects written to": len({owner for owner, _ in last}),
        **{name: total.pop(name, 0) for name in named}, "acknowledged pages": len(last), "of them lost": lost,
        "things wrong in the rows": wrong, "MB of projects that a worker may hold": round(_MEMORY * 1.048576),
        _GROWN: total.pop(_GROWN, 0), "errors": dict(total),
    }  # fmt: skip


if __name__ == "__main__":
    from scripts.temporary_postgres import TemporaryPostgres

    from armarius.store.postgres.pool import Pool
    from armarius.store.postgres.schema import migrate

    parser = argparse.ArgumentParser(prog="python -m tests.server.kills")
    parser.add_argument("--minutes", type=float, default=30)
    given = parser.parse_args()
    with TemporaryPostgres(durable=True) as running, tempfile.TemporaryDirectory() as logs:
        migrate(Pool(running.dsn, size=1), "armarius")
        figures = soak(running, Path(logs), given.minutes)
    print(json.dumps(figures, ensure_ascii=False, indent=1))
    wrong = [name for name in ("stale", "leaks", "of them lost", "things wrong in the rows", "errors") if figures[name]]
    sys.exit(f"not as it should be: {', '.join(wrong)}" if wrong else 0)
