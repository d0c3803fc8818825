"""Around code that is shown: how what it calls is called, and where it is called itself; a line each."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import armarius._core as _core
from armarius._core import Corpus
from armarius.documents.document import Document
from armarius.retrieval.calling.calls import text_of

__all__ = ["Signature", "signatures"]

_CALLED, _CALLERS = 4, 3  # of one definition
_AMBIGUOUS, _USED = 2, 12  # definitions and callers of one name; more say nothing about this one
_LINES = 6  # of a header
_WIDTH = 160

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Signature:
    """One line about a paragraph of code: `path:line Class.method: the line`, after an arrow."""

    path: str
    paragraph: int
    line: int
    text: str


def signatures(corpus: Corpus, documents: Mapping[str, Document], shown: Sequence[Place]) -> list[Signature]:
    """What the paragraphs `shown` call, then what calls them, those of the first paragraphs first, none that is shown.

    Cost: the text of `shown`, and as many postings as it calls names.
    """
    found: dict[Place, Signature] = {}
    code = [(path, at, documents[path]) for path, at in shown if path in documents and documents[path].kind == "code"]
    asked = [(path, _names(document, at)) for path, at, document in code]
    names = list(dict.fromkeys(name for _, some in asked for name in some))
    defined = dict(zip(names, corpus.definitions(names), strict=True))
    for path, some in asked:
        left = _CALLED
        for name in some:
            for place in _meant(defined[name], path, _AMBIGUOUS):
                if left and place not in shown and place not in found and (one := _header(documents, place, name)):
                    found[place] = one
                    left -= 1
    own = list(
        dict.fromkeys(around[-1] for _, at, document in code if (around := document.paragraphs[at].heading_path))
    )
    for name, places in zip(own, corpus.calls(own), strict=True):
        left = _CALLERS if len(places) <= _USED else 0
        for place in places:
            if left and place not in shown and place not in found and (one := _call(documents, place, name)):
                found[place] = one
                left -= 1
    return list(found.values())


def _names(document: Document, at: int) -> list[str]:
    path = document.paragraphs[at].heading_path
    return [name for name in _core.called_names(text_of(document, at)) if name not in path]


def _meant(places: Sequence[Place], path: str, most: int) -> Sequence[Place]:
    if len(places) > most:
        places = [place for place in places if place[0] == path]
    return places if len(places) <= most else ()


def _header(documents: Mapping[str, Document], place: Place, name: str) -> Signature | None:
    """The header of a definition, on one line."""
    return _line(documents, place, re.compile(rf"(?<![\w$.]){re.escape(name)}(?![\w$])"), "→")


def _call(documents: Mapping[str, Document], place: Place, name: str) -> Signature | None:
    """The first line of a paragraph that calls `name`."""
    return _line(documents, place, re.compile(rf"(?<![\w$]){re.escape(name)}\s*\("), "←")


def _line(documents: Mapping[str, Document], place: Place, pattern: re.Pattern[str], arrow: str) -> Signature | None:
    path, at = place
    document = documents.get(path)
    if document is None or not 0 <= at < len(document.paragraphs):
        return None
    start = document.paragraphs[at].start
    lines = text_of(document, at).splitlines()
    found = next((n for n, line in enumerate(lines) if pattern.search(line) and not _is_comment(line)), None)
    if found is None:
        return None
    number = document.text.count("\n", 0, start) + 1 + found
    said = " ".join(_balanced(lines[found : found + _LINES]) if arrow == "→" else [lines[found].strip()])
    title = ".".join(document.paragraphs[at].heading_path) or document.title
    return Signature(path, at, number, f"{arrow} {path}:{number} {title}: {said[:_WIDTH].rstrip(' {')}")


def _balanced(lines: Sequence[str]) -> Iterator[str]:
    """The lines up to the one that closes the brackets that the first has opened."""
    depth = 0
    for line in lines:
        yield line.strip()
        depth += sum(map(line.count, "([")) - sum(map(line.count, ")]"))
        if depth <= 0:
            return


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(("//", "#", "*", "/*"))
