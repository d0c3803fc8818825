"""A process over a shelf of more projects than fit into its memory; prints sizes as one line of JSON.

churn.py PLACE EVICTIONS        a folder, or the DSN of a server; the projects are p0 to p119
"""

import json
import random
import sys
import threading
from pathlib import Path

import armarius

PROJECTS = 120
MEMORY = 48 << 20
THREADS = 4
_LETTERS = "林默小雨钟楼照片灯塔海风信箱抽屉怀表夜里走廊楼梯声音脚步街道河岸旧书店老人孩子时间"


def files_of(number, characters=30_000):
    """The files of a project: ten chapters and a person."""
    draw = random.Random(number)
    files = {"characters/林默.md": "# 林默\n\n- 类型：人物\n- 职业：修表匠\n"}
    for chapter in range(1, 11):
        lines = ["".join(draw.choices(_LETTERS, k=100)) + "。林默走进钟楼。" for _ in range(characters // 1_000)]
        files[f"chapters/ch{chapter:03}.md"] = f"# 第{chapter}章\n\n" + "\n\n".join(lines) + "\n"
    return files


def shelf_of(place):
    if place.startswith("postgresql:"):
        return armarius.connect(place, memory=MEMORY)
    return armarius.shelf(place, memory=MEMORY, most=PROJECTS, index_dir=f"{place}-index")


def ask(novel, draw):
    """One request, as a host makes them: of ten, seven prompts, two searches and a save."""
    kind = draw.randrange(10)
    if kind < 7:
        novel.assemble("林默去了哪里", document="chapters/ch003.md", budget=4000)
    elif kind < 9:
        novel.search("钟楼")
    elif isinstance(novel.root, Path):
        (novel.root / "notes.md").write_text(f"# 笔记\n\n{draw.random()}\n", encoding="utf-8")
    else:
        novel.write({"notes.md": f"# 笔记\n\n{draw.random()}\n"})


def resident():
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS"))


def main(place, evictions):
    with shelf_of(place) as shelf:
        first = shelf.project("p0")
        for draw in map(random.Random, range(30)):  # what is loaded on first use
            ask(first, draw)
        first.close()
        without = resident()

        def run(seed):
            draw = random.Random(seed)
            while shelf.status().evicted < evictions:
                ask(shelf.project(f"p{draw.randrange(PROJECTS)}"), draw)

        threads = [threading.Thread(target=run, args=(seed,)) for seed in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        status = shelf.status()
        sizes = {"without": without, "with": resident(), "evicted": status.evicted, "hot": status.hot}
        print(json.dumps(sizes | {"counted": status.bytes, "memory": MEMORY}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
