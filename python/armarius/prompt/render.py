"""Chosen items to text: four fenced layers, one order, joins across which token counts add up.

A prompt is the plain concatenation of its layers' contents. A layer with items reads

    <layer-retrieved>
    [知识图谱 — 引用检测]
    ## 角色：林小雨
    - 类型：character

    …

    </layer-retrieved>

Every piece ends in line breaks after a character that is no white space, and the next piece starts
with none: across such joins the encodings in use never merge, so counts of pieces are the count
of the whole (measured; the assembler still counts the final prompt).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from armarius.prompt.escape import closing, opening
from armarius.types import LAYERS, Candidate, LayerName

SEPARATOR = "\n\n"
Form = Literal["full", "short", "truncated"]


@dataclass(frozen=True, slots=True)
class PromptItem:
    """A candidate that enters the prompt, in the form it enters; `part` is the piece of its content kept.

    `fills` marks a paragraph that nothing demanded: it fills room that was left.
    """

    candidate: Candidate
    text: str
    form: Form = "full"
    part: tuple[int, int] | None = None
    fills: bool = False


_END: tuple[PromptItem | None, tuple[int, int]] = (None, (0, 0))


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt, its layers, and where each placed item's text stands in it (code points)."""

    prompt: str
    contents: dict[LayerName, str]
    placed: tuple[PromptItem, ...]
    spans: tuple[tuple[int, int], ...]

    def pieces(self) -> dict[LayerName, list[tuple[str, bool]]]:
        """Each layer in the pieces that it was put together from, each with whether the separator follows it.

        With that, all but the last of a layer end with a line end.
        """
        found: dict[LayerName, list[tuple[str, bool]]] = {}
        prompt, items = self.prompt, zip(self.placed, self.spans, strict=True)
        item, (start, end) = next(items, _END)
        last = stop = 0
        for layer in LAYERS:
            mine: list[tuple[str, bool]] = []
            stop += len(self.contents[layer])
            while item is not None and start < stop:
                if last < start:
                    mine.append((prompt[last:start], False))
                mine.append((item.text, True))
                last = end + len(SEPARATOR)
                item, (start, end) = next(items, _END)
            if last < stop:
                mine.append((prompt[last:stop], False))
            found[layer], last = mine, stop
        return found


OPENING: Final = {layer: opening(layer) + "\n" for layer in LAYERS}
"""What a layer with items begins with."""
CLOSING: Final = {layer: closing(layer) + ("" if layer == LAYERS[-1] else SEPARATOR) for layer in LAYERS}
"""What a layer with items ends with; the last layer ends the prompt without line breaks."""
_INDEX: Final = {layer: index for index, layer in enumerate(LAYERS)}


def heading_piece(group: str) -> str:
    """A group's heading, which stands once above its first item."""
    return group + "\n"


def arrange(placed: Sequence[PromptItem], before: Mapping[tuple[LayerName, str], int]) -> list[PromptItem]:
    """Bring items into prompt order.

    Rules and settings: by group, source and id, so that neither scores nor arrival move them.
    Retrieved: those of the previous prompt at their old places, then new ones by value. Immediate:
    what surrounds the cursor, which changes least, then the rest by value. Ungrouped items come first
    in their layer; a group's items stand together.

    Args:
        placed: In any order.
        before: Place of each (layer, id) in the previous prompt.
    """

    def rank(item: PromptItem) -> tuple[Any, ...]:
        one = item.candidate
        if one.layer in ("rules", "settings"):
            return _INDEX[one.layer], one.group, one.source, one.id
        first = one.keep != "around" if one.layer == "immediate" else before.get((one.layer, one.id), len(before))
        return _INDEX[one.layer], first, -one.score, one.source, one.id

    groups: dict[tuple[LayerName, str], list[PromptItem]] = {(layer, ""): [] for layer in LAYERS}
    for item in sorted(placed, key=rank):
        groups.setdefault((item.candidate.layer, item.candidate.group), []).append(item)
    return [item for layer in LAYERS for key, items in groups.items() if key[0] == layer for item in items]


def render(ordered: Sequence[PromptItem]) -> Rendered:
    """Write the prompt.

    Args:
        ordered: Items as `arrange` returns them.

    Cost: one concatenation.
    """
    contents: dict[LayerName, str] = {}
    spans: list[tuple[int, int]] = []
    at = 0
    for layer in LAYERS:
        pieces: list[str] = []
        start, group = at, ""
        for item in ordered:
            if item.candidate.layer != layer:
                continue
            opened = "" if pieces else OPENING[layer]
            if item.candidate.group != group:
                group = item.candidate.group
                opened += heading_piece(group)
            pieces += (opened, item.text, SEPARATOR)
            at += len(opened)
            spans.append((at, at + len(item.text)))
            at += len(item.text) + len(SEPARATOR)
        if pieces:
            pieces.append(CLOSING[layer])
        contents[layer] = "".join(pieces)
        at = start + len(contents[layer])
    return Rendered("".join(contents.values()), contents, tuple(ordered), tuple(spans))
