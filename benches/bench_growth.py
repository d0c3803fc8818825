"""What one call of C does with more, which no count of calls shows (tests/test_growth.py): patterns, automata, copies.

Seconds of processor for a size and for four times it, the least of three; linear is 4, quadratic 16. Nothing is
recorded: the ratio says all, on any machine and of any build. `python -m pytest benches/bench_growth.py`
"""

import time

import pytest

from armarius import EntityMatcher
from armarius._core import KeySet
from armarius.codex.profiles import parse_profiles
from armarius.documents.manuscripts import extract
from armarius.documents.segments import split_prose

MOST = 8  # for four times as much: between linear and quadratic, with what a busy machine adds


def profiles(unit, before="# 小雨\n\n"):
    return lambda n: parse_profiles("settings/a.md", before + unit * n)


def matcher(entities):
    return lambda n: EntityMatcher(entities(n))


def manuscript(name, unit):
    return lambda n: extract(name, unit * n, limit=1 << 30)


ROWS = {
    "brackets": (100_000, profiles("[")),
    "brackets of links": (100_000, profiles("[[a|")),
    "links without an end": (50_000, profiles("[](")),
    "images without an end": (50_000, profiles("![](")),
    "items under one": (20_000, profiles("  - 来了\n", "# 小雨\n\n- 类型\n")),
    "paragraphs of a profile": (20_000, profiles("他来了。\n\n", "# 小雨\n\n- 类型：人物\n\n")),
    "lines of a paragraph": (20_000, lambda n: split_prose("he came\n" * n)),
    "rules under a paragraph": (20_000, lambda n: split_prose("he came\nagain\n" + "---\n" * n)),
    "open notes of a screenplay": (50_000, manuscript("a.fountain", b"[[")),
    "marks of emphasis": (20_000, manuscript("a.fountain", b"**a ")),
    "spaces of a heading": (20_000, lambda n: extract("a.fountain", b"#" + b" " * n + b"a\nb", limit=1 << 30)),
    "cells of a page": (20_000, manuscript("a.html", b"<tr><td>")),
    "numbered keys": (20_000, lambda n: KeySet([f"键{k}" for k in range(n)], [0] * n)),
    "numbered aliases": (
        20_000,
        matcher(lambda n: [{"id": "a", "name": "鹭", "aliases": [f"名{k}" for k in range(n)]}]),
    ),
    "entities of one alias": (
        20_000,
        matcher(lambda n: [{"id": f"a{k}", "name": f"人{k}", "aliases": ["小雨"]} for k in range(n)]),
    ),
}


@pytest.mark.parametrize("what", ROWS)
def test_four_times_as_much_takes_about_four_times_as_long(what):
    many, call = ROWS[what]

    def seconds(n):
        took = []
        for _ in range(3):
            started = time.process_time()
            call(n)
            took.append(time.process_time() - started)
        return min(took)

    once, more = seconds(many), seconds(4 * many)
    print(f"{what}: {once:.4f} s, {more:.4f} s, {more / once:.1f} times")
    assert more < MOST * once
