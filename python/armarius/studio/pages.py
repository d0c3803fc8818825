"""Pages about a prompt (form, result, other budgets, comparison) and about a project (chapters, entities, health)."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from armarius.codex.cards import entity_card
from armarius.codex.identity import shared_names
from armarius.codex.model import CONTEXT_LEVELS
from armarius.documents.kinds import STORY_KINDS
from armarius.engine.engine import ContextEngine
from armarius.errors import ArmariusError, ContractError, UnknownId
from armarius.index.next_steps import found_lines, next_steps
from armarius.prompt.report.items import PackItem, PackOmission
from armarius.prompt.report.pack import Pack
from armarius.search.contradictions.statements import Statement
from armarius.studio.drawing import Appearances, Mark, bar, in_paragraphs, pieces, plot, web

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
        """Assemble a prompt for the form, without `previous`, so that the same form gives the same prompt."""
        fields = _fields(asked)
        pack = self._engine.assemble(
            fields["query"],
            document=fields["document"],
            cursor=_number(fields, "cursor") if fields["document"] else None,
            model=fields["model"] or None,
            budget=_number(fields, "budget"),
        )
        return self._page(self._packs.keep(fields, pack))

    def again(self, asked: dict[str, Any]) -> Page:
        """Assemble a prompt for the fields of an earlier one, to see the effect of a change."""
        return self.ask(dict(self._known(asked["number"]).asked))

    def pack(self, asked: dict[str, Any]) -> Page:
        """A stored prompt."""
        return self._page(self._known(asked["number"]))

    def what_if(self, asked: dict[str, Any]) -> Page:
        """The part of a prompt's page that depends on the budget, for another budget."""
        kept = self._known(asked["number"])
        pack = kept.pack.what_if(budget=_number(asked, "budget") or kept.pack.budget)
        return "prompt.html", self._prompt(pack, kept.number)

    def diff(self, asked: dict[str, Any]) -> Page:
        """Comparison of two stored prompts."""
        first, second = self._known(_number(asked, "a") or 0), self._known(_number(asked, "b") or 0)
        return "diff.html", {
            "first": first,
            "second": second,
            "difference": second.pack.diff(first.pack),
            "left": self._prompt(first.pack, first.number),
            "right": self._prompt(second.pack, second.number),
        }

    def _known(self, number: int) -> StoredPrompt:
        kept = self._packs.get(number)
        if kept is None:
            raise UnknownId(f"prompt {number} is not kept any more; ask again")
        return kept

    def _form(self, fields: dict[str, str]) -> dict[str, Any]:
        documents = [one.path for one in self._engine.documents()]
        values = {**fields, "budget": fields["budget"] or str(_BUDGET)}
        return {"documents": documents, "models": _MODELS, "asked": values, "earlier": self._packs.last()}

    def _page(self, kept: StoredPrompt) -> Page:
        return "ask.html", {**self._form(_fields(kept.asked)), "kept": kept, **self._prompt(kept.pack, kept.number)}

    def _prompt(self, pack: Pack, number: int) -> dict[str, Any]:
        names = {one.id: one.name for one in self._engine.entities()}
        known = {*names, *names.values(), *(one.path for one in self._engine.documents())}
        prompt = pack.prompt
        marks = [Mark(one.start, one.end, one.entity_id) for one in self._engine.mentions(_encodable(prompt))]
        return {
            "pack": pack,
            "number": number,
            "bar": bar(pack),
            "items": [(one, _target(one, known)) for one in pack.items],
            "omitted": [(one, _target(one, known)) for one in pack.omitted[:_MOST_ROWS]],
            "pieces": pieces(prompt, marks, kept=len(pack.stable_prefix)),
            "names": names,
        }


def _target(one: PackItem | PackOmission, known: set[str]) -> str:
    """The target for a pin or mute of an item: an entity, a paragraph or a document; "" if there is none."""
    rest = one.id.removeprefix("entity:")
    return rest if rest in known or rest.partition("#")[0] in known else ""


def _fields(asked: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(asked.get(name) or "") for name in ("query", "document", "cursor", "model", "budget")}


def _number(asked: dict[str, Any], name: str) -> int | None:
    text = str(asked.get(name) or "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise ContractError(f"{name} must be a number, got {text[:40]!r}")
    return int(text)


def _encodable(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class ConflictRow(NamedTuple):
    """A statement and those that contradict it, for one or several attributes."""

    one: Statement
    others: tuple[Statement, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes in dispute."""
        return self.one.attributes


class Disputed(NamedTuple):
    """An entity and the contradictions found about it; often none."""

    entity: str
    name: str
    conflicts: tuple[ConflictRow, ...]


def conflicts_of(statements: Sequence[Statement]) -> tuple[ConflictRow, ...]:
    """Contradicting statements, grouped; each pair once, under the statement that comes first."""
    found = []
    for number, one in enumerate(statements):
        others = tuple(other for other in statements[number + 1 :] if _compete(one, other))
        if others:
            found.append(ConflictRow(one, others))
    return tuple(found)


def _compete(one: Statement, other: Statement) -> bool:
    named = other.reference in one.competes_with and one.reference in other.competes_with
    return named and not set(one.attributes).isdisjoint(other.attributes)


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


class ProjectPages:
    """Builds the pages; read-only.

    Args:
        engine: The project's engine.
        appearances: Mention counts.
    """

    def __init__(self, engine: ContextEngine, appearances: Appearances) -> None:
        self._engine = engine
        self._appearances = appearances
        self._disputed: ConflictSearch[Disputed] = ConflictSearch(lambda: disputed(engine), self._state)
        self._problems: ConflictSearch[str] = ConflictSearch(
            lambda: iter(engine.index.ask(lambda store: store.verify())), self._state
        )

    def chapters(self, asked: dict[str, Any]) -> Page:
        """All documents, chapters first, in story order."""
        documents = sorted(
            self._engine.documents(),
            key=lambda one: (one.kind not in STORY_KINDS, one.kind, one.chapter is None, one.chapter or 0, one.path),
        )
        return "chapters.html", {"documents": documents}

    def chapter(self, asked: dict[str, Any]) -> Page:
        """A document with its mentions marked."""
        document = self._engine.document(asked["path"])
        names = self._names()
        marks = [Mark(one.start, one.end, one.entity_id) for one in self._engine.mentions(document.text)]
        here = self._appearances.in_document(document.path).most_common(40)
        return "chapter.html", {
            "document": document,
            "paragraphs": in_paragraphs(pieces(document.text, marks), [one.end for one in document.paragraphs]),
            "names": names,
            "mentioned": [(id_, names.get(id_, id_), count) for id_, count in here],
        }

    def entities(self, asked: dict[str, Any]) -> Page:
        """All entities, by number of mentions."""
        totals = self._appearances.totals()
        entities = sorted(self._engine.entities(), key=lambda one: (-totals[one.id], one.id))
        memories = self._engine.memories.list()
        pins = self._engine.pins.list()
        return "entities.html", {"entities": entities, "totals": totals, "memories": memories, "pins": pins}

    def entity(self, asked: dict[str, Any]) -> Page:
        """An entity: card, mentions, relations, statements, contradictions."""
        entity = self._engine.codex.get(asked["id"])
        relations = [one for one in self._engine.codex.relations() if entity.id in (one.source, one.target)]
        said = self._engine.evidence(entity.id)
        return "entity.html", {
            "entity": entity,
            "card": entity_card(entity),
            "levels": CONTEXT_LEVELS,
            "plot": plot(self._appearances.of(entity.id)),
            "web": web(entity.id, relations, self._names()),
            "said": [one for one in said if not one.competes_with][:_MOST_STATEMENTS],
            "competing": [one for one in said if one.competes_with][:_MOST_STATEMENTS],
        }

    def conflicts(self, asked: dict[str, Any]) -> Page:
        """All contradictions, both sides of each."""
        looked, done = self._disputed.now()
        found = [one for one in looked if one.conflicts]
        return "conflicts.html", {"disputed": found, "looked": len(looked), "all": len(self._names()), "done": done}

    def health(self, asked: dict[str, Any]) -> Page:
        """The report of `armarius doctor`."""
        index = self._engine.index
        status = self._engine.status()
        rows = index.ask(lambda store: store.documents())
        shared = shared_names(self._engine.entities())
        problems, done = self._problems.now()
        return "health.html", {
            "status": status,
            "found": found_lines(rows, index.map),
            "steps": next_steps(rows, status, str(self._engine.root or "."), shared=shared, mapped=index.map),
            "problems": problems,
            "done": done,
        }

    def _state(self) -> int:
        return self._engine.index.status().generation

    def _names(self) -> dict[str, str]:
        return {one.id: one.name for one in self._engine.entities()}
