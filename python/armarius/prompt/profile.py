"""The budget profile: what each layer may take of a prompt, and when a full prompt is a warning.

The allocation itself is Rust (`armarius._core.allocate`); here are its inputs in the words of the
contract: minima, maxima and ratios per layer, the two capacity thresholds, and one profile per
project, updated with a version. `read_settings` reads what `armarius.toml` says of all this.
"""

import threading
from collections.abc import Mapping
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, get_args

from armarius._core import BudgetLayer
from armarius.codex.protocol import Authored
from armarius.errors import BudgetConflict, BudgetError, ConfigError, ContextWarning
from armarius.headings import FRAMES, Language, camel_case
from armarius.io.toml import refuse_unknown
from armarius.search.query.recipe import task_of
from armarius.trust.settings import ABOUT, CONFIG_NAME, Config
from armarius.types import LAYERS, LayerName, TaskName
from armarius.validation import shown, whole
from armarius.warnings import PROFILE_INVALID

# Served first when tokens are scarce: what must not be missed, then what the writer looks at.
MOST_TOKENS: Final = 1 << 30
"""The core counts in 32 bits, and no model reads so many."""
_PRIORITY: dict[LayerName, int] = {"rules": 0, "immediate": 1, "settings": 2, "retrieved": 3}
_UNLIMITED = 2**32 - 1
_MINIMA_PERCENT = 75
_NUMBERS: Final[Mapping[str, tuple[int | None, int | None]]] = {
    "version": (None, None),
    "budget": (1, MOST_TOKENS),
    "warn_percent": (1, 100),
    "trim_percent": (1, 100),
    "story_percent": (0, 50),
}
_SNAKE = {camel_case(name): name for name in _NUMBERS}


@dataclass(frozen=True, slots=True)
class LayerBudget:
    """What one layer may take; None keeps the profile's value.

    Attributes:
        min: Tokens granted first, if the layer has that much to offer; or a share such as `"10%"`. The default of
            the immediate layer gives way to items held from a previous prompt, down to 35 % of the prompt; another
            value does not.
        max: Tokens never exceeded except by pinned items; or a share such as `"40%"`.
        ratio: Share of the budget in percent before unused tokens are passed on.
    """

    min: int | str | None = None
    max: int | str | None = None
    ratio: float | None = None

    def __post_init__(self) -> None:
        for name in ("min", "max"):
            _tokens(getattr(self, name), 100, name)
        if self.ratio is not None and (type(self.ratio) not in (int, float) or not 0 <= self.ratio <= 100):
            raise BudgetError(f"ratio must be 0 to 100 percent, got {shown(self.ratio)}")

    @classmethod
    def of(cls, value: object) -> "LayerBudget":
        """A layer budget from itself or from a mapping with its fields, as JSON has it.

        Raises:
            BudgetError: Neither, or an unknown field.
        """
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping) or not value.keys() <= {"min", "max", "ratio"}:
            raise BudgetError(
                f"a layer's budget is LayerBudget(min, max, ratio) or a mapping of these, got {shown(value)}"
            )
        return cls(**value)

    def check(self, layer: str) -> None:
        """Refuse a minimum above the maximum, where both are tokens or both shares.

        Raises:
            BudgetError: Names the layer.
        """
        if self.min is None or self.max is None or type(self.min) is not type(self.max):
            return
        if (_tokens(self.min, 10_000, "min") or 0) > (_tokens(self.max, 10_000, "max") or 0):
            raise BudgetError(f"layers[{layer!r}]: min {self.min} is more than max {self.max}")

    def over(self, base: "LayerBudget") -> "LayerBudget":
        """This budget with what it leaves open taken from `base`."""
        return LayerBudget(
            base.min if self.min is None else self.min,
            base.max if self.max is None else self.max,
            base.ratio if self.ratio is None else self.ratio,
        )


def layer_budgets(layers: object) -> dict[LayerName, LayerBudget]:
    """Budgets by layer as a caller wrote them.

    Raises:
        BudgetError: No mapping, or a value that is no layer's budget; names the argument and the layer.
    """
    if not isinstance(layers, Mapping):
        raise BudgetError(f"layers must be a mapping from a layer to its budget, got {shown(layers)}")
    budgets = {}
    for name, layer in layers.items():
        try:
            budgets[name] = LayerBudget.of(layer)
        except BudgetError as error:
            raise BudgetError(f"layers[{shown(name)}]: {error}") from None
    return budgets


def profile_number(name: str, value: object, called: str) -> int:
    """A number of a profile, as the field `name` takes it.

    Raises:
        BudgetError: The value is not a number within the bounds; the message uses the name `called`.
    """
    least, most = _NUMBERS[name]
    return whole(called, value, least=least, most=most, error=BudgetError)


def _tokens(value: int | str | None, available: int, name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, str):
        try:
            share = float(value.removesuffix("%"))
        except ValueError:
            share = -1.0
        if not value.endswith("%") or not 0 <= share <= 100:
            raise BudgetError(f"{name} must be tokens or a share such as '40%', got {shown(value)}")
        return int(available * round(share * 100) // 10_000)
    if type(value) is not int or not 0 <= value <= MOST_TOKENS:
        wanted = f"a number of tokens from 0 to {MOST_TOKENS} or a share such as '40%'"
        raise BudgetError(f"{name} must be {wanted}, got {shown(value)}")
    return value


_DEFAULTS: Final[Mapping[LayerName, LayerBudget]] = {
    "rules": LayerBudget(min=500, ratio=15),
    "settings": LayerBudget(min=200, ratio=10),
    "retrieved": LayerBudget(min=0, ratio=25),
    "immediate": LayerBudget(min=2000, ratio=50),
}


@dataclass(frozen=True, slots=True)
class BudgetProfile:
    """How a project divides its prompts.

    Attributes:
        version: Grows by one with every update; an update names the version it was made from.
        budget: Tokens when a request names none.
        layers: One budget per layer.
        warn_percent: From here on the answer carries CONTEXT_CAPACITY_WARNING.
        story_percent: What the story so far may take of a prompt that continues it; 0 tells none.
        trim_percent: No prompt grows beyond this share (CONTEXT_CAPACITY_FORCE_TRIM).
    """

    version: int = 1
    budget: int = 8000
    layers: Mapping[LayerName, LayerBudget] = field(default_factory=lambda: dict(_DEFAULTS))
    warn_percent: int = 87
    trim_percent: int = 95
    story_percent: int = 15

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            profile_number(name, getattr(self, name), name)
        object.__setattr__(self, "layers", self._merge_layers(self.layers, _DEFAULTS))

    @staticmethod
    def _merge_layers(
        layers: Mapping[LayerName, LayerBudget], base: Mapping[LayerName, LayerBudget]
    ) -> dict[LayerName, LayerBudget]:
        layers = layer_budgets(layers)
        unknown = sorted(shown(name).strip("'") for name in layers if name not in LAYERS)
        if unknown:
            raise BudgetError(f"no such layer: {', '.join(unknown)}; there are {', '.join(LAYERS)}")
        for name, layer in layers.items():
            if layer.min != base[name].min:  # what nobody set here gives way to a maximum
                layer.check(name)
        merged = {name: layers[name].over(base[name]) if name in layers else base[name] for name in LAYERS}
        shares = {name: layer.min for name, layer in merged.items() if isinstance(layer.min, str)}
        if sum(_tokens(share, 10_000, "min") or 0 for share in shares.values()) > 10_000:
            text = ", ".join(f"{name} {share}" for name, share in shares.items())
            raise BudgetError(f"layers: the minima exceed the whole prompt: {text}")
        return merged

    def with_layers(self, layers: Mapping[LayerName, LayerBudget]) -> "BudgetProfile":
        """This profile with some layers changed for one request."""
        if not layers:
            return self
        changed = copy(self)
        object.__setattr__(changed, "layers", self._merge_layers(layers, self.layers))
        return changed

    def limit(self, available: int) -> int:
        """Tokens a prompt may grow to of `available` tokens, the reserve subtracted."""
        return available * self.trim_percent // 100

    def most(self, layer: LayerName, available: int) -> int:
        """Tokens that `layer` never exceeds but for pinned items."""
        most = _tokens(self.layers[layer].max, available, "max")
        return _UNLIMITED if most is None else most

    def insisted_min(self, available: int) -> int:
        """The immediate layer's minimum, if somebody has set one: it holds against items of a previous prompt too."""
        least = self.layers["immediate"].min
        return 0 if least == _DEFAULTS["immediate"].min else _tokens(least, available, "min") or 0

    def rows(self, available: int, overheads: Mapping[LayerName, int]) -> list[BudgetLayer]:
        """The layers as the allocator takes them.

        Minima that together exceed three quarters of what is available are scaled down to that, so
        that a layer without a minimum is not shut out of a small prompt.
        """
        layers = list(map(self.layers.__getitem__, LAYERS))
        minima = [_tokens(layer.min, available, "min") or 0 for layer in layers]
        total, bound = sum(minima), available * _MINIMA_PERCENT // 100
        return [
            BudgetLayer(
                ratio=round((layer.ratio or 0) * 100),
                minimum=least if total <= bound else least * bound // total,
                maximum=_UNLIMITED if layer.max is None else self.most(name, available),
                overhead=overheads[name],
                priority=_PRIORITY[name],
            )
            for name, layer, least in zip(LAYERS, layers, minima, strict=True)
        ]

    def to_wire(self) -> dict[str, Any]:
        """Plain JSON types, names in camelCase."""
        return {camel_case(name): value for name, value in asdict(self).items()}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> "BudgetProfile":
        """Read what `to_wire` wrote, or wrote before names were camelCase.

        Raises:
            BudgetError: An unknown key or a wrong value; names the key as it is written.
        """
        values: dict[str, Any] = {}
        for key, value in wire.items():
            name = _SNAKE.get(key, key)
            if name in _NUMBERS:
                values[name] = profile_number(name, value, key)
            elif name == "layers":
                values[name] = layer_budgets(value)
            else:
                raise BudgetError(f"unknown key {key}; known: {', '.join((*_SNAKE, 'layers'))}")
        return cls(**values)


class ProfileStore:
    """One profile, kept among what the user authored, updated under a version. Threads and processes may share it.

    Args:
        authored: Where it is kept; None keeps it in memory.
        default: The profile until one is stored.
    """

    def __init__(self, authored: Authored | None, default: BudgetProfile) -> None:
        self._authored = authored
        self._default = default
        self._good: BudgetProfile | None = None
        self._lock = threading.Lock()

    def read(self) -> BudgetProfile:
        """The profile as it is now.

        Raises:
            ConfigError: What is stored cannot be understood.
        """
        self._good = self._profile(None if self._authored is None else self._authored.profile())
        return self._good

    def served(self) -> tuple[BudgetProfile, tuple[ContextWarning, ...]]:
        """The profile for a prompt, which a damaged one does not keep from being made: then the last that was right."""
        try:
            return self.read(), ()
        except ConfigError as error:
            used = "the last profile that was right" if self._good else "the default profile"
            return self._good or self._default, (PROFILE_INVALID(problem=error.message, used=used),)

    def update(self, profile: BudgetProfile, *, version: int) -> BudgetProfile:
        """Replace the profile, if it is still at `version`, whichever process has stored it.

        Returns:
            The profile as stored, its version one higher.

        Raises:
            BudgetConflict: The profile has moved on since `version` was read.
            StoreFull, StoreBusy: It cannot be written; the stored profile is untouched.
            ContractError: No profile, or no version.
        """
        if not isinstance(profile, BudgetProfile):
            raise BudgetError(f"profile must be a BudgetProfile, got {shown(profile)}")
        stored = replace(profile, version=whole("version", version, error=BudgetError) + 1)

        def change(now: Mapping[str, Any] | None) -> Mapping[str, Any]:
            current = self._profile(now)
            if current.version != version:
                raise BudgetConflict(f"the profile is at version {current.version}, the update is for {version}")
            return stored.to_wire()

        with self._lock:
            if self._authored is None:
                change(None)
                self._default = stored
            else:
                self._authored.change_profile(change)
        return stored

    def _profile(self, stored: Mapping[str, Any] | None) -> BudgetProfile:
        if stored is None:
            return self._default
        try:
            profile = BudgetProfile.from_wire(stored)
        except (ValueError, TypeError, AttributeError) as error:
            name = "the profile" if self._authored is None else self._authored.profile_name
            raise ConfigError(f"{name}: not a budget profile: {error}") from error
        return profile


_DEFAULT_MODEL = "gpt-4o"
_OF_LAYER = ("min", "max", "ratio")


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """The tables `project`, `budget`, `skills` and `assembly`, checked.

    Attributes:
        project_id: None when the project does not insist on one.
        model: Its counter is used when a request names no model.
        language: Of headings and labels; None is that of the texts.
        skills: The task of each name that a host has for one.
    """

    project_id: str | None = None
    model: str = _DEFAULT_MODEL
    language: Language | None = None
    skills: Mapping[str, str] = field(default_factory=dict)
    fetch_timeout_s: float = 5.0
    max_concurrent: int = 8
    queue_timeout_s: float = 30.0
    profile: BudgetProfile = field(default_factory=BudgetProfile)


def read_settings(config: Config) -> AssemblySettings:
    """The settings in `config`.

    Raises:
        ConfigError: An unknown key or a value of the wrong kind; names file, table and key.
    """
    project = config.typed_table("project", dict.fromkeys(("id", *ABOUT), (str,)))
    number = (int, float)
    assembly = config.typed_table(
        "assembly",
        {
            "model": (str,),
            "language": (str,),
            "fetch_timeout_s": number,
            "max_concurrent": (int,),
            "queue_timeout_s": number,
        },
    )
    budget = config.table("budget", ("tokens", "warn_percent", "trim_percent", "story", "layers"))
    if (language := assembly.get("language")) is not None and language not in FRAMES:
        options = ", ".join(FRAMES)
        raise ConfigError(f"{CONFIG_NAME}: assembly.language must be one of {options}, got {language!r}")
    skills = config.table("skills")
    for name, task in skills.items():
        if not isinstance(task, str) or task_of(task) is None:
            options = ", ".join(get_args(TaskName))
            raise ConfigError(f"{CONFIG_NAME}: skills.{name} must be one of {options}, got {task!r}")
    return AssemblySettings(project_id=project.get("id"), profile=_profile(budget), skills=skills, **assembly)


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


def _layers(layers: object) -> dict[LayerName, LayerBudget]:
    if not isinstance(layers, Mapping):
        raise ConfigError(f"{CONFIG_NAME}: budget.layers must be a table, got {shown(layers)}")
    refuse_unknown(layers, LAYERS, f"{CONFIG_NAME}: unknown key budget.layers.")
    return {name: _layer(name, layers[name]) for name in LAYERS if name in layers}


def _layer(name: LayerName, table: object) -> LayerBudget:
    if not isinstance(table, Mapping):
        wanted = "a table of min, max and ratio"
        raise ConfigError(f"{CONFIG_NAME}: budget.layers.{name} must be {wanted}, got {shown(table)}")
    refuse_unknown(table, _OF_LAYER, f"{CONFIG_NAME}: unknown key budget.layers.{name}.")
    try:
        return LayerBudget(**table)
    except BudgetError as error:  # begins with the key
        key = error.message.partition(" ")[0]
        raise ConfigError(f"{CONFIG_NAME}: budget: {error.message} (budget.layers.{name}.{key})") from None
