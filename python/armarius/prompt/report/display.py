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

from armarius.prompt.render import PromptItem, Rendered
from armarius.prompt.report.items import Difference, PackItem, PackOmission
from armarius.requests import AssembleRequest, LayerResults
from armarius.types import LAYERS, Evidence, LayerName


class Account(Protocol):
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
    def name_of(self, source: str, /) -> str: ...  # noqa: D102


def asked(pack: Account) -> list[tuple[str, str]]:
    """What was asked, label and value: question, document with its cursor, task, model; nothing that is not there."""
    request = pack.request
    question = request.query or ("the last of the messages" if request.messages else "")
    cursor = "" if request.cursor is None else f", cursor at {request.cursor:,}"
    model = ", ".join(one for one in (request.model, request.provider) if one)
    rows = [("question", question), ("document", f"{request.document}{cursor}" if request.document else "")]
    rows += [("task", request.skill), ("model", model)]
    return [(label, value) for label, value in rows if value]


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


def _placed(rendered: Rendered) -> dict[tuple[LayerName, str], list[PromptItem]]:
    """What is in the prompt by layer and source; several items may come from one source."""
    found: dict[tuple[LayerName, str], list[PromptItem]] = {}
    for item in rendered.placed:
        found.setdefault((item.candidate.layer, item.candidate.source), []).append(item)
    return found


def _forms(items: Sequence[PromptItem]) -> list[str]:
    return [item.form for item in items]


def _changed(now: Sequence[PromptItem], before: Sequence[PromptItem]) -> bool:
    """Whether the source says something else, or the same form shows another piece of it."""
    if [item.candidate.content for item in now] != [item.candidate.content for item in before]:
        return True
    return _forms(now) == _forms(before) and [item.text for item in now] != [item.text for item in before]


class Highlight(NamedTuple):
    """A mention in the prompt: code points, half-open, and who is meant."""

    start: int
    end: int
    name: str


def page(
    pack: Account,
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
        asked=_asked(pack, when),
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
        prompt=_marked(pack.prompt, (0, len(pack.prompt)), marks),
    )


def _asked(pack: Account, when: datetime | None) -> str:
    rows = asked(pack)
    if when is not None:
        rows.append(("date", f"{when:%Y-%m-%d %H:%M}"))
    return "".join(f"<dt>{label}</dt><dd>{escape(value)}</dd>" for label, value in rows)


def _summary(pack: Account) -> str:
    about = "" if pack.counter_exact else "about "
    return (
        f"{about}{pack.token_count:,} of {pack.budget:,} tokens by {pack.counter} · {len(pack.items)} kept, "
        f"{len(pack.omitted)} omitted · stable prefix {pack.stable_prefix_hash[:12]}"
    )


def _warnings(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    return '<div class="warnings">' + "".join(f"<div>{escape(warning)}</div>" for warning in warnings) + "</div>"


def _layer(pack: Account, layer: LayerName, marks: Sequence[Highlight]) -> str:
    used, granted = pack.layers[layer].token_count, pack.granted.get(layer, 0)
    more = f", {used - granted:,} more of what was left" if used > granted else ""
    share = min(100.0, 100 * used / max(1, granted, used))
    rows = [_kept(pack, item, marks) for item in pack.items if item.layer == layer]
    rows += [_omitted(pack, gone) for gone in pack.omitted if gone.layer == layer]
    body = "".join(rows) or '<p class="faint">nothing was offered</p>'
    return (
        f'<section><header><h2>{layer}</h2><span class="faint number">{used:,} tokens, {granted:,} granted{more}</span>'
        f'</header><div class="bar"><span class="{layer}" style="width:{share:.2f}%"></span></div>{body}</section>'
    )


def _kept(pack: Account, item: PackItem, marks: Sequence[Highlight]) -> str:
    text = _marked(pack.prompt, item.span, marks)
    form = "" if item.form == "full" else f' <span class="tag">{item.form}</span>'
    return (
        f'<article data-kind="kept"><header><span>{_called(pack, item.source)}{form}</span>'
        f'<span class="faint number">{item.tokens:,} tokens · {_score(item)}</span></header>'
        f"{_why(item.evidence)}<details><summary>text</summary><pre>{text}</pre></details></article>"
    )


def _called(pack: Account, source: str) -> str:
    """Name and source: an id alone says little to a reader."""
    name = pack.name_of(source)
    return (f"<b>{escape(name)}</b> " if name else "") + f"<code>{escape(source)}</code>"


def _score(item: PackItem) -> str:
    return "always" if item.score is None else f"{item.score:.3g}"


def _omitted(pack: Account, gone: PackOmission) -> str:
    cost = f"{gone.tokens:,} tokens" if gone.tokens else ""
    detail = f" {escape(gone.detail)}" if gone.detail else ""
    aspect = f" {escape(gone.aspect)}" if gone.aspect else ""
    return (
        f'<article class="omitted" data-kind="omitted"><header><span>{_called(pack, gone.source)}{aspect}</span>'
        f'<span class="faint number">{cost}</span></header>'
        f'<span class="tag">{escape(gone.reason)}</span>{detail}{_why(gone.evidence)}</article>'
    )


def _why(evidence: Sequence[Evidence]) -> str:
    if not evidence:
        return ""
    lines = []
    for reason in evidence:
        where = f" <code>{escape(reason.path)}</code>" if reason.path else ""
        span = f" {reason.span[0]}–{reason.span[1]}" if reason.span else ""
        lines.append(f"<li><b>{escape(reason.kind)}</b> {escape(reason.detail)}{where}{span}</li>")
    return f"<ul>{''.join(lines)}</ul>"


def _marked(prompt: str, span: tuple[int, int], marks: Sequence[Highlight]) -> str:
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
                    layer,
                    _called_in_terminal(pack, item.source, item.source),
                    f"{item.tokens:,}",
                    fate,
                    _why_in_terminal(item),
                    "green",
                )
        unmatched = [gone for gone in pack.omitted if gone.layer == layer and gone.reason == "no match"]
        fold = not everything and len(unmatched) > _UNMATCHED_APART
        for gone in pack.omitted:
            if gone.layer == layer and not (fold and gone.reason == "no match"):
                label = _called_in_terminal(pack, gone.source, gone.label)
                yield _Row(
                    layer, label, f"{gone.tokens:,}" if gone.tokens else "", "omitted", _why_in_terminal(gone), "red"
                )
        if fold:
            names = ", ".join(gone.source.rpartition(":")[2] for gone in unmatched[:_UNMATCHED_APART])
            yield _Row(layer, f"{len(unmatched)} more", "", "omitted", f"no match: {names}, …", "red")


def _called_in_terminal(pack: Account, source: str, label: str) -> str:
    name = pack.name_of(source)
    return f"{label} {name}" if name else label


def _why_in_terminal(thing: PackItem | PackOmission) -> str:
    reasons = [_reason(reason) for reason in thing.evidence]
    if isinstance(thing, PackOmission):
        reasons.insert(0, f"{thing.reason}: {thing.detail}" if thing.detail else thing.reason)
    return "; ".join(reasons)


def _reason(evidence: Evidence) -> str:
    where = f" ({evidence.path})" if evidence.path else ""
    return f"{evidence.kind} {evidence.detail}{where}"
