"""What a model's provider asks of a cacheable prefix: dated data (`providers.json`), looked up by name."""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["CacheRule", "cache_rule"]


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
    text = resources.files("armarius.assembly").joinpath("providers.json").read_text(encoding="utf-8")
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
