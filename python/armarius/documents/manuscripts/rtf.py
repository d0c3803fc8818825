"""Rich text (.rtf). Styles are not in the text that comes out: lines that name a chapter become headings."""

import re

from armarius.documents.decode import Undecodable
from armarius.documents.manuscripts.markdown import Markdown
from armarius.documents.numerals import chapter_number, volume_number
from armarius.errors import MissingExtra

__all__ = ["read_rtf"]

_LONGEST_TITLE = 60
_NOTE = re.compile(r"\{\\footnote(?![a-z])(?:\\ftnalt)?")
_BRACE = re.compile(r"\\[{}\\]|[{}]")
_MOVED = re.compile(r"\[\^(\d+)\]: (.*)")


def read_rtf(data: bytes) -> str:
    """The text of a document.

    Raises:
        Undecodable: Not rich text, or damaged.
        MissingExtra: striprtf is not installed.
    """
    if not data.lstrip().startswith(b"{\\rtf"):
        raise Undecodable("not rich text")
    try:
        from striprtf.striprtf import rtf_to_text
    except ImportError:
        raise MissingExtra("reading rich text", "manuscripts") from None
    try:
        source, count = _notes_behind(data.decode("latin-1"))
        text = str(rtf_to_text(source, errors="ignore"))  # type: ignore[no-untyped-call]
    except (ValueError, IndexError, KeyError, AttributeError, TypeError, LookupError, OverflowError) as error:
        raise Undecodable(f"damaged rich text: {type(error).__name__}") from None
    made = Markdown()
    for line in text.split("\n"):
        moved = _MOVED.match(line) if count else None
        if moved is not None and int(moved[1]) <= count:
            made.note(moved[2])
            continue
        title = line.strip()
        if 0 < len(title) <= _LONGEST_TITLE and title[-1] not in ".。！？!?，," and _is_title(title):
            made.heading(title, 1)
        else:
            made.paragraph(line)
    return made.text()


def _notes_behind(source: str) -> tuple[str, int]:
    """The document with a mark for each footnote, and the notes as paragraphs at its end; how many there are.

    A note is a group inside the text, which would be passed over with the others.
    """
    parts: list[str] = []
    notes: list[str] = []
    at = 0
    while (found := _NOTE.search(source, at)) is not None:
        depth, end = 1, -1
        for brace in _BRACE.finditer(source, found.end()):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if depth == 0:
                end = brace.end()
                break
        if end < 0:
            break
        note = source[found.end() : end - 1].replace("\\par\n", " ").replace("\\par ", " ")
        notes.append(f"\\par {{[^{len(notes) + 1}]: {note}}}")
        parts += [source[at : found.start()], f"[^{len(notes)}]"]
        at = end
    last = source.rfind("}")
    if not notes or last < at:
        return source, 0
    return "".join([*parts, source[at:last], *notes, source[last:]]), len(notes)


def _is_title(line: str) -> bool:
    return chapter_number(line[:_LONGEST_TITLE]) is not None or volume_number(line) is not None
