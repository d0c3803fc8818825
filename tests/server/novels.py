"""The novel that the examples ship, as files; and requests about it."""

from itertools import cycle, islice, product
from pathlib import Path

NOVEL = Path(__file__).parents[2] / "examples" / "novel"


def files_of(root=NOVEL):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def requests(count=60, root=NOVEL):
    chapters = sorted(path.relative_to(root).as_posix() for path in (root / "chapters").glob("*.md"))
    queries = (
        "检查这一章的角色一致性",
        "林默和小雨是什么关系？",
        "照片在谁手里",
        "钟楼那天夜里发生了什么",
        "她住在哪里",
    )
    shapes = (
        {"budget": 4000}, {"budget": 9000, "model": "gpt-4o"}, {"budget": 1500}, {"chapters": 2}, {"as_of": 3},
        {"kinds": "chapter", "model": "deepseek-chat"}, {"also": ["灯塔"]}, {"query": ""},
    )  # fmt: skip
    every = product(queries, chapters, shapes)
    chosen = list(islice(cycle(list(every)[::5]), count))
    return [
        {"query": query, "document": chapter, "cursor": 40 + 10 * (number % 5), **shape}
        for number, (query, chapter, shape) in enumerate(chosen)
    ]
