"""What a request must hold, or must not: by id, name, path or tag of the project's things.

A target is looked for as a path, a paragraph of one, an entity by id, name or alias, a tag, and a source of the prompt
(`memory:…`, `lore:…`), in this order. Pinned cards and texts are demand like everything else of their layer, before
it; what is muted is listed as excluded, an entity with the paragraphs that describe it. A request wins over the open
document's, that over the project's.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from armarius.codex.cards import chapter_at, short_card, tidy, visible
from armarius.codex.model import Entity, Pin
from armarius.documents.document import Document
from armarius.documents.titles import as_strings
from armarius.errors import ContextWarning, ContractError, UnknownId
from armarius.headings import frame, heading
from armarius.prompt.fetchers.entities import card_of, described_by
from armarius.text.unicode import near, suggestion
from armarius.types import Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission, Wish
from armarius.warnings import PIN_UNKNOWN

__all__ = ["PinFetcher", "means", "wishes"]

_TAGS: Final = ("tags", "tag", "标签")
_SOURCES: Final = ("codex:", "constraint:", "kg:", "lore:", "memory:", "rag:", "style:", "code:")
_SCORE: Final = 10.0  # above whatever is found: what is cut is cut elsewhere
_SHOWN: Final = 1_000  # code points from the cursor that the window shows anyway


@dataclass(frozen=True, slots=True)
class _Project:
    entities: Sequence[Entity]
    documents: Mapping[str, Document]

    def keys(self, target: str) -> tuple[tuple[str, str], ...]:
        """What a target means, as (kind, key); several for a tag or a name that several bear, none for nothing."""
        path, _, number = target.rpartition("#")
        if target in self.documents:
            return (("document", target),)
        if path in self.documents and number.isdecimal() and int(number) < self.documents[path].paragraph_count:
            return (("paragraph", f"{path}#{int(number)}"),)
        ids = [one.id for one in self.entities if target == one.id]
        ids = ids or [one.id for one in self.entities if target == one.name]
        ids = ids or [one.id for one in self.entities if target in one.aliases]
        if ids:
            return tuple(("entity", id_) for id_ in ids)
        tag = target.removeprefix("#")
        tagged = [("document", one.path) for one in self.documents.values() if tag in _tags(one.front_matter)]
        tagged += [("entity", one.id) for one in self.entities if tag in _tags(one.attributes)]
        if not tagged and target.startswith(_SOURCES):
            return (("source", target),)
        return tuple(tagged)

    def known(self, target: str, where: str = "") -> tuple[tuple[str, str], ...]:
        """`keys`; raises UnknownId, which names near ones, where there are none."""
        keys = self.keys(target)
        if not keys:
            close = self._near(target)
            raise UnknownId(f"{where}nothing is called {target!r}{suggestion(close)}", close)
        return keys

    def mute_profiles(self, found: dict[tuple[str, str], Wish]) -> None:
        """Mute the paragraphs that describe muted entities and nobody else, but for those that are wished already."""
        muted = {wish.key: wish.why for wish in found.values() if wish.mute and wish.kind == "entity"}
        names = {entity.id: entity.name for entity in self.entities if entity.id in muted}
        for path, number, ids in described_by(muted, self.entities, self.documents) if muted else ():
            key = "paragraph", f"{path}#{number}"
            who = ", ".join(names[id_] for id_ in ids)
            found.setdefault(key, Wish(*key, f"{muted[ids[0]]}: it describes {who}", mute=True))

    def _near(self, target: str) -> tuple[str, ...]:
        names = [called for one in self.entities for called in (one.name, *one.aliases, one.id)]
        return near(target, [*names, *self.documents])


def wishes(
    entities: Sequence[Entity],
    documents: Mapping[str, Document],
    include: Sequence[str],
    exclude: Sequence[str],
    lasting: Iterable[Pin],
) -> tuple[tuple[Wish, ...], list[ContextWarning]]:
    """What a request pins and mutes, each thing once, and what of the lasting ones means nothing any more.

    Args:
        entities: Of the project.
        documents: By path.
        include: Pinned by the request.
        exclude: Muted by it.
        lasting: The user's, those of the open document first.

    Raises:
        UnknownId: Nothing is called what the request names; names near ones.
        ContractError: The request pins and mutes one thing.
    """
    project = _Project(entities, documents)
    found: dict[tuple[str, str], Wish] = {}
    for name, targets, mute in (("include", include, False), ("exclude", exclude, True)):
        for target in targets:
            for key in project.known(target, f"{name}: "):
                said = found.setdefault(key, Wish(*key, f"{'muted' if mute else 'pinned'} by the request", mute))
                if said.mute != mute:
                    raise ContractError(f"include and exclude: both hold {target!r}")
    project.mute_profiles(found)  # over whatever lasts
    unknown = []
    # Of one pin and one mute of the same rank the mute holds.
    for pin in sorted(lasting, key=lambda one: (not one.document, not one.mute)):
        keys = project.keys(pin.target)
        if not keys:
            unknown.append(PIN_UNKNOWN(target=pin.target, id=pin.id))
        by = "document" if pin.document else "project"
        for key in keys:
            found.setdefault(key, Wish(*key, f"{'muted' if pin.mute else 'pinned'} by the {by}", pin.mute))
    project.mute_profiles(found)
    return tuple(found.values()), unknown


def means(target: str, entities: Sequence[Entity], documents: Mapping[str, Document]) -> tuple[tuple[str, str], ...]:
    """What may be pinned or muted as `target`, as (kind, key).

    Raises:
        UnknownId: Nothing is called so; names near ones.
    """
    return _Project(entities, documents).known(target)


def _tags(fields: Mapping[str, str | tuple[str, ...]]) -> Collection[str]:
    return {tag.removeprefix("#") for key in _TAGS for tag in as_strings(fields.get(key))}


class PinFetcher:
    """The cards and texts that a request pins, as `codex:pinned:<id>`, `rag:document:<path>`, `rag:passage:<path>#<n>`.

    Args:
        entities: Of the project.
        documents: By path.
    """

    name = "pins"
    layer: LayerName = "retrieved"
    inline = True

    def __init__(self, entities: Sequence[Entity], documents: Mapping[str, Document]) -> None:
        self._entities = entities
        self._documents = documents

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """One candidate for each thing pinned, pinned in its layer; what bounds withhold is listed.

        Cost: that of the texts.
        """
        pinned = [wish for wish in request.wishes if not wish.mute]
        if not pinned:
            return Fetched()
        by_id = {entity.id: entity for entity in self._entities}
        candidates: list[Candidate] = []
        omitted: list[Omission] = []
        for wish in pinned:
            if wish.kind == "entity":
                candidates.append(_card(by_id[wish.key], wish, request))
            elif wish.kind in ("document", "paragraph"):
                found = self._text(wish, request)
                (candidates if isinstance(found, Candidate) else omitted).append(found)  # type: ignore[arg-type]
        return Fetched(tuple(candidates), tuple(omitted))

    def _text(self, wish: Wish, request: FetchRequest) -> Candidate | Omission:
        path, _, number = wish.key.rpartition("#") if wish.kind == "paragraph" else (wish.key, "", "")
        source = f"rag:passage:{wish.key}" if number else f"rag:document:{path}"
        document = self._documents[path]
        if path == request.document and not number:
            return Omission(source, "retrieved", source, "duplicate", "of the open document")
        paragraph = document.paragraphs[int(number)] if number else None
        start, end = _span(document) if paragraph is None else (paragraph.start, paragraph.end)
        chapter = chapter_at(document, paragraph) if paragraph else document.chapter
        outside = request.bounds.leaves_out(document.kind, chapter)
        if outside is not None:
            return Omission(source, "retrieved", source, *outside)
        if paragraph and path == request.document and _window_has(document.text[start:end], request):
            return Omission(source, "retrieved", source, "duplicate", "of editor:cursor-window")
        text = (visible(document, request.bounds) if request.bounds else document).text[start:end]
        text = (tidy(text) if request.bounds else text).strip()
        title = frame(request.language).passage.format(title=document.title, place=wish.key) + "\n"
        return Candidate(
            id=source,
            layer="retrieved",
            source=source,
            content=title + text if text else "",
            score=_SCORE,
            evidence=(Evidence("pin", wish.why, path, (start, end)),),
            group=heading("passages", request.language),
            pinned=True,
            keep="head",
            documents=(path,),
            project_id=request.project_id,
        )


def _span(document: Document) -> tuple[int, int]:
    """Without its front matter."""
    body = (one.start for one in document.paragraphs if one.role != "front_matter")
    return next(body, 0), len(document.text)


def _window_has(text: str, request: FetchRequest) -> bool:
    around = request.text[max(0, request.cursor - _SHOWN) : request.cursor + _SHOWN]
    return text.strip() in around


def _card(entity: Entity, wish: Wish, request: FetchRequest) -> Candidate:
    return Candidate(
        id=f"entity:{entity.id}",
        layer="retrieved",
        source=f"codex:pinned:{entity.id}",
        content=card_of(entity, request),
        score=_SCORE,
        evidence=(Evidence("pin", wish.why),),
        group=heading("detected", request.language),
        short=short_card(entity, request.language),
        pinned=True,
        documents=tuple(dict.fromkeys(origin.path for origin in entity.origins)),
        project_id=request.project_id,
    )
