"""Index a project in a child process, kill it at a random moment, and look at what is left; one JSON line per round.

Run as a program: `python -m tests.index.crashes ROOT ROUNDS SEED`. The program itself never opens an index, so that its
children start clean: it imports, forks, and waits.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from armarius.documents.document import list_documents
from armarius.index.derived import read_names
from armarius.index.project_index import ProjectIndex
from armarius.store.sqlite.location import place_for
from armarius.store.sqlite.store import SqliteStore


def change_files(root, chance, round_number):
    """Some chapters and, now and then, the profiles change; files come and go."""
    for i in range(60):
        path = root / f"chapters/ch{i:03}.md"
        if chance.random() < 0.5:
            path.write_text(
                f"# 第{i}章\n\n林默走了{round_number}步。小雨等着。\n\n" + "钟停了。" * chance.randrange(400), "utf-8"
            )
        elif chance.random() < 0.1:
            path.unlink(missing_ok=True)
    name = chance.choice(["小雨", "雨儿"])
    (root / "people.md").write_text(f"# 人物\n\n## 林小雨\n\n- 别名：{name}\n- 类型：人物\n", "utf-8")


def build(root, acknowledged):
    """The victim: every committed path is acknowledged on a pipe."""

    def report(step):
        os.write(acknowledged, f"{step.done}\n".encode())

    with ProjectIndex.open(root, progress=report) as index:
        os.write(acknowledged, f"{index.status().documents}\n".encode())


def examine(root):
    """What the next process finds."""
    started = time.monotonic()
    store = SqliteStore.open(place_for(root), project_id=root.name)
    seconds = time.monotonic() - started
    left = sorted(store.files())
    problems = store.verify()
    store.close()
    with ProjectIndex.open(root) as index:
        documents = list_documents(root).documents
        equal = list(index.store.files()) == [d.path for d in documents] and all(
            index.store.document(d.path) == d for d in documents
        )
        equal &= all(
            index.store.learnt(row.kind, [row.path])[row.path] == row for row in read_names(index.snapshot, documents)
        )
        problems += index.store.verify()
    return {"reopen_seconds": seconds, "left": len(left), "problems": problems, "equal": equal}


def in_child(call):
    """Run in a fork; returns (pid, read end of a pipe the call may write to)."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(read)
            call(write)
            status = 0
        except BaseException as error:
            os.write(write, json.dumps({"error": repr(error)}).encode())
        finally:
            os._exit(status)
    os.close(write)
    return pid, read


def seconds_of_a_build(root, chance):
    """How long the victim takes when nobody kills it, on this machine as busy as it is."""
    change_files(root, chance, -1)
    started = time.monotonic()
    pid, read = in_child(lambda write: build(root, write))
    os.waitpid(pid, 0)
    os.close(read)
    return time.monotonic() - started


def main(root, rounds, seed):
    chance = random.Random(seed)
    longest = seconds_of_a_build(root, chance)
    for round_number in range(rounds):
        change_files(root, chance, round_number)
        pid, read = in_child(lambda write: build(root, write))
        time.sleep(chance.random() * longest)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        with os.fdopen(read) as pipe:
            lines = pipe.read().split()
        pid, read = in_child(lambda write: os.write(write, json.dumps(examine(root)).encode()))
        with os.fdopen(read) as pipe:
            found = json.loads(pipe.read())
        os.waitpid(pid, 0)
        print(json.dumps({"acknowledged": int(lines[-1]) if lines else 0, **found}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
