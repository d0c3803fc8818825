"""What tools take: types with the descriptions that a model reads."""

import json
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import Field, StrictInt

from armarius.arguments import LONGEST, MOST, MOST_MESSAGES, Kind
from armarius.headings import Language
from armarius.io.messages_without_paths import answer_without_paths
from armarius.verbs.failures import Failure, describe

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = [
    "EXCERPT",
    "LARGEST",
    "Also",
    "AsOf",
    "Budget",
    "Buffer",
    "Chapters",
    "Cursor",
    "DocumentPath",
    "FrameLanguage",
    "Kinds",
    "Limit",
    "Messages",
    "Model",
    "Name",
    "Query",
    "Selection",
    "Targets",
    "Tools",
    "cut",
    "pair",
    "sized",
    "told",
]

Query = Annotated[str, Field(description="The user's words, in any language.", max_length=20_000)]
DocumentPath = Annotated[str, Field(description='Project-relative path of the current document, or "".')]
Cursor = Annotated[
    StrictInt | None, Field(description="Offset into that document in code points; null is its end.", ge=0)
]
Buffer = Annotated[
    str | None,
    Field(description="The document as the editor holds it, saved or not; null is as saved.", max_length=2_000_000),
]
Selection = Annotated[
    list[Annotated[StrictInt, Field(ge=0)]] | None,
    Field(description="What is selected in it: [first, last] offset in code points.", min_length=2, max_length=2),
]
Targets = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=400)]] | None,
    Field(description="Ids, names, document paths, paragraphs (path#number) or tags.", max_length=64),
]
FrameLanguage = Annotated[
    Language | None, Field(description="Of headings and labels in the prompt; null is the project's.")
]
Budget = Annotated[StrictInt | None, Field(description="Tokens for the whole prompt; null for the default.", ge=1)]
Model = Annotated[str | None, Field(description="Decides the tokenizer; null for the default.")]
Chapters = Annotated[
    StrictInt | Annotated[list[StrictInt | None], Field(min_length=2, max_length=2)] | None,
    Field(description="Look into these chapters alone: one number, or [first, last], inclusive; null is open."),
]
Kinds = Annotated[
    list[Kind] | None,
    Field(description="Look into documents of these kinds alone; profiles of people and places are `setting`."),
]
AsOf = Annotated[
    StrictInt | None,
    Field(description="Nothing later than this chapter: no text, outline line, fact or relation; null is all.", ge=0),
]
Also = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=LONGEST)]] | None,
    Field(
        description="Two to four other wordings of the query, each a short sentence in the words that the book itself "
        "would use, with the names of the people and places meant, in the language of the book. They are looked up "
        "beside the query and never shown: they find what the query's own words miss.",
        max_length=MOST,
    ),
]
Messages = Annotated[
    list[dict[str, Any]] | None,
    Field(
        description='The conversation so far, oldest first, as {"role": "user" or "assistant", "content": text}: '
        "give it when the query leans on it (she, there, and then?). It is looked up and never shown.",
        max_length=MOST_MESSAGES,
    ),
]
Limit = Annotated[StrictInt, Field(description="At most this many results.", ge=1, le=100)]
Name = Annotated[str, Field(description="Name, alias or id of somebody or something known.", min_length=1)]


def pair(value: int | list[int | None] | None) -> int | tuple[int | None, int | None] | None:
    """Chapters as the engine takes them."""
    return (value[0], value[1]) if isinstance(value, list) else value


EXCERPT: Final = 2_000
"""Code points of one text in a list of results."""
LARGEST: Final = 60_000
"""Code points of the JSON of one list of results; prompts have their own budget."""


def cut(text: str, most: int = EXCERPT) -> str:
    """`text`, or its beginning and an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def sized(name: str, items: list[Any], **beside: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """The items under `name` as far as `LARGEST` holds them; `left_off` says how many more there are.

    Cost: one pass of the JSON encoder.
    """
    room = LARGEST
    kept: list[Any] = []
    for item in items:
        room -= len(json.dumps(item, ensure_ascii=False))
        if room < 0 and kept:
            break
        kept.append(item)
    left = len(items) - len(kept)
    return {name: kept, **beside, **({"left_off": left} if left else {})}


_P = ParamSpec("_P")
_R = TypeVar("_R")

# A client shakes hands at once, while the index is built; what it asks first waits so long for it.
_PATIENCE_S: Final = 20.0
_READS: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_ADDS: Final = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


def told(
    engine: "ContextEngine", failed: Callable[[Failure], Exception]
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Wait for an index under construction, and turn whatever is raised into what the client is told."""
    root = None if engine.root is None else engine.root.resolve()

    def decorate(answer: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(answer)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                engine.wait(_PATIENCE_S)
                found: Any = answer(*args, **kwargs)
                if isinstance(found, CallToolResult):
                    found.structured_content = answer_without_paths(found.structured_content, root)
                    return found  # type: ignore[return-value]
                return answer_without_paths(found, root)  # type: ignore[no-any-return]
            except Exception as error:  # noqa: BLE001 - the client is told all that may be said
                raise failed(describe(error, root=root)) from None

        return call

    return decorate


class Tools:
    """Adds functions to a server as tools.

    Args:
        server: Whose tools they become.
        engine: Waited for.
    """

    def __init__(self, server: MCPServer, engine: "ContextEngine") -> None:
        self._server = server
        self._engine = engine

    def reads(self, function: Callable[..., Any]) -> None:
        """A tool that changes nothing."""
        self._add(function, _READS)

    def adds(self, function: Callable[..., Any]) -> None:
        """A tool that adds to the project and takes nothing from it."""
        self._add(function, _ADDS)

    def _add(self, function: Callable[..., Any], annotations: ToolAnnotations) -> None:
        guarded = told(self._engine, lambda failure: ToolError(f"{failure.code}: {failure.message}"))
        self._server.tool(annotations=annotations)(guarded(function))
