"""Texts and aliases for the matching benchmark: the same for every contestant, made the same way each time."""

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics

HERE = Path(__file__).parents[1]
# A name that stands in the text stands there at most this often per megabyte, where the text is long enough to tell;
# the number of hits is recorded with the times.
RARE = 60
SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦傅方白邹孟熊秦邱江尹薛"
    "闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)


def chinese_text(size: int) -> tuple[str, str]:
    """At least `size` bytes of Chinese prose and where it is from: a corpus folder, or the shipped example repeated."""
    corpus = os.environ.get("ARMARIUS_CORPUS")
    folder = Path(corpus) if corpus else HERE / "examples" / "novel"
    chapters = sorted((folder / "chapters").glob("*.md"))
    text = "\n".join(path.read_text(encoding="utf8") for path in chapters)
    name = folder.name if corpus else "examples/novel repeated"
    while len(text.encode()) < size:
        text += "\n" + text
    return cut(text, size), name


def english_text(size: int) -> tuple[str, str]:
    """At least `size` bytes of English prose: the topics of Python's own help."""
    text = "\n".join(topics[name] for name in sorted(topics))
    while len(text.encode()) < size:
        text += "\n" + text
    return cut(text, size), "pydoc topics"


def cut(text: str, size: int) -> str:
    """The first `size` bytes of the text, without half a character."""
    return text.encode()[:size].decode(errors="ignore")


def chinese_aliases(text: str, count: int) -> list[str]:
    """`count` names of 2 or 3 Han characters: up to 400 stand in the text, the others are made of its characters."""
    draw = random.Random(20_261_120)
    han = re.findall(r"[\u4e00-\u9fff]{4,}", text)
    letters = "".join(han)
    names: dict[str, None] = {}
    rare = max(RARE, text.count(text[len(text) // 2 : len(text) // 2 + 40]) * 4)
    while len(names) < min(count // 10, 400):
        run, length = draw.choice(han), draw.choice((2, 3, 3))
        start = draw.randrange(len(run) - length + 1)
        name = run[start : start + length]
        if text.count(name) <= rare:
            names[name] = None
    while len(names) < count:
        given = "".join(draw.choice(letters) for _ in range(draw.choice((1, 2, 2, 2))))
        names[draw.choice(SURNAMES) + given] = None
    return list(names)


def english_aliases(text: str, count: int) -> list[str]:
    """`count` names of one or two words: up to 400 stand in the text, the others are made up."""
    draw = random.Random(20_261_120)
    words = re.findall(r"[A-Za-z]{4,}", text)
    syllables = ["ar", "bel", "cor", "dan", "el", "fen", "gor", "hal", "is", "jor", "kel", "lor", "mar", "nor", "os"]
    names: dict[str, None] = {}
    rare = max(RARE, text.count(text[len(text) // 2 : len(text) // 2 + 40]) * 4)
    while len(names) < min(count // 10, 400):
        name = draw.choice(words)
        if text.count(name) <= rare:
            names[name] = None
    while len(names) < count:
        name = " ".join("".join(draw.choices(syllables, k=3)).title() for _ in range(draw.choice((1, 1, 2))))
        names[name] = None
    return list(names)


def dense_aliases(text: str, count: int) -> list[str]:
    """`count` pieces of the text of 2 to 4 Han characters, as they come: some stand in it a thousand times."""
    draw = random.Random(20_261_122)
    han = re.findall(r"[\u4e00-\u9fff]{4,}", text)
    pieces: dict[str, None] = {}
    while len(pieces) < count:
        run, length = draw.choice(han), draw.choice((2, 3, 4))
        start = draw.randrange(len(run) - length + 1)
        pieces[run[start : start + length]] = None
    return list(pieces)


def settings() -> Iterator[tuple[str, str, str, list[str], str]]:
    """(language, size, text, aliases, origin) for every size and number of aliases that is measured.

    Dense aliases are pieces of the text itself.
    """
    whole_zh, from_zh = chinese_text(1_000_000)
    whole_en, from_en = english_text(1_000_000)
    for count in (100, 1_000, 10_000, 100_000):
        for size, length in (("2 kB", 2_000), ("1 MB", 1_000_000)):
            middle = whole_zh[len(whole_zh) // 2 :] if size == "2 kB" else whole_zh
            yield "zh", size, cut(middle, length), chinese_aliases(whole_zh, count), from_zh
    for count in (1_000, 10_000):
        for size, length in (("2 kB", 2_000), ("1 MB", 1_000_000)):
            middle = whole_en[len(whole_en) // 2 :] if size == "2 kB" else whole_en
            yield "en", size, cut(middle, length), english_aliases(whole_en, count), from_en
    for size, length in (("2 kB", 2_000), ("1 MB", 1_000_000)):
        middle = whole_zh[len(whole_zh) // 2 :] if size == "2 kB" else whole_zh
        yield "zh", f"{size} dense", cut(middle, length), dense_aliases(whole_zh, 10_000), from_zh
