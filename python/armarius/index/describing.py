"""Which documents of a project describe entities, and what they say; most describe none.

What a document says is read once, and of one that says nothing the index keeps that it does: a process that comes later
leaves its text where it is. Ten thousand pages of notes cost an opening three seconds of reading, and describe nobody.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from armarius._core import __version__
from armarius.codex.authored.codex import AuthoredCodex
from armarius.codex.authored.protocol import Authored
from armarius.codex.load import build_codex, profiles_in
from armarius.codex.model import Codex
from armarius.codex.profiles.draft import Profiles
from armarius.codex.series import Told
from armarius.documents.document import Document
from armarius.index.series import SeriesAuthored
from armarius.store.protocol import Store
from armarius.store.rows import DocumentRow, Learnt

__all__ = ["KIND", "Describing"]

KIND: Final = "silent"
_RULES: Final = 1  # raised when the same text of the same version describes something else
_KINDS: Final = ("setting", "outline", "note")


class Describing:
    """The documents that describe something, as the index last saw them.

    Args:
        authored: What the user wrote beside them.
    """

    def __init__(self, authored: Authored) -> None:
        self._authored = authored
        self._documents: dict[str, Document] = {}
        self._said: dict[str, Profiles] = {}
        self._unmarked: list[Learnt] = []

    def load(self, store: Store) -> None:
        """Take what the store holds for all there is.

        Cost: a look at every row; the text of those that describe something, and of those that nobody has read yet.
        """
        self._documents, self._said, self._unmarked = {}, {}, []
        marks = store.learnt(KIND)
        rows = [row for row in store.documents(kinds=_KINDS) if not _is_silent(marks.get(row.path), row)]
        for document in store.documents_of([row.path for row in rows]):
            if not self.take(document):
                self._unmarked.append(_mark(document))

    def take(self, document: Document) -> bool:
        """A new or changed document; whether it describes something, or its path did before."""
        told = self.drop(document.path)
        said = profiles_in(document, self._inside(document.path))
        if said.drafts or said.lines:
            self._documents[document.path], self._said[document.path] = document, said
            told = True
        return told

    def drop(self, path: str) -> bool:
        """A document that is gone; whether it described something."""
        self._said.pop(path, None)
        return self._documents.pop(path, None) is not None

    def codex(self) -> Codex:
        """What they say with what was authored, as `build_codex` makes it."""
        own, series = [self._documents[path] for path in sorted(self._documents)], list[Told]()
        if isinstance(self._authored, SeriesAuthored):
            own, series = self._authored.series(own)
        authored = AuthoredCodex(self._authored).read()
        return build_codex(own, self._authored.declared(), authored=authored, series=series, said=self._said)

    def marks(self, documents: Iterable[Document]) -> list[Learnt]:
        """What the index is to keep of documents that were taken."""
        return [_mark(one) for one in documents if one.kind in _KINDS and one.path not in self._documents]

    def unmarked(self) -> Sequence[Learnt]:
        """What it should have kept of documents that it already had; told once."""
        marks, self._unmarked = self._unmarked, []
        return marks

    def _inside(self, path: str) -> str:
        """The path of a document inside the folder it lies in, which takes part in what it says."""
        return self._authored.inside(path) if isinstance(self._authored, SeriesAuthored) else path


def _about(kind: str, content_hash: str) -> str:
    return f"{__version__}.{_RULES} {kind} {content_hash}"


def _mark(document: Document) -> Learnt:
    return Learnt(document.path, KIND, _about(document.kind, document.content_hash), b"")


def _is_silent(mark: Learnt | None, row: DocumentRow) -> bool:
    return mark is not None and mark.about == _about(row.kind, row.content_hash)
