"""Settings of the search in rounds for each profile, by the names of the program that it follows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from armarius.errors import ContractError
from armarius.lorebooks.active.macros import SILLYTAVERN, SPECIFICATION
from armarius.text.unicode import near, suggestion


@dataclass(frozen=True, slots=True)
class Rules:
    """How books are searched in rounds.

    Attributes:
        depth: Messages that are searched; None is all of them.
        names: Whether the speaker's name is searched too.
        recursion: Whether active entries wake others.
        case: Whether case counts.
        words: Ends of a key: `ascii` as SillyTavern judges them, `script` by the script of the key, `none`.
        scoring: Whether the most keys found win a group.
        min_activations: Older messages are searched until so many are active; 0 is off.
        min_depth: At most so many messages then; 0 is no limit.
        max_steps: Rounds; 0 is until nothing new. Excludes `min_activations`.
        budget: Tokens; None is no limit.
        full: `stop`: at the first that does not fit; `drop`: those of the lowest keep priority, at the end.
        comments: Whether `{{// }}` is taken out of what is searched.
        decorators: Names of those that have an effect.
        plural: An English plural -s of a key counts.
        book_facts: Whether range, budget and recursion of the book count.
        chat_marks: The searched text has SillyTavern's marks, newest message first.
    """

    depth: int | None = 2
    names: bool = True
    recursion: bool = True
    case: bool = False
    words: Literal["ascii", "script", "none"] = "script"
    scoring: bool = False
    min_activations: int = 0
    min_depth: int = 0
    max_steps: int = 0
    budget: int | None = None
    full: Literal["stop", "drop"] = "drop"
    comments: bool = True
    decorators: frozenset[str] = frozenset()
    plural: bool = False
    book_facts: bool = True
    chat_marks: bool = False


_MAX_STEPS = 100


def read_settings(rules: Rules, settings: Mapping[str, Any], names: Mapping[str, str]) -> Rules:
    """Rules with settings of the program's own names.

    Args:
        rules: Of the profile.
        settings: By the program's names; others are passed over.
        names: The program's name to the field.

    Raises:
        ContractError: A value is of the wrong kind.
    """
    changes: dict[str, Any] = {}
    for name, value in settings.items():
        field = names.get(name)
        if field is None:
            continue
        wanted = bool if isinstance(getattr(rules, field), bool) else int
        if value is not None and (not isinstance(value, wanted) or (wanted is int and isinstance(value, bool))):
            raise ContractError(f"settings.{name}: expected {wanted.__name__}, got {value!r}")
        if wanted is int and value is not None and not 0 <= value <= 1_000_000_000:
            raise ContractError(f"settings.{name}: expected a count, got {value!r}")
        if field == "budget" and not value:
            continue
        changes[field] = min(value, _MAX_STEPS) if field == "max_steps" and value is not None else value
    return replace(rules, **changes) if changes else rules


def unknown_settings(settings: Mapping[str, Any], known: frozenset[str]) -> None:
    """Refuse a setting that no profile of the search knows.

    Raises:
        ContractError: Its name, and near ones.
    """
    for name in settings:
        if name not in known:
            close = near(name, sorted(known))
            raise ContractError(f"settings: no profile here knows {name!r}{suggestion(close)}")


ROUNDS: Final[Mapping[str, Rules]] = {
    "sillytavern": Rules(
        words="ascii",
        full="stop",
        comments=False,
        decorators=SILLYTAVERN,
        book_facts=False,
        chat_marks=True,
    ),
    "character-card-spec": Rules(depth=None, names=False, decorators=SPECIFICATION),
    "obsidian": Rules(depth=4, names=False),
    "novelcrafter": Rules(depth=None, names=False, recursion=False, plural=True),
    "armarius": Rules(depth=8, decorators=SPECIFICATION, full="drop"),
}
"""What holds when nothing is set: of SillyTavern 1.18, the specification V3, DeepLore, Novelcrafter, and our own."""

_OWN = {
    "depth": "depth", "names": "names", "recursion": "recursion", "case": "case", "scoring": "scoring",
    "budget": "budget", "max_steps": "max_steps", "min_activations": "min_activations",
}  # fmt: skip
SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "sillytavern": {
        "world_info_depth": "depth",
        "world_info_include_names": "names",
        "world_info_recursive": "recursion",
        "world_info_case_sensitive": "case",
        "world_info_match_whole_words": "words",
        "world_info_use_group_scoring": "scoring",
        "world_info_min_activations": "min_activations",
        "world_info_min_activations_depth_max": "min_depth",
        "world_info_max_recursion_steps": "max_steps",
        "world_info_budget_cap": "budget",
    },
    "character-card-spec": {"scan_depth": "depth", "token_budget": "budget", "recursive_scanning": "recursion"},
    "obsidian": {**_OWN, "scanDepth": "depth"},
    "novelcrafter": _OWN,
    "armarius": _OWN,
}
"""Setting by its own name to the field of `Rules`."""
