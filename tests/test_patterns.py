"""Every regular expression of the package reads sixteen times as much in about sixteen times the time.

They are found, not listed: constants and what is kept of calls without arguments, in every module, and the first
argument of every call of `re` in its source, where a word that only the call knows is "a". Each is tried as the source
uses it, over all of a text or at its beginning alone, against many of each of its own literals and of blanks.

Read is the processor time of one thread, the least of three runs, above a floor far over what a linear pattern takes.
Of a pattern that sees so many code points at most, it is that of so many.
"""

import ast
import builtins
import importlib
import inspect
import itertools
import pkgutil
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from re import _parser  # the reader of patterns of the standard library
from typing import Any

import pytest

import armarius
from armarius.search.query.recipe import understand

MOST = 80.0  # for sixteen times as many: a line takes 16, a square 256
LONGEST = 0.5  # seconds for a pattern that sees no more than its `CUT`; the longest takes 0.012
CALLS = {"compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"}
AT_BEGIN = {"match", "fullmatch"}
BLANKS = (" ", "\n", "\t", "\u3000")
EXAMPLES = {"CATEGORY_DIGIT": "7", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a"}
CUT = {
    "codex.names_in_story._BEGINS": 4,
    "rewording._SECRET": 160,
    "search.query.recipe._renames": 3,
    "search.query.relations._OF_ROLE": 60,
}
"""Patterns that see so many code points of a text at most; of a run of blanks, those of a renaming."""


class Word(str):
    """A word that only a call knows."""

    __slots__ = ()

    def __getattr__(self, name):
        return Word("a")


class Words(dict):
    """Words for the names that a module does not have."""

    def __init__(self, module):
        self.known = vars(module).keys() | vars(builtins).keys()

    def __missing__(self, name):
        if name in self.known:
            raise KeyError(name)
        return Word("a")


def value_of(module, expression):
    return eval(compile(ast.Expression(expression), module.__name__, "eval"), vars(module), Words(module))


def inside(value, depth=4):
    if isinstance(value, re.Pattern):
        yield value
    elif type(value).__name__ == "_LazyPattern":  # compiled when it is used
        yield re.compile(*value._source)
    elif depth and isinstance(value, dict):
        yield from (one for pair in value.items() for one in inside(pair, depth - 1))
    elif depth and isinstance(value, tuple | list | frozenset | set):
        yield from (one for member in value for one in inside(member, depth - 1))


def kept(module):
    """Name and pattern of each constant, and of what is kept of a call without arguments."""
    for name, value in list(vars(module).items()):
        if hasattr(value, "cache_info") and value.__module__ == module.__name__:
            form = inspect.signature(value)
            value = None if form.parameters or "Pattern" not in str(form.return_annotation) else value()
        for field in value._fields if isinstance(value, tuple) and hasattr(value, "_fields") else ():
            yield from ((field, one) for one in inside(getattr(value, field)))
        yield from ((name, one) for one in inside(value))


def written(module, tree):
    """Line and pattern of each call of `re`."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=name), args=[ast.Starred()]):
                continue
            case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=name)) if name in CALLS:
                words = {word.arg: word.value for word in node.keywords}
                flags = words.get("flags") or (node.args[1] if name == "compile" and len(node.args) > 1 else None)
                try:
                    pattern = value_of(module, node.args[0])
                    yield f"line {node.lineno}", re.compile(pattern, value_of(module, flags) if flags else 0)
                except (NameError, AttributeError, TypeError, LookupError, re.error):  # of what only the call knows
                    continue


def uses(tree):
    """Methods by the name that they are called on, and by line where that is `re`."""
    found, named = defaultdict(set), {}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name("re"), attr=method) if method in CALLS:
                found[f"line {node.lineno}"].add(method)
            case ast.Attribute(
                value=ast.Name(name) | ast.Attribute(attr=name) | ast.Call(func=ast.Name(name)), attr=method
            ) if method in CALLS:
                found[name].add(method)
            case ast.Assign(targets=[ast.Name(name)], value=ast.Call(func=ast.Attribute(value=ast.Name("re")))):
                named[f"line {node.lineno}"] = name
    return found | {line: found[line] | found[name] for line, name in named.items()}


def patterns() -> dict[str, tuple[re.Pattern[Any], bool]]:
    """Each pattern by its place, and whether it is tried at the beginning of a text alone."""
    found, everywhere, used = {}, defaultdict(set), {}
    modules = []
    for module in pkgutil.walk_packages(armarius.__path__, "armarius."):
        if module.name.endswith("__main__"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:  # a door without its extra
            continue
        if str(loaded.__file__).endswith(".py"):
            tree = ast.parse(Path(loaded.__file__).read_text("utf-8"))
            modules.append((loaded, tree))
            used[loaded] = uses(tree)
            for name, methods in used[loaded].items():
                everywhere[name] |= methods
    for module, tree in modules:
        for name, pattern in itertools.chain(kept(module), written(module, tree)):
            own = used[module][name]
            methods = (own if own or name[0] == "_" else everywhere[name]) - {"compile"}
            place, pattern, methods_known = found.setdefault(
                (pattern.pattern, pattern.flags),
                (f"{module.__name__.removeprefix('armarius.')}.{name}", pattern, set()),
            )
            methods_known |= methods
    made = {}
    for place, pattern, methods in found.values():
        made[place if place not in made else f"{place} {len(made)}"] = (pattern, methods and methods <= AT_BEGIN)
    return made


def literals(pattern, most):
    """Blanks, and what it holds of characters, runs of them and classes: no letters first."""
    found = dict.fromkeys(BLANKS)
    walk(_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG), found)
    return sorted(found, key=lambda text: (text not in BLANKS, text.isalnum() and len(text) == 1, len(text)))[:most]


def walk(parts, found):
    run = ""
    for op, argument in parts:
        name = str(op)
        if name == "LITERAL":
            found[chr(argument)] = None
            run += chr(argument)
            continue
        if len(run) > 1:
            found[run] = None
        run = ""
        if name == "IN":
            for kind, one in argument:
                match str(kind):
                    case "LITERAL":
                        found[chr(one)] = None
                    case "RANGE":
                        found[chr(one[0])] = None
                    case "CATEGORY":
                        found[EXAMPLES.get(str(one), "x")] = None
        elif name in ("ANY", "NOT_LITERAL"):
            found["x"] = None
        for inner in nested(argument):
            walk(inner, found)
    if len(run) > 1:
        found[run] = None


def nested(argument) -> Iterator[Any]:
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, tuple | list):
        for one in argument:
            yield from nested(one)


def seconds(pattern, at_begin, text):
    subject = text if isinstance(pattern.pattern, str) else text.encode()
    begun = time.thread_time()
    if at_begin:
        pattern.match(subject)
        pattern.fullmatch(subject)
    else:
        for _ in pattern.finditer(subject):
            pass
    return time.thread_time() - begun


def least(pattern, at_begin, text, runs=3):
    return min(seconds(pattern, at_begin, text) for _ in range(runs))


def grows(pattern, at_begin, literal, many, floor):
    """Whether `many` characters take more than `floor`, and than `MOST` times a sixteenth of them."""
    few, most = ((literal * (size // len(literal) + 1))[:size] for size in (many // 16, many))
    if seconds(pattern, at_begin, few) > 20 * floor:  # nothing would end with sixteen times as many
        return seconds(pattern, at_begin, few) > 20 * floor
    return seconds(pattern, at_begin, most) > floor and all(
        least(pattern, at_begin, most) > max(floor, MOST * least(pattern, at_begin, few)) for _ in range(3)
    )


@pytest.fixture(scope="module")
def every():
    found = patterns()
    assert len(found) > 300
    return found


def check(every, many, literals_each, floor):
    wrong = []
    for place, (pattern, at_begin) in every.items():
        tried = literals(pattern, literals_each)
        if size := CUT.get(place.split()[0]):
            grown = [one for one in tried if least(pattern, at_begin, (one * size)[:size]) > LONGEST]
        else:
            grown = [one for one in tried if grows(pattern, at_begin, one, many, floor)]
        if grown:
            wrong.append((place, grown, pattern.pattern[:200]))
    assert wrong == []
    assert CUT.keys() <= every.keys()


def test_no_pattern_takes_time_as_the_square_of_its_literals(every):
    check(every, 4_000, 8, 0.03)


@pytest.mark.slow
def test_no_pattern_takes_time_as_the_square_of_fifty_thousand_of_its_literals(every):
    check(every, 50_000, 25, 0.25)


@pytest.mark.parametrize(
    "request_",
    [
        *(f"把{behind}{' ' * 4_000}字" for behind in ("", "甲", "甲改名为乙")),
        "1" * 20_000,
        "1,111," * 4_000,
        "第1章" * 4_000,
        "改" * 200_000,
    ],
    ids=lambda text: text.replace(" ", "")[:6],
)
def test_a_request_of_a_run_of_blanks_numbers_or_chapters_is_read_at_once(request_):
    begun = time.thread_time()
    understand(request_)
    assert time.thread_time() - begun < 2
