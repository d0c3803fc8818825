"""What changed from one prompt to another."""

from collections.abc import Sequence

from armarius.assembly.render import Placed, Rendered
from armarius.assembly.report.items import Difference
from armarius.records import LayerName

__all__ = ["difference"]


def difference(now: Rendered, before: Rendered, tokens: int) -> Difference:
    """What changed from `before` to `now`, which has `tokens` more."""
    mine, theirs = _placed(now), _placed(before)
    both = [key for key in mine if key in theirs]
    return Difference(
        added=tuple(source for layer, source in mine if (layer, source) not in theirs),
        removed=tuple(source for layer, source in theirs if (layer, source) not in mine),
        reshaped=tuple(key[1] for key in both if _forms(mine[key]) != _forms(theirs[key])),
        changed=tuple(key[1] for key in both if _changed(mine[key], theirs[key])),
        tokens=tokens,
    )


def _placed(rendered: Rendered) -> dict[tuple[LayerName, str], list[Placed]]:
    """What is in the prompt by layer and source; several items may come from one source."""
    found: dict[tuple[LayerName, str], list[Placed]] = {}
    for item in rendered.placed:
        found.setdefault((item.candidate.layer, item.candidate.source), []).append(item)
    return found


def _forms(items: Sequence[Placed]) -> list[str]:
    return [item.form for item in items]


def _changed(now: Sequence[Placed], before: Sequence[Placed]) -> bool:
    """Whether the source says something else, or the same form shows another piece of it."""
    if [item.candidate.content for item in now] != [item.candidate.content for item in before]:
        return True
    return _forms(now) == _forms(before) and [item.text for item in now] != [item.text for item in before]
