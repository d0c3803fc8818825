"""Per-request helpers: query variants of a language model, follow-up questions."""

import threading
from collections import OrderedDict
from dataclasses import dataclass

from armarius.arguments import Turn
from armarius.codex import Codex
from armarius.errors import ContextWarning
from armarius.project import ProjectView
from armarius.rewording import MOST_NAMES, Model, Reworder
from armarius.search.query.coreference import Cast, cast_of
from armarius.search.query.follow_up import FollowUp, follow_up

_REMEMBERED = 8  # cached `Reworder`s of models passed per call
_SHOWN = ("always", "when_detected")


@dataclass(frozen=True, slots=True)
class Worded:
    """Query variants, and warnings about them."""

    also: tuple[str, ...] = ()
    warnings: tuple[ContextWarning, ...] = ()


class Rewords:
    """Asks a language model for query variants. Thread-safe.

    Args:
        model: The engine's model; None asks only a model passed per call.
    """

    def __init__(self, model: Model | Reworder | None = None) -> None:
        self._own = None if model is None else Reworder.of(model)
        self._lock = threading.Lock()
        self._others: OrderedDict[int, Reworder] = OrderedDict()

    def ask(
        self, view: ProjectView, query: str, also: tuple[str, ...], model: Model | Reworder | None = None
    ) -> Worded:
        """`also` if not empty, else the variants of `model` or the engine's model; none for an empty query."""
        asked = self._own if model is None else self._of(model)
        if also or asked is None or not query.strip():
            return Worded(also)
        found = asked.ask(query.strip(), names=_names(view, query))
        return Worded(found.wordings, () if found.warning is None else (found.warning,))

    def _of(self, model: Model | Reworder) -> Reworder:
        """The cached `Reworder` of a model, which caches its answers."""
        if isinstance(model, Reworder):
            return model
        with self._lock:
            known = self._others.pop(id(model), None)
            if known is None or known.model is not model:
                known = Reworder(model)
            self._others[id(model)] = known
            while len(self._others) > _REMEMBERED:
                self._others.popitem(last=False)
            return known


def _names(view: ProjectView, query: str) -> tuple[str, ...]:
    """Names for the model's prompt: those in the query first, with aliases; without entities hidden from prompts."""
    named = {mention.entity_id for mention in view.matcher.find_in_question(query.encode("utf-8", "replace").decode())}
    entities = [one for one in view.codex.entities if one.level in _SHOWN]
    first = [name for one in entities if one.id in named for name in (one.name, *one.aliases)]
    return tuple(dict.fromkeys([*first, *(one.name for one in entities)]))[:MOST_NAMES]


class FollowUps:
    """Resolves follow-up questions; caches the cast of the last codex. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[Codex, Cast] | None = None

    def of(self, view: ProjectView, query: str, turns: tuple[Turn, ...]) -> FollowUp:
        """`query` with the referents and topic that it takes from the `turns` before it."""
        if not turns or not query.strip():
            return FollowUp(query)
        return follow_up(query, turns, matcher=view.matcher, cast=self._cast(view.codex))

    def _cast(self, codex: Codex) -> Cast:
        with self._lock:
            if self._known is None or self._known[0] is not codex:
                self._known = (codex, cast_of(codex))
            return self._known[1]
