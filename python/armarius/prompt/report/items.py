"""Items and omissions of a pack with titles and reasons; why a thing is in or out."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from armarius.codex.cards import one_line
from armarius.codex.model import Entity
from armarius.documents.document import Document
from armarius.documents.segments import Paragraph
from armarius.headings import DEFAULT_LANGUAGE, Language, Reason, kind_name, say, sentence
from armarius.prompt.admit import QUERY_SOURCE, escape, strip_marks
from armarius.prompt.allocate import FittedPrompt
from armarius.prompt.pack import cards_of, covering_card
from armarius.prompt.render import Form, PromptItem, Texts, shown_span
from armarius.search.passages import title_of
from armarius.types import (
    DOCUMENT,
    LAYERS,
    PASSAGE,
    STORY,
    THREAD,
    WINDOW,
    Candidate,
    Evidence,
    LayerName,
    OmitReason,
    PassageRow,
    PassageStream,
)


def score_of(candidate: Candidate) -> float | None:
    """The score that ranked a candidate; None for the query, which is in every prompt and competes with nothing."""
    return None if candidate.source == QUERY_SOURCE else candidate.score


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """Something that was considered for a prompt, as a reader sees it.

    Attributes:
        id: Of the thing, wherever it comes from: `entity:<id>`, a path, `path#n` for a paragraph, else of its source.
            `why`, `include` and `exclude` take it; several rows may be of one thing.
        layer: Where it stands, or would stand.
        source: Which fetcher offers what: `codex:detected:lin-mo`.
        title: Its name: 铜怀表; 第三章 雨夜 ¶3.
        reason: Why it is in or out, a sentence in the language of the prompt.
        tokens: What it costs, or would have cost, the line breaks after it included; 0 where that is not known.
        score: Against others of its layer; None for the query, which is always in.
        evidence: All that speaks for it, with codes; the reason of an item says the first three.
        path: The file to open; "" for what is in none.
        paragraph: Which paragraph of it, where one is meant.
    """

    id: str
    layer: LayerName
    source: str
    title: str
    reason: str
    tokens: int = 0
    score: float | None = 0.0
    evidence: tuple[Evidence, ...] = ()
    path: str = ""
    paragraph: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PackItem(Considered):
    """Something that is in the prompt.

    Attributes:
        form: `full`, `short`, or `truncated`.
        span: Where its text stands in the prompt, code points, half-open.
        part: Which code points of its content were kept when truncated.
        shows: Path and code points of the document or buffer that it shows word for word; None for what is no stretch
            of a document, such as a card.
    """

    form: Form
    span: tuple[int, int]
    part: tuple[int, int] | None = None
    group: str = ""
    documents: tuple[str, ...] = ()
    shows: tuple[str, int, int] | None = None

    @property
    def code(self) -> str:
        """Code of the first evidence, e.g. `mention.cursor`; its kind if a host gave it; "offered" without evidence."""
        if not self.evidence:
            return "offered"
        detail = self.evidence[0].detail
        return detail.code if isinstance(detail, Reason) else self.evidence[0].kind


@dataclass(frozen=True, slots=True, kw_only=True)
class PackOmission(Considered):
    """Something that was considered and is not in the prompt.

    Attributes:
        code: One of the closed list: `budget`, `level`, `timeline`, `no match`, …
        detail: The reason in English; a `Reason`, with a code of its own, unless a host's fetcher gave it.
        span: None: it stands nowhere.
    """

    code: OmitReason
    detail: str = ""
    span: None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why something is in the prompt or is not, in the language of the prompt; `str()` says all of it.

    Attributes:
        id: Of what was asked for.
        title: Its name.
        included: Whether it is in, at least in part.
        reason: Why, in a sentence.
        change: What would change it.
        items: What of it is in.
        omitted: What of it is not.
    """

    id: str
    title: str
    included: bool
    reason: str
    change: str
    items: tuple[PackItem, ...]
    omitted: tuple[PackOmission, ...]
    language: Language = DEFAULT_LANGUAGE

    def __str__(self) -> str:
        head = say(Reason("why.in" if self.included else "why.out", title=self.title), self.language)
        first = say(Reason("why.said", title=head, reason=self.reason), self.language)
        rest: tuple[Considered, ...] = (*self.items, *self.omitted)
        others = dict.fromkeys(
            say(Reason("why.said", title=item.title, reason=item.reason), self.language)
            for item in (rest if len(rest) <= _LISTED else ())
            if item.reason != self.reason
        )
        return "\n".join([first, *others, *([self.change] if self.change else [])])


@dataclass(frozen=True, slots=True)
class SourceCatalog:
    """What names mean in the project that a prompt was made of.

    Attributes:
        named: The ids of cards and relations of what bears a name.
        document: The document of a path, the buffer for the open one; None for anything else.
        entities: Of the project, by id.
    """

    named: Callable[[str], Collection[str]] = lambda _name: ()
    document: Callable[[str], Document | None] = lambda _path: None
    entities: Callable[[], Mapping[str, Entity]] = dict


UNKNOWN: Final = SourceCatalog()
"""Of a prompt that was made of no project."""

ROWS = "rag:passages"
"""The one omission that stands for every paragraph on offer that did not enter."""
_TITLE = 40  # code points of a text that serves as a title
_LISTED = 5  # parts that an explanation says one by one
_AGAIN = (1.25, 1.5, 2, 3, 4, 8)  # budgets that are tried for what did not fit


def source_id(id_: str, source: str) -> str:
    """The id of what a source is about."""
    for prefix, kept in ((PASSAGE, ""), (DOCUMENT, ""), ("style:", ""), (THREAD, "entity:")):
        if source.startswith(prefix):
            return kept + source.removeprefix(prefix)
    return id_


class Account:
    """The items and omissions of a prompt, made for readers.

    Args:
        fitted: The prompt.
        texts: What it was made from.
        known: What names mean there.
        language: Of titles and reasons.
    """

    def __init__(self, fitted: FittedPrompt, texts: Texts, known: SourceCatalog, language: Language) -> None:
        self._fitted, self._texts, self.known, self.language = fitted, texts, known, language
        self._groups = fitted.admitted.groups

    @cached_property
    def _entities(self) -> Mapping[str, Entity]:
        return self.known.entities()

    @cached_property
    def shown(self) -> list[tuple[str, int, int] | None]:
        """Of each item what it shows, in prompt order. Cost: a look-up for each."""
        return [shown_span(item, self._texts, self._groups) for item in self._fitted.items]

    @cached_property
    def items(self) -> tuple[PackItem, ...]:
        """What is in, in prompt order. Cost: of each paragraph one look for the words of the question."""
        rendered = self._fitted.rendered
        tokens = self._fitted.demand.counter.sections([item.text for item in rendered.placed])
        return tuple(map(self._item, rendered.placed, rendered.spans, tokens, self.shown))

    def _item(
        self, item: PromptItem, span: tuple[int, int], tokens: int, shows: tuple[str, int, int] | None
    ) -> PackItem:
        entry = item.candidate
        evidence = self._evidence(item)
        path, paragraph = self._place(entry.source, entry.id, entry.documents, shows)
        return PackItem(
            id=source_id(entry.id, entry.source),
            layer=entry.layer,
            source=entry.source,
            title=self.title(entry.source, entry.id, entry.content, path, None if shows is None else shows[1]),
            reason=sentence([w.detail for w in evidence] or [Reason("offered", source=entry.source)], self.language),
            score=score_of(entry),
            tokens=tokens,
            evidence=evidence,
            form=item.form,
            span=span,
            path=path,
            paragraph=paragraph,
            part=item.part,
            group=entry.group,
            documents=entry.documents,
            shows=shows,
        )

    def _evidence(self, item: PromptItem) -> tuple[Evidence, ...]:
        """That of the item; of a paragraph that filled room all that speaks for it."""
        path, _, number = item.candidate.source.removeprefix(PASSAGE).rpartition("#")
        if item.fills and number.isdecimal() and item.candidate.source.startswith(PASSAGE):
            for offer in self._fitted.admitted.offers:
                if (row := offer.row(path, int(number))) is not None:
                    why = item.candidate.evidence[0].detail
                    return offer.explain(row._replace(plain=getattr(why, "code", "") == "words.plain"))
        return item.candidate.evidence

    def omission(
        self,
        id_: str,
        layer: LayerName,
        source: str,
        code: OmitReason,
        detail: str = "",
        aspect: str = "",
        *,
        candidate: Candidate | None = None,
        evidence: tuple[Evidence, ...] = (),
        tokens: int = 0,
        score: float | None = 0.0,
    ) -> PackOmission:
        """One thing that stayed out, for readers."""
        generic = Reason(f"omit.{code}")
        if isinstance(detail, Reason) and "source" in detail.parts:
            twin = detail.parts["source"]
            detail = Reason(detail.code, **{**detail.parts, "source": self.title(twin, twin)})
        message = detail if isinstance(detail, Reason) else Reason("omit.detail", reason=generic, detail=detail)
        content, documents = ("", ()) if candidate is None else (candidate.content, candidate.documents)
        path, paragraph = self._place(source, id_, documents)
        title = self.title(source, id_, content, path)
        return PackOmission(
            id=source_id(id_, source) if not aspect or id_.startswith("entity:") else id_,
            layer=layer,
            source=source,
            title=say(Reason("title.part", title=title, part=aspect), self.language) if aspect else title,
            code=code,
            reason=say(message if detail else generic, self.language),
            detail=detail,
            tokens=tokens,
            score=score,
            evidence=evidence,
            path=path,
            paragraph=paragraph,
        )

    @cached_property
    def omitted(self) -> tuple[PackOmission, ...]:
        """What stayed out: first what was wanted, then what is in under another source, then what nobody mentioned.

        An entity stands here once for one reason, and not at all while it is in.
        """
        fitted = self._fitted
        placed = {source_id(item.candidate.id, item.candidate.source) for item in fitted.items}
        there = {id_ for id_ in placed if id_.startswith("entity:")}
        admitted = sorted(fitted.admitted.omitted, key=lambda omission: omission.detail)
        rows = [
            self.omission(o.id, o.layer, o.source, o.reason, o.detail, o.aspect)
            for o in admitted
            if source_id(o.id, o.source) not in there
        ]
        for item, tokens in fitted.omitted:
            if source_id(item.id, item.source) in there:
                continue
            detail = Reason("out.tokens", tokens=tokens)
            more: dict[str, Any] = {"candidate": item, "evidence": item.evidence, "tokens": tokens}
            rows.append(self.omission(item.id, item.layer, item.source, "budget", detail, **more, score=score_of(item)))
        unused = sum(1 for offer in fitted.admitted.offers for _ in offer.rows) - fitted.entered
        if unused > 0:
            rest = Reason("out.rest" if fitted.line >= 0.001 else "out.rest_weak", count=unused)
            rows.append(self.omission(ROWS, "retrieved", ROWS, "budget", rest))
        last = ("duplicate", "no match")
        rows.sort(key=lambda o: (last.index(o.code) + 1 if o.code in last else 0,
                                  LAYERS.index(o.layer), o.source, o.id, o.code))  # fmt: skip
        once = {(o.id, o.code, o.reason) if o.id.startswith("entity:") else id(o): o for o in reversed(rows)}
        return tuple(reversed(once.values()))

    def _place(
        self, source: str, id_: str, documents: Sequence[str], shows: tuple[str, int, int] | None = None
    ) -> tuple[str, int | None]:
        """The file to open, and which paragraph of it."""
        if source.startswith(PASSAGE):
            path, _, number = source.split(":", 2)[2].rpartition("#")
            return path, int(number) if number.isdecimal() else None
        if shows is not None:
            document = self.known.document(shows[0])
            paragraphs = () if document is None else document.paragraphs
            at = next((part.index for part in paragraphs if part.start <= shows[1] < part.end), None)
            return shows[0], None if source.startswith(DOCUMENT) else at
        if documents:
            return documents[0], None
        entity = self._entities.get(source_id(id_, source).removeprefix("entity:").partition("#")[0])
        if entity is not None and entity.origins:
            return entity.origins[0].path, None
        rest = source.removeprefix(DOCUMENT).removeprefix("style:")
        return (rest, None) if self.known.document(rest) is not None else ("", None)

    def title(self, source: str, id_: str, content: str = "", path: str = "", start: int | None = None) -> str:
        """What a reader calls the thing of a source, of a document what it shows from `start` on."""
        rest = source.rpartition(":")[2]
        entity = self._entities.get(source_id(id_, source).removeprefix("entity:").partition("#")[0])
        entity = entity or self._entities.get(rest)
        if entity is not None and not source.startswith(STORY):
            return one_line(entity.name)
        kind, _, which = source.partition(":")
        what, _, which = (
            which.partition(":") if kind in ("rag", "story", "editor", "request", "code") else (kind, "", which)
        )
        if source == WINDOW:
            document = self.known.document(path)
            number = ""
            if start is not None and document is not None and document.kind == "manuscript":
                number = str(sum(1 for part in document.paragraphs if part.end <= start))
            name = self._document(path, number)
            return self._title_of("cursor-window" if path else "cursor-window_alone", name=name)
        if what == "passage":
            path, _, number = which.rpartition("#")
            return self._title_of("paragraph", name=self._document(path, number), number=number)
        if what in ("ending", "beginning") and content.startswith("## "):
            return self._title_of(what, name=re.split("[：:] *", content.partition("\n")[0], maxsplit=1)[-1])
        if kind == "story":
            path, _, number = which.rpartition("#") if "#" in which else (which, "", "")
            name = one_line(entity.name) if entity is not None else self._document(path)
            name = self._title_of("chapter", name=name, number=number) if number else name
            return self._title_of(what, name=name)
        if what in ("document", "style"):
            return self._title_of(what, name=self._document(which))
        if source.startswith("kg:relation:"):
            return self._title_of("relation", name=self._relation_label(rest))
        first = content.partition("\n")[0].removeprefix("## ").removeprefix("- ")
        first = one_line(first if len(first) <= _TITLE else f"{first[: _TITLE - 1]}…")
        if what in ("memory", "constraint", "subgraph"):
            return self._title_of("code" if what == "subgraph" else what, name=first or rest)
        if kind == "lore" or what == "message":
            return first or self._title_of("lore" if kind == "lore" else what, name=rest)
        if what in ("query", "selection", "words", "also"):
            return self._title_of(what)
        if source == ROWS or id_ == "entity:*":
            return self._title_of("rows" if source == ROWS else "unmentioned")
        if kind == "request":
            return self._title_of("kind", name=say(kind_name(what), self.language))
        return self._document(source)

    def _title_of(self, kind: str, **parts: str) -> str:
        return say(Reason(f"title.{kind}", **parts), self.language)

    def _document(self, path: str, number: str = "") -> str:
        """The title of a document, or of what a paragraph of it stands under; the path for anything else."""
        document = self.known.document(path)
        if document is None:
            return path
        paragraphs = document.paragraphs[int(number) : int(number) + 1] if number.isdecimal() else ()
        return one_line(next((title_of(document, part) for part in paragraphs), document.title)) or path

    def _relation_label(self, ids: str) -> str:
        """The names of both ends of a relation: `a-b`, where either id may hold a hyphen."""
        cuts = [at for at, sign in enumerate(ids) if sign == "-"]
        for source, target in ((ids[:at], ids[at + 1 :]) for at in cuts):
            if source in self._entities and target in self._entities:
                return f"{self._entities[source].name} – {self._entities[target].name}"
        return ids

    def why(self, wanted: str, prompt: str) -> Explanation | None:
        """Why `wanted` is in the prompt or is not; None where nothing is called so.

        Meant is what fits first: an id or a source, a paragraph (`path#n`), a document's path, an entity's id, name,
        alias.

        Cost: of a document one search in the items that show it for each paragraph.
        """
        own = self._rows_named({wanted})
        if own and (own[0] or "#" not in wanted):
            return self._explanation(wanted, *own)
        return self._why_passage(wanted, prompt, own) or self._why_document(wanted, prompt) or self._why_entity(wanted)

    def _rows_named(self, names: Collection[str]) -> tuple[tuple[PackItem, ...], tuple[PackOmission, ...]] | None:
        items = tuple(item for item in self.items if item.id in names or item.source in names)
        omitted = tuple(gone for gone in self.omitted if gone.id in names or gone.source in names)
        if items:  # what is in under one source is no loss under another
            omitted = tuple(gone for gone in omitted if gone.code != "duplicate")
        return (items, omitted) if items or omitted else None

    def _explanation(
        self,
        wanted: str,
        items: tuple[PackItem, ...],
        omitted: tuple[PackOmission, ...],
        about: Reason | None = None,
        title: str = "",
    ) -> Explanation:
        first: PackItem | PackOmission | None = items[0] if items else omitted[0] if omitted else None
        reason = say(about, self.language) if about is not None else "" if first is None else first.reason
        id_ = wanted.removeprefix(PASSAGE) if first is None or title else first.id
        change = "" if first is None else say(self._change(first, id_), self.language)
        title = title or (wanted if first is None else first.title)
        return Explanation(id_, title, bool(items), reason, change, items, omitted, self.language)

    def _change(self, item: PackItem | PackOmission, name: str) -> Reason:
        if item.id.startswith("entity:") and "#" not in item.id:
            entity = self._entities.get(item.id.removeprefix("entity:"))
            name = item.title if entity is None else one_line(entity.name)
        if isinstance(item, PackItem):
            fixed = item.source.startswith(("request:", "editor:"))
            return Reason(f"change.in{'_fixed' if fixed else '_rules' if item.layer == 'rules' else ''}", name=name)
        code = item.detail.code if isinstance(item.detail, Reason) else ""
        if code.startswith("mute."):
            return Reason("change.muted")
        return Reason("change.manual" if code == "level.manual_only" else f"change.{item.code}", name=name)

    def budget_for(self, item: PackOmission, again: Callable[[int], Collection[str]], budget: int) -> Reason:
        """What budget would have let it in, of some larger ones.

        Args:
            item: What did not fit.
            again: The ids of what is in under another budget.
            budget: That of the prompt.
        """
        for more in _AGAIN:
            if item.id in again(int(budget * more)):
                return Reason("change.budget_of", budget=int(budget * more), name=item.id)
        return Reason("change.budget", name=item.id)

    def _why_passage(
        self, wanted: str, prompt: str, own: tuple[tuple[PackItem, ...], tuple[PackOmission, ...]] | None
    ) -> Explanation | None:
        name = wanted.removeprefix(PASSAGE)
        path, _, number = name.rpartition("#")
        if not path or not number.isdecimal():
            return None if own is None else self._explanation(wanted, *own)
        title = self.title(PASSAGE + name, name)
        document = self.known.document(path)
        there = () if document is None else document.paragraphs[int(number) : int(number) + 1]
        for paragraph in there:
            items = tuple(item for item in self.items if self._shows_paragraph(prompt, item, path, paragraph))
            if items:
                whole = items[0].source == DOCUMENT + path
                how = Reason("why.whole") if whole else Reason("why.within", title=items[0].title)
                return self._explanation(wanted, items, (), None if items[0].id == name else how, title)
        cut = any(item.source == DOCUMENT + path and item.form == "truncated" for item in self.items)
        omitted = tuple(self._unused_paragraph(name, cut=cut))
        if not omitted and own is None and there:
            omitted = (self.omission(PASSAGE + name, "retrieved", PASSAGE + name, "no match", Reason("out.unasked")),)
        if omitted:
            return self._explanation(wanted, (), omitted)
        return None if own is None else self._explanation(wanted, *own)

    def _why_document(self, path: str, prompt: str) -> Explanation | None:
        document = self.known.document(path)
        body = [] if document is None else [part for part in document.paragraphs if part.role == "body"]
        if not body:
            return None
        items = tuple(i for i in self.items if _is_source_of(path, i.source) or (i.shows and i.shows[0] == path))
        places = [part.index for part in body if any(self._shows_paragraph(prompt, item, path, part) for item in items)]
        title = self._document(path)
        numbers = [f"#{index}" for index in places] if len(places) < len(body) else []
        about = Reason("why.paragraphs" + "_of" * bool(numbers), count=len(places), of=len(body), numbers=numbers)
        if items:
            has_span = any(item.shows for item in items)
            return self._explanation(path, items, (), about if has_span else None, title)
        omitted = tuple(gone for gone in self.omitted if _is_source_of(path, gone.source))
        return self._explanation(path, (), omitted or tuple(self._best_omission(path, body)), None, title)

    def _best_omission(self, path: str, body: Sequence[Paragraph]) -> Iterator[PackOmission]:
        """Why the paragraph that is worth most did not enter."""
        rows = [offer.row(path, part.index) for offer in self._fitted.admitted.offers for part in body]
        best = max((row for row in rows if row is not None), key=lambda row: row.score, default=None)
        if best is None:
            yield self.omission(DOCUMENT + path, "retrieved", DOCUMENT + path, "no match", Reason("out.unasked"))
        else:
            yield from self._unused_paragraph(f"{best.path}#{best.paragraph}")

    def _why_entity(self, wanted: str) -> Explanation | None:
        names = self.known.named(wanted.removeprefix("entity:"))
        if not names:
            return None
        result = self._rows_named(names)
        if result is not None:
            return self._explanation(wanted, *result)
        cards = tuple(
            self.omission(name, "retrieved", name, "no match") for name in names if name.startswith("entity:")
        )
        return self._explanation(wanted, (), cards)

    def _shows_paragraph(self, prompt: str, item: PackItem, path: str, paragraph: Paragraph) -> bool:
        """Whether the whole of a paragraph stands in an item."""
        if item.shows is None or item.shows[0] != path:
            return False
        if not item.shows[1] <= paragraph.start <= paragraph.end <= item.shows[2]:
            return False
        text = (self._texts(path) or "")[paragraph.start : paragraph.end].strip()
        there = strip_marks(prompt[item.span[0] : item.span[1]])
        return bool(text) and escape(text, self._groups) in there

    def _unused_paragraph(self, wanted: str, *, cut: bool = False) -> Iterator[PackOmission]:
        """A paragraph that was on offer and did not enter: its worth, the line it missed, why.

        Args:
            wanted: `path#number`; nothing is said of one that is in, nor of one that was not on offer.
            cut: Whether its document is in, cut before it.
        """
        path, _, number = wanted.rpartition("#")
        placed, line = self._fitted.items, self._fitted.line
        if not number.isdecimal() or any(item.candidate.source == PASSAGE + wanted for item in placed):
            return
        for offer in self._fitted.admitted.offers:
            row = offer.row(path, int(number))
            if row is None:
                continue
            code, detail = _reason(offer, row, placed, line)
            if cut and code == "duplicate":
                code, detail = "budget", Reason("out.cut")
            evidence = offer.explain(row)
            yield self.omission(row.source, "retrieved", row.source, code, detail, evidence=evidence, score=row.score)


def _reason(offer: PassageStream, row: PassageRow, placed: Sequence[PromptItem], line: float) -> tuple[OmitReason, str]:
    worth = row.score
    if (withheld := offer.withheld(row)) is not None:
        return withheld
    if any(row.text and row.text in item.text for item in placed):
        return "duplicate", Reason("out.shown")
    if (card := covering_card(row, cards_of(placed).get((row.path, row.title), ()))) is not None:
        return "duplicate", Reason("out.card", source=card.candidate.source)
    if worth <= 0:
        return "no match", Reason("out.nothing")
    if all(other.source != row.source for other in offer.rows):
        return "no match", Reason("out.little", worth=worth)
    return "budget", Reason("out.long" if worth >= line else "out.worth", worth=worth, line=line)


def _is_source_of(path: str, source: str) -> bool:
    return source in (DOCUMENT + path, f"style:{path}") or source.startswith(f"{PASSAGE}{path}#")
