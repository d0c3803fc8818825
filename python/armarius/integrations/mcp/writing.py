"""Tools that write, for a server that was started with `--allow-write`: both only ever add.

What they add stands in readable files under `.armarius/`, where the user finds, changes and deletes it.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, Strict

from armarius.integrations.handed import handed
from armarius.integrations.methods.wire import wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine
    from armarius.integrations.mcp.told import Tools

__all__ = ["add_writing"]

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

        It is written to `.armarius/codex.toml` with the level `manual_only`: no prompt shows it before the user raises
        that. What the project knows already is refused.
        """
        made = engine.codex.create(
            name, type=type, description=description, aliases=tuple(aliases or ()), level="manual_only"
        )
        answer: dict[str, Any] = handed(wire(made))
        return answer
