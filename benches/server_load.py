"""A worker of `bench_server.py`: asks and writes projects on a server, or folders, for some seconds."""

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import armarius

CHARACTERS = 20_000
_WORDS = ("林默", "小雨", "钟楼", "怀表", "灯塔", "白鹭", "江城", "旧信", "渡口", "照片", "雾里", "阁楼")


def text_of(number: int) -> dict[str, str]:
    """A project of 20,000 characters in ten chapters, unlike any other."""
    chance = random.Random(number)
    files = {"characters/林默.md": "# 林默\n\n- 类型：character\n- 描述：守钟人\n"}
    for chapter in range(10):
        lines = [f"# 第{chapter + 1}章\n"]
        size = 0
        while size < CHARACTERS // 10:
            line = "，".join("".join(chance.choices(_WORDS, k=3)) for _ in range(6)) + f"，第{number}号。\n"
            lines.append(line)
            size += len(line)
        files[f"chapters/ch{chapter + 1:03}.md"] = "\n".join(lines)
    return files


@contextmanager
def _on_server(dsn: str, tenant: str) -> Iterator[tuple[Callable[[int], Any], Callable[[Any, str, str], Any]]]:
    with armarius.connect(dsn, connections=1, memory="64 MiB") as shelf:

        def write(novel: Any, path: str, text: str) -> dict[str, int]:
            return {"at_least": novel.write({path: text})}

        yield lambda number: shelf.project(f"p{number:04}", tenant=tenant), write


@contextmanager
def _in_folders(root: str) -> Iterator[tuple[Callable[[int], Any], Callable[[Any, str, str], Any]]]:
    with armarius.shelf(root, memory="64 MiB", watch=False) as shelf:

        def write(novel: Any, path: str, text: str) -> dict[str, int]:
            file = novel.root / path
            file.parent.mkdir(exist_ok=True)
            part = file.with_name(f".{file.name}.part")
            part.write_text(text, encoding="utf-8")
            part.replace(file)
            return {}

        yield lambda number: shelf.project(f"p{number:04}"), write


def run(where: str, tenant: str, who: str, projects: int, seconds: float) -> dict[str, Any]:
    """Rounds of: one project at random, asked twice; in one of four, a page written first, found and asked for.

    Args:
        where: A connection string, or a folder.
        tenant: On a server.
        who: Part of what is written, and of the choice.
        projects: To choose from.
        seconds: So long.
    """
    chance = random.Random(who)
    found: dict[str, Any] = {"stale": 0, "failed": [], "cold": [], "warm": [], "save": [], "acknowledged": []}
    on_server = where.startswith("postgresql:")
    with _on_server(where, tenant) if on_server else _in_folders(where) as (project, write):
        until, number = time.monotonic() + seconds, 0
        while time.monotonic() < until:
            number += 1
            id_ = chance.randrange(projects)
            novel = project(id_)
            document, after, mark = f"chapters/ch{chance.randrange(10) + 1:03}.md", {}, ""
            try:
                if not number % 4:
                    mark, document = f"{who}的第{number}页", f"notes/{who}{number:05}.md"
                    began = time.monotonic()
                    after = write(novel, document, f"# 页\n\n林默写下了{mark}。\n")
                    found["save"].append(time.monotonic() - began)
                    found["acknowledged"].append((id_, document))
                    hits = novel.search(mark, limit=50, **after)
                    found["stale"] += not any(hit.path == document for hit in hits)
                for kind in ("cold", "warm"):  # the second finds its engine in memory, and nothing changed
                    began = time.monotonic()
                    pack = novel.assemble("林默把怀表放在哪里？", document=document, budget=3000, **after)
                    found[kind].append(time.monotonic() - began)
                    found["stale"] += bool(mark) and mark not in pack.prompt
            except armarius.ArmariusError as error:
                found["failed"].append(f"{type(error).__name__}: {error}"[:200])
    return found


def fill(where: str, tenant: str, numbers: range) -> None:
    """Make these projects."""
    if not where.startswith("postgresql:"):
        for number in numbers:
            for path, text in text_of(number).items():
                file = Path(where) / f"p{number:04}" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        return
    with armarius.connect(where, connections=1, memory="16 MiB") as shelf:
        for number in numbers:
            shelf.project(f"p{number:04}", tenant=tenant).write(text_of(number))


def begin(cache: str) -> None:
    """In each process of the pool: an index of its own."""
    os.environ["ARMARIUS_CACHE"] = f"{cache}/{os.getpid()}"
