"""The inbox: what is doubtful in a project, each with the answers that a writer can give."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar

from armarius.arguments import KINDS
from armarius.codex.model import Entity, shared_names
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.project_map import MappedFile
from armarius.engine.engine import ContextEngine
from armarius.engine.project import counter_for
from armarius.errors import ArmariusError
from armarius.search.contradictions.detect import ConflictRow, conflicts_of
from armarius.text.unicode import fold

_MOST_NAMES = 40
_MOST_SHOWN = 200
_LONG = 1_000  # code points of an entity whose card is counted
_SHARE = 8  # a card that takes more than this part of the budget is large
_AROUND = 60  # code points of a sentence on each side of a name
_ORDER = ("conflict", "name", "shared", "kind", "copy", "empty", "stale", "card", "problem", "skipped")


class Doubt(NamedTuple):
    """Something that the writer is asked about.

    Attributes:
        kind: One of `_ORDER`.
        about: What it is about, as it is shown.
        key: Another one when what is doubtful changes.
        value: What the page shows of it.
    """

    kind: str
    about: str
    key: str
    value: Any = None

    @property
    def id(self) -> str:
        """By which an answer is remembered."""
        return f"{self.kind[0]}-{sha256(self.key.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


class Inbox:
    """Collects doubts; those that take long are searched in the background once the page has been opened.

    Args:
        engine: The project's engine.
        limits: Returns budget and model of the project.
        settled: Answers that are remembered, as id and what they are about.
    """

    def __init__(
        self,
        engine: ContextEngine,
        limits: Callable[[], tuple[int, str]],
        settled: Callable[[], Mapping[str, str]],
    ) -> None:
        self._engine = engine
        self._limits = limits
        self._settled = settled
        self._search = BackgroundSearch[Doubt](self._search_doubts, lambda: engine.index.moment()[1])
        self._asking = BackgroundSearch(
            lambda: iter([engine.understanding_request()]), lambda: engine.index.moment()[1]
        )

    def count(self) -> int:
        """How many doubts are known now; starts no search."""
        return len(self._open(self._search.found()))

    def page(self, query: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Every doubt that is not settled, by kind."""
        results, done = self._search.now()
        self._asking.now()  # its button stands on this page
        doubts = sorted(self._open(results), key=lambda doubt: _ORDER.index(doubt.kind))
        return "inbox.html", {
            "doubts": [(kind, list(alike)) for kind, alike in groupby(doubts, lambda doubt: doubt.kind)],
            "most": _MOST_SHOWN,
            "settled": self._settled(),
            "kinds": KINDS,
            "people": [entity.name for entity in self._engine.entities()],
            "warnings": self._engine.status().warnings,
            "done": done,
        }

    def question(self, query: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """What a language model of the writer's can be asked about the project, once."""
        made, done = self._asking.now()
        return "question.html", {"question": made[0] if done else self._engine.understanding_request(), "found": None}

    def _open(self, doubts: list[Doubt]) -> list[Doubt]:
        settled, every = self._settled(), self._engine.entities()
        names = {fold(name) for entity in every for name in (entity.name, *entity.aliases)}
        current = [doubt for doubt in doubts if doubt.kind != "name" or fold(doubt.about) not in names]
        return [doubt for doubt in (*current, *self._quick_doubts()) if doubt.id not in settled]

    def _quick_doubts(self) -> Iterator[Doubt]:
        """Doubts that are known without a search."""
        files, hidden = self._engine.index.map, self._engine.index.map.hidden
        copies = [file for file in files.files.values() if file.path in hidden and file.edition != "main"]
        yield from _by_folder("kind", files.doubtful)
        yield from _by_folder("copy", [file for file in copies if file.kind in STORY_KINDS and not file.declared])
        for document in self._engine.documents():
            if document.kind in STORY_KINDS and all(paragraph.role != "body" for paragraph in document.paragraphs):
                yield Doubt("empty", document.title or document.path, document.path, document.path)
        summaries = {summary.document: summary.text for summary in self._engine.summaries.list()}
        for path in self._engine.summaries.stale():
            yield Doubt("stale", path, path, summaries.get(path, ""))
        for shared in shared_names(self._engine.entities()):
            ids = " ".join(entity.id for entity in shared.entities)
            yield Doubt("shared", shared.name, ids, shared.entities)
        for file in self._engine.index.skipped:
            yield Doubt("skipped", file.path, f"{file.path} {file.reason}", file.reason)

    def _search_doubts(self) -> Iterator[Doubt]:
        """Doubts that take a search: for each entity, for each name without a profile, through the whole index."""
        engine, (budget, model) = self._engine, self._limits()
        counter = counter_for(model, None)
        for entity in engine.entities():
            for row in conflicts_of(engine.evidence(entity.id)):
                text = "\n".join((row.one.text, *sorted(other.text for other in row.others)))
                yield Doubt("conflict", entity.name, text, (entity.id, row, _field_of(entity, row)))
            if sum(map(len, (entity.description, *entity.attributes.values(), *entity.aliases))) > _LONG:
                tokens = counter.count(engine.card(entity.id))
                if tokens * _SHARE > budget:
                    yield Doubt("card", entity.name, f"{entity.id} {tokens}", (entity.id, tokens))
        for name in engine.propose()[:_MOST_NAMES]:
            hits = engine.search(name.name, limit=2)
            yield Doubt("name", name.name, name.name, (name, [(hit, _excerpt_of(hit.text, name.name)) for hit in hits]))
        for problem in engine.index.ask(lambda store: store.verify()):
            yield Doubt("problem", problem, problem)


def _by_folder(kind: str, files: "tuple[MappedFile, ...] | list[MappedFile]") -> Iterator[Doubt]:
    """One doubt for the files of a folder that are taken for the same."""
    groups: dict[tuple[str, str], list[str]] = {}
    for file in files:
        groups.setdefault((file.path.rpartition("/")[0], file.kind), []).append(file.path)
    for (folder, taken_for), paths in groups.items():
        about = paths[0] if len(paths) == 1 else f"{folder}/"
        yield Doubt(kind, about, "\n".join((taken_for, *sorted(paths))), (taken_for, sorted(paths)))


def _field_of(entity: Entity, row: ConflictRow) -> tuple[str, str, str] | None:
    """Name, key and value of the field that says a claim; None where no field of the drawer does."""
    label = row.one.text.lstrip("-*+ ").replace("：", ":").partition(":")[0].strip("* ")
    if label in entity.attributes:
        return "value", label, " ".join(entity.attributes[label].split())
    return ("description", "", entity.description) if row.one.text.strip() in entity.description else None


def _excerpt_of(text: str, name: str) -> str:
    """What stands around a name."""
    at = max(0, text.find(name))
    start, end = max(0, at - _AROUND), at + len(name) + _AROUND
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


T = TypeVar("T")
_LONGEST_REST_S = 0.1


class BackgroundSearch(Generic[T]):
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

    def found(self) -> list[T]:
        """The results so far, of the last search if the present one has not ended; starts none."""
        with self._lock:
            return list(self._finding if self._done or self._found is None else self._found)

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
            done = self._done
        return self.found(), done

    def _run(self, state: int) -> None:
        try:
            began = time.monotonic()
            for item in self._look():
                with self._lock:
                    if self._of != state:
                        return
                    self._finding.append(item)
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
