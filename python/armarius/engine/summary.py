"""What an engine says of itself at a prompt: one line, or a table of what it holds."""

from collections.abc import Callable

from armarius.errors import ArmariusError
from armarius.index.status import IndexStatus

__all__ = ["brief", "rows"]


def brief(project_id: str, status: Callable[[], IndexStatus]) -> str:
    """One line; of an engine that is closed or cannot say more, that."""
    try:
        now = status()
    except ArmariusError as error:
        return f"ContextEngine({project_id!r}: {error})"
    warned = f", {len(now.warnings)} warning{'s' * (len(now.warnings) != 1)}" if now.warnings else ""
    return f"ContextEngine({project_id!r}: {now.documents:,} documents, {now.entities:,} entities, {now.state}{warned})"


def rows(project_id: str, status: Callable[[], IndexStatus], recall: str, graph: str) -> list[tuple[str, str]]:
    """Name and value of what the engine holds."""
    try:
        now = status()
    except ArmariusError as error:
        return [("project", project_id), ("index", str(error))]
    return [
        ("project", project_id),
        ("documents", f"{now.documents:,} ({now.paragraphs:,} paragraphs)"),
        ("entities", f"{now.entities:,} ({now.mentions:,} mentions)"),
        ("index", f"{now.state}, {now.bytes / 1e6:.1f} MB{', watching' * now.watching}"),
        ("recall", recall),
        ("graph", graph),
        *(("warning", str(warning)) for warning in now.warnings),
    ]
