"""`NameModel`: records that `armarius.names` learns from a project's prose and a matcher applies."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TypeVar, get_args

FormKind = Literal["given name", "family name", "family name with title", "familiar form", "part of the name", "byname"]
DoubtRule = Literal["beside", "capital", "case", "company", "inside", "word"]
_CHOICES: Final = {"kind": get_args(FormKind), "rule": get_args(DoubtRule)}
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class LongerName:
    """A longer name or word of no entity that contains an alias; it shadows the alias."""

    text: str
    alias: str
    because: str


@dataclass(frozen=True, slots=True)
class DoubtfulAlias:
    """An alias that does not always mean its entity.

    Attributes:
        rule: `beside`: with `usual`, the entity's usual name, in the same paragraph, the alias in narration means
            something else. `word`: also a plain word; a mention only in naming contexts. `capital`: its
            lower-case form is a plain word (Will, will), a mention only with a capital. `inside`: the word is much more
            frequent; a mention only with a capital inside a sentence. `case`: rarely or never a word of the text; a
            mention only with a capital, except in questions. `company`: a kin term or title of several people, a
            mention only behind one of the names in `usual`, one a line, or in a paragraph with it.
    """

    alias: str
    entity_id: str
    rule: DoubtRule
    usual: str
    because: str


@dataclass(frozen=True, slots=True)
class ShortName:
    """A derived name of one person: 雨桐 of 林雨桐, Finch of "Bob Finch".

    Attributes:
        text: The name.
        entity_id: The entity with that name.
        kind: The part of the name `of`.
        of: A listed name of the entity.
        because: The reason.
    """

    text: str
    entity_id: str
    kind: FormKind
    of: str
    because: str

    def __str__(self) -> str:
        """The text of evidence."""
        return f"derived: {self.kind} of {self.of}"


@dataclass(frozen=True, slots=True)
class RefusedName:
    """A short form in the prose that is ambiguous or no name.

    Attributes:
        text: The form.
        entities: Ids of entities with a name that allows it, sorted.
        because: The reason.
    """

    text: str
    entities: tuple[str, ...]
    because: str


@dataclass(frozen=True, slots=True)
class NameModel:
    """Learnt names, sorted; applied by `EntityMatcher(entities, name_model=…)`.

    Attributes:
        longer: Names of no entity that shadow an alias.
        doubtful: Aliases that are not always a name.
        short: Derived names.
        refused: Short forms that are not names; for reports, ignored by matchers.
    """

    longer: tuple[LongerName, ...] = ()
    doubtful: tuple[DoubtfulAlias, ...] = ()
    short: tuple[ShortName, ...] = ()
    refused: tuple[RefusedName, ...] = ()

    @property
    def policy(self) -> tuple[object, ...]:
        """The parts that affect mentions: all but figures and reasons."""
        return (
            tuple(one.text for one in self.longer),
            tuple((one.alias, one.rule, one.usual) for one in self.doubtful),
            tuple((one.text, one.entity_id, one.kind, one.of) for one in self.short),
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON-compatible values."""
        rows = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: [{one.name: getattr(row, one.name) for one in fields(row)} for row in rows[name]] for name in rows
        }

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> "NameModel":
        """Read the result of `to_dict`.

        Raises:
            KeyError, TypeError, ValueError: It is invalid.
        """
        return cls(
            longer=tuple(_read(LongerName, value["longer"])),
            doubtful=tuple(_read(DoubtfulAlias, value["doubtful"])),
            short=tuple(_read(ShortName, value["short"])),
            refused=tuple(_read(RefusedName, value["refused"])),
        )


def _read(make: Callable[..., _Row], rows: object) -> Iterator[_Row]:
    if not isinstance(rows, list | tuple):
        raise TypeError(f"no list of rows: {rows!r:.80}")
    for row in rows:
        if not isinstance(row, dict):
            raise TypeError(f"no row: {row!r:.80}")
        yield make(**{field: _checked(field, part) for field, part in row.items()})


def _checked(field: str, part: object) -> object:
    if field == "entities" and isinstance(part, list | tuple) and all(isinstance(one, str) for one in part):
        return tuple(part)
    if field == "entities" or not isinstance(part, str) or part not in _CHOICES.get(field, (part,)):
        raise ValueError(f"no {field}: {part!r:.80}")
    return part
