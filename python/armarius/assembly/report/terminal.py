"""A pack for a terminal and for a notebook: a bar per layer, every item and omission with its reason."""

from collections.abc import Iterator
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from armarius.assembly.report.account import Account
from armarius.assembly.report.asked import asked
from armarius.assembly.report.items import PackItem, PackOmission
from armarius.records import LAYERS, Evidence, LayerName

__all__ = ["bars", "overview"]

_COLOURS: dict[LayerName, str] = {
    "rules": "blue",
    "settings": "green",
    "retrieved": "yellow",
    "immediate": "magenta",
}
_BAR_CELLS = 32
# More things without a match than this share a row.
_UNMATCHED_APART = 5
# Columns that a table of items needs before it breaks the words of its sources.
_ROOM_FOR_ROWS = 110
# Characters of a question that are shown.
_SAID = 200


class _Row(NamedTuple):
    """Something that was considered: where, what, at what cost, what became of it and why."""

    layer: LayerName
    source: str
    tokens: str
    fate: str
    why: str
    colour: str


def overview(pack: Account, *, everything: bool = False) -> RenderableType:
    """Everything about a pack but its text: bars, items, omissions, warnings.

    Args:
        pack: What was assembled.
        everything: A row also for each thing that did not match; otherwise those of a layer share one row.
    """
    head = Text("\n".join(f"{label}: {_short(value)}" for label, value in asked(pack)), style="dim")
    parts: list[RenderableType] = [*([head] if head else []), bars(pack), _Items(pack, everything)]
    if pack.warnings:
        parts.append(Text("\n".join(f"! {warning}" for warning in pack.warnings), style="red"))
    return Group(*parts)


def _short(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= _SAID else f"{line[: _SAID - 1]}…"


def bars(pack: Account) -> Table:
    """One bar per layer, its length the share of the whole budget, and the sum."""
    table = Table(box=None, pad_edge=False)
    table.add_column("layer")
    table.add_column("tokens", justify="right")
    table.add_column("granted", justify="right")
    table.add_column("share of the budget", no_wrap=True)
    room = max(1, pack.budget)
    for layer in LAYERS:
        used = pack.layers[layer].token_count
        granted = pack.granted.get(layer, 0)
        more = f" + {used - granted:,}" if used > granted else ""  # what was left of the budget, filled with paragraphs
        table.add_row(layer, f"{used:,}", f"{granted:,}{more}", _bar(used, room, _COLOURS[layer]))
    about = "" if pack.counter_exact else "≈"
    table.add_row(
        "prompt",
        f"{about}{pack.token_count:,}",
        f"{pack.budget:,}",
        _bar(pack.token_count, room, "white"),
        style="bold",
    )
    return table


def _bar(used: int, room: int, colour: str) -> Text:
    cells = min(_BAR_CELLS, round(_BAR_CELLS * used / room)) or (1 if used else 0)
    bar = Text("█" * cells, style=colour)
    bar.append("·" * (_BAR_CELLS - cells), style="dim")
    bar.append(f" {100 * used / room:.0f}%")
    return bar


class _Items:
    """Every item and omission: a row each where there is room for one, else a line and, below it, the reason."""

    def __init__(self, pack: Account, everything: bool) -> None:
        self._rows = list(_rows(pack, everything))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._table() if options.max_width >= _ROOM_FOR_ROWS else self._lines()

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column("layer", no_wrap=True)
        table.add_column("source", overflow="fold", ratio=3)
        table.add_column("tokens", justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        table.add_column("why", overflow="fold", ratio=4)
        for row in self._rows:
            table.add_row(row.layer, Text(row.source), row.tokens, Text(row.fate, style=row.colour), Text(row.why))
        return table

    def _lines(self) -> Group:
        lines: list[RenderableType] = [Text("layer      source, tokens, and why", style="bold")]
        for row in self._rows:
            cost = f"{row.tokens} " if row.tokens else ""
            lines.append(Text(f"{row.layer:<10} {row.source} {cost}").append(row.fate, style=row.colour))
            if row.why:
                lines.append(Padding(Text(row.why), (0, 0, 0, 11)))
        return Group(*lines)


def _rows(pack: Account, everything: bool) -> Iterator[_Row]:
    for layer in LAYERS:
        for item in pack.items:
            if item.layer == layer:
                fate = "kept" if item.form == "full" else item.form
                yield _Row(
                    layer, _called(pack, item.source, item.source), f"{item.tokens:,}", fate, _why(item), "green"
                )
        unmatched = [gone for gone in pack.omitted if gone.layer == layer and gone.reason == "no match"]
        fold = not everything and len(unmatched) > _UNMATCHED_APART
        for gone in pack.omitted:
            if gone.layer == layer and not (fold and gone.reason == "no match"):
                label = _called(pack, gone.source, gone.label)
                yield _Row(layer, label, f"{gone.tokens:,}" if gone.tokens else "", "omitted", _why(gone), "red")
        if fold:
            names = ", ".join(gone.source.rpartition(":")[2] for gone in unmatched[:_UNMATCHED_APART])
            yield _Row(layer, f"{len(unmatched)} more", "", "omitted", f"no match: {names}, …", "red")


def _called(pack: Account, source: str, label: str) -> str:
    name = pack.name_of(source)
    return f"{label} {name}" if name else label


def _why(thing: PackItem | PackOmission) -> str:
    reasons = [_reason(reason) for reason in thing.evidence]
    if isinstance(thing, PackOmission):
        reasons.insert(0, f"{thing.reason}: {thing.detail}" if thing.detail else thing.reason)
    return "; ".join(reasons)


def _reason(evidence: Evidence) -> str:
    where = f" ({evidence.path})" if evidence.path else ""
    return f"{evidence.kind} {evidence.detail}{where}"
