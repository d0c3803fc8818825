"""What can be learnt about the names of a project."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["DoubtfulAlias", "FormKind", "Habits", "LongerName", "RefusedName", "ShortName"]

FormKind = Literal["given name", "family name", "family name with title", "familiar form", "part of the name", "byname"]


@dataclass(frozen=True, slots=True)
class LongerName:
    """A longer name or word that contains an alias and belongs to no entity: it covers the alias."""

    text: str
    alias: str
    because: str


@dataclass(frozen=True, slots=True)
class DoubtfulAlias:
    """An alias that is not always its entity's name.

    Attributes:
        rule: `beside`: where `usual`, the entity's usual name, stands in the same paragraph, a narrator's use of the
            alias means something else. `word`: also a plain word, a mention only where someone is being named.
            `capital`: its lower-case form is a plain word (Will, will), a mention only with a capital. `inside`: the
            word is so much commoner that it is a mention only with a capital inside a sentence. `case`: a derived name
            that is no word of the text, a mention only with a capital, but for questions.
    """

    alias: str
    entity_id: str
    rule: Literal["beside", "capital", "case", "inside", "word"]
    usual: str
    because: str


@dataclass(frozen=True, slots=True)
class ShortName:
    """A name that nobody wrote down and that one person is called by: 雨桐 of 林雨桐, Finch of "Bob Finch".

    Attributes:
        text: The name.
        entity_id: Who is called so.
        kind: What it is of the name `of`.
        of: A name of the entity.
        because: Why it is this one.
    """

    text: str
    entity_id: str
    kind: FormKind
    of: str
    because: str

    def __str__(self) -> str:
        """As evidence says it."""
        return f"derived: {self.kind} of {self.of}"


@dataclass(frozen=True, slots=True)
class RefusedName:
    """A short form that the prose uses and that is nobody's name for certain.

    Attributes:
        text: The form.
        entities: Ids of those whose names allow it, sorted.
        because: Why it is refused.
    """

    text: str
    entities: tuple[str, ...]
    because: str


@dataclass(frozen=True, slots=True)
class Habits:
    """What was learnt, sorted; `EntityMatcher(entities, habits=…)` takes it into account.

    Attributes:
        longer: Names of nobody that cover an alias.
        doubtful: Aliases that are not always a name.
        short: Names that are derived.
        refused: Names that could be derived and are not; a report, no matcher heeds it.
    """

    longer: tuple[LongerName, ...] = ()
    doubtful: tuple[DoubtfulAlias, ...] = ()
    short: tuple[ShortName, ...] = ()
    refused: tuple[RefusedName, ...] = ()

    @property
    def policy(self) -> tuple[object, ...]:
        """What decides about mentions: everything but figures and reasons."""
        return (
            tuple(one.text for one in self.longer),
            tuple((one.alias, one.rule, one.usual) for one in self.doubtful),
            tuple((one.text, one.entity_id, one.kind, one.of) for one in self.short),
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> "Habits":
        """From what `to_dict` gave.

        Raises:
            KeyError, TypeError: It is something else.
        """
        refused = [{**one, "entities": tuple(one["entities"])} for one in value["refused"]]
        return cls(
            longer=tuple(LongerName(**one) for one in value["longer"]),
            doubtful=tuple(DoubtfulAlias(**one) for one in value["doubtful"]),
            short=tuple(ShortName(**one) for one in value["short"]),
            refused=tuple(RefusedName(**one) for one in refused),
        )
