"""What `armarius.toml` may say about assembling.

[project]
id = "my-novel"                      # requests and data that name another project are refused

[budget]                             # the profile until one is stored by `update_budget_profile`
tokens = 8000                        # when a request names none
warn_percent = 87
trim_percent = 95
story = 15                           # percent for the story so far, when a request continues it; 0 tells none
layers.retrieved = { min = 2000, max = "40%", ratio = 25 }

[assembly]
model = "gpt-4o"                     # when a request names none
language = "zh"                      # of headings and labels: zh or en; without it that of the texts
fetch_timeout_s = 5.0                # a slower fetcher counts as failed
max_concurrent = 8                   # assemblies at once; more wait
queue_timeout_s = 30.0               # then CONTEXT_BACKPRESSURE
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from armarius.assembly.fit.profile import BudgetProfile, LayerBudget, profile_number
from armarius.config import CONFIG_NAME, Config
from armarius.errors import BudgetError, ConfigError
from armarius.headings import FRAMES, Language
from armarius.records import LAYERS, LayerName
from armarius.strict import shown

__all__ = ["AssemblySettings", "read_settings"]

_DEFAULT_MODEL = "gpt-4o"
_MOST = 86_400  # of seconds, and of assemblies at once
_OF_LAYER = ("min", "max", "ratio")


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """The tables `project`, `budget` and `assembly`, checked.

    Attributes:
        project_id: None when the project does not insist on one.
        model: Whose counter is used when a request names no model.
        language: Of headings and labels; None is that of the texts.
    """

    project_id: str | None = None
    model: str = _DEFAULT_MODEL
    language: Language | None = None
    fetch_timeout_s: float = 5.0
    max_concurrent: int = 8
    queue_timeout_s: float = 30.0
    profile: BudgetProfile = field(default_factory=BudgetProfile)


def read_settings(config: Config) -> AssemblySettings:
    """The settings in `config`.

    Raises:
        ConfigError: An unknown key or a value of the wrong kind; names file, table and key.
    """
    project = _checked(config.table("project"), "project", {"id": str})
    assembly = _checked(
        config.table("assembly"),
        "assembly",
        {"model": str, "language": str, "fetch_timeout_s": float, "max_concurrent": int, "queue_timeout_s": float},
    )
    budget = _checked(
        config.table("budget"),
        "budget",
        {"tokens": int, "warn_percent": int, "trim_percent": int, "story": int, "layers": dict},
    )
    if (language := assembly.get("language")) is not None and language not in FRAMES:
        known = ", ".join(FRAMES)
        raise ConfigError(f"{CONFIG_NAME}: assembly.language must be one of {known}, got {language!r}")
    for name, value in assembly.items():
        if not isinstance(value, str) and not 0 < value <= _MOST:
            raise ConfigError(f"{CONFIG_NAME}: assembly.{name} must be > 0 and <= {_MOST:,}, got {value!r}")
    return AssemblySettings(project_id=project.get("id"), profile=_profile(budget), **assembly)


def _profile(budget: Mapping[str, Any]) -> BudgetProfile:
    names = {
        "tokens": "budget", "warn_percent": "warn_percent", "trim_percent": "trim_percent", "story": "story_percent",
    }  # fmt: skip
    try:
        values: dict[str, Any] = {
            names[key]: profile_number(names[key], value, key) for key, value in budget.items() if key != "layers"
        }
        return BudgetProfile(layers=_layers(budget.get("layers", {})), **values)
    except BudgetError as error:
        raise ConfigError(f"{CONFIG_NAME}: budget.{error.message}") from None


def _layers(layers: Mapping[str, Any]) -> dict[LayerName, LayerBudget]:
    if unknown := sorted(layers.keys() - set(LAYERS)):
        raise ConfigError(f"{CONFIG_NAME}: unknown key budget.layers.{unknown[0]}; known: {', '.join(LAYERS)}")
    return {name: _layer(name, layers[name]) for name in LAYERS if name in layers}


def _layer(name: LayerName, said: object) -> LayerBudget:
    if not isinstance(said, Mapping):
        wanted = "a table of min, max and ratio"
        raise ConfigError(f"{CONFIG_NAME}: budget.layers.{name} must be {wanted}, got {shown(said)}")
    if unknown := sorted(said.keys() - set(_OF_LAYER)):
        raise ConfigError(
            f"{CONFIG_NAME}: unknown key budget.layers.{name}.{unknown[0]}; known: {', '.join(_OF_LAYER)}"
        )
    try:
        return LayerBudget(**said)
    except BudgetError as error:  # begins with the key
        key = error.message.partition(" ")[0]
        raise ConfigError(f"{CONFIG_NAME}: budget: {error.message} (budget.layers.{name}.{key})") from None


def _checked(table: Mapping[str, Any], name: str, kinds: Mapping[str, type]) -> dict[str, Any]:
    if unknown := sorted(table.keys() - kinds.keys()):
        raise ConfigError(f"{CONFIG_NAME}: unknown key {name}.{unknown[0]}; known: {', '.join(kinds)}")
    for key, value in table.items():
        accepted = (int, float) if kinds[key] is float else (kinds[key],)
        if isinstance(value, bool) or not isinstance(value, accepted):
            raise ConfigError(f"{CONFIG_NAME}: {name}.{key} must be of type {kinds[key].__name__}, got {value!r}")
    return dict(table)
