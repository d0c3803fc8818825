"""The pages about a project: chapters, people and things, health."""

from typing import Any

from armarius.codex.cards import entity_card
from armarius.codex.model import CONTEXT_LEVELS
from armarius.engine.engine import ContextEngine
from armarius.index.next_steps import found_lines, next_steps
from armarius.studio.appearances import Appearances
from armarius.studio.conflicts import Disputed, disputed
from armarius.studio.drawing import plot, web
from armarius.studio.looked import Looked
from armarius.studio.marked import Mark, in_paragraphs, pieces

__all__ = ["ProjectPages"]

Shown = tuple[str, dict[str, Any]]
_MOST_STATEMENTS = 60


class ProjectPages:
    """Reads an engine, changes nothing.

    Args:
        engine: Of the project.
        appearances: Who is mentioned where.
    """

    def __init__(self, engine: ContextEngine, appearances: Appearances) -> None:
        self._engine = engine
        self._appearances = appearances
        self._disputed: Looked[Disputed] = Looked(lambda: disputed(engine), self._state)
        self._problems: Looked[str] = Looked(lambda: iter(engine.index.ask(lambda store: store.verify())), self._state)

    def chapters(self, asked: dict[str, Any]) -> Shown:
        """Every document, chapters first, in the order of the story."""
        documents = sorted(
            self._engine.documents(),
            key=lambda one: (one.kind != "chapter", one.kind, one.chapter is None, one.chapter or 0, one.path),
        )
        return "chapters.html", {"documents": documents}

    def chapter(self, asked: dict[str, Any]) -> Shown:
        """A document with everybody in it marked."""
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

    def entities(self, asked: dict[str, Any]) -> Shown:
        """Every entity, the most mentioned first."""
        totals = self._appearances.totals()
        entities = sorted(self._engine.entities(), key=lambda one: (-totals[one.id], one.id))
        memories = self._engine.memories.list()
        pins = self._engine.pins.list()
        return "entities.html", {"entities": entities, "totals": totals, "memories": memories, "pins": pins}

    def entity(self, asked: dict[str, Any]) -> Shown:
        """Somebody: card, appearances, relations, what is said, what competes."""
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

    def conflicts(self, asked: dict[str, Any]) -> Shown:
        """Where two things are said of somebody, both sides."""
        looked, done = self._disputed.now()
        found = [one for one in looked if one.conflicts]
        return "conflicts.html", {"disputed": found, "looked": len(looked), "all": len(self._names()), "done": done}

    def health(self, asked: dict[str, Any]) -> Shown:
        """What `armarius doctor` says."""
        index = self._engine.index
        status = self._engine.status()
        rows = index.ask(lambda store: store.documents())
        problems, done = self._problems.now()
        return "health.html", {
            "status": status,
            "found": found_lines(rows),
            "steps": next_steps(rows, status, str(self._engine.root or ".")),
            "problems": problems,
            "done": done,
        }

    def _state(self) -> int:
        return self._engine.index.status().generation

    def _names(self) -> dict[str, str]:
        return {one.id: one.name for one in self._engine.entities()}
