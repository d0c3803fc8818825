"""The rows of tests/cases/definitions.json, which Rust runs too, and sources that nobody meant to be read."""

import json
import time
from pathlib import Path

import pytest

import armarius._core as _core
from armarius.documents.document import make_document
from armarius.documents.segments import PARAGRAPH_LIMIT, split_code

ROWS = json.loads((Path(__file__).parents[1] / "cases" / "definitions.json").read_text(encoding="utf-8"))["rows"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["claim"])
def test_source_is_split_into_its_definitions(row):
    outline = _core.python_outline if row["suffix"] == ".py" else _core.brace_outline
    assert [one.name for one in outline(row["text"])] == row["names"]
    found = split_code(row["text"], row["suffix"])
    said = [[".".join(p.heading_path), row["text"][p.start : p.end].splitlines()[0]] for p in found]
    assert said == row["paragraphs"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "minified.js",
            "!function(t){var e={a:function(){return 1}};" + "n=function(a,b){return a+b};" * 30_000 + "}()",
        ),
        ("array.js", "var a=[" + "{a:1,b:function(){return{}}}," * 30_000 + "];"),
        ("blank.js", "\n" * 1_000_000 + "function f() { }\n"),
        ("spaces.js", (" " * 500 + "\n") * 2_000 + "function f() { }\n"),
        ("deep.js", "function f(){" * 1_000 + "}" * 1_000),
        ("open.js", "function f(){ a({ b: (" * 5_000),
        ("deep.py", "\n".join(" " * at + f"def f{at}():" for at in range(1_000))),
        ("long.py", "x = [" + "1, " * 300_000 + "]\n"),
        ("comments.js", "// a\n" * 50_000 + "function f() { }\n"),
        ("windows.ts", "\ufeffclass A {\r\n\tf() {\r\n\t\treturn 1\r\n\t}\r\n}\r\n"),
        ("broken.py", "def (:\n" * 20_000),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)
def test_no_source_is_too_odd_or_too_slow_to_be_split(path, text):
    begun = time.perf_counter()
    document = make_document(path, text.encode())
    assert time.perf_counter() - begun < 20  # a quadratic reader takes minutes
    at = 0
    for paragraph in document.paragraphs:
        assert not document.text[at : paragraph.start].strip()
        assert 0 < paragraph.end - paragraph.start <= PARAGRAPH_LIMIT
        at = paragraph.end
    assert not document.text[at:].strip()
