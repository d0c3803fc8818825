"""What explains a name in a prompt: an id or a source, a paragraph, a document, an entity."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from armarius.assembly.escape import escape
from armarius.assembly.fit.plan import FittedPrompt, Plan
from armarius.assembly.report.items import Explanation, PackItem, PackOmission
from armarius.assembly.report.omissions import PASSAGE, unused
from armarius.assembly.report.places import Texts
from armarius.documents.segments import Paragraph
from armarius.marks import unmarked

__all__ = ["UNKNOWN", "Known", "Prompted", "explained"]

_DOCUMENT = "rag:document:"


@dataclass(frozen=True, slots=True)
class Known:
    """What names mean in the project that a prompt was made of.

    Attributes:
        named: The ids of cards and relations of what bears a name.
        paragraphs: Of a document or buffer, by path; none of what is no document.
        names: Of every entity, by its id.
    """

    named: Callable[[str], Collection[str]] = lambda _name: ()
    paragraphs: Callable[[str], Sequence[Paragraph]] = lambda _path: ()
    names: Callable[[], Mapping[str, str]] = dict


UNKNOWN: Final = Known()
"""Of a prompt that was made of no project."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """A prompt as it is explained: its items and omissions, and what they were chosen from."""

    prompt: str
    items: tuple[PackItem, ...]
    omitted: tuple[PackOmission, ...]
    plan: Plan
    fitted: FittedPrompt
    texts: Texts
    known: Known

    def shows(self, item: PackItem, path: str, paragraph: Paragraph) -> bool:
        """Whether the whole of a paragraph stands in an item."""
        if item.shows is None or item.shows[0] != path:
            return False
        if not item.shows[1] <= paragraph.start <= paragraph.end <= item.shows[2]:
            return False
        text = (self.texts(path) or "")[paragraph.start : paragraph.end].strip()
        there = unmarked(self.prompt[item.span[0] : item.span[1]])
        return bool(text) and escape(text, self.plan.admitted.groups) in there


def explained(wanted: str, pack: Prompted) -> Explanation | None:
    """Why `wanted` is in the prompt or is not; None where nothing is called so.

    Meant is what fits first: an id or a source, a paragraph (`path#n`), a document's path, an entity's id, name, alias.

    Cost: of a document one search in the items that show it for each paragraph.
    """
    named = _considered(wanted, pack, {wanted})
    return named or _paragraph(wanted, pack) or _document(wanted, pack) or _entity(wanted, pack)


def _considered(wanted: str, pack: Prompted, names: Collection[str]) -> Explanation | None:
    items = tuple(item for item in pack.items if item.id in names or item.source in names)
    omitted = tuple(gone for gone in pack.omitted if gone.id in names or gone.source in names)
    return Explanation(wanted, bool(items), items, omitted) if items or omitted else None


def _paragraph(wanted: str, pack: Prompted) -> Explanation | None:
    name = wanted.removeprefix(PASSAGE)
    path, _, number = name.rpartition("#")
    if not path or not number.isdecimal():
        return None
    own = _considered(wanted, pack, {PASSAGE + name})
    if own is not None and own.included:
        return own
    for paragraph in pack.known.paragraphs(path)[int(number) : int(number) + 1]:
        items = tuple(item for item in pack.items if pack.shows(item, path, paragraph))
        if items:
            how = "with the whole document" if items[0].source == _DOCUMENT + path else f"as part of {items[0].source}"
            return Explanation(wanted, True, items, (), f"{name} is in {how}")
    cut = any(item.source == _DOCUMENT + path and item.form == "truncated" for item in pack.items)
    omitted = tuple(
        replace(gone, reason="budget", detail="the document is in, cut before it")
        if cut and gone.reason == "duplicate"
        else gone
        for gone in unused(pack.plan, pack.fitted, name)
    )
    if not omitted and own is None and pack.known.paragraphs(path)[int(number) : int(number) + 1]:
        omitted = (_unasked(PASSAGE + name),)
    return Explanation(wanted, False, (), omitted) if omitted else own


def _document(path: str, pack: Prompted) -> Explanation | None:
    body = [one for one in pack.known.paragraphs(path) if one.role == "body"]
    if not body:
        return None
    items = tuple(item for item in pack.items if _is_of(path, item.source) or (item.shows and item.shows[0] == path))
    shown = [one.index for one in body if any(pack.shows(item, path, one) for item in items)]
    if shown:
        numbers = "" if len(shown) == len(body) else ": " + ", ".join(f"#{index}" for index in shown)
        about = f"{len(shown)} of {len(body)} paragraphs of {path} are in{numbers}"
        return Explanation(path, True, items, (), about)
    about = f"no paragraph of {path} is in whole, of {len(body)}"
    if items:
        return Explanation(path, True, items, (), about if any(item.shows for item in items) else "")
    omitted = tuple(gone for gone in pack.omitted if _is_of(path, gone.source)) or tuple(_best(path, body, pack))
    return Explanation(path, False, (), omitted, about)


def _is_of(path: str, source: str) -> bool:
    return source in (_DOCUMENT + path, f"style:{path}") or source.startswith(f"{PASSAGE}{path}#")


def _best(path: str, body: Sequence[Paragraph], pack: Prompted) -> Iterator[PackOmission]:
    """Why the paragraph that is worth most did not enter."""
    rows = [offer.row(path, one.index) for offer in pack.plan.admitted.offers for one in body]
    best = max((row for row in rows if row is not None), key=lambda row: row.score, default=None)
    if best is None:
        yield _unasked(_DOCUMENT + path)
    else:
        yield from unused(pack.plan, pack.fitted, f"{best.path}#{best.paragraph}")


def _unasked(source: str) -> PackOmission:
    return PackOmission(source, "retrieved", source, "no match", "no question asks for paragraphs")


def _entity(wanted: str, pack: Prompted) -> Explanation | None:
    names = pack.known.named(wanted)
    if not names:
        return None
    found = _considered(wanted, pack, names)
    if found is not None:
        return found
    cards = (name for name in names if name.startswith("entity:"))
    omitted = (PackOmission(one, "retrieved", one, "no match", "nothing of the request leads to it") for one in cards)
    return Explanation(wanted, False, (), tuple(omitted))
