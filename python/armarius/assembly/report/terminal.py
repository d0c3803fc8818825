"""A pack for a terminal and for a notebook: a bar per layer, every item and omission with its reason."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from armarius.assembly.report.account import Account
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


def overview(pack: Account, *, everything: bool = False) -> RenderableType:
    """Everything about a pack but its text: bars, items, omissions, warnings.

    Args:
        pack: What was assembled.
        everything: A row also for each thing that did not match; otherwise those of a layer share one row.
    """
    parts: list[RenderableType] = [bars(pack), _items(pack, everything)]
    if pack.warnings:
        parts.append(Text("\n".join(f"! {warning}" for warning in pack.warnings), style="red"))
    return Group(*parts)


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
        table.add_row(layer, f"{used:,}", f"{pack.granted.get(layer, 0):,}", _bar(used, room, _COLOURS[layer]))
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


def _items(pack: Account, everything: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("layer", no_wrap=True)
    table.add_column("source", overflow="fold", ratio=3)
    table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("why", overflow="fold", ratio=4)
    for layer in LAYERS:
        for item in pack.items:
            if item.layer == layer:
                kept = Text("kept" if item.form == "full" else item.form, style="green")
                table.add_row(layer, Text(item.source), f"{item.tokens:,}", kept, Text(_why(item)))
        unmatched = [gone for gone in pack.omitted if gone.layer == layer and gone.reason == "no match"]
        fold = not everything and len(unmatched) > _UNMATCHED_APART
        for gone in pack.omitted:
            if gone.layer == layer and not (fold and gone.reason == "no match"):
                cost = f"{gone.tokens:,}" if gone.tokens else ""
                table.add_row(layer, Text(gone.label), cost, Text("omitted", style="red"), Text(_why(gone)))
        if fold:
            names = ", ".join(gone.source.rpartition(":")[2] for gone in unmatched[:_UNMATCHED_APART])
            why = f"no match: {names}, …"
            table.add_row(layer, Text(f"{len(unmatched)} more"), "", Text("omitted", style="red"), Text(why))
    return table


def _why(thing: PackItem | PackOmission) -> str:
    reasons = [_reason(reason) for reason in thing.evidence]
    if isinstance(thing, PackOmission):
        reasons.insert(0, f"{thing.reason}: {thing.detail}" if thing.detail else thing.reason)
    return "; ".join(reasons)


def _reason(evidence: Evidence) -> str:
    where = f" ({evidence.path})" if evidence.path else ""
    return f"{evidence.kind} {evidence.detail}{where}"
