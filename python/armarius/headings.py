"""The headings, labels and type names of prompts, in each supported language; how results are displayed.

`Frame` is the texts of one language (lexicon/frames.toml), `Reason` a sentence of an account (lexicon/reasons.toml);
lists of results are tables in terminal and notebook, with names in camelCase.

Other rooms get headings by key and labels by `frame(language)`; they never contain the texts. Project text that equals
a heading of any language is escaped in every prompt (`docs/decisions/0033`, `0048`). A new language is
a table in lexicon/frames.toml and a word of `Language`.
"""

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, SupportsIndex, TextIO, TypeVar, overload

from armarius.errors import ContractError
from armarius.validation import shown

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from armarius.errors import ContextWarning

__all__ = [
    "DEFAULT_LANGUAGE", "FRAMES", "HEADINGS", "Frame", "HeadingKey", "Language", "Reason", "frame", "heading",
    "kind_name", "say", "sentence",
]  # fmt: skip

Row = TypeVar("Row")

_NAMED = 3  # rows that a repr names


class ResultList(list[Row]):
    """A list with a repr of one line, printed as a table; otherwise an ordinary list.

    A subclass says what its rows are called, one and many; the columns; and how a row is named and parted into cells.

    Attributes:
        warnings: What the list may lack, such as `INDEX_STALE`. A slice has none.
    """

    warnings: "tuple[ContextWarning, ...]" = ()
    noun: ClassVar[tuple[str, str]]
    columns: ClassVar[tuple[str, ...]]

    @classmethod
    def brief(cls, row: Row, /) -> str:
        """A row in a word or two."""
        raise NotImplementedError

    @classmethod
    def cells(cls, row: Row, /) -> Sequence[str]:
        """A row of the table: one text for each column."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Row: ...
    @overload
    def __getitem__(self, index: slice, /) -> "ResultList[Row]": ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> "Row | ResultList[Row]":
        """The row at `index`; a slice shows itself as the whole does."""
        return type(self)(list.__getitem__(self, index)) if isinstance(index, slice) else super().__getitem__(index)

    def __repr__(self) -> str:
        named = ", ".join(self.brief(row) for row in self[:_NAMED])
        more = ", …" * (len(self) > _NAMED)
        warned = f"; {count_noun(len(self.warnings), 'warning')}" if self.warnings else ""
        return f"<{len(self)} {self.noun[len(self) != 1]}{': ' * bool(self)}{named}{more}{warned}>"

    def __rich__(self) -> "Table":
        """The table that a terminal with rich shows."""
        return rich_table(self.columns, map(self.cells, self))

    def _repr_html_(self) -> str:
        """The table that a notebook shows."""
        return html_table(self.columns, map(self.cells, self))


def count_noun(number: int, noun: str, many: str = "") -> str:
    """`3 entities`, `1 entity`."""
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def rich_table(
    columns: Sequence[str], rows: "Iterable[Sequence[str | Text]]", *, right: Collection[str] = ()
) -> "Table":
    """A table for a terminal; cells are text, never markup. Without a heading when no column has a name.

    Args:
        columns: Their names.
        rows: A cell for each column.
        right: Columns whose cells stand at the right.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=any(columns))
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for a notebook, everything escaped. Without a heading when no column has a name."""
    from html import escape

    names = "".join(f"<th>{escape(column)}</th>" for column in columns)
    head = f"<thead><tr>{names}</tr></thead>" if any(columns) else ""
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{head}<tbody>{body}</tbody></table>"


def camel_case(name: str) -> str:
    """A snake_case name in camelCase: `heading_path` is `headingPath`; one without underscores is itself."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether `stream` is a terminal; not one that is None (`pythonw` has no console), closed or cannot tell."""
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):  # put there by a host; closed
        return False


Language = Literal["zh", "en", "ja"]
HeadingKey = Literal[
    "constraints", "always", "memories", "style", "story", "lore_always", "detected", "lore", "relations", "passages",
    "weak", "code", "window", "selection", "conversation", "query",
]  # fmt: skip


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
        dispute: Above a sentence that competes with others: place, others.
        entry: Above an entry of a lorebook: name, book.
        turn: Above a turn of a conversation: number, who; `speakers` are who, by role.
        outlined: Above lines of the outline: number. `summarised` above a chapter's summary, `ending` and
            `beginning` above its end and its beginning: title; `thread` above an open thread of the plot: name.
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
    dispute: str
    entry: str
    turn: str
    speakers: Mapping[str, str]
    outlined: str
    summarised: str
    ending: str
    beginning: str
    thread: str
    begins: tuple[str, ...]


DEFAULT_LANGUAGE: Final[Language] = "zh"


def _rows(name: str) -> dict[Any, Any]:
    return tomllib.loads(resources.files("armarius").joinpath("lexicon", f"{name}.toml").read_text("utf-8"))


def _frame(row: dict[str, Any]) -> Frame:
    tables = {name: MappingProxyType(row[name]) for name in ("headings", "types", "speakers")}
    return Frame(**{**row, **tables, "begins": tuple(row["begins"])})


FRAMES: Final[Mapping[Language, Frame]] = MappingProxyType({name: _frame(row) for name, row in _rows("frames").items()})
_LANGUAGES: Final = tuple(FRAMES)

HEADINGS: Final[Mapping[Language, Mapping[HeadingKey, str]]] = MappingProxyType(
    {language: frame.headings for language, frame in FRAMES.items()}
)


def frame(language: Language = DEFAULT_LANGUAGE) -> Frame:
    """The texts of one language.

    Raises:
        ContractError: The language is not supported.
    """
    if language not in _LANGUAGES:  # a tuple: what cannot be hashed is refused too
        raise ContractError(f"language must be one of {', '.join(FRAMES)}, got {shown(language)}")
    return FRAMES[language]


def heading(key: HeadingKey, language: Language = DEFAULT_LANGUAGE) -> str:
    """The heading of one group, on one line, brackets included.

    Args:
        key: The group under the heading.
        language: Of the prompt.
    """
    return HEADINGS[language][key]


_MOST = 8  # values of a list that are said
_WIDE: Final = ("zh", "ja")
_PLAIN: Final = frozenset({str, int})


class Reason(str):
    """A sentence with its code. As a text it is English; `in_language` says it in the language of a prompt.

    Args:
        code: A row of lexicon/reasons.toml.
        parts: What stands in its braces: texts, numbers, other reasons, or several of them, of which eight are said.

    Attributes:
        code: For programs, stable: `mention.cursor`.
        parts: As given.

    Raises:
        KeyError: No such row, or a part of it is missing.
    """

    __slots__ = ("code", "parts")
    code: str
    parts: Mapping[str, Any]

    def __new__(cls, code: str, /, **parts: Any) -> Self:  # noqa: ANN401 - texts, numbers, reasons
        """The sentence in English."""
        plain = not parts or _PLAIN.issuperset(map(type, parts.values()))
        made = super().__new__(cls, reasons_table()[code]["en"].format(**parts) if plain else _text(code, parts, "en"))
        made.code, made.parts = code, parts
        return made

    def in_language(self, language: str) -> str:
        """The sentence in Chinese for `zh`, in Japanese for `ja` where the table has it, in English for all others."""
        is_other = language != "en" and language in reasons_table()[self.code]
        return _text(self.code, self.parts, language) if is_other else str(self)

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        """For copies."""
        return (self.code,), dict(self.parts)


class _Kept:
    """For a field of a type that is a text: pydantic leaves a `Reason` what it is."""

    def __get_pydantic_core_schema__(self, _source: object, _handler: object) -> dict[str, Any]:
        text = {"type": "is-instance", "cls": str}
        return {"type": "json-or-python", "json_schema": {"type": "str"}, "python_schema": text}


KEPT: Final = _Kept()


@cache
def reasons_table() -> Mapping[str, Mapping[str, str]]:
    """The text of each sentence by code and language."""
    return _rows("reasons")


def kind_name(kind: str) -> str:
    """What a kind of documents, or an edition of the story, is called; any other word as it is."""
    code = next((code for code in (f"kind.{kind}", f"edition.{kind}") if code in reasons_table()), None)
    return kind if code is None else Reason(code)


def say(reason: str, language: str) -> str:
    """A reason in `language`; any other text as it is."""
    return reason.in_language(language) if isinstance(reason, Reason) else reason


def sentence(parts: Iterable[str], language: str, most: int = 3) -> str:
    """The first `most` different ones of several, in `language`, as one sentence."""
    sentences: dict[str, None] = {}
    for part in parts:
        if len(sentences) == most:
            break
        sentences[say(part, language)] = None
    return ("；" if language in _WIDE else "; ").join(sentences)


def _text(code: str, parts: Mapping[str, Any], language: str) -> str:
    values = dict(parts)
    for name, part in parts.items():
        if isinstance(part, Reason):
            values[name] = say(part, language)
        elif isinstance(part, tuple | list):
            several = part[:_MOST]
            if language in _WIDE and Reason in map(type, several):
                several = [say(value, language) for value in several]
            values[name] = ("、" if language in _WIDE else ", ").join(map(str, several))
    return reasons_table()[code][language].format(**values)
