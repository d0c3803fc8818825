"""A writing task replayed: typing, moving the cursor, asking, editing the codex, one assembly after each.

Deterministic: the same folder gives the same steps. The folder is copied; nothing is written to it.
"""

import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SESSIONS, _STEPS = 5, 64


@dataclass(frozen=True)
class Step:
    """What the writer just did, and where the cursor is now."""

    kind: str
    document: str
    cursor: int
    query: str = ""


def replay(corpus: Path, folder: Path, *, seed: int = 7) -> Iterator[Step]:
    """Copy `corpus` to `folder`, write on it, and yield after every change."""
    shutil.copytree(corpus, folder)
    chooser = random.Random(seed)
    codex_path = folder / "codex.json"
    codex = json.loads(codex_path.read_text(encoding="utf8"))
    chapters = sorted((folder / "chapters").glob("*.md"))
    for path in chooser.sample(chapters, _SESSIONS):
        whole = path.read_text(encoding="utf8")
        at = len(whole) * 7 // 10
        path.write_text(whole[:at], encoding="utf8")
        document = path.relative_to(folder).as_posix()
        yield Step("open", document, at)
        for _ in range(_STEPS - 1):
            kind = chooser.choices(["type", "move", "ask", "codex"], weights=[80, 8, 9, 3])[0]
            if kind == "type" and at < len(whole):
                at = min(len(whole), at + chooser.randint(15, 70))
                path.write_text(whole[:at], encoding="utf8")
                yield Step(kind, document, at)
            elif kind == "ask":
                name = chooser.choice(codex["entities"])["name"]
                yield Step(kind, document, at, f"{name}此刻在哪里，和前文矛盾吗？")
            elif kind == "codex":
                entity = chooser.choice(codex["entities"])
                entity["description"] = entity.get("description", "") + "（已修订）"
                codex_path.write_text(json.dumps(codex, ensure_ascii=False), encoding="utf8")
                yield Step(kind, document, at)
            else:
                yield Step("move", document, max(0, at - chooser.randint(200, 3000)))
