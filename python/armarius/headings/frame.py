"""The texts of a prompt in one language."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Language = Literal["zh", "en"]
HeadingKey = Literal[
    "constraints",
    "always",
    "memories",
    "style",
    "story",
    "lore_always",
    "detected",
    "lore",
    "relations",
    "passages",
    "weak",
    "code",
    "window",
    "selection",
    "conversation",
    "query",
]


@dataclass(frozen=True)
class Frame:
    """The texts of one language; parts in braces as for `str.format`.

    Attributes:
        headings: Above groups, brackets included.
        types: What a card calls a type of entity; `other` is any other.
        card: First line of a card: label, name. Then its lines, without `- ` before them.
        aliases: Joined by `and_`.
        since: A fact that holds from a chapter; `until` before one, `span` from first to last; `fact` without either.
        stated: A fact: when, text.
        dated: What follows a relation that holds for some chapters.
        passage: Above a paragraph or a document: title, place. `place` where that says the title.
        signatures: Above lines of source code that surround the code above.
        dispute: Above a sentence that competes with others: place, others.
        entry: Above an entry of a lorebook: name, book.
        turn: Above a turn of a conversation: number, who; `speakers` are who, by role.
        outlined: Above lines of the outline: number. `summarised` above a chapter's summary, `ending` above its end:
            title; `thread` above an open thread of the plot: name.
        begins: Words that a line of a prompt's own begins with, behind `#`.
    """

    headings: Mapping[HeadingKey, str]
    types: Mapping[str, str]
    other: str
    card: str
    type: str
    description: str
    attributes: str
    aliases: str
    and_: str
    since: str
    until: str
    span: str
    fact: str
    stated: str
    dated: str
    passage: str
    place: str
    signatures: str
    dispute: str
    entry: str
    turn: str
    speakers: Mapping[str, str]
    outlined: str
    summarised: str
    ending: str
    thread: str
    begins: tuple[str, ...]
