"""What of a project may answer a request: which chapters, which kinds of documents, up to which chapter of the story.

`chapters` and `kinds` say where to look; `as_of` says what may be known at all. A request may have all three. Whatever
reads documents on behalf of a request asks `Bounds`, so that there is one answer to whether something may be shown.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Literal, TypeVar, get_args

from armarius.errors import ContractError
from armarius.strict import shown

__all__ = [
    "EVERYTHING",
    "KINDS",
    "OPEN",
    "Bounds",
    "Chapters",
    "Kind",
    "checked_chapter",
    "read_chapter",
    "read_chapters",
    "read_kinds",
    "read_targets",
]

Kind = Literal["chapter", "setting", "outline", "note", "code"]
"""Of a document; character profiles and places are `setting`."""
Chapters = tuple[int | None, int | None]
"""First and last chapter, inclusive; None is open."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
OPEN: Final[Chapters] = (None, None)
Read = TypeVar("Read")

_LAST: Final = 1 << 31  # no book has so many chapters, and the core counts in 32 bits
_MOST_TARGETS: Final = 64  # things pinned or muted by one request
_FORM: Final = "expected a chapter number, or first and last"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What may be looked into; make one with `Bounds.of`, which checks.

    Attributes:
        chapters: Inclusive; with one of them, what is no chapter is left out.
        kinds: Only documents of these kinds; empty is all.
        as_of: Nothing of a later chapter, nor what holds from a later one; what has no chapter passes.
        besides: Chapters later than `as_of` that may be found nevertheless: a question names them.
        without: Chapters that the question itself does not want.
    """

    chapters: Chapters = OPEN
    kinds: tuple[Kind, ...] = ()
    as_of: int | None = None
    besides: tuple[int, ...] = ()
    without: tuple[int, ...] = ()

    @classmethod
    def of(cls, chapters: object = None, kinds: object = (), as_of: object = None) -> "Bounds":
        """The bounds that a caller's arguments say.

        Args:
            chapters: One number, or first and last, either of which may be None; None is all.
            kinds: One kind or several; empty is all.
            as_of: A number; None is the whole story.

        Raises:
            ContractError: Anything else, with the name of the argument.
        """
        return cls(
            _named("chapters", read_chapters, chapters),
            _named("kinds", read_kinds, kinds),
            checked_chapter("as_of", as_of),
        )

    def __bool__(self) -> bool:
        """Whether anything is left out."""
        return self != EVERYTHING

    def holds(self, kind: str, chapter: int | None) -> bool:
        """Whether what stands in a document of this kind, in this chapter or in none, may be found."""
        return self.leaves_out(kind, chapter) is None

    def has_chapter(self, chapter: int | None) -> bool:
        """Whether what stands in `chapter`, or in none, lies inside."""
        return self.leaves_out(None, chapter) is None

    def leaves_out(self, kind: str | None, chapter: int | None) -> tuple[Literal["timeline", "excluded"], str] | None:
        """Why something is left out, or None when it is not; without a kind, by its chapter alone."""
        if self.as_of is not None and chapter is not None and chapter > self.as_of and chapter not in self.besides:
            return "timeline", f"chapter {chapter} is later than chapter {self.as_of}"
        if kind is not None and self.kinds and kind not in self.kinds:
            return "excluded", f"a {kind}, and the request is limited to kinds {', '.join(self.kinds)}"
        if chapter in self.without:
            return "excluded", f"the question does not want chapter {chapter}"
        first, last = self.chapters
        if first is None and last is None:
            return None
        if chapter is None:
            return "excluded", f"no chapter, and the request is limited to {self.named}"
        if (first is not None and chapter < first) or (last is not None and chapter > last):
            return "excluded", f"chapter {chapter}, and the request is limited to {self.named}"
        return None

    @property
    def named(self) -> str:
        """The chapters as a sentence says them; asked where there is a bound."""
        first, last = self.chapters
        if first == last:
            return f"chapter {first}"
        if first is None:
            return f"chapters up to {last}"
        return f"chapters from {first}" if last is None else f"chapters {first}–{last}"

    def beside(self, numbers: Sequence[int]) -> str | None:
        """What is wrong with bounds that no chapter of a project lies in; None when one does, or none is asked for.

        Args:
            numbers: Of the project's chapters, ascending.
        """
        there = f"the chapters are {numbers[0]} to {numbers[-1]}" if numbers else "there are no chapters"
        if self.chapters != OPEN and not any(map(Bounds(self.chapters).has_chapter, numbers)):
            return f"the request is limited to {self.named}; {there}"
        if self.as_of is not None and numbers and self.as_of < numbers[0]:
            return f"the request is as of chapter {self.as_of}; {there}"
        return None


EVERYTHING: Final = Bounds()


def read_chapters(value: object) -> Chapters:
    """`value` as inclusive bounds.

    Raises:
        ValueError: It is none.
    """
    if value is None:
        return OPEN
    if isinstance(value, int | float):
        one = read_chapter(value)
        return one, one
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise ValueError(_FORM)
    if len(value) != 2:
        raise ValueError(f"{_FORM}; {len(value)} values")
    first, last = (read_chapter(one) for one in value)
    if first is not None and last is not None and first > last:
        raise ValueError(f"the first chapter, {first}, is later than the last, {last}")
    return first, last


def read_chapter(value: object) -> int | None:
    """`value` as a chapter number, or None.

    Raises:
        ValueError: It is neither.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"expected a chapter number, got {shown(value)}")
    if not 0 <= value < _LAST:
        raise ValueError(f"{value} is no chapter number")
    return int(value)


def checked_chapter(name: str, value: object) -> int | None:
    """As `read_chapter`, for the argument `name`.

    Raises:
        ContractError: It is neither, with the name of the argument.
    """
    return _named(name, read_chapter, value)


def read_kinds(value: object) -> tuple[Kind, ...]:
    """`value` as kinds of documents, each once, in the order of `KINDS`.

    Raises:
        ValueError: Something in it is no kind; names near ones.
    """
    if value is None:
        return ()
    given = [value] if isinstance(value, str) else value
    if isinstance(given, bytes) or not isinstance(given, Sequence | AbstractSet):
        raise ValueError(f"expected one of {', '.join(KINDS)}, or several")
    for one in given:
        if not isinstance(one, str) or one not in KINDS:
            raise ValueError(f"{shown(one)} is no kind of document; the kinds are {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in given)


def _named(name: str, read: Callable[[object], Read], value: object) -> Read:
    try:
        return read(value)
    except ValueError as error:
        raise ContractError(f"{name}: {error}") from None


def read_targets(value: object) -> tuple[str, ...]:
    """What is to be pinned or muted, each once.

    Raises:
        ValueError: No list of texts, an empty one, more than `_MOST_TARGETS`.
    """
    if value is None:
        return ()
    if not isinstance(value, tuple | list) or any(not isinstance(one, str) or not one.strip() for one in value):
        raise ValueError("expected a list of ids, names, paths or tags")
    if len(value) > _MOST_TARGETS:
        raise ValueError(f"at most {_MOST_TARGETS} at once, got {len(value)}")
    return tuple(dict.fromkeys(one.strip() for one in value))
