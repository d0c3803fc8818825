"""What the other folders of a series say of entities, as drafts beside the project's own.

An id belongs to the folder that gives it: `e1` of `book1` is `book1/e1`, and so is a path. What an earlier book says
from one of its chapters on holds; what ended in one had ended before this book began, which is before chapter 0.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from armarius.codex.importers.codex_json import CodexFile
from armarius.codex.model import Fact, Relation
from armarius.codex.profiles.draft import Draft, DraftRelation, Profiles
from armarius.documents.document import Document
from armarius.errors import CodexError

__all__ = ["Told", "ended", "file_of", "profiles_of", "qualified"]

Timed = TypeVar("Timed", Fact, Relation, DraftRelation)


@dataclass(frozen=True, slots=True)
class Told:
    """One more folder.

    Attributes:
        root: What its ids and paths begin with.
        past: An earlier book: its chapters are none of the project's.
        documents: Their paths begin with `root`.
        declared: What its files of `armarius.codex.importers` say, by paths inside it.
        authored: What its `.armarius/codex.toml` says.
    """

    root: str
    past: bool
    documents: tuple[Document, ...] = ()
    declared: CodexFile = field(default_factory=CodexFile)
    authored: CodexFile = field(default_factory=CodexFile)


def qualified(root: str, name: str) -> str:
    """An id or a path of the folder `root`."""
    return f"{root}/{name}" if root else name


def file_of(told: Told, file: CodexFile) -> CodexFile:
    """`file` as the project reads it; its rules of what holds when are those of its book."""
    root = told.root
    return CodexFile(
        title=file.title,
        language=file.language,
        drafts=[_draft(told, one) for one in file.drafts],
        relations=[
            replace(one, root=root, origin=replace(one.origin, path=qualified(root, one.origin.path)))
            for one in (ended(file.relations) if told.past else file.relations)
        ],
        errors=[CodexError(qualified(root, str(error))) for error in file.errors],
    )


def profiles_of(told: Told, found: Profiles) -> Profiles:
    """What one of its files describes, as the project reads it."""
    lines = [replace(one, path=qualified(told.root, one.path)) for one in found.lines]
    return Profiles([_draft(told, one) for one in found.drafts], lines)


def ended(items: Iterable[Timed]) -> Iterator[Timed]:
    """What earlier books say, by the chapters of this one."""
    return (replace(one, since=None, until=None if one.until is None else 0) for one in items)


def _draft(told: Told, draft: Draft) -> Draft:
    return replace(
        draft,
        root=told.root,
        origin=replace(draft.origin, path=qualified(told.root, draft.origin.path)),
        id=qualified(told.root, draft.id) if draft.id else None,
        # What every prompt of another book said is said in this one where it is named.
        level="when_detected" if told.past and draft.level == "always" else draft.level,
        facts=list(ended(draft.facts)) if told.past else draft.facts,
    )
