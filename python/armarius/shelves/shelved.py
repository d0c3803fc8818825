"""The engine of a project of a shelf: the same verbs, over an engine that is in memory while there is room."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from armarius.calls import calling
from armarius.engine.engine import ContextEngine
from armarius.verbs import awaitable

__all__ = ["ShelvedEngine"]

P = ParamSpec("P")
Answer = TypeVar("Answer")


def _asked(verb: Callable[Concatenate[Any, P], Answer]) -> Callable[..., Answer]:
    """`verb` of one moment of the project, with `at_least`: not before that version of it is there."""

    @wraps(verb)
    def call(self: "ShelvedEngine", *args: Any, at_least: int | None = None, **keywords: Any) -> Answer:  # noqa: ANN401
        with calling(verb.__name__, keywords.get("timeout_s")), self.asked(at_least):
            return verb(self, *args, **keywords)

    return call


class ShelvedEngine(ContextEngine):
    """A `ContextEngine` that is made when it is asked, and goes from memory when others need the room."""

    def asked(self, at_least: int | None = None) -> AbstractContextManager[None]:
        """Whatever is asked inside, by this thread, keeps the engine in memory and is counted.

        Args:
            at_least: Not before this version is there, where projects have versions.
        """
        raise NotImplementedError

    assemble = _asked(ContextEngine.assemble)
    inspect = _asked(ContextEngine.inspect)
    aassemble = awaitable(assemble)
    ainspect = awaitable(inspect)
    locate = _asked(ContextEngine.locate)
    retrieve = _asked(ContextEngine.retrieve)
    aretrieve = awaitable(retrieve)
    search = _asked(ContextEngine.search)
    asearch = awaitable(search)
    excerpt = _asked(ContextEngine.excerpt)
    evidence = _asked(ContextEngine.evidence)
    aevidence = awaitable(evidence)
    propose = _asked(ContextEngine.propose)
    entities = _asked(ContextEngine.entities)
    entity = _asked(ContextEngine.entity)
    card = _asked(ContextEngine.card)
    documents = _asked(ContextEngine.documents)
    document = _asked(ContextEngine.document)
    active = _asked(ContextEngine.active)
    similar = _asked(ContextEngine.similar)
    asimilar = awaitable(similar)
    detect = _asked(ContextEngine.detect)
    mentions = _asked(ContextEngine.mentions)
    status = _asked(ContextEngine.status)
