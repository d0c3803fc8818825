"""Questions that lean on a conversation, spelled out for one moment of a project."""

import threading

from armarius.codex import Codex
from armarius.messages import Turn
from armarius.project import ProjectView
from armarius.retrieval.understand.follow_up import FollowUp, follow_up
from armarius.retrieval.understand.referents import Cast, cast_of

__all__ = ["FollowUps"]


class FollowUps:
    """Spells questions out; who is who is read once for each codex. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[Codex, Cast] | None = None

    def of(self, view: ProjectView, query: str, turns: tuple[Turn, ...]) -> FollowUp:
        """`query` with what it leaves to the `turns` before it."""
        if not turns or not query.strip():
            return FollowUp(query)
        return follow_up(query, turns, matcher=view.matcher, cast=self._cast(view.codex))

    def _cast(self, codex: Codex) -> Cast:
        with self._lock:
            if self._known is None or self._known[0] is not codex:
                self._known = (codex, cast_of(codex))
            return self._known[1]
