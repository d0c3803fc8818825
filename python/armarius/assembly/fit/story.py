"""The share of the story so far: what of it a prompt holds, decided by the budget alone, never by the cursor.

The settings may have as much more as the story takes, which the text around the cursor gives up: what else stands in
the settings keeps its own share, and the stable prefix its bytes while the cursor moves (docs/decisions/0138).
"""

from collections.abc import Mapping
from dataclasses import replace

from armarius.assembly.admit import Admitted
from armarius.assembly.fit.cached_counter import CachedCounter
from armarius.assembly.fit.profile import BudgetProfile, LayerBudget
from armarius.records import STORY, Candidate, LayerName, Omission

__all__ = ["story_layers", "told_within"]

_ENDING = f"{STORY}ending:"
_LEAST = 40  # characters of an ending that are worth their heading


def told_within(admitted: Admitted, counter: CachedCounter, limit: int, percent: int) -> Admitted:
    """`admitted` with as much of the story as `percent` of a prompt of `limit` tokens holds.

    Whole items, those of the outline first; of the end of a chapter so many of the last lines as there is room for.

    Cost: one count for each item, and for each halving of an ending that does not fit.
    """
    told = _told(admitted)
    if not told:
        return admitted
    told.sort(key=lambda one: (-one.score, one.source))
    room = limit * percent // 100
    kept: dict[str, Candidate] = {}
    for one in told:
        fits = _fitting(one, counter, room)
        if fits is not None:
            room -= counter.section(fits.content)
            kept[one.id] = fits
    why = f"beyond {limit * percent // 100} tokens, {percent} % of the prompt, that the story may take"
    gone = tuple(Omission(one.id, one.layer, one.source, "budget", why) for one in told if one.id not in kept)
    candidates = tuple(kept.get(one.id, one) for one in admitted.candidates if not _is_story(one) or one.id in kept)
    return replace(admitted, candidates=candidates, omitted=(*admitted.omitted, *gone))


def story_layers(admitted: Admitted, profile: BudgetProfile, percent: int) -> Mapping[LayerName, LayerBudget]:
    """What the layers may take when there is a story to tell; nothing changed when there is none."""
    if not _told(admitted):
        return {}
    settings, around = (profile.layers[name].ratio or 0 for name in ("settings", "immediate"))
    more = min(percent, around)
    return {
        "settings": LayerBudget(ratio=min(100, settings + more)),
        "immediate": LayerBudget(ratio=around - more),
    }


def _fitting(one: Candidate, counter: CachedCounter, room: int) -> Candidate | None:
    """The candidate if it fits; of an ending as many of its last lines as do; None when that is nothing."""
    if counter.section(one.content) <= room:
        return one
    if not one.source.startswith(_ENDING):
        return None
    title, _, text = one.content.partition("\n")
    lines = text.split("\n")
    low, high = 1, len(lines)  # from which line on: the first that fits
    while low < high:
        middle = (low + high) // 2
        if counter.section(f"{title}\n{_from(lines, middle)}") <= room:
            high = middle
        else:
            low = middle + 1
    kept = _from(lines, low)
    return replace(one, content=f"{title}\n{kept}") if len(kept) >= _LEAST else None


def _from(lines: list[str], first: int) -> str:
    return "\n".join(lines[first:]).strip()


def _told(admitted: Admitted) -> list[Candidate]:
    return [one for one in admitted.candidates if one.layer == "settings" and one.source.startswith(STORY)]


def _is_story(candidate: Candidate) -> bool:
    return candidate.layer == "settings" and candidate.source.startswith(STORY)
