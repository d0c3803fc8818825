"""Code files are split into functions, methods and classes, each under its name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.documents.document import make_document
from armarius.documents.segments import PARAGRAPH_LIMIT, split_code

PYTHON = '''"""Doc."""

import os

LIMIT = 3


@decorated
def first(a,
          b):
    """One.

    Two."""

    def inner(): pass
    return inner


class Box(Base):
    """A box."""

    size = 1

    def open(self):
        return 1

    class Lid:
        def lift(self): ...

tail = first(1, 2)
'''

TYPESCRIPT = """import { a } from "./a";

export class Box extends Base {
  size = 1;

  open(): number {
    return 1;
  }

  close() { }
}

export function first(a: number) {
  if (a) { return 1; }

  return 2;
}
"""


def parts(text, suffix):
    return [(".".join(p.heading_path), text[p.start : p.end].splitlines()[0]) for p in split_code(text, suffix)]


def test_python_definitions_are_paragraphs_with_their_path():
    assert parts(PYTHON, ".py") == [
        ("", '"""Doc."""'),
        ("", "import os"),
        ("", "LIMIT = 3"),
        ("first", "@decorated"),
        ("Box", "class Box(Base):"),
        ("Box.open", "def open(self):"),
        ("Box.Lid", "class Lid:"),
        ("Box.Lid.lift", "def lift(self): ..."),
        ("", "tail = first(1, 2)"),
    ]


def test_a_function_stays_whole_over_its_blank_lines():
    (first,) = [p for p in split_code(PYTHON, ".py") if p.heading_path == ("first",)]
    assert PYTHON[first.start : first.end].startswith("@decorated\ndef first")
    assert PYTHON[first.start : first.end].endswith("return inner")


def test_definitions_in_braces_are_paragraphs_with_their_path():
    assert parts(TYPESCRIPT, ".ts") == [
        ("", 'import { a } from "./a";'),
        ("Box", "export class Box extends Base {"),
        ("Box.open", "open(): number {"),
        ("Box.close", "close() { }"),
        ("Box", "}"),
        ("first", "export function first(a: number) {"),
    ]


def test_documents_of_code_are_split_by_their_suffix():
    document = make_document("src/box.py", PYTHON.encode())
    assert document.kind == "code"
    assert ("Box", "open") in {paragraph.heading_path for paragraph in document.paragraphs}


def test_a_long_function_is_cut():
    text = "def f():\n" + "    x = 'yyyyyyyyyyyyyyyyyyyy'\n" * 300
    found = split_code(text, ".py")
    assert len(found) > 1
    assert all(p.end - p.start <= PARAGRAPH_LIMIT and p.heading_path == ("f",) for p in found)


@pytest.mark.parametrize("suffix", [".py", ".ts", ".sql"])
@given(text=st.text(alphabet="def class(){}:\n =>'\"/林\t#", max_size=200))
def test_paragraphs_are_in_order_and_nothing_but_blank_is_left_out(suffix, text):
    found = split_code(text, suffix)
    assert [p.index for p in found] == list(range(len(found)))
    at = 0
    for paragraph in found:
        assert paragraph.start >= at
        assert not text[at : paragraph.start].strip()
        assert text[paragraph.start : paragraph.end].strip()
        at = paragraph.end
    assert not text[at:].strip()
