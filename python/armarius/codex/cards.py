"""Entity cards: the text of an entity in a prompt.

    ## 角色：林小雨
    - 类型：character
    - 描述：林默的妹妹
    - 属性：年龄=16, 住处=江城        (when there are attributes; keys sorted)
    - 别名：小雨、雨丫头              (when there are any, in their order)
    - 第7章起：与白鹭一起照看钟表铺    (facts that hold in the chapter at hand)

Every value is written on one line, so that it cannot be read as another card or heading.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final, Protocol

from armarius.arguments import OPEN, Bounds, Chapters
from armarius.codex.model import Entity, Fact, Relation
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.segments import Paragraph
from armarius.documents.units import span, span_begins, span_ends
from armarius.headings import DEFAULT_LANGUAGE, Frame, Language, frame
from armarius.text.unicode import blank, blank_spans, lazy_pattern

_SHORT_DESCRIPTION = 60
_STOPS = "。！？!?；;."


def entity_card(
    entity: Entity, *, chapter: int | None = None, chapters: Chapters = OPEN, language: Language = DEFAULT_LANGUAGE
) -> str:
    r"""The card of `entity` as known in `chapter`.

    Args:
        entity: Any entity; an empty description leaves its line out.
        chapter: Facts that begin later or have ended are left out; None keeps all, each with its span.
        chapters: Facts that hold in none of these are left out too; both ends inclusive.
        language: Language of the labels.

    Returns:
        Lines joined by `\n`, no trailing newline, no blank line.
    """
    phrases = frame(language)
    lines = _head(entity, phrases)
    if description := one_line(entity.description):
        lines.append("- " + phrases.description.format(text=description))
    values = {one_line(key): text for key, value in entity.attributes.items() if (text := one_line(value))}
    if values:
        # Latin first, then common Chinese characters by pronunciation (年龄 before 住处), as GB 18030 has them.
        collated = sorted(values, key=lambda key: (key.encode("gb18030", "replace"), key))
        pairs = (f"{key}={values[key]}" for key in collated)
        lines.append("- " + phrases.attributes.format(pairs=", ".join(pairs)))
    lines += _aliases(entity, phrases)
    lines += [fact_line(fact, language) for fact in entity.facts if holds(fact, chapter, chapters)]
    return "\n".join(lines)


def short_card(entity: Entity, language: Language = DEFAULT_LANGUAGE) -> str | None:
    """The card with only the first sentence of the description, or None when the full card is no longer."""
    first = _first_sentence(one_line(entity.description))
    if not entity.attributes and not entity.facts and first == one_line(entity.description):
        return None
    phrases = frame(language)
    described = ["- " + phrases.description.format(text=first)] if first else []
    return "\n".join([*_head(entity, phrases), *described, *_aliases(entity, phrases)])


def fact_line(fact: Fact, language: Language = DEFAULT_LANGUAGE) -> str:
    """A fact with the chapters it holds for."""
    phrases, when = frame(language), span_label(fact, language)
    when = when[:1].upper() + when[1:] or phrases.fact
    return "- " + phrases.stated.format(when=when, text=one_line(fact.text))


def span_label(fact: Fact | Relation, language: Language = DEFAULT_LANGUAGE) -> str:
    """The chapters that `fact` holds for, "" for all of them."""
    phrases = frame(language)
    if fact.since is None and fact.until is None:
        return ""
    if fact.since is None:
        return phrases.until.format(until=fact.until)
    if fact.until is None:
        return phrases.since.format(since=fact.since)
    return phrases.span.format(since=fact.since, last=fact.until - 1)


def holds(fact: Fact | Relation, chapter: int | None, chapters: Chapters = OPEN) -> bool:
    """Whether `fact` holds in `chapter` and in one of `chapters`; without a chapter every fact does."""
    first, last = chapters
    if (last is not None and (fact.since or 0) > last) or (first is not None and (fact.until or first + 1) <= first):
        return False
    if chapter is None:
        return True
    return (fact.since is None or fact.since <= chapter) and (fact.until is None or chapter < fact.until)


def one_line(text: str) -> str:
    """`text` on one line: every run of white space, line separators included, as one space."""
    return " ".join(text.split())


def _head(entity: Entity, phrases: Frame) -> list[str]:
    label = phrases.types.get(entity.type, phrases.other)
    name, type_ = one_line(entity.name), one_line(entity.type)
    return [phrases.card.format(label=label, name=name), "- " + phrases.type.format(type=type_)]


def _aliases(entity: Entity, phrases: Frame) -> list[str]:
    """The line of aliases; none without aliases."""
    names = dict.fromkeys(one_line(alias) for alias in entity.aliases)
    others = [name for name in names if name and name != one_line(entity.name)]
    return ["- " + phrases.aliases.format(names=phrases.and_.join(others))] if others else []


def _first_sentence(text: str) -> str:
    for at, char in enumerate(text):
        ends = char in _STOPS and (char != "." or text[at + 1 : at + 2] in {"", " "})
        if ends and at >= 2:
            return text[: at + 1]
    return text if len(text) <= _SHORT_DESCRIPTION else text[:_SHORT_DESCRIPTION].rstrip() + "…"


_SPAN: Final = lazy_pattern(
    rf"(?:(?P<until>直到|before|until|till|avant)|(?P<upto>到|至|截至|up to|jusqu['’]au)|(?P<after>after|après)"
    rf"|从|自|from|since|starting(?: in| at| with)?|as of|in|during|depuis|dès|à partir du)?\s*+(?:le\s++)?{span()}\s*+"
    r"(?:(?P<before>之?前|以前|이전)|(?P<through>为止|為止|止|まで|까지)|(?P<behind>之?[后後]|以[后後]|이후)"
    r"|起|开始|開始|及以后|及以後|から|以降|부터|on|onwards?|and after|\+)?",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def parse_span(label: str) -> tuple[int | None, int | None] | None:
    """The chapters that `label` covers as `(since, until)`: since inclusive, until exclusive, None open.

    第30章起 and 第30章 are `(30, None)`: a fact of a chapter holds from that chapter on. 第30章后 is `(31, None)`,
    第30章前 `(None, 30)`, 第5-8章 `(5, 9)`.

    Returns:
        None when the label names no chapter.
    """
    # one blank for many: between two of the parts that may be missing, each run of them would be divided in every way
    words = " ".join(unicodedata.normalize("NFKC", label).split())
    match = _SPAN.fullmatch(words.strip("（）()[]【】"))
    first, last = (None, None) if match is None else span_ends(match)
    if match is None or first is None:
        return None
    if last is not None:
        return first, last + 1
    if match["before"] or match["until"]:
        return None, first
    if match["through"] or match["upto"]:
        return None, first + 1
    return (first + 1, None) if match["after"] or match["behind"] else (first, None)


_NAMED_CHAPTER: Final = lazy_pattern(span(), re.IGNORECASE)
_BEGINS_CHAPTER: Final = re.compile(span_begins())
_AT_END: Final = re.compile(r"^after\s+|[之以]?[后後]$", re.IGNORECASE)  # of a state: how things are as a chapter ends
_LABELLED = re.compile(r"^(?P<indent>[ \t]*+)(?:[-*+•·][ \t]++)?\**(?P<label>[^:：*\n]{1,24})\**[ \t]*[:：]")


def without_later(text: str, chapter: int) -> str:
    """`text` with every line blanked that begins with a label (第7章起) of a chapter after `chapter`.

    Its continuation lines (deeper indent, no list item) are blanked too. Offsets do not change.

    Cost: one pass over the lines; returns early when the text names no chapter.
    """
    plain = unicodedata.normalize("NFKC", text)
    if not (_BEGINS_CHAPTER.search(plain) and _NAMED_CHAPTER.search(plain)):
        return text
    lines = []
    hidden: int | None = None  # indent of the blanked line
    for line in text.splitlines(keepends=True):
        labelled = _LABELLED.match(line)
        indent = len(line) - len(line.lstrip(" \t"))
        is_chapter = labelled and _BEGINS_CHAPTER.search(unicodedata.normalize("NFKC", labelled["label"]))
        span = parse_span(labelled["label"]) if labelled and is_chapter else None
        if span is not None:
            hidden = indent if span[0] is not None and span[0] > chapter else None
        elif hidden is not None and (not line.strip() or indent <= hidden or labelled):
            hidden = None
        lines.append(line if hidden is None else blank(line))
    return "".join(lines)


class CardPassage(Protocol):
    """A paragraph as stored in an index."""

    @property
    def path(self) -> str:
        """Path of its document."""

    @property
    def chapter(self) -> int | None:
        """Number of its chapter."""

    @property
    def start(self) -> int:
        """First code point in the document."""

    @property
    def text(self) -> str:
        """Text as in the document."""


class Visible(Mapping[str, Document]):
    """The documents of a project in a bounded request; each is computed at its first use."""

    def __init__(self, documents: Mapping[str, Document], bounds: Bounds) -> None:
        self._documents = documents
        self._bounds = bounds
        self._seen: dict[str, Document] = {}

    def __getitem__(self, path: str) -> Document:
        if path not in self._seen:
            self._seen[path] = visible(self._documents[path], self._bounds)
        return self._seen[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)


def visible(document: Document, bounds: Bounds) -> Document:
    """`document` with the parts outside `bounds` blanked; the same object when there are none.

    Cost: one check per paragraph; with `as_of` one pass over the lines of documents that are no chapters.
    """
    if document.past:  # its chapters are others
        bounds = replace(bounds, as_of=None)
    hidden = list(bounds.hides(document.path))
    if replace(bounds, hidden=()):
        hidden += [(block.start, block.end) for block in document.paragraphs if _is_hidden(document, block, bounds)]
    if bounds.as_of is not None and document.kind == "outline":
        # Index of the first paragraph about a later chapter; the number of paragraphs when there is none
        later = (one.index for one in document.paragraphs if one.chapter is not None and one.chapter > bounds.as_of)
        first = next(later, len(document.paragraphs))
        hidden += [(block.start, block.end) for block in document.paragraphs[first:]]
    text = blank_spans(document.text, hidden)
    if bounds.as_of is not None and document.kind in ("setting", "state", "note"):
        text = without_later(text, bounds.as_of)
    return document if text == document.text else replace(document, text=text)


def visible_until(document: Document, as_of: int) -> int:
    """The first code point of `document` that is hidden as of a chapter; its length when none is."""
    text = visible(document, Bounds(as_of=as_of)).text
    if text == document.text:
        return len(text)
    return next(at for at, (own, other) in enumerate(zip(document.text, text, strict=True)) if own != other)


def chapter_at(document: Document, paragraph: Paragraph) -> int | None:
    """The chapter of a paragraph: its own, else that of the document."""
    return document.chapter if paragraph.chapter is None else paragraph.chapter


def visible_text(documents: Mapping[str, Document], bounds: Bounds) -> Callable[[CardPassage], str]:
    """A function from a passage to its text with hidden parts blanked; a changed passage is judged by its chapter."""
    seen = Visible(documents, bounds)

    def visible_part(passage: CardPassage) -> str:
        document = seen.get(passage.path)
        end = passage.start + len(passage.text)
        if document is not None and documents[passage.path].text[passage.start : end] == passage.text:
            return document.text[passage.start : end]
        return passage.text if bounds.has_chapter(passage.chapter) else ""

    return visible_part


def drop_blanks(text: str) -> str:
    """`text` without blank lines."""
    return "\n".join(filter(str.strip, text.split("\n")))


def settings_until(document: Document, paragraphs: Iterable[Paragraph], chapter: int) -> list[str]:
    """Paragraphs of settings without blank lines and the lines about chapters after `chapter`."""
    texts, later = [], dict[tuple[str, ...], bool]()  # by the headings above
    for block in paragraphs:
        text = document.text[block.start : block.end]
        context = unicodedata.normalize("NFKC", " ".join(" ".join([*block.heading_path, text]).split()))
        if _BEGINS_CHAPTER.search(context) and _NAMED_CHAPTER.search(context):
            if block.heading_path not in later:
                later[block.heading_path] = _begins_later(block, chapter)
            text = "" if later[block.heading_path] else without_later(text, chapter)
        texts.append("\n".join(filter(str.strip, text.split("\n"))))
    return texts


def _begins_later(paragraph: Paragraph, chapter: int, pattern: re.Pattern[str] | None = None) -> bool:
    for title in paragraph.heading_path:
        if _BEGINS_CHAPTER.search(unicodedata.normalize("NFKC", title)) is None:
            continue
        span = parse_span(pattern.sub("", title) if pattern else title)
        if span is not None and (span[0] or 0) > chapter:
            return True
    return False


def _is_hidden(document: Document, paragraph: Paragraph, bounds: Bounds) -> bool:
    if bounds.leaves_out(document.kind, chapter_at(document, paragraph)) is not None:
        return True
    if bounds.as_of is None:
        return False
    pattern = _AT_END if document.kind == "state" else None
    return document.kind not in STORY_KINDS and _begins_later(paragraph, bounds.as_of, pattern)
