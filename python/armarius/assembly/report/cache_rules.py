"""What a model's provider asks of a cacheable prefix: dated data (`providers.json`), looked up by name."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from armarius.errors import ContractError
from armarius.records import LayerName
from armarius.strict import shown

__all__ = ["CacheRule", "cache_rule", "messages"]


@dataclass(frozen=True, slots=True)
class CacheRule:
    """One provider's rule for one model.

    Attributes:
        provider: Its name in the data.
        minimum_tokens: The least prefix that is cached; None when not published.
        marker: Fields to add to the content block that ends the prefix, or None when caching needs none.
        as_of: The date of the data.
    """

    provider: str
    minimum_tokens: int | None
    marker: dict[str, Any] | None
    as_of: str


@cache
def _data() -> dict[str, Any]:
    text = resources.files("armarius.assembly.report").joinpath("providers.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def cache_rule(model: str | None, provider: str | None = None) -> CacheRule | None:
    """The rule for `model`, or for `provider` when the model has none; None when neither is known.

    A vendor before a slash (`anthropic/claude-…`) is ignored.
    """
    data = _data()
    name = (model or "").rpartition("/")[2].lower()
    best: tuple[int, str, dict[str, Any]] | None = None
    for vendor, known in data["providers"].items():
        for rule in known["models"]:
            if name.startswith(rule["prefix"]) and (best is None or len(rule["prefix"]) > best[0]):
                best = len(rule["prefix"]), vendor, rule
    if best is None:
        if provider is None or provider not in data["providers"]:
            return None
        best = 0, provider, {}
    _, vendor, rule = best
    marker = rule.get("marker", data["providers"][vendor]["marker"])
    return CacheRule(vendor, rule.get("minimum_tokens"), marker, data["as_of"])


def messages(contents: Mapping[LayerName, str], model: str | None, provider: Literal["openai", "anthropic"]) -> Any:  # noqa: ANN401 - two providers, two shapes
    """The layers as a provider's messages, its cache marker exactly after rules and settings.

    Raises:
        ContractError: Another provider.
    """
    if provider not in ("openai", "anthropic"):
        raise ContractError(f"provider must be 'openai' or 'anthropic', got {shown(provider)}")
    rule = cache_rule(model, provider)
    if rule is None or rule.provider != provider:
        rule = cache_rule(None, provider)
    stable = {"type": "text", "text": contents["rules"] + contents["settings"], **((rule and rule.marker) or {})}
    rest = {"type": "text", "text": contents["retrieved"] + contents["immediate"]}
    system = [stable] if stable["text"] else []
    user = [{"role": "user", "content": [rest]}] if rest["text"] else []
    if provider == "anthropic":
        return {"system": system, "messages": user}
    return ([{"role": "system", "content": system}] if system else []) + user
