"""Drawings as SVG: a stacked bar of tokens, a plot of appearances, a web of relations. No style, no script in them."""

import math
from collections.abc import Sequence
from urllib.parse import quote

from markupsafe import Markup

from armarius.assembly.report.pack import Pack
from armarius.codex.model import Relation
from armarius.records import LAYERS
from armarius.studio.appearances import Appearance

__all__ = ["bar", "plot", "web"]

_WIDTH = 1000
_RING = 14  # neighbours drawn at once


def bar(pack: Pack) -> Markup:
    """The layers of a prompt side by side, to the scale of its budget."""
    at, parts = 0.0, []
    room = max(1, pack.budget)
    for layer in LAYERS:
        tokens = getattr(pack.layers, layer).token_count
        wide = _WIDTH * tokens / room
        title = Markup("<title>{}: {:,}</title>").format(layer, tokens)
        parts.append(
            Markup('<rect class="{}" x="{:.2f}" y="0" width="{:.2f}" height="24">{}</rect>').format(
                layer, at, wide, title
            )
        )
        at += wide
    said = f"{pack.token_count:,} / {pack.budget:,}"
    return Markup(
        '<svg class="bar" viewBox="0 0 {} 24" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(_WIDTH, said, Markup("").join(parts))


def plot(appearances: Sequence[Appearance]) -> Markup:
    """A column for each chapter, as high as the mentions in it; each is a link."""
    if not appearances:
        return Markup("")
    most = max(1, *(one.count for one in appearances))
    wide = _WIDTH / len(appearances)
    columns = []
    for index, one in enumerate(appearances):
        high = 96 * one.count / most
        name = one.title if one.chapter is None else f"{one.chapter} {one.title}"
        columns.append(
            Markup(
                '<a href="/chapter/{}"><rect class="ground" x="{:.2f}" y="0" width="{:.2f}" height="100"/>'
                '<rect class="column" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"/><title>{}: {}</title></a>'
            ).format(
                quote(one.path),
                index * wide,
                wide,
                index * wide + wide * 0.1,
                100 - high,
                wide * 0.8,
                high,
                name,
                one.count,
            )
        )
    return Markup('<svg class="plot" viewBox="0 0 {} 100" preserveAspectRatio="none">{}</svg>').format(
        _WIDTH, Markup("").join(columns)
    )


def web(centre: str, relations: Sequence[Relation], names: dict[str, str]) -> Markup:
    """Somebody in the middle and those related to them around; each is a link, each line carries its word.

    Args:
        centre: Id of the entity.
        relations: Those that touch it.
        names: Id to name.
    """
    others = sorted({end for one in relations for end in (one.source, one.target)} - {centre})[:_RING]
    if not others:
        return Markup("")
    places = {
        other: (
            300 + 210 * math.cos(2 * math.pi * index / len(others) - math.pi / 2),
            180 + 140 * math.sin(2 * math.pi * index / len(others) - math.pi / 2),
        )
        for index, other in enumerate(others)
    }
    lines, nodes = [], [_node(centre, 300.0, 180.0, names, "centre")]
    for other, (x, y) in places.items():
        words = sorted({_said(one, centre) for one in relations if other in (one.source, one.target)})
        lines.append(
            Markup(
                '<line x1="300" y1="180" x2="{:.1f}" y2="{:.1f}"/><text class="word" x="{:.1f}" y="{:.1f}">{}</text>'
            ).format(x, y, (300 + x) / 2, (180 + y) / 2 - 3, "、".join(words))
        )
        nodes.append(_node(other, x, y, names, "other"))
    return Markup('<svg class="web" viewBox="0 0 600 360">{}{}</svg>').format(
        Markup("").join(lines), Markup("").join(nodes)
    )


def _node(entity: str, x: float, y: float, names: dict[str, str], kind: str) -> Markup:
    circle = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="26"/><text x="{:.1f}" y="{:.1f}">{}</text>').format(
        x, y, x, y + 4, names.get(entity, entity)[:12]
    )
    return Markup('<a href="/entity/{}" class="{}">{}</a>').format(quote(entity, safe=""), kind, circle)


def _said(one: Relation, centre: str) -> str:
    arrow = "→" if one.source == centre else "←"
    since = "" if one.since is None else f" {one.since}+"
    return f"{one.type}{arrow}{since}"
