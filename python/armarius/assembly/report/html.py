"""A pack as one self-contained web page: budget bars, every item and omission, and why.

The page loads nothing, works from a file, follows the reader's colour scheme, and treats all
content as text.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from importlib.resources import files
from string import Template
from typing import NamedTuple

from armarius.assembly.report.account import Account
from armarius.assembly.report.asked import asked
from armarius.assembly.report.items import PackItem, PackOmission
from armarius.records import LAYERS, Evidence, LayerName

__all__ = ["Highlight", "page"]


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
    template = Template(files("armarius.assembly.report").joinpath("page.html").read_text(encoding="utf8"))
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
    """Name and source: an id alone says nothing to whoever did not give it."""
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
