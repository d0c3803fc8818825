"""Pages about a prompt (form, result, other budgets, comparison) and about a project (chapters, entities, files)."""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

from armarius.arguments import KINDS
from armarius.codex.authored.in_place import digest_of
from armarius.codex.identity import shared_names
from armarius.codex.model import CONTEXT_LEVELS, Pin
from armarius.corpus.story import story_parts
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.project_map import MappedFile
from armarius.engine.engine import ContextEngine
from armarius.errors import ArmariusError, UnknownId
from armarius.headings.reasons import say
from armarius.names.proposals import ProposedName
from armarius.prompt.report.items import PackItem, PackOmission
from armarius.prompt.report.pack import Pack
from armarius.search.contradictions.detect import ConflictRow, conflicts_of
from armarius.studio.drawing import Appearances, Mark, in_paragraphs, pieces, plot, web
from armarius.text.unicode import fold

_MOST = 20


@dataclass(frozen=True, slots=True)
class StoredPrompt:
    """A prompt that was assembled: its number, the fields of the form, the pack."""

    number: int
    asked: Mapping[str, str]
    pack: Pack

    @property
    def query(self) -> str:
        """The query."""
        return self.asked.get("query", "")

    @property
    def document(self) -> str:
        """Path of the open document."""
        return self.asked.get("document", "")


class Packs:
    """The last twenty prompts. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, StoredPrompt] = OrderedDict()
        self._next = 1
        self._lock = threading.Lock()

    def keep(self, asked: Mapping[str, str], pack: Pack) -> StoredPrompt:
        """Store a prompt under a new number."""
        with self._lock:
            one = StoredPrompt(self._next, dict(asked), pack)
            self._kept[one.number] = one
            self._next += 1
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
            return one

    def get(self, number: int) -> StoredPrompt | None:
        """The prompt of that number; None if it is unknown or was dropped."""
        with self._lock:
            return self._kept.get(number)

    def last(self) -> list[StoredPrompt]:
        """All stored prompts, newest first."""
        with self._lock:
            return list(reversed(self._kept.values()))


Page = tuple[str, dict[str, Any]]
_BUDGET = 8_000
_MODELS = ("gpt-4o", "deepseek-chat", "qwen3-max", "glm-4.6", "kimi-k2", "claude-sonnet-4", "gemini-2.5-pro")
_MOST_ROWS = 300


class Refused(ValueError):
    """A form or an address that the studio itself refuses; `kind` is a key of [error] in texts.toml."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Row(NamedTuple):
    """One thing in a prompt, or left out of it, as a page shows it.

    Attributes:
        title, reason, layer, tokens, form: As of the item.
        id: Of the thing.
        text: What of it stands in the prompt.
        href: The page about it, "" for none.
        target: What a pin or a mute names, "" for none.
    """

    title: str
    reason: str
    layer: str
    tokens: int
    id: str
    text: str
    href: str
    target: str
    form: str = "full"


class Asking:
    """Builds the pages; assembles and stores prompts.

    Args:
        engine: The project's engine.
        packs: Storage of the last prompts.
    """

    def __init__(self, engine: ContextEngine, packs: Packs) -> None:
        self._engine = engine
        self._packs = packs

    def form(self, asked: dict[str, Any]) -> Page:
        """The form, filled with the given fields."""
        return "ask.html", {**self._form(_fields(asked)), "kept": None}

    def ask(self, asked: dict[str, Any]) -> Page:
        """Assemble a prompt for the form, without `previous`, so that the same form gives the same prompt.

        A form that cannot be asked is shown again with what is wrong.
        """
        fields = _fields(asked)
        try:
            pack = self._engine.assemble(
                fields["query"],
                document=fields["document"],
                cursor=_number(fields, "cursor") if fields["document"] else None,
                model=fields["model"] or None,
                budget=_number(fields, "budget"),
            )
        except (ArmariusError, ValueError) as error:
            return "ask.html", {**self._form(fields), "kept": None, "failed": error}
        return self._page(self._packs.keep(fields, pack), asked["language"])

    def again(self, asked: dict[str, Any]) -> Page:
        """Assemble a prompt for the fields of an earlier one, to see the effect of a change."""
        return self.ask({**self._known(asked["number"]).asked, "language": asked["language"]})

    def pack(self, asked: dict[str, Any]) -> Page:
        """A stored prompt."""
        return self._page(self._known(asked["number"]), asked["language"])

    def what_if(self, asked: dict[str, Any]) -> Page:
        """The part of a prompt's page that depends on the budget, for another budget."""
        kept = self._known(asked["number"])
        pack = kept.pack.what_if(budget=_number(asked, "budget") or kept.pack.budget)
        return "prompt.html", self._prompt(pack, kept.number, asked["language"])

    def why(self, asked: dict[str, Any]) -> Page:
        """Why something is in a stored prompt or is not: by id, name, title of a document, or path."""
        pack = _told(self._known(asked["number"]).pack, asked["language"])
        wanted = str(asked.get("what") or "").strip()
        titled = [one.path for one in self._engine.documents() if wanted and wanted in one.title]
        try:
            found = pack.why(wanted)
        except UnknownId:
            if not titled:
                raise
            found = pack.why(titled[0])
        code = "in" if found.included else found.omitted[0].code if found.omitted else "no match"
        return "why.html", {
            "found": found,
            "code": code,
            "change": _CODE.sub("", found.change) if code == "budget" else "",
            "number": asked["number"],
            "target": found.id.removeprefix("entity:"),
        }

    def diff(self, asked: dict[str, Any]) -> Page:
        """Comparison of two stored prompts."""
        first, second = self._known(_number(asked, "a") or 0), self._known(_number(asked, "b") or 0)
        titles = {
            one.source: one.title for kept in (first, second) for one in _told(kept.pack, asked["language"]).items
        }
        return "diff.html", {
            "first": first,
            "second": second,
            "difference": second.pack.diff(first.pack),
            "titles": titles,
            "left": self._prompt(first.pack, first.number, asked["language"]),
            "right": self._prompt(second.pack, second.number, asked["language"]),
        }

    def beside(self, asked: dict[str, Any]) -> Page:
        """What a model would know at a place of a document: as saved, or of `text`, which is never written."""
        path, text = asked["path"], asked.get("text")
        cursor = _number(asked, "cursor")
        pack = self._engine.assemble("", document=path, cursor=cursor, text=text, budget=_BUDGET)
        told = _told(pack, asked["language"])
        rows = [one for one in self.rows(told) if one.layer != "immediate"]
        return "beside.html", {
            "pack": pack,
            "rows": [row for _, same in groupby(rows, _whole) for row in _joined(list(same))],
            "pins": [(one, title) for one, title in self.pins() if one.document in ("", path)],
            "path": path,
            "cursor": cursor,
        }

    def rows(self, pack: Pack) -> list[Row]:
        """What is in a prompt."""
        known = self._targets()
        return [_row(one, known, pack.prompt[slice(*one.span)], one.form) for one in pack.items]

    def pins(self) -> list[tuple[Pin, str]]:
        """Pins and mutes, each with what its target is called."""
        names = {one.id: one.name for one in self._engine.entities()}
        names |= {one.path: one.title for one in self._engine.documents()}
        return [(one, names.get(one.target, one.target)) for one in self._engine.pins.list()]

    def _targets(self) -> set[str]:
        names = {name for one in self._engine.entities() for name in (one.id, one.name)}
        return names | {one.path for one in self._engine.documents()}

    def _known(self, number: int) -> StoredPrompt:
        kept = self._packs.get(number)
        if kept is None:
            raise UnknownId(f"prompt {number} is not kept any more; ask again")
        return kept

    def _form(self, fields: dict[str, str]) -> dict[str, Any]:
        documents = [(one.path, one.title) for one in in_order(self._engine)]
        values = {**fields, "budget": fields["budget"] or str(_BUDGET)}
        return {"documents": documents, "models": _MODELS, "asked": values, "earlier": self._packs.last()}

    def _page(self, kept: StoredPrompt, language: str) -> Page:
        shown = self._prompt(kept.pack, kept.number, language)
        return "ask.html", {**self._form(_fields(kept.asked)), "kept": kept, **shown}

    def _prompt(self, pack: Pack, number: int, language: str) -> dict[str, Any]:
        told, known = _told(pack, language), self._targets()
        prompt = pack.prompt
        marks = [Mark(one.start, one.end, one.entity_id) for one in self._engine.mentions(_encodable(prompt))]
        out: dict[str, list[Row]] = {}
        for one in told.omitted[:_MOST_ROWS]:  # what nobody mentioned stands last
            out.setdefault(one.code, []).append(_row(one, known))
        rows = self.rows(told)
        return {
            "pack": pack,
            "number": number,
            "rows": rows,
            "parts": [list(same) for _, same in groupby(enumerate(rows), lambda row: _whole(row[1]))],
            "omitted": out,
            "pieces": pieces(prompt, marks, kept=len(pack.stable_prefix), items=[one.span for one in told.items]),
            "names": {one.id: one.name for one in self._engine.entities()},
        }


_CODE = re.compile(r"[：:]\s*include=.*$")


def in_order(engine: ContextEngine) -> list[Document]:
    """All documents, chapters first, in story order."""
    return sorted(
        engine.documents(),
        key=lambda one: (one.kind not in STORY_KINDS, one.kind, one.chapter is None, one.chapter or 0, one.path),
    )


class ChapterRow(NamedTuple):
    """A document, or a chapter inside one that holds several, as the list shows it."""

    kind: str
    number: int | None
    title: str
    path: str
    href: str


def _chapters_in(document: Document) -> list[ChapterRow]:
    """Its chapters, each with a link to its line; one row for a document that does not hold several."""
    path, href = document.path, f"/chapter/{quote(document.path)}"
    parts = [one for one in story_parts(document) if one.number is not None] if document.kind == "manuscript" else []
    index = {one.start: one.index for one in document.paragraphs}
    places = [(one, f"{href}?cursor={one.start}#p{max(0, index[one.start] - 1)}") for one in parts]
    rows = [ChapterRow("chapter", one.number, one.title, path, place) for one, place in places]
    return rows or [ChapterRow(document.kind, document.chapter, document.title, path, href)]


def _told(pack: Pack, language: str) -> Pack:
    """The same prompt, with titles and reasons in the language of the page."""
    return replace(pack, request=pack.request.model_copy(update={"language": language}))


def _row(one: PackItem | PackOmission, known: set[str], text: str = "", form: str = "full") -> Row:
    name = one.id.removeprefix("entity:")
    target = name if name in known or name.partition("#")[0] in known else ""
    if one.id.startswith("entity:"):
        href = f"/entity/{quote(name.partition('#')[0], safe='')}"
    else:
        place = "" if one.paragraph is None else f"#p{one.paragraph}"
        href = f"/chapter/{quote(one.path)}{place}" if one.path else ""
    return Row(one.title, one.reason, one.layer, one.tokens, one.id, text, href, target, form)


def _whole(row: Row) -> tuple[str, str]:
    """Paragraphs of one document that follow each other are shown as one."""
    return row.layer, row.href.partition("#")[0] if "#" in row.id else row.id


def _joined(rows: list[Row]) -> list[Row]:
    first, last = rows[0], rows[-1]
    if len(rows) == 1 or "¶" not in first.title:
        return rows
    until = last.title.rpartition("¶")[2]
    text = "\n".join(one.text for one in rows)
    tokens = sum(one.tokens for one in rows)
    return [first._replace(title=f"{first.title}–{until}", text=text, tokens=tokens, target=first.id.partition("#")[0])]


def _fields(asked: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(asked.get(name) or "") for name in ("query", "document", "cursor", "model", "budget")}


def _number(asked: dict[str, Any], name: str) -> int | None:
    text = str(asked.get(name) or "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise Refused("number")
    return int(text)


def _encodable(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Disputed(NamedTuple):
    """An entity and the contradictions found about it; often none."""

    entity: str
    name: str
    conflicts: tuple[ConflictRow, ...]


def disputed(engine: ContextEngine) -> Iterator[Disputed]:
    """Search every entity of the project for contradictions.

    Cost: five searches per entity the first time; results are cached until a document changes.
    """
    for entity in engine.entities():
        yield Disputed(entity.id, entity.name, conflicts_of(engine.evidence(entity.id)))


T = TypeVar("T")
_LONGEST_REST_S = 0.1


class ConflictSearch(Generic[T]):
    """Results of a search in a background thread. Thread-safe.

    The thread pauses after each result for as long as the result took, so that pages stay fast.

    Args:
        look: Yields the results; stopped when the index changes or is closed.
        state: Returns the state of the index; results are valid while it is equal.
    """

    def __init__(self, look: Callable[[], Iterator[T]], state: Callable[[], int]) -> None:
        self._look = look
        self._state = state
        self._lock = threading.Lock()
        self._of: int | None = None
        self._done = False
        self._finding: list[T] = []
        self._found: list[T] | None = None

    def now(self) -> tuple[list[T], bool]:
        """The results so far, and whether they are complete for the current state of the index.

        While the first search runs, its partial results; later the results of the last search that finished. The first
        call for a state starts a search and does not wait for it.
        """
        state = self._state()
        with self._lock:
            if state != self._of:
                self._of, self._done, self._finding = state, False, []
                threading.Thread(target=self._run, args=(state,), name="armarius-studio-look", daemon=True).start()
            return list(self._finding if self._done or self._found is None else self._found), self._done

    def _run(self, state: int) -> None:
        try:
            began = time.monotonic()
            for one in self._look():
                with self._lock:
                    if self._of != state:
                        return
                    self._finding.append(one)
                time.sleep(min(_LONGEST_REST_S, time.monotonic() - began))
                began = time.monotonic()
        except ArmariusError:  # closed or not readable now; the next change of state starts a new search
            with self._lock:
                if self._of == state:
                    self._of = None
            return
        with self._lock:
            if self._of == state:
                self._found, self._done = self._finding, True


_MOST_STATEMENTS = 60
STYLE_PAGES = {"zh": "文风.md", "en": "style.md"}  # as `armarius new` makes
_MOST_HITS = 60
_MOST_NAMES = 100
_FEW = 12  # files, all of which are shown


class ProjectPages:
    """Builds the pages; read-only.

    Args:
        engine: The project's engine.
        appearances: Mention counts.
        asking: Shows what a prompt would hold.
        settled: Contradictions that the writer means so.
    """

    def __init__(
        self, engine: ContextEngine, appearances: Appearances, asking: Asking, settled: Callable[[], Container[str]]
    ) -> None:
        self._engine = engine
        self._appearances = appearances
        self._asking = asking
        self._settled = settled
        self._disputed: ConflictSearch[Disputed] = ConflictSearch(lambda: disputed(engine), self._state)
        self._problems: ConflictSearch[str] = ConflictSearch(
            lambda: iter(engine.index.ask(lambda store: store.verify())), self._state
        )
        self._proposed: ConflictSearch[ProposedName] = ConflictSearch(lambda: iter(engine.propose()), self._state)

    def home(self, asked: dict[str, Any]) -> Page:
        """The book in a few lines, what a model would know at its end, what one can do."""
        documents = in_order(self._engine)
        hidden = self._engine.index.map.hidden
        chapters = [one for one in documents if one.kind in STORY_KINDS and one.path not in hidden]
        main = [path for path in self._engine.index.map.story() if any(one.path == path for one in chapters)]
        last = self._engine.document(main[-1]) if main else None
        return "home.html", {
            "chapters": sum(len(_chapters_in(one)) for one in chapters),
            "length": sum(len(one.text) for one in chapters),
            "people": len(self._engine.entities()),
            "files": len(documents),
            "doubts": len(self._engine.index.map.doubtful),
            "last": last,
            "last_chapter": None if last is None else _chapters_in(last)[-1],
            "beside": None if last is None else self._asking.beside({**asked, "path": last.path})[1],
        }

    def chapters(self, asked: dict[str, Any]) -> Page:
        """All documents, chapters first, in story order, and the chapters inside a document."""
        return "chapters.html", {"rows": [row for one in in_order(self._engine) for row in _chapters_in(one)]}

    def chapter(self, asked: dict[str, Any]) -> Page:
        """A document with its mentions marked, and beside it what a model would know at the cursor."""
        document = self._engine.document(asked["path"])
        names = self._names()
        marks = [Mark(one.start, one.end, one.entity_id) for one in self._engine.mentions(document.text)]
        here = self._appearances.in_document(document.path).most_common(40)
        return "chapter.html", {
            "document": document,
            "paragraphs": in_paragraphs(pieces(document.text, marks), [one.end for one in document.paragraphs]),
            "names": names,
            "mentioned": [(id_, names.get(id_, id_), count) for id_, count in here],
            "contents": [one for one in document.paragraphs if one.role == "heading"],
            **self._asking.beside(asked)[1],
        }

    def entities(self, asked: dict[str, Any]) -> Page:
        """Entities by number of mentions, of a type, level, file, or with some letters in their names."""
        totals = self._appearances.totals()
        every = sorted(self._engine.entities(), key=lambda one: (-totals[one.id], one.id))
        chosen = {name: str(asked.get(name) or "") for name in ("type", "level", "from", "letters", "name")}
        letters = fold(chosen["letters"])
        shown = [
            one
            for one in every
            if chosen["type"] in ("", one.type)
            and chosen["level"] in ("", one.level)
            and chosen["from"] in ("", *(origin.path for origin in one.origins))
            and (not letters or any(letters in fold(name) for name in (one.name, *one.aliases)))
        ]
        return "entities.html", {
            "entities": shown,
            "totals": totals,
            "chosen": chosen,
            "types": sorted({one.type for one in every}),
            "levels": CONTEXT_LEVELS,
            "origins": sorted({origin.path for one in every for origin in one.origins}),
            "shared": shared_names(every),
        }

    def entity(self, asked: dict[str, Any]) -> Page:
        """An entity: card, mentions, relations, statements, contradictions, a form for its fields."""
        entity = self._engine.codex.get(asked["id"])
        relations = [one for one in self._engine.codex.relations() if entity.id in (one.source, one.target)]
        said = self._engine.evidence(entity.id)
        return "entity.html", {
            "entity": entity,
            "card": self._engine.card(entity.id),
            "levels": CONTEXT_LEVELS,
            "plot": plot(self._appearances.of(entity.id)),
            "web": web(entity.id, relations, self._names()),
            "relations": relations,
            "authored": self._engine.codex.related(),
            "names": self._names(),
            "said": [one for one in said if not one.competes_with][:_MOST_STATEMENTS],
            "competing": [one for one in said if one.competes_with][:_MOST_STATEMENTS],
        }

    def conflicts(self, asked: dict[str, Any]) -> Page:
        """All contradictions, both sides of each; below them those that are meant so."""
        looked, done = self._disputed.now()
        settled = self._settled()
        rows = [(who, one, conflict_id(one)) for who in looked for one in who.conflicts]
        return "conflicts.html", {
            "open": [row for row in rows if row[2] not in settled],
            "settled": [row for row in rows if row[2] in settled],
            "looked": len(looked),
            "all": len(self._names()),
            "done": done,
        }

    def files(self, asked: dict[str, Any]) -> Page:
        """What every file is taken for, doubts first; whether anything is wrong."""
        mapped = self._engine.index.map
        doubtful = {one.path for one in mapped.doubtful}
        problems, done = self._problems.now()
        folders: dict[str, list[MappedFile]] = {}
        for one in sorted(mapped.files.values(), key=lambda one: one.path):
            folders.setdefault(one.path.rpartition("/")[0], []).append(one)
        sure = {folder: all(one.path not in doubtful for one in these) for folder, these in folders.items()}
        return "files.html", {
            "status": self._engine.status(),
            "folders": dict(sorted(folders.items(), key=lambda item: (sure[item[0]], not item[0]))),
            "few": len(mapped.files) <= _FEW,
            "doubtful": doubtful,
            "kinds": KINDS,
            "problems": problems,
            "done": done,
        }

    def propose(self, asked: dict[str, Any]) -> Page:
        """Names that the text uses and nobody has described."""
        found, done = self._proposed.now()
        return "propose.html", {"found": found[:_MOST_NAMES], "done": done}

    def search(self, asked: dict[str, Any]) -> Page:
        """Paragraphs that hold some words."""
        words = str(asked.get("words") or "").strip()
        hits = self._engine.search(words, limit=_MOST_HITS) if words else ()
        titles = {one.path: one.title for one in self._engine.documents()}
        people = [one for one in self._engine.entities() if words and words in (one.name, *one.aliases)]
        return "search.html", {"words": words, "hits": hits, "titles": titles, "people": people}

    def notes(self, asked: dict[str, Any]) -> Page:
        """Rules, memories, pins, summaries and the files that say how to write."""
        shown = [one.id for one in self._asking_settings(asked) if one.id.endswith((".md", ".txt"))]
        styles = [self._engine.document(path) for path in shown]
        return "notes.html", {
            "rules": self._engine.constraints.list(),
            "memories": self._engine.memories.list(),
            "pins": self._asking.pins(),
            "summaries": self._engine.summaries.list(),
            "stale": self._engine.summaries.stale(),
            "styles": [(one, digest_of(one.text)) for one in styles],
            "new_style": STYLE_PAGES[asked["language"]],
            "documents": [one for one in in_order(self._engine) if one.kind in STORY_KINDS],
        }

    def bring(self, asked: dict[str, Any]) -> Page:
        """The form for a file of another program, and the lorebooks that were brought."""
        return "bring.html", {"books": list(self._engine.books.values())}

    def book(self, asked: dict[str, Any]) -> Page:
        """A lorebook: keys, order and level of its entries; which of them a text makes active, and why."""
        book, text = self._engine.books[asked["id"]], str(asked.get("text") or "")
        found = self._engine.active(text=text, books=[book.id]) if text else None
        reasons = (
            {}
            if found is None
            else {
                one.entry.id: (kind, say(one.reason, asked["language"]))
                for kind, these in (("left", found.left), ("active", found))
                for one in these
            }
        )
        return "book.html", {"book": book, "text": text, "reasons": reasons, "levels": CONTEXT_LEVELS}

    def _asking_settings(self, asked: dict[str, Any]) -> list[Row]:
        pack = _told(self._engine.assemble("", budget=_BUDGET), asked["language"])
        return [one for one in self._asking.rows(pack) if one.layer == "settings"]

    def _state(self) -> int:
        return self._engine.index.status().generation

    def _names(self) -> dict[str, str]:
        return {one.id: one.name for one in self._engine.entities()}


def conflict_id(one: ConflictRow) -> str:
    """Of the very sentences: another when one of them is rewritten."""
    said = "\n".join((one.one.text, *sorted(other.text for other in one.others)))
    return f"c-{sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
