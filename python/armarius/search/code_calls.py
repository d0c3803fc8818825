"""Code that is called by what a question found, and code that calls it.

A question about how something happens finds one function by its words and needs the next ones too. Names are read from
the text (`definitions` and `calls` of the core), so that no index of symbols is needed; a name that many definitions
have says little and is followed inside its own file only.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import armarius._core as _core
from armarius._core import Corpus as CoreCorpus
from armarius._core import CorpusScores
from armarius.documents.document import Document
from armarius.search.corpus import Corpus

CALLED, CALLER = 1.0, 0.3
"""Of a paragraph that what was found calls, and of one that calls it, both times the worth of the latter over the best.
Chosen on questions derived from five packages (`benches/eval_code.py`): docs/decisions/0092."""
_LOOKED_AT = 24  # paragraphs, best first
_STRONG = 0.35  # of the best: what is weaker leads nowhere
_AMBIGUOUS = 3  # definitions of one name
_USED = 12  # callers: what everybody calls tells nothing of the question

Place = tuple[str, int]
Signal = tuple[str, float, float, list[tuple[str, int, float]]]
"""Of paragraphs, as `CorpusQuery` takes it: name, weight, weight of neighbours, (path, paragraph, value)."""


_OPENED = re.compile(r"[^\S\n]*\(")
_KEY = ("has code", "", None)


@dataclass(frozen=True, slots=True)
class _Found:
    place: Place
    share: float
    names: tuple[str, ...]
    own: str


def calls(corpus: Corpus, scores: CorpusScores) -> list[Signal]:
    """Signals of paragraphs as `CorpusQuery` takes them: what the best paragraphs of code call, and what calls them.

    Cost: the text of at most two dozen paragraphs, and as many postings as they call names; nothing without code.
    """
    if scores.best <= 0 or not _has_code(corpus.whole):
        return []
    found = [one for one in _strong(corpus, scores) if one.names or one.own]
    if not found:
        return []
    core = corpus.core
    called: dict[Place, float] = {}
    callers: dict[Place, float] = {}
    names = list(dict.fromkeys(name for one in found for name in one.names))
    defined = dict(zip(names, core.definitions(names), strict=True))
    for one in found:
        for name in one.names:
            _follow(called, one, defined[name], _AMBIGUOUS)
    own = list(dict.fromkeys(one.own for one in found if one.own))
    used = dict(zip(own, core.calls(own), strict=True))
    for one in found:
        if one.own:
            _follow(callers, one, used[one.own], _USED)
    return [
        (name, weight, 0.0, [(*place, share) for place, share in sorted(shares.items())])
        for name, weight, shares in (("called", CALLED, called), ("calls", CALLER, callers))
        if shares
    ]


def text_of(document: Document, paragraph: int) -> str:
    """The text of a paragraph."""
    one = document.paragraphs[paragraph]
    return document.text[one.start : one.end]


def _strong(corpus: Corpus, scores: CorpusScores) -> Iterator[_Found]:
    for one in scores.paragraphs(_LOOKED_AT):
        document = corpus.document(one.path)
        share = one.score / scores.best
        if document is None or document.kind != "code" or share < _STRONG:
            continue
        path = document.paragraphs[one.index].heading_path
        names = tuple(name for name in _core.called_names(text_of(document, one.index)) if name not in path)
        yield _Found((one.path, one.index), share, names, path[-1] if path else "")


def _has_code(corpus: Corpus) -> bool:
    """Whether any document is source code; looked up once for each state of the project."""
    known: bool | None = corpus.memo.get(_KEY)
    if known is None:
        documents = map(corpus.document, corpus.paths)
        known = corpus.memo[_KEY] = any(one is not None and one.kind == "code" for one in documents)
    return known


def _follow(shares: dict[Place, float], one: _Found, places: Sequence[Place], most: int) -> None:
    here = [place for place in places if place[0] == one.place[0]]
    if len(places) > most:
        places = here
    if not places or len(places) > most:
        return
    for place in places:
        if place != one.place:
            shares[place] = max(shares.get(place, 0.0), one.share / len(places))


_CALLED, _CALLERS = 4, 3  # of one definition
_MOST_MEANINGS, _MOST_USED = 2, 12  # definitions and callers of one name; more say nothing about this one
_LINES = 6  # of a header
_WIDTH = 160


@dataclass(frozen=True, slots=True)
class Signature:
    """One line about a paragraph of code: `path:line Class.method: the line`, after an arrow."""

    path: str
    paragraph: int
    line: int
    text: str


def signatures(core: CoreCorpus, documents: Mapping[str, Document], shown: Sequence[Place]) -> list[Signature]:
    """What the paragraphs `shown` call, then what calls them, those of the first paragraphs first, none that is shown.

    Cost: the text of `shown`, and as many postings as it calls names.
    """
    found: dict[Place, Signature] = {}
    known = set(shown)
    code = [(path, at, documents[path]) for path, at in shown if path in documents and documents[path].kind == "code"]
    asked = [(path, _names(document, at)) for path, at, document in code]
    names = list(dict.fromkeys(name for _, some in asked for name in some))
    defined = dict(zip(names, core.definitions(names), strict=True))
    for path, some in asked:
        left = _CALLED
        for name in some:
            for place in _meant(defined[name], path, _MOST_MEANINGS):
                if left and place not in known and place not in found and (one := _header(documents, place, name)):
                    found[place] = one
                    left -= 1
    own = list(
        dict.fromkeys(around[-1] for _, at, document in code if (around := document.paragraphs[at].heading_path))
    )
    for name, places in zip(own, core.calls(own), strict=True):
        left = _CALLERS if len(places) <= _MOST_USED else 0
        for place in places:
            if left and place not in known and place not in found and (one := _call(documents, place, name)):
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
    return _line(documents, place, name, "→")


def _call(documents: Mapping[str, Document], place: Place, name: str) -> Signature | None:
    """The first line of a paragraph that calls `name`."""
    return _line(documents, place, name, "←")


def _line(documents: Mapping[str, Document], place: Place, name: str, arrow: str) -> Signature | None:
    path, at = place
    document = documents.get(path)
    if document is None or not 0 <= at < len(document.paragraphs):
        return None
    text = text_of(document, at)
    for start in _named(text, name, arrow):
        first = text.rfind("\n", 0, start) + 1
        rest = text[first:].split("\n", _LINES)
        if _is_comment(rest[0]):
            continue
        number = document.line_at(document.paragraphs[at].start + first)
        said = " ".join(_balanced(rest[:_LINES]) if arrow == "→" else [rest[0].strip()])
        title = ".".join(document.paragraphs[at].heading_path) or document.title
        return Signature(path, at, number, f"{arrow} {path}:{number} {title}: {said[:_WIDTH].rstrip(' {')}")
    return None


def _named(text: str, name: str, arrow: str) -> Iterator[int]:
    """Where a name stands alone in a text: as it is defined, or as it is called."""
    at = text.find(name)
    while at >= 0:
        before, end = text[at - 1 : at], at + len(name)
        if not _is_part(before) and (before != "." or arrow == "←"):
            behind = text[end : end + 1]
            if (arrow == "→" and not _is_part(behind)) or (arrow == "←" and _OPENED.match(text, end)):
                yield at
        at = text.find(name, end)


def _is_part(char: str) -> bool:
    return char.isalnum() or char in ("_", "$")


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
