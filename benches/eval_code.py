"""Whether a question about code brings the bodies that answer it, on any package, without anybody's questions.

    python benches/eval_code.py FOLDER... [--budgets 4000,8000,16000] [--most 60] [--record]

Questions are derived mechanically. Half of the documented functions of a package (by the hash of their place) are asked
for by the first sentence of their documentation, and lose that documentation in the copy that is searched; the other
half keep theirs, as code does. What answers is lines of code, 20 to 160 characters, that stand once in their file:

    body  up to four lines spread over the function
    flow  as many of the function, and one of each of up to three functions of the package that it calls by a name
          which only one definition has; asked of functions that call at least two

A figure is the mean share of a question's lines that stand in the prompt. What calls what is read from Python's own
`ast` (for JavaScript with a regular expression over bodies), so that the measure does not share its scanner with what
is measured. Such questions are harder and drier than those of people; they tell settings apart, not good from bad.
"""

import argparse
import ast
import hashlib
import json
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import armarius
import armarius._core as _core
import record

_JS = {".js", ".mjs", ".cjs", ".ts"}
_LEAST_WORDS, _LEAST_LINES = 4, 5
_LINES, _CALLED = 4, 3


@dataclass
class Function:
    """A function of a package: where it is, what its documentation says first, its lines, whom it calls."""

    path: str
    name: str
    line: int
    said: str
    lines: list[str]
    calls: list[str]
    documentation: tuple[int, int] | None = None  # first and last line, 1-based, inclusive


@dataclass
class Package:
    """Functions by place, and the lines of each file."""

    functions: list[Function] = field(default_factory=list)
    files: dict[str, list[str]] = field(default_factory=dict)


def first_sentence(text: str) -> str:
    """The first sentence of a documentation, on one line, without markup."""
    text = re.sub(r"^\s*\*?\s?", "", text.strip(), flags=re.MULTILINE)
    head = re.split(r"\n\s*\n|\n\s*[@:]|(?<=[.!?])\s", text.strip(), maxsplit=1)[0]
    return " ".join(re.sub(r":\w+:`~?\.?([^`<]+)[^`]*`|[`*{}]|@link", r"\1", head).split())


def python_functions(path: str, text: str) -> Iterator[Function]:
    """Functions and methods, with their docstrings."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        called = [
            one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "")
            for one in ast.walk(node)
            if isinstance(one, ast.Call)
        ]
        doc, first = ast.get_docstring(node), node.body[0]
        where = (first.lineno, first.end_lineno or first.lineno) if doc else None
        begin = (where[1] if where else node.lineno) + 1
        body = lines[begin - 1 : node.end_lineno]
        yield Function(path, node.name, node.lineno, doc or "", body, called, where)


def script_functions(path: str, text: str) -> Iterator[Function]:
    """Functions of JavaScript, with the `/** */` above them."""
    lines = text.splitlines()
    for one in _core.brace_outline(text):
        if one.kind == "class":
            continue
        body = lines[one.line : one.last_line]
        called = re.findall(r"([A-Za-z_$][\w$]*)\s*\(", "\n".join(body))
        at, doc, where = one.first_line - 2, "", None
        if at >= 0 and not lines[at].strip():
            at -= 1
        if at >= 0 and lines[at].strip().endswith("*/"):
            start = next((n for n in range(at, -1, -1) if lines[n].strip().startswith("/**")), None)
            if start is not None:
                doc, where = "\n".join(lines[start : at + 1]).replace("/**", "").replace("*/", ""), (start + 1, at + 1)
        elif lines[one.first_line - 1].strip().startswith("/**"):
            end = next((n for n in range(one.first_line - 1, one.line) if "*/" in lines[n]), None)
            if end is not None:
                doc = "\n".join(lines[one.first_line - 1 : end + 1]).replace("/**", "").replace("*/", "")
                where = (one.first_line, end + 1)
        yield Function(path, one.name, one.line, doc, body, called, where)


def read(folder: Path) -> Package:
    """Every function of a package that can be parsed."""
    package = Package()
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.suffix not in {".py", *_JS}:
            continue
        path = file.relative_to(folder).as_posix()
        text = file.read_text(encoding="utf-8", errors="replace")
        try:
            found = list((python_functions if file.suffix == ".py" else script_functions)(path, text))
        except SyntaxError:
            continue
        package.files[path] = text.splitlines()
        package.functions += found
    return package


def asked(package: Package, most: int) -> list[tuple[str, Function, list[str]]]:
    """(kind, function, lines that answer) of the questions; by the hash of the function's place."""
    named = defaultdict(list)
    for one in package.functions:
        named[one.name].append(one)
    found = []
    for one in package.functions:
        number = int.from_bytes(hashlib.blake2b(f"{one.path}\0{one.name}".encode(), digest_size=4).digest())
        sentence = first_sentence(one.said)
        if number % 2 or len(sentence.split()) < _LEAST_WORDS or len(one.lines) < _LEAST_LINES or not one.documentation:
            continue
        own = spread(telling(package, one), _LINES)
        if len(own) < 2:
            continue
        found.append((number, "body", one, own))
        calls = [named[name][0] for name in dict.fromkeys(one.calls) if len(named[name]) == 1 and name != one.name]
        theirs = [spread(lines, 1)[0] for called in calls if (lines := telling(package, called))][:_CALLED]
        if len(theirs) >= 2:
            found.append((number, "flow", one, own[:2] + theirs))
    found.sort(key=lambda row: (row[0], row[1], row[2].line))
    return [row[1:] for row in found[:most]]


def telling(package: Package, one: Function) -> list[str]:
    """Lines of a body that stand once in its file."""
    counts = defaultdict(int)
    for line in package.files[one.path]:
        counts[line.strip()] += 1
    return [text for line in one.lines if 20 <= len(text := line.strip()) <= 160 and counts[text] == 1]


def spread(lines: list[str], most: int) -> list[str]:
    """At most so many of them, evenly."""
    if len(lines) <= most:
        return lines
    return [lines[at * len(lines) // most] for at in range(most)]


def squeezed(text: str) -> str:
    """Without white space."""
    return re.sub(r"\s+", "", text)


def measure(folder: Path, budgets: list[int], most: int) -> dict:
    """Shares by budget, in all and by kind."""
    package = read(folder)
    questions = asked(package, most)
    with tempfile.TemporaryDirectory() as work:
        project = Path(work) / "project"
        shutil.copytree(folder, project)
        for path in {one.path for _, one, _ in questions}:
            lines = list(package.files[path])
            for _, one, _ in questions:
                if one.path == path and one.documentation:
                    first, last = one.documentation
                    for at in range(first - 1, last):
                        lines[at] = ""
            (project / path).write_text("\n".join(lines) + "\n", encoding="utf-8")
        result: dict = {"questions": len(questions)}
        with armarius.open(project, index_dir=Path(work) / "index") as engine:
            for budget in budgets:
                kinds, shy = defaultdict(list), 0
                for kind, one, lines in questions:
                    pack = engine.assemble(query=first_sentence(one.said), model="gpt-4o", budget=budget)
                    prompt = squeezed(pack.prompt)
                    kinds[kind].append(sum(squeezed(line) in prompt for line in lines) / len(lines))
                    shy += pack.layers.retrieved.token_count <= 1000 < budget
                every = [share for shares in kinds.values() for share in shares]
                result[str(budget)] = {
                    "answers": round(sum(every) / max(len(every), 1), 3),
                    **{kind: round(sum(shares) / len(shares), 3) for kind, shares in sorted(kinds.items())},
                    "few tokens": round(shy / max(len(every), 1), 3),
                }
    return result


def main() -> None:
    """Measure, print, record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--budgets", default="4000,8000,16000")
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    budgets = [int(one) for one in args.budgets.split(",")]
    results = {}
    for folder in args.folders:
        results[folder.name] = result = measure(folder, budgets, args.most)
        print(folder.name, json.dumps(result), flush=True)
    if args.record:
        path = record.RESULTS / "code_questions.json"
        text = json.dumps({"machine": record.machine(), "packages": results}, indent=1)
        path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
