"""One of several processes that write into one project: `python -m tests.reliability.writer ROOT NAME COUNT`.

Writes in turn a rule, a memory, an entity and a chapter, until COUNT are acknowledged; a line of JSON for each: what it
is called there, and how often somebody else was in the way before.
"""

import json
import sys
import time
from pathlib import Path

import armarius
from armarius.errors import StoreBusy


def write(engine, name, number):
    """Write one thing, and say what it is called in the project."""
    if number % 4 == 0:
        return ["rule", engine.constraints.create(f"第{number}条规则，{name}所写。").text]
    if number % 4 == 1:
        return ["memory", engine.memories.create(f"第{number}件事，{name}所记。").text]
    if number % 4 == 2:
        return ["entity", engine.codex.create(f"{name}·{number}", type="character").name]
    path = engine.root / "chapters" / f"{name}-{number}.md"
    path.write_text(f"# {name}\n\n{name}写到第{number}段：独角兽{name}{number}。\n", "utf-8")
    engine.refresh()
    return ["chapter", path.relative_to(engine.root).as_posix()]


def main(root, name, count):
    with armarius.open(root, watch=False) as engine:
        for number in range(count):
            busy = 0
            while True:
                try:
                    said = write(engine, name, number)
                    break
                except StoreBusy:
                    busy += 1
                    time.sleep(0.01)
            print(json.dumps([*said, busy]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
