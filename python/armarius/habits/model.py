"""What can be learnt about the names of a project."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["DoubtfulAlias", "Habits", "LongerName"]


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
            `capital`: its lower-case form is a plain word (Will, will), a mention only with a capital.
    """

    alias: str
    entity_id: str
    rule: Literal["beside", "capital", "word"]
    usual: str
    because: str


@dataclass(frozen=True, slots=True)
class Habits:
    """What was learnt, sorted; `EntityMatcher(entities, habits=…)` takes it into account."""

    longer: tuple[LongerName, ...] = ()
    doubtful: tuple[DoubtfulAlias, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> "Habits":
        """From what `to_dict` gave.

        Raises:
            KeyError, TypeError: It is something else.
        """
        return cls(
            longer=tuple(LongerName(**one) for one in value["longer"]),
            doubtful=tuple(DoubtfulAlias(**one) for one in value["doubtful"]),
        )
