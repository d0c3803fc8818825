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
_CONVERSATIONS, _QUESTIONS = 12, 4
_ASKED = {
    "zh": ("{}第一次出场是什么情形", "{}和谁有过争执", "{}为什么离开", "{}后来怎么样了"),
    "en": ("How is {} first described?", "With whom does {} quarrel?", "Why does {} leave?", "What becomes of {}?"),
}


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


def conversations(corpus: Path, *, seed: int = 7) -> Iterator[list[Step]]:
    """Twelve conversations of four questions each about two people of the codex, at the end of one chapter.

    The first two questions are about one of them, the others about the other: what the prompt before held is of use for
    one step, then no more.
    """
    chooser = random.Random(seed)
    entities = json.loads((corpus / "codex.json").read_text(encoding="utf8"))["entities"]
    names = [entity["name"] for entity in entities if entity.get("type") == "character"]
    templates = _ASKED["en" if names[0].isascii() else "zh"]
    chapters = sorted((corpus / "chapters").glob("*.md"))
    for path in chooser.sample(chapters, _CONVERSATIONS):
        people = chooser.sample(names, 2)
        at = len(path.read_text(encoding="utf8"))
        document = path.relative_to(corpus).as_posix()
        yield [
            Step("ask", document, at, template.format(people[number * 2 // _QUESTIONS]))
            for number, template in enumerate(templates)
        ]
