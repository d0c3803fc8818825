"""Displays of a pack: HTML for a notebook, tables and bars for a terminal, the difference between two prompts."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from importlib.resources import files
from string import Template
from typing import NamedTuple, Protocol

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from armarius.prompt.report.items import PackItem, PackOmission
from armarius.requests import AssembleRequest, LayerResults
from armarius.types import LAYERS, LayerName, preview


class Shown(Protocol):
    """The part of `Pack` that terminal and page show; what each is, `Pack` says."""

    @property
    def request(self) -> AssembleRequest: ...  # noqa: D102
    @property
    def prompt(self) -> str: ...  # noqa: D102
    @property
    def token_count(self) -> int: ...  # noqa: D102
    @property
    def budget(self) -> int: ...  # noqa: D102
    @property
    def counter(self) -> str: ...  # noqa: D102
    @property
    def counter_exact(self) -> bool: ...  # noqa: D102
    @property
    def stable_prefix_hash(self) -> str: ...  # noqa: D102
    @property
    def layers(self) -> LayerResults: ...  # noqa: D102
    @property
    def granted(self) -> Mapping[LayerName, int]: ...  # noqa: D102
    @property
    def items(self) -> tuple[PackItem, ...]: ...  # noqa: D102
    @property
    def omitted(self) -> tuple[PackOmission, ...]: ...  # noqa: D102
    @property
    def warnings(self) -> tuple[str, ...]: ...  # noqa: D102


def request_rows(pack: Shown) -> list[tuple[str, str]]:
    """What was asked, label and value: question, document with its cursor, task, model; nothing that is not there."""
    request = pack.request
    question = request.query or ("the last of the messages" if request.messages else "")
    cursor = "" if request.cursor is None else f", cursor at {request.cursor:,}"
    model = ", ".join(name for name in (request.model, request.provider) if name)
    rows = [("question", question), ("document", f"{request.document}{cursor}" if request.document else "")]
    rows += [("task", request.skill), ("model", model)]
    return [(label, value) for label, value in rows if value]


class Highlight(NamedTuple):
    """A mention in the prompt: code points, half-open, and who is meant."""

    start: int
    end: int
    name: str


def page(
    pack: Shown,
    *,
    highlights: Iterable[Highlight] = (),
    title: str = "Armarius context report",
    when: datetime | None = None,
) -> str:
    """The report as HTML.

    Args:
        pack: What was assembled.
        highlights: Mentions to mark, spans into `pack.prompt`; overlapping ones are dropped.
        title: Heading of the page.
        when: The moment that the page names; None names none.

    Returns:
        One HTML document in UTF-8, complete in itself.

    Cost: linear in the prompt.
    """
    marks = sorted(highlights)
    room = max(1, pack.budget)
    template = Template(files("armarius.prompt.report").joinpath("page.html").read_text(encoding="utf8"))
    return template.substitute(
        title=escape(title),
        summary=escape(_summary(pack)),
        asked=_request_html(pack, when),
        bar="".join(
            f'<span class="{layer}" style="width:{100 * pack.layers[layer].token_count / room:.2f}%"></span>'
            for layer in LAYERS
        ),
        legend="".join(
            f'<span><i class="{layer}"></i>{layer} {pack.layers[layer].token_count:,}</span>' for layer in LAYERS
        ),
        warnings=_warnings(pack.warnings),
        considered=len(pack.items) + len(pack.omitted),
        kept=len(pack.items),
        gone=len(pack.omitted),
        layers="\n".join(_layer(pack, layer, marks) for layer in LAYERS),
        prompt=_highlight_html(pack.prompt, (0, len(pack.prompt)), marks),
    )


def _request_html(pack: Shown, when: datetime | None) -> str:
    rows = request_rows(pack)
    if when is not None:
        rows.append(("date", f"{when:%Y-%m-%d %H:%M}"))
    return "".join(f"<dt>{label}</dt><dd>{escape(value)}</dd>" for label, value in rows)


def _summary(pack: Shown) -> str:
    about = "" if pack.counter_exact else "about "
    return (
        f"{about}{pack.token_count:,} of {pack.budget:,} tokens by {pack.counter} · {len(pack.items)} kept, "
        f"{len(pack.omitted)} omitted · stable prefix {pack.stable_prefix_hash[:12]}"
    )


def _warnings(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    return '<div class="warnings">' + "".join(f"<div>{escape(warning)}</div>" for warning in warnings) + "</div>"


def _layer(pack: Shown, layer: LayerName, marks: Sequence[Highlight]) -> str:
    used, granted = pack.layers[layer].token_count, pack.granted.get(layer, 0)
    more = f", {used - granted:,} more of what was left" if used > granted else ""
    share = min(100.0, 100 * used / max(1, granted, used))
    rows = [_item_html(pack, item, marks) for item in pack.items if item.layer == layer]
    rows += [_omission_html(gone) for gone in pack.omitted if gone.layer == layer]
    body = "".join(rows) or '<p class="faint">nothing was offered</p>'
    return (
        f'<section><header><h2>{layer}</h2><span class="faint number">{used:,} tokens, {granted:,} granted{more}</span>'
        f'</header><div class="bar"><span class="{layer}" style="width:{share:.2f}%"></span></div>{body}</section>'
    )


def _item_html(pack: Shown, item: PackItem, marks: Sequence[Highlight]) -> str:
    text = _highlight_html(pack.prompt, item.span, marks)
    form = "" if item.form == "full" else f' <span class="tag">{item.form}</span>'
    return (
        f'<article data-kind="kept"><header><span>{_title_html(item)}{form}</span>'
        f'<span class="faint number">{item.tokens:,} tokens</span></header><div>{escape(item.reason)}</div>'
        f"<details><summary>text</summary><pre>{text}</pre></details></article>"
    )


def _title_html(item: PackItem | PackOmission) -> str:
    return f"<b>{escape(item.title)}</b> <code>{escape(item.id)}</code>"


def _omission_html(gone: PackOmission) -> str:
    cost = f"{gone.tokens:,} tokens" if gone.tokens else ""
    return (
        f'<article class="omitted" data-kind="omitted"><header><span>{_title_html(gone)}</span>'
        f'<span class="faint number">{cost}</span></header>'
        f'<span class="tag">{escape(gone.code)}</span> {escape(gone.reason)}</article>'
    )


def _highlight_html(prompt: str, span: tuple[int, int], marks: Sequence[Highlight]) -> str:
    start, end = span
    pieces, at = [], start
    for mark in marks[bisect_left(marks, (start,)) :]:
        if mark.start >= end:
            break
        if mark.start < at or mark.end > end:
            continue
        pieces.append(escape(prompt[at : mark.start]))
        pieces.append(f'<mark title="{escape(mark.name)}">{escape(prompt[mark.start : mark.end])}</mark>')
        at = mark.end
    pieces.append(escape(prompt[at:end]))
    return "".join(pieces)


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
    title: str
    id: str
    tokens: str
    fate: str
    why: str
    colour: str


def overview(pack: Shown, *, everything: bool = False) -> RenderableType:
    """Everything about a pack but its text: bars, items, omissions, warnings.

    Args:
        pack: What was assembled.
        everything: A row also for each thing that did not match; otherwise those of a layer share one row.
    """
    head = Text("\n".join(f"{label}: {preview(value, _SAID)}" for label, value in request_rows(pack)), style="dim")
    parts: list[RenderableType] = [*([head] if head else []), bars(pack), _Items(pack, everything)]
    if pack.warnings:
        parts.append(Text("\n".join(f"! {warning}" for warning in pack.warnings), style="red"))
    return Group(*parts)


def bars(pack: Shown) -> Table:
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
        table.add_row(layer, f"{used:,}", f"{granted:,}{more}", _budget_bar(used, room, _COLOURS[layer]))
    about = "" if pack.counter_exact else "≈"
    table.add_row(
        "prompt",
        f"{about}{pack.token_count:,}",
        f"{pack.budget:,}",
        _budget_bar(pack.token_count, room, "white"),
        style="bold",
    )
    return table


def _budget_bar(used: int, room: int, colour: str) -> Text:
    cells = min(_BAR_CELLS, round(_BAR_CELLS * used / room)) or (1 if used else 0)
    bar = Text("█" * cells, style=colour)
    bar.append("·" * (_BAR_CELLS - cells), style="dim")
    bar.append(f" {100 * used / room:.0f}%")
    return bar


class _Items:
    """Every item and omission: a row each where there is room for one, else a line and, below it, the reason."""

    def __init__(self, pack: Shown, everything: bool) -> None:
        self._rows = list(_rows(pack, everything))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._table() if options.max_width >= _ROOM_FOR_ROWS else self._lines()

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column("layer", no_wrap=True)
        table.add_column("what", overflow="fold", ratio=3)
        table.add_column("tokens", justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        table.add_column("why", overflow="fold", ratio=4)
        for row in self._rows:
            fate = Text(row.fate, style=row.colour)
            table.add_row(row.layer, _row_title(row), row.tokens, fate, Text(row.why))
        return table

    def _lines(self) -> Group:
        lines: list[RenderableType] = [Text("layer      what, tokens, and why", style="bold")]
        for row in self._rows:
            cost = f"{row.tokens} " if row.tokens else ""
            line = Text(f"{row.layer:<10} ").append(_row_title(row)).append(f" {cost}")
            lines.append(line.append(row.fate, style=row.colour))
            if row.why:
                lines.append(Padding(Text(row.why), (0, 0, 0, 11)))
        return Group(*lines)


def _row_title(row: _Row) -> Text:
    return Text(row.title).append(f" {row.id}" * (row.id != row.title), style="dim")


def _rows(pack: Shown, everything: bool) -> Iterator[_Row]:
    ids = {item.id for item in pack.items}
    for layer in LAYERS:
        for item in pack.items:
            if item.layer == layer:
                fate = "kept" if item.form == "full" else item.form
                yield _Row(layer, item.title, item.id, f"{item.tokens:,}", fate, item.reason, "green")
        gone = [omission for omission in pack.omitted if omission.layer == layer]
        gone = [omission for omission in gone if everything or omission.code != "duplicate" or omission.id not in ids]
        unmatched = [omission for omission in gone if omission.code == "no match"]
        fold = not everything and len(unmatched) > _UNMATCHED_APART
        for omission in gone:
            if not (fold and omission.code == "no match"):
                tokens = f"{omission.tokens:,}" if omission.tokens else ""
                yield _Row(layer, omission.title, omission.id, tokens, "omitted", omission.reason, "red")
        if fold:
            names = ", ".join(omission.title for omission in unmatched[:_UNMATCHED_APART])
            yield _Row(layer, f"{len(unmatched)} more", "", "", "omitted", f"no match: {names}, …", "red")
