"""The desk (binder, text, prompt) and the pages that open beside it (a person, rules, a lorebook, …)."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any, NamedTuple
from urllib.parse import quote

from armarius.arguments import KINDS
from armarius.codex.in_place import digest_of
from armarius.codex.model import CONTEXT_LEVELS, Pin
from armarius.corpus.story import StoryPart, story_parts
from armarius.deadline import Recent
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.engine.engine import ContextEngine
from armarius.errors import UnknownId
from armarius.headings import Reason, say
from armarius.prompt.profile import read_settings
from armarius.prompt.report.items import ROWS, Explanation, PackItem, PackOmission
from armarius.prompt.report.pack import Pack
from armarius.studio.drawing import Appearances, blocks, plot
from armarius.studio.inbox import Inbox
from armarius.text.unicode import UNSPACED
from armarius.trust.settings import Config, load_config

Page = tuple[str, dict[str, Any]]
_MODELS = ("gpt-4o", "deepseek-chat", "qwen3-max", "glm-4.6", "kimi-k2", "claude-sonnet-4", "gemini-2.5-pro")
BUDGETS = (4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
_MOST_ROWS = 80
_MOST_SHOWN = 20_000  # code points of a text that stand on a page


class Refused(ValueError):
    """A form or an address that the studio itself refuses; `kind` is a key of [error] in texts.toml."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Row(NamedTuple):
    """One thing in a prompt, or left out of it, as a page shows it.

    Attributes:
        part: Of the prompt, a key of [part] in texts.toml; of what was left out, the code of the reason.
        title, reason, tokens, form: As of the item.
        span: Where it stands in the prompt, code points, half-open.
        href: The page about it, "" for none.
        target: What a request includes or excludes, "" for none.
        paragraphs: How many paragraphs of a document it stands for.
    """

    part: str
    title: str
    reason: str
    tokens: int
    href: str
    target: str
    form: str = "full"
    span: tuple[int, int] = (0, 0)
    paragraphs: int = 0


class Desk:
    """What stands around the text: the binder on its left, the prompt for the cursor on its right.

    Args:
        engine: The project's engine.
    """

    def __init__(self, engine: ContextEngine) -> None:
        self._engine = engine

    def prompt(self, query: Mapping[str, Any]) -> Page:
        """Every row of the prompt for a place of a document, as saved or of `text`, which is never written."""
        pack = self._pack(query)
        view = _translate_pack(pack, query["language"])
        rows = [_row(item) for item in view.items]
        table = [row for _, same in groupby(rows, _row_key) for row in _join_rows(list(same))]
        frame = pack.token_count - sum(row.tokens for row in rows)
        parts = [(part, list(same)) for part, same in groupby(table, lambda row: row.part)]
        sums = Counter(dict.fromkeys(PARTS, 0))
        for row in rows:
            sums[row.part] += row.tokens
        left = {item.id: _row(item, item.code) for item in reversed(view.omitted) if item.source != ROWS}
        out: dict[str, list[Row]] = {}
        for row in reversed(left.values()):  # each once, for its first reason
            out.setdefault(row.part, []).append(row)
        return "prompt.html", {
            "pack": pack,
            "parts": parts,
            "order": PARTS,
            "sums": {**sums, "frame": frame},
            "omitted": out,
            "most": _MOST_ROWS,
            "pins": self.pins(),
            "excluded": set(_lines(query, "exclude")),
        }

    def text(self, query: Mapping[str, Any]) -> Page:
        """The prompt itself."""
        return "text.html", {"pack": self._pack(query)}

    def why(self, query: Mapping[str, Any]) -> Page:
        """Why something is in the prompt or is not: by id, name, title of a document, or path."""
        pack = _translate_pack(self._pack(query), query["language"])
        wanted = str(query.get("what") or "").strip()
        if not wanted:
            raise Refused("empty")
        titled = [doc.path for doc in self._engine.documents() if wanted in doc.title]
        answer = None
        for name in (wanted, *titled[:1]):
            with suppress(UnknownId):
                answer = answer or pack.why(name)
        code = "" if answer is None else _advice(answer)
        change = "" if answer is None or code != "budget" else _CODE.sub("", answer.change)
        target = "" if answer is None else answer.id
        reason = "" if answer is None else _mute_key(answer.omitted) or answer.reason
        values = {"wanted": wanted, "found": answer, "code": code, "change": change, "target": target}
        return "why.html", {**values, "reason": reason}

    def limits(self) -> dict[str, Any]:
        """Budget and model of the project, and which there are to choose."""
        budget, model = self.chosen()
        return {
            "budget": budget,
            "budgets": sorted({*BUDGETS, budget}),
            "model": model,
            "models": sorted({*_MODELS, model}),
        }

    def pins(self) -> list[tuple[Pin, str]]:
        """Pins and mutes, each with what its target is called."""
        names = {entity.id: entity.name for entity in self._engine.entities()}
        names |= {doc.path: doc.title for doc in self._engine.documents()}
        return [(pin, names.get(pin.target, pin.target)) for pin in self._engine.pins.list()]

    def chosen(self) -> tuple[int, str]:
        """Budget and model as armarius.toml has them now: an open engine keeps those that it was opened with."""
        root = self._engine.root
        config = self._engine.config if root is None else load_config(root)
        return limits_in(self._engine, config)

    def _pack(self, query: Mapping[str, Any]) -> Pack:
        path, text, chosen = str(query.get("path") or ""), query.get("text"), str(query.get("selection") or "")
        cursor = _number(query, "cursor") if path else None
        if path and text is not None:  # a draft, which stands for what is shown
            whole, start = self._engine.document(path).text, _number(query, "start") or 0
            before, behind = whole[:start], whole[_number(query, "end") or len(whole) :]
            text, cursor = f"{before}{text}\n\n{behind}" if behind else before + text, start + (cursor or 0)
        budget, model = self.chosen()
        ends = [_whole_number(part) for part in chosen.split(",")] if chosen else []
        return self._engine.assemble(
            str(query.get("wish") or "").strip(),
            document=path,
            cursor=cursor,
            text=text,
            budget=budget,
            model=model,
            selection=(ends[0], ends[1]) if len(ends) == 2 else None,
            include=_lines(query, "include"),
            exclude=_lines(query, "exclude"),
        )


PARTS = ("always", "story", "mentioned", "found", "here")
_CODE = re.compile(r"[：:]\s*include=.*$")
_PARTS = {"story": "story", "codex": "mentioned", "rag": "found", "code": "found", "editor": "here", "request": "here"}
_MUTES = ("mute.request", "mute.document", "mute.project")
_PART = {"kg:relation": "mentioned", "lore:active": "mentioned", "codex:pinned": "always"}


def limits_in(engine: ContextEngine, config: Config) -> tuple[int, str]:
    """Budget and model of a configuration."""
    settings = read_settings(config)
    stated = settings.profile.budget if "tokens" in config.table("budget") else engine.budget_profile().budget
    return stated, settings.model


def _part(source: str) -> str:
    """The part of a prompt in which a reader looks for it: a key of [part] in texts.toml."""
    return _PART.get(":".join(source.split(":")[:2])) or _PARTS.get(source.partition(":")[0], "always")


def _advice(answer: Explanation) -> str:
    """What would change it: a key of [instead] in texts.toml."""
    if answer.included or not answer.omitted:
        return "in" if answer.included else "no match"
    first = answer.omitted[0]
    why = first.detail.code if isinstance(first.detail, Reason) else ""
    if why == "mute.request":
        return "now"
    return "no match" if first.code == "excluded" and not why.startswith("mute.") else first.code


def _mute_key(omitted: Sequence[PackItem | PackOmission]) -> str:
    """Who keeps the first of these out, a key of [left] in texts.toml; "" where nobody mutes it."""
    detail = omitted[0].detail if omitted and isinstance(omitted[0], PackOmission) else None
    return detail.code if isinstance(detail, Reason) and detail.code in _MUTES else ""


def _lines(query: Mapping[str, Any], name: str) -> list[str]:
    return [line for line in str(query.get(name) or "").split("\n") if line]


def in_order(engine: ContextEngine) -> list[Document]:
    """All documents, chapters first, in story order."""
    order = {path: place for place, path in enumerate(engine.index.map.story())}

    def place(doc: Document) -> tuple[bool, int, str, bool, int, str]:
        place = order.get(doc.path, len(order))
        return doc.kind not in STORY_KINDS, place, doc.kind, doc.chapter is None, doc.chapter or 0, doc.path

    return sorted(engine.documents(), key=place)


class ChapterRow(NamedTuple):
    """A document, or a chapter inside one that holds several, as the list shows it."""

    kind: str
    number: int | None
    title: str
    path: str
    href: str
    start: int = 0


def _chapters_in(document: Document) -> list[ChapterRow]:
    """Its chapters, each with a link to its line; one row for a document that does not hold several."""
    path, href = document.path, f"/chapter/{quote(document.path)}"
    parts = [part for part in story_parts(document) if part.number is not None] if document.kind == "manuscript" else []
    rows = [
        ChapterRow("chapter", part.number, part.title, path, f"{href}?cursor={len(document.text[:end].rstrip())}", at)
        for part, (at, end) in zip(parts, pairwise([*_head_offsets(document, parts), len(document.text)]), strict=True)
    ]
    return rows or [ChapterRow(document.kind, document.chapter, document.title, path, href)]


def _head_offsets(document: Document, parts: list[StoryPart]) -> list[int]:
    """Where the heading of each chapter stands, before its first paragraph."""
    index = {paragraph.start: paragraph.index for paragraph in document.paragraphs}
    return [document.paragraphs[max(0, index[part.start] - 1)].start for part in parts]


def stretch(document: Document, cursor: int | None) -> tuple[int, int]:
    """What of a document is shown at once: the chapter of the cursor, of a long one what is around it."""
    end = len(document.text)
    at = end if cursor is None else min(cursor, end)
    heads = [0, *(row.start for row in _chapters_in(document) if row.start)]
    start, end = [span for span in pairwise([*heads, end]) if span[0] <= at][-1]
    if end - start > _MOST_SHOWN:
        ends = [paragraph.start for paragraph in document.paragraphs]
        half = _MOST_SHOWN // 2
        start = max((offset for offset in ends if offset <= max(start, at - half)), default=start)
        end = min((offset for offset in ends if offset >= min(end, start + _MOST_SHOWN)), default=end)
    return start, end


def _translate_pack(pack: Pack, language: str) -> Pack:
    """The same prompt, with titles and reasons in the language of the page."""
    return replace(pack, request=pack.request.model_copy(update={"language": language}))


def _row(item: PackItem | PackOmission, part: str = "") -> Row:
    if item.id.startswith("entity:"):
        href = f"/entity/{quote(item.id.removeprefix('entity:').partition('#')[0], safe='')}"
    else:
        place = "" if item.paragraph is None else f"?paragraph={item.paragraph}#p{item.paragraph}"
        href = f"/chapter/{quote(item.path)}{place}" if item.path else ""
    excludable = not item.source.startswith(("story:", "editor:", "request:"))
    form, span = (item.form, item.span) if isinstance(item, PackItem) else ("full", (0, 0))
    paragraphs = int(item.source.startswith("rag:passage"))
    target = item.id if excludable else ""
    reason = _mute_key([item]) or item.reason
    return Row(part or _part(item.source), item.title, reason, item.tokens, href, target, form, span, paragraphs)


def _row_key(row: Row) -> tuple[str, str]:
    """Paragraphs of one document that follow each other are one row."""
    return row.part, row.href.partition("?")[0] if row.paragraphs else row.title


def _join_rows(rows: list[Row]) -> list[Row]:
    first = rows[0]
    if len(rows) == 1 or not first.paragraphs:
        return rows
    title, target = first.title.rpartition(" ¶")[0] or first.title, first.target.rpartition("#")[0]
    tokens, span = sum(row.tokens for row in rows), (first.span[0], rows[-1].span[1])
    return [first._replace(title=title, target=target, tokens=tokens, span=span, paragraphs=len(rows))]


def _number(query: Mapping[str, Any], name: str) -> int | None:
    text = str(query.get(name) or "").strip()
    return _whole_number(text) if text else None


def _whole_number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise Refused("number")
    return int(text)


TYPES = ("character", "location", "item", "faction", "event", "foreshadowing", "other")
_AT_ONCE_NS = 60 * 10**9  # files that were copied together have no last one
_MOST_STATEMENTS = 60
_MOST_LISTED = 200
_MOST_FOLLOWED = 8  # texts whose changes are followed
_RUN = 100  # chapters of a long book that are listed together
STYLE_PAGES = {"zh": "文风.md", "en": "style.md"}  # as `armarius new` makes
_MOST_HITS = 60
_WORD = re.compile(
    rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[\w'’-])+"
)  # as word processors count: a character of Chinese is one


class ProjectPages:
    """Builds the pages; read-only.

    Args:
        engine: The project's engine.
        appearances: Mention counts.
        desk: Shows what a prompt holds.
        inbox: Counts doubts.
    """

    def __init__(self, engine: ContextEngine, appearances: Appearances, desk: Desk, inbox: Inbox) -> None:
        self._engine = engine
        self._appearances = appearances
        self._desk = desk
        self._inbox = inbox
        self._shown = Recent[tuple[str, int | None]](_MOST_FOLLOWED)

    def home(self, query: dict[str, Any]) -> Page:
        """The desk, at the chapter that was saved last."""
        root = self._engine.root
        story = self._engine.index.map.story() or tuple(doc.path for doc in in_order(self._engine)[:1])
        if not story:
            return "desk.html", {**self._page_outline(query, None), "document": None}

        rows = {} if root is None else self._engine.index.ask(lambda store: store.files())
        saved = {path: int(row.stamp.split(":")[1]) // _AT_ONCE_NS for path, row in rows.items() if row.stamp}
        path = max(reversed(story), key=lambda path: saved.get(path, 0))
        return self.chapter({"seen": "", **query, "path": path})

    def chapter(self, query: dict[str, Any]) -> Page:
        """The desk: binder, text, and the prompt at the cursor; `seen` is the hash of the text that was shown last."""
        document = self._engine.document(query["path"])
        cursor, paragraph = _number(query, "cursor"), _number(query, "paragraph")
        change = self._change(document)
        if query.get("seen", document.content_hash) != document.content_hash:
            cursor, paragraph = change, None
        if cursor is None:  # behind the paragraph that a link leads to
            cursor = next((part.end for part in document.paragraphs if part.index == paragraph), None)
        start, end = stretch(document, cursor)
        text = document.text[start:end]
        rows = _chapters_in(document)
        place = max((at for at, row in enumerate(rows) if row.start < max(end, 1)), default=0)
        names = [(item.start + start, item.end + start, item.entity_id) for item in self._engine.mentions(text)]
        return "desk.html", {
            **self._page_outline(query, document),
            "document": document,
            "title": rows[place].title,
            "chapter": place,
            "cursor": cursor,
            "start": start,
            "end": end,
            "blocks": blocks(document, start, end, names),
            "words": len(_WORD.findall(text)),
            "kinds": KINDS,
        }

    def _change(self, document: Document) -> int | None:
        """Where the last change ends that was made to a document since it was first shown."""
        path, text = document.path, document.text
        before, end = self._shown.get(path) or (text, None)
        if before != text:
            least = min(len(before), len(text))
            first = bisect_left(range(1, least + 1), True, key=lambda at: before[:at] != text[:at])
            last = bisect_left(range(1, least - first + 1), True, key=lambda at: before[-at:] != text[-at:])
            end = len(text) - last
        self._shown.keep(path, (text, end))
        return end

    def _page_outline(self, query: dict[str, Any], document: Document | None) -> dict[str, Any]:
        hidden = self._engine.index.map.hidden
        documents = in_order(self._engine)
        story = [doc for doc in documents if doc.kind in STORY_KINDS and doc.path not in hidden]
        paths = {doc.path for doc in story}
        rest: dict[str, list[ChapterRow]] = {}
        for doc in documents:
            if doc.path not in paths:
                rest.setdefault(doc.kind, []).extend(_chapters_in(doc))
        totals = self._appearances.totals()
        people = sorted(self._engine.entities(), key=lambda entity: (-totals[entity.id], entity.id))
        chapters = [row for doc in story for row in _chapters_in(doc)]
        run = len(chapters) if len(chapters) <= _MOST_LISTED else _RUN
        return {
            "chapters": [chapters[at : at + run] for at in range(0, len(chapters), run or 1)],
            "rest": rest,
            "people": people,
            "most": _MOST_LISTED,
            "doubts": self._inbox.count(),
            **self._desk.limits(),
        }

    def entities(self, query: dict[str, Any]) -> Page:
        """Entities by number of mentions, and a form for a new one."""
        totals = self._appearances.totals()
        return "entities.html", {
            "entities": sorted(self._engine.entities(), key=lambda entity: (-totals[entity.id], entity.id)),
            "totals": totals,
            "types": TYPES,
            "name": str(query.get("name") or ""),
        }

    def card(self, query: dict[str, Any]) -> Page:
        """What stands at a name in the text: who it is, where it was seen last."""
        entity = self._engine.codex.get(query["id"])
        seen = [item for item in self._appearances.of(entity.id) if item.count]
        return "card.html", {"entity": entity, "levels": CONTEXT_LEVELS, "last": seen[-1] if seen else None}

    def entity(self, query: dict[str, Any]) -> str | Page:
        """An entity: fields that are saved as they are left, facts, relations, mentions, statements, contradictions."""
        try:
            entity = self._engine.codex.get(query["id"])
        except UnknownId:
            if "saved" not in query:  # by a form after which it is gone
                raise
            return "/entities"
        relations = [edge for edge in self._engine.codex.relations() if entity.id in (edge.source, edge.target)]
        statements = sorted(self._engine.evidence(entity.id), key=lambda statement: -(statement.chapter or 0))
        return "entity.html", {
            "entity": entity,
            "card": self._engine.card(entity.id),
            "levels": CONTEXT_LEVELS,
            "types": TYPES,
            "plot": plot(self._appearances.of(entity.id)),
            "relations": relations,
            "authored": self._engine.codex.related(),
            "names": self._names(),
            "said": [statement for statement in statements if not statement.competes_with][:_MOST_STATEMENTS],
            "competing": [statement for statement in statements if statement.competes_with][:_MOST_STATEMENTS],
        }

    def search(self, query: dict[str, Any]) -> Page:
        """Paragraphs that hold some words, and chapters and entities that are called so."""
        words = str(query.get("words") or "").strip()
        hits = self._engine.search(words, limit=_MOST_HITS) if words else ()
        documents = in_order(self._engine)
        rows = [row for doc in documents for row in _chapters_in(doc)] if words else []
        return "search.html", {
            "words": words,
            "hits": hits,
            "titles": {doc.path: doc.title for doc in documents},
            "chapters": [row for row in rows if words in (row.title, str(row.number)) or words in row.path.split("/")],
            "people": [item for item in self._engine.entities() if words and words in (item.name, *item.aliases)],
        }

    def notes(self, query: dict[str, Any]) -> Page:
        """Rules, memories, pins, summaries and the files that say how to write."""
        items = self._engine.assemble("").items
        summaries = self._engine.summaries.list()
        summed = {summary.document for summary in summaries}
        styles = [self._engine.document(item.path) for item in items if item.source.startswith("style:") and item.path]
        return "notes.html", {
            "rules": self._engine.constraints.list(),
            "memories": self._engine.memories.list(),
            "pins": self._desk.pins(),
            "summaries": summaries,
            "stale": self._engine.summaries.stale(),
            "styles": [(doc, digest_of(doc.text)) for doc in styles],
            "new_style": STYLE_PAGES[query["language"]],
            "documents": [doc for doc in in_order(self._engine) if doc.kind in STORY_KINDS and doc.path not in summed],
        }

    def bring(self, query: dict[str, Any]) -> Page:
        """The form for a file of another program, and the lorebooks that were brought."""
        return "bring.html", {"books": list(self._engine.books.values())}

    def book(self, query: dict[str, Any]) -> Page:
        """A lorebook: keys, order and level of its entries; which of them a text makes active, and why."""
        book, text = self._engine.books[query["id"]], str(query.get("text") or "")
        result = self._engine.active(text=text, books=[book.id]) if text else None
        rows = () if result is None else (("left", result.left), ("active", result.active))
        language = query["language"]
        reasons = {item.entry.id: (kind, say(item.reason, language)) for kind, these in rows for item in these}
        return "book.html", {"book": book, "text": text, "reasons": reasons, "levels": CONTEXT_LEVELS}

    def _names(self) -> dict[str, str]:
        return {entity.id: entity.name for entity in self._engine.entities()}
