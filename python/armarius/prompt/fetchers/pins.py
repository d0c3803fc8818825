"""What a request must hold, or must not: by id, name, path or tag of the project's things.

A target is looked for as a path, a paragraph of one, an entity by id, name or alias, a tag, and a source of the prompt
(`memory:…`, `lore:…`), in this order; a name of several entities is refused, and one that was pinned before means them
all. Pinned cards and texts are demand like everything else of their layer, before it; what is muted is listed as
excluded, an entity with its relations and with the texts that tell of it alone. A request wins over the document's that
is open, that over the project's. Levels are mutes: `never` over everything, `manual_only` below everything, unless the
query names the entity.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from armarius.arguments import Hidden
from armarius.codex.cards import chapter_at, drop_blanks, visible
from armarius.codex.model import Codex, Entity, NameIndex, Pin, Relation, ambiguous_name
from armarius.documents.document import Document
from armarius.documents.titles import as_strings
from armarius.errors import ContextWarning, ContractError, UnknownId
from armarius.headings import HEADINGS, Reason, frame
from armarius.prompt.fetchers.entities import About, card_candidate, hidden_spans, relation_source
from armarius.prompt.fetchers.layers import withheld_facts
from armarius.types import DOCUMENT, PASSAGE, Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission, Wish
from armarius.validation import near, shown, suggestion
from armarius.warnings import PIN_UNKNOWN

_TAGS: Final = ("tags", "tag", "标签")
_SOURCES: Final = ("codex:", "constraint:", "kg:", "lore:", "memory:", "rag:", "style:", "code:")
_SCORE: Final = 10.0  # above all that is found, so that others are cut first
_ASKED: Final = 1.0  # like an entity that the query names
_SHOWN: Final = 1_000  # code points from the cursor that the window shows anyway


@dataclass(frozen=True, slots=True)
class _Project:
    who: NameIndex
    documents: Mapping[str, Document]
    relations: Sequence[Relation] = ()
    described: Callable[[], Mapping[str, Sequence[About]]] = dict

    @property
    def entities(self) -> tuple[Entity, ...]:
        return tuple(self.who.entities.values())

    def keys(self, target: str) -> tuple[tuple[str, str], ...]:
        """What a target means, as (kind, key); several for a tag or a name that several bear, none for nothing."""
        path, _, number = target.rpartition("#")
        if target in self.documents:
            return (("document", target),)
        if path in self.documents and number.isdecimal() and int(number) < self.documents[path].paragraph_count:
            return (("paragraph", f"{path}#{int(number)}"),)
        if ids := self.who.meant(target.removeprefix("entity:")):
            return tuple(("entity", id_) for id_ in ids)
        tag = target.removeprefix("#")
        tagged = [("document", doc.path) for doc in self.documents.values() if tag in _tags(doc.front_matter)]
        tagged += [("entity", entity.id) for entity in self.entities if tag in _tags(entity.attributes)]
        if not tagged and target.startswith(_SOURCES):
            return (("source", target),)
        return tuple(tagged)

    def known(self, target: str, where: str = "") -> tuple[tuple[str, str], ...]:
        """`keys`; raises UnknownId where there are none, or where several entities bear a name."""
        keys = self.keys(target)
        ids = [key for kind, key in keys if kind == "entity"]
        if len(ids) > 1 and ids == list(self.who.meant(target)):
            raise ambiguous_name(target, ids, where)
        if not keys:
            close = self._near_names(target)
            raise UnknownId(f"{where}nothing is called {shown(target)}{suggestion(close)}", close)
        return keys

    def mute_along(self, by_key: dict[tuple[str, str], Wish], before: int = 0) -> int:
        """Mute what tells of muted entities and nobody else, and their relations, but for what is wished already.

        Returns:
            How many entities are muted; while there are as many as `before`, nothing is left to do.
        """
        muted = {wish.key: wish for wish in by_key.values() if wish.mute and wish.kind == "entity"} if by_key else {}
        if len(muted) == before:
            return before
        ids_of = frozenset(muted)
        names = {entity.id: entity.name for entity in self.entities if entity.id in muted}
        for path, abouts in sorted(self.described().items()):
            for about in abouts:
                if about.whole and about.ids <= ids_of:
                    key = "paragraph", f"{path}#{about.paragraph}"
                    ids = sorted(about.ids)
                    by = muted[ids[0]]
                    who = [names[id_] for id_ in ids]
                    why = Reason("mute.describes", by=by.why, names=who)
                    by_key.setdefault(key, Wish(*key, why, True, by.reason))
        for relation in self.relations:
            by_end = muted.get(relation.source) or muted.get(relation.target)
            if by_end is not None:
                key = "source", relation_source(relation)
                why = Reason("mute.relation", by=by_end.why, name=names[by_end.key])
                by_key.setdefault(key, Wish(*key, why, True, by_end.reason))
        return len(muted)

    def _near_names(self, target: str) -> tuple[str, ...]:
        names = [called for entity in self.entities for called in (entity.name, *entity.aliases, entity.id)]
        return near(target, [*names, *self.documents])


def wishes(
    codex: Codex,
    who: NameIndex,
    documents: Mapping[str, Document],
    include: Sequence[str],
    exclude: Sequence[str],
    lasting: Collection[Pin],
    *,
    named: Collection[str] = (),
    described: Callable[[], Mapping[str, Sequence[About]]] = dict,
) -> tuple[tuple[Wish, ...], Hidden, list[ContextWarning]]:
    """What a request pins and mutes, each thing once, what documents say of the muted alone, and what is wrong.

    Args:
        codex: Of the project.
        who: Its entities, by their names.
        documents: By path.
        include: Pinned by the request.
        exclude: Muted by it.
        lasting: The user's, those of the open document first.
        named: Ids of entities that the query names.
        described: Descriptions of entities in documents, by path; read when an entity is muted.

    Raises:
        UnknownId: Nothing is called what the request names, or several entities are.
        ContractError: The request pins and mutes one thing.
    """
    project = _Project(who, documents, codex.relations, described)
    never = [entity.id for entity in codex.entities if entity.level == "never"]
    by_key = {("entity", id_): Wish("entity", id_, Reason("level.never"), True, "level") for id_ in never}
    many = project.mute_along(by_key) if by_key else 0  # wins over any pin
    for name, targets, mute in (("include", include, False), ("exclude", exclude, True)):
        for target in targets:
            for key in project.known(target, f"{name}: "):
                wish = Wish(*key, Reason("mute.request" if mute else "pin.request"), mute)
                entry = by_key.setdefault(key, wish)
                if entry.reason == "level":
                    _refuse(by_key, wish)
                elif entry.mute != mute:
                    raise ContractError(f"include and exclude: both hold {target!r}")
    many = project.mute_along(by_key, many) if exclude else many  # overrides lasting pins and mutes
    unknown = []
    # Of one pin and one mute of the same rank the mute holds.
    for pin in sorted(lasting, key=lambda pin: (not pin.document, not pin.mute)):
        keys = project.keys(pin.target)
        if not keys:
            unknown.append(PIN_UNKNOWN(target=pin.target, id=pin.id))
        by = "document" if pin.document else "project"
        for key in keys:
            wish = Wish(*key, Reason(f"{'mute' if pin.mute else 'pin'}.{by}"), pin.mute)
            if by_key.setdefault(key, wish).reason == "level":
                _refuse(by_key, wish)
    many = project.mute_along(by_key, many) if lasting else many
    for entity in codex.entities:
        if entity.level != "manual_only" or ("entity", entity.id) in by_key:
            continue
        if entity.id in named:
            by_key["asked", entity.id] = Wish("asked", entity.id, Reason("mention.named", name=entity.name))
        else:
            by_key["entity", entity.id] = Wish("entity", entity.id, Reason("level.manual_only"), True, "level")
    project.mute_along(by_key, many)
    muted = {wish.key for wish in by_key.values() if wish.mute and wish.kind == "entity"}
    pins = {wish.key for wish in by_key.values() if not wish.mute and wish.kind == "paragraph"}
    return tuple(by_key.values()), hidden_spans(described(), muted, never, pins) if muted else (), unknown


def _refuse(by_key: dict[tuple[str, str], Wish], wish: Wish) -> None:
    """Say that what is pinned stays out, because its level is `never`."""
    if wish.kind == "entity" and not wish.mute:
        key = "asked", wish.key
        by_key.setdefault(key, Wish(*key, Reason("level.though", by=wish.why), True, "level"))


def same_target(
    target: str, others: Iterable[str], who: NameIndex, documents: Mapping[str, Document], *, ready: bool
) -> str | None:
    """Which of `others` means what `target` means; None for none of them.

    Args:
        target: To be pinned or muted.
        others: That are.
        who: The entities of the project.
        documents: By path.
        ready: Whether both are complete.

    Raises:
        UnknownId: `target` is the name of several entities, or of nothing, and what there is is complete.
    """
    project = _Project(who, documents)
    keys = project.known(target) if ready else project.keys(target)
    return next((other for other in others if keys and project.keys(other) == keys), None)


def _tags(fields: Mapping[str, str | tuple[str, ...]]) -> Collection[str]:
    return {tag.removeprefix("#") for key in _TAGS for tag in as_strings(fields.get(key))}


class PinFetcher:
    """The cards and texts that a request pins, as `codex:pinned:<id>`, `rag:document:<path>`, `rag:passage:<path>#<n>`.

    Also the cards of those at `manual_only` that the query names, as `codex:asked:<id>`.

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
        pinned = [wish for wish in request.wishes if not wish.mute or wish.kind == "asked"]
        if not pinned:
            return Fetched()
        by_id = {entity.id: entity for entity in self._entities}
        candidates: list[Candidate] = []
        omitted: list[Omission] = []
        for wish in pinned:
            if wish.kind == "entity":
                candidates.append(_card(by_id[wish.key], wish, request))
            elif wish.mute:
                source = f"codex:pinned:{wish.key}"
                omitted.append(Omission(f"entity:{wish.key}", "retrieved", source, wish.reason, wish.why))
            elif wish.kind == "asked":
                candidates.append(_card(by_id[wish.key], wish, request))
                omitted += withheld_facts(by_id[wish.key], f"codex:asked:{wish.key}", "retrieved", request)
            elif wish.kind in ("document", "paragraph"):
                result = self._text(wish, request)
                (candidates if isinstance(result, Candidate) else omitted).append(result)  # type: ignore[arg-type]
        return Fetched(tuple(candidates), tuple(omitted))

    def _text(self, wish: Wish, request: FetchRequest) -> Candidate | Omission:
        path, _, number = wish.key.rpartition("#") if wish.kind == "paragraph" else (wish.key, "", "")
        source = PASSAGE + wish.key if number else DOCUMENT + path
        document = self._documents[path]
        if path == request.document and not number:
            return Omission(source, "retrieved", source, "duplicate", Reason("out.document"))
        paragraph = document.paragraphs[int(number)] if number else None
        start, end = _span(document) if paragraph is None else (paragraph.start, paragraph.end)
        chapter = chapter_at(document, paragraph) if paragraph else document.chapter
        outside = request.bounds.leaves_out(document.kind, chapter)
        if outside is not None:
            return Omission(source, "retrieved", source, *outside)
        if paragraph and path == request.document and _window_has(document.text[start:end], request):
            return Omission(source, "retrieved", source, "duplicate", Reason("out.document"))
        text = (visible(document, request.bounds) if request.bounds else document).text[start:end]
        text = (drop_blanks(text) if request.bounds else text).strip()
        title = frame(request.language).passage.format(title=document.title, place=wish.key) + "\n"
        return Candidate(
            id=source,
            layer="retrieved",
            source=source,
            content=title + text if text else "",
            score=_SCORE,
            evidence=(Evidence("pin", wish.why, path, (start, end)),),
            group=HEADINGS[request.language]["passages"],
            pinned=True,
            keep="head",
            documents=(path,),
            project_id=request.project_id,
        )


def _span(document: Document) -> tuple[int, int]:
    """Without its front matter."""
    body = (part.start for part in document.paragraphs if part.role != "front_matter")
    return next(body, 0), len(document.text)


def _window_has(text: str, request: FetchRequest) -> bool:
    around = request.text[max(0, request.cursor - _SHOWN) : request.cursor + _SHOWN]
    return text.strip() in around


def _card(entity: Entity, wish: Wish, request: FetchRequest) -> Candidate:
    in_query = wish.kind == "asked"
    source, score = f"codex:{'asked' if in_query else 'pinned'}:{entity.id}", _ASKED if in_query else _SCORE
    why = Evidence("mention" if in_query else "pin", wish.why)
    return card_candidate(entity, request, source, score, (why,), pinned=not in_query)
