"""How much a tool answers: a model pays for every word of it."""

import json
from typing import Any, Final

__all__ = ["EXCERPT", "LARGEST", "cut", "sized"]

EXCERPT: Final = 2_000
"""Code points of one text in a list of results."""
LARGEST: Final = 60_000
"""Code points of the JSON of one list of results; prompts have their own budget."""


def cut(text: str, most: int = EXCERPT) -> str:
    """`text`, or its beginning and an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def sized(name: str, items: list[Any], **beside: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """The items under `name` as far as `LARGEST` holds them; `left_off` says how many more there are.

    Cost: one pass of the JSON encoder.
    """
    room = LARGEST
    kept: list[Any] = []
    for item in items:
        room -= len(json.dumps(item, ensure_ascii=False))
        if room < 0 and kept:
            break
        kept.append(item)
    left = len(items) - len(kept)
    return {name: kept, **beside, **({"left_off": left} if left else {})}
