"""Tools that say what the project knows: its documents, the card of an entity, the evidence for it."""

from typing import TYPE_CHECKING, Annotated, Any

from mcp.types import CallToolResult, ContentBlock, TextContent
from pydantic import Field, StrictInt

from armarius.bounds import Bounds
from armarius.codex.cards import holds
from armarius.integrations.handed import handed
from armarius.integrations.mcp.arguments import AsOf, Chapters, Kinds, Limit, Name, pair
from armarius.integrations.mcp.sized import cut, sized
from armarius.integrations.methods.documents import summary
from armarius.integrations.methods.wire import wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine
    from armarius.integrations.mcp.told import Tools

__all__ = ["add_knowing"]

_LISTED = 200


def add_knowing(tools: "Tools", engine: "ContextEngine") -> None:
    """The tools."""

    @tools.reads
    def list_documents(
        kinds: Kinds = None,
        chapters: Chapters = None,
        offset: Annotated[StrictInt, Field(description="Skip so many.", ge=0)] = 0,
    ) -> dict[str, Any]:
        """List the documents of the project by path, at most 200 at once: kind, title, chapter; never their text."""
        bounds = Bounds.of(pair(chapters), kinds or ())
        found = [one for one in engine.documents() if bounds.holds(one.kind, one.chapter)]
        part = [handed(summary(one)) for one in found[offset : offset + _LISTED]]
        return sized("documents", part, total=len(found))

    @tools.reads
    def entity(name: Name, as_of: AsOf = None) -> CallToolResult:
        """Give the card of somebody or something known: what it is, other names, what holds of it in which chapter."""
        one = engine.entity(name)
        plain = {**wire(one), "facts": [wire(fact) for fact in one.facts if holds(fact, as_of)]}
        content: list[ContentBlock] = [TextContent(type="text", text=str(handed(engine.card(name, as_of=as_of))))]
        return CallToolResult(content=content, structured_content={"entity": handed(plain)})

    @tools.reads
    def evidence(
        name: Name,
        attribute: Annotated[
            str | None, Field(description="Such as 年龄, 住处 or eye colour; null is whatever the settings say.")
        ] = None,
        chapters: Chapters = None,
        as_of: AsOf = None,
        limit: Limit = 20,
    ) -> dict[str, Any]:
        """Give everything that the project says of somebody, sentence by sentence; competing statements are marked."""
        found = engine.evidence(name, attribute=attribute, chapters=pair(chapters), as_of=as_of)
        said = [{**wire(one), "text": cut(one.text)} for one in found[:limit]]
        return sized("statements", [handed(one) for one in said], total=len(found))
