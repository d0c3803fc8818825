"""A chapter, or a file that is none, as it is ranked: where it stands, and the names in it."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from armarius.corpus.part import Named
from armarius.text.matcher import Mention

__all__ = ["Text"]


@dataclass(frozen=True)
class Text:
    """A chapter, or a file that is none: `document[start:end]`.

    Attributes:
        key: Its number in the tables.
        path: Of its document.
        section: The heading that names it in a file of several chapters, else "".
        title: What it is called.
        number: Chapter number, None for a note.
        start: First code point in the document.
        end: One past the last.
        read_names: The names in it, by where each first stands.
    """

    key: int
    path: str
    section: str
    title: str
    number: int | None
    start: int
    end: int
    read_names: Callable[[], Sequence[Named]] = field(repr=False, compare=False)

    @cached_property
    def names(self) -> Sequence[Named]:
        """Read when they are asked for: most texts are never shown."""
        return self.read_names()

    @cached_property
    def mentions(self) -> Counter[str]:
        """Entity id to how often."""
        return _summed((one.entity, one.count) for one in self.names)

    @cached_property
    def terms(self) -> Counter[str]:
        """Written alias to how often."""
        return _summed((one.term, one.count) for one in self.names)

    @cached_property
    def first(self) -> dict[str, Mention]:
        """Entity id to the first mention."""
        found: dict[str, Mention] = {}
        for one in self.names:
            if one.entity not in found:
                found[one.entity] = Mention(one.entity, one.term, one.start, one.start + len(one.term))
        return found


def _summed(rows: Iterable[tuple[str, int]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, count in rows:
        counts[name] += count
    return counts
