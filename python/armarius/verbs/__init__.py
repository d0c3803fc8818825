"""What a host may ask over the JSON channel: a table of methods, each with the shape of what it takes and answers.

prompts.py (context:…)   authored.py (constraints, memories)   entities.py (entities, relations, mentions, evidence)
documents.py   summaries.py   code.py   index.py   method.py (what a method is)   results.py (shapes of answers)
wire.py (dataclasses and positions as JSON)   schemas.py (JSON Schemas of it all)

A method is a row: name, params (a pydantic model, which refuses what is wrong and names the field), result, function.
What must hold: names are camelCase, but for keys of the user's own; whatever is an offset is in units of the request's
`positionEncoding`; another project's id is refused (CONTEXT_SCOPE_VIOLATION); a number is a number and no string.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from armarius.verbs import authored, code, documents, entities, index, prompts, summaries
from armarius.verbs.method import Method
from armarius.verbs.wire import match_wire, wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["METHODS", "Method", "match_wire", "methods_of", "wire"]

METHODS: Final[tuple[Method[Any], ...]] = (
    *prompts.METHODS,
    *authored.METHODS,
    *entities.METHODS,
    *documents.METHODS,
    *summaries.METHODS,
    *code.METHODS,
    *index.METHODS,
)
"""Every method that a channel answers."""


def methods_of(engine: "ContextEngine") -> dict[str, Callable[[Mapping[str, Any]], Any]]:
    """The table over one engine; every function may be called from any thread."""
    return {method.name: method.over(engine) for method in METHODS}
