"""Tools that read: prompts, passages, places, names, code. None of them changes anything."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.types import CallToolResult, ContentBlock, TextContent
from pydantic import Field, Strict, StrictInt

from armarius.arguments import Bounds
from armarius.code.subgraph import Subgraph, matches, tree
from armarius.codex.cards import holds
from armarius.mcp.arguments import (
    Also,
    AsOf,
    Budget,
    Buffer,
    Chapters,
    Cursor,
    DocumentPath,
    FrameLanguage,
    Kinds,
    Limit,
    Messages,
    Model,
    Name,
    Query,
    Selection,
    Targets,
    cut,
    pair,
    sized,
)
from armarius.verbs.code import around
from armarius.verbs.documents import summary
from armarius.verbs.escaped import handed, handed_hit
from armarius.verbs.wire import match_wire, wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine
    from armarius.mcp.arguments import Tools

__all__ = ["add_code_tool", "add_knowing", "add_tools", "add_writing"]


def add_tools(tools: "Tools", engine: "ContextEngine") -> None:
    """The tools of every project."""

    @tools.reads
    def assemble_context(
        query: Query,
        document: DocumentPath = "",
        cursor: Cursor = None,
        text: Buffer = None,
        selection: Selection = None,
        include: Targets = None,
        exclude: Targets = None,
        budget: Budget = None,
        model: Model = None,
        also: Also = None,
        messages: Messages = None,
        chapters: Chapters = None,
        kinds: Kinds = None,
        as_of: AsOf = None,
        language: FrameLanguage = None,
    ) -> CallToolResult:
        """Assemble a prompt from rules, settings, retrieved and immediate layers, within the budget.

        Say the query again in two to four wordings as `also`, in the words that the book would use, names included:
        that finds most of what a paraphrase misses. The text of the answer is the prompt; its account is structured.
        """
        pack = engine.assemble(
            query=query,
            document=document,
            cursor=cursor,
            text=text,
            selection=None if selection is None else (selection[0], selection[1]),
            include=include or (),
            exclude=exclude or (),
            budget=budget,
            model=model,
            also=also or (),
            messages=messages or (),
            chapters=pair(chapters),
            kinds=kinds or (),
            as_of=as_of,
            language=language,
        )
        account = {**pack.to_wire(), "documents": list(pack.documents)}
        return CallToolResult(content=[TextContent(type="text", text=pack.prompt)], structured_content=account)

    @tools.reads
    def inspect_context(
        query: Query,
        document: DocumentPath = "",
        cursor: Cursor = None,
        text: Buffer = None,
        selection: Selection = None,
        include: Targets = None,
        exclude: Targets = None,
        budget: Budget = None,
        model: Model = None,
        also: Also = None,
        messages: Messages = None,
        chapters: Chapters = None,
        kinds: Kinds = None,
        as_of: AsOf = None,
        language: FrameLanguage = None,
    ) -> dict[str, Any]:
        """Show what assemble_context would send, layer by layer, without the prompt itself."""
        seen = engine.inspect(
            query=query,
            document=document,
            cursor=cursor,
            text=text,
            selection=None if selection is None else (selection[0], selection[1]),
            include=include or (),
            exclude=exclude or (),
            budget=budget,
            model=model,
            also=also or (),
            messages=messages or (),
            chapters=pair(chapters),
            kinds=kinds or (),
            as_of=as_of,
            language=language,
            requested_by="mcp",
        )
        return seen.to_wire()

    @tools.reads
    def search(
        query: Query,
        limit: Limit = 10,
        also: Also = None,
        chapters: Chapters = None,
        kinds: Kinds = None,
        as_of: AsOf = None,
    ) -> dict[str, Any]:
        """Find passages that contain the given words exactly, or those of `also`. Any text is a valid query."""
        found = engine.search(
            query, limit=limit, also=also or (), chapters=pair(chapters), kinds=kinds or (), as_of=as_of
        )
        return sized("results", [handed_hit(hit) for hit in found])

    @tools.reads
    def retrieve(
        query: Query,
        limit: Limit = 5,
        document: DocumentPath = "",
        also: Also = None,
        messages: Messages = None,
        chapters: Chapters = None,
        kinds: Kinds = None,
        as_of: AsOf = None,
    ) -> dict[str, Any]:
        """Find the documents and sections that a question needs, best first, with the reasons.

        Say the query again in two to four wordings as `also`, in the words that the book would use, names included.
        """
        looked = pair(chapters)
        answer = engine.retrieve(
            query,
            limit=limit,
            document=document,
            also=also or (),
            messages=messages or (),
            chapters=looked,
            kinds=kinds or (),
            as_of=as_of,
        )
        texts = [engine.excerpt(hit, chapters=looked, as_of=as_of) for hit in answer]
        results = [handed({**wire(hit), "text": cut(text)}) for hit, text in zip(answer, texts, strict=True)]
        warnings = [str(warning) for warning in answer.warnings]
        omitted = [handed(wire(gone)) for gone in answer.omitted]
        carried = {"carried": list(answer.carried)} if answer.carried else {}
        return sized("results", results, outcome=answer.outcome, warnings=warnings, omitted=omitted, **carried)

    @tools.reads
    def locate(
        quote: Annotated[str, Field(description="Words that stand in the project.", min_length=1, max_length=4_000)],
        document: DocumentPath = "",
        text: Buffer = None,
    ) -> dict[str, Any]:
        """Find where quoted words stand, in the open document first: path and span in code points, half-open.

        Word for word if they stand anywhere so; else with other width, case, white space, quotation marks or dashes.
        """
        return sized("places", [wire(place) for place in engine.locate(quote, document=document, text=text)])

    @tools.reads
    def detect_entities(text: Annotated[str, Field(max_length=200_000)]) -> dict[str, Any]:
        """Say which known people, places and things a text names."""
        return sized("entities", [match_wire(match) for match in engine.detect(text)])


def add_code_tool(tools: "Tools", engine: "ContextEngine") -> None:
    """The code graph, for a project that has code."""

    @tools.reads
    def subgraph(
        symbol: Annotated[
            str, Field(description="Name or qualified name of a function, method or class.", min_length=1)
        ],
        depth: Annotated[StrictInt, Field(ge=1, le=10)] = 3,
        direction: Literal["callers", "callees", "both"] = "both",
    ) -> CallToolResult:
        """Walk the code graph around a symbol: calls, references, inheritance, imports, overrides."""
        found = around(engine, symbol, depth=depth, direction=direction)
        shown = tree(found) if isinstance(found, Subgraph) else matches(found)
        content: list[ContentBlock] = [TextContent(type="text", text=str(handed(shown)))]
        return CallToolResult(content=content, structured_content=handed(found.to_wire()))


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


Short = Annotated[str, Field(min_length=1, max_length=400)]


def add_writing(tools: "Tools", engine: "ContextEngine") -> None:
    """The tools."""

    @tools.adds
    def remember(
        text: Annotated[str, Field(description="One statement, as it is to be read later.", max_length=2_000)],
        kind: Annotated[
            Literal["semantic", "episodic", "procedural"],
            Field(description="Only semantic ones enter prompts by themselves."),
        ] = "semantic",
        confidence: Annotated[float, Strict(), Field(ge=0, le=1)] = 0.8,
    ) -> dict[str, Any]:
        """Remember something about the project or its user, for later prompts. Kept in `.armarius/memories.toml`."""
        answer: dict[str, Any] = handed(wire(engine.memories.create(text, kind=kind, confidence=confidence)))
        return answer

    @tools.adds
    def propose(
        name: Short,
        type: Annotated[  # noqa: A002 - the field's name
            Short,
            Field(description="character, location, event, item, faction, foreshadowing, inspiration, or another."),
        ],
        description: Annotated[str, Field(max_length=2_000)] = "",
        aliases: Annotated[list[Short] | None, Field(max_length=20)] = None,
    ) -> dict[str, Any]:
        """Propose somebody or something that the project does not describe yet, for the user to approve.

        It is written to `.armarius/codex.toml` with the level `never`: no prompt shows it before the user raises
        that. What the project knows already is refused.
        """
        made = engine.codex.create(
            name, type=type, description=description, aliases=tuple(aliases or ()), level="never"
        )
        answer: dict[str, Any] = handed(wire(made))
        return answer
