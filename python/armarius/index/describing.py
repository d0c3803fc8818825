"""Profiles in documents, as derived rows; most documents describe no entity.

What a document says is read once and kept in the index: reopening does not read the text again. Reading 10,000 pages of
notes takes about three seconds.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from armarius._core import __version__
from armarius.codex.authored.codex import AuthoredCodex
from armarius.codex.authored.protocol import Authored
from armarius.codex.load import build_codex, profiles_in
from armarius.codex.merge import SeriesFolder
from armarius.codex.model import Codex
from armarius.codex.profiles.draft import Profiles, pack, unpack
from armarius.documents.document import Document
from armarius.index.series import SeriesAuthored
from armarius.store.derived import DerivedCache
from armarius.store.protocol import Store
from armarius.store.rows import DerivedRow

__all__ = ["KIND", "Describing"]

_RULES: Final = 1  # raised when the same text of the same version describes something else
_PROFILES: Final = DerivedCache("profiles", f"{__version__}.{_RULES}", pack, unpack)
KIND: Final = _PROFILES.kind
_KINDS: Final = ("setting", "outline", "note")


class Describing:
    """The profiles found in settings, outlines and notes, as of the last refresh.

    Args:
        authored: The user's codex files and records.
    """

    def __init__(self, authored: Authored) -> None:
        self._authored = authored
        self._said: dict[str, Profiles] = {}
        self._unkept: list[DerivedRow] = []

    def load(self, store: Store) -> None:
        """Load the profiles of all documents from the store.

        Cost: linear in the documents of these kinds; documents without a current row are parsed.
        """
        self._said, self._unkept = {}, []
        fingerprints = {row.path: _fingerprint(row.kind, row.content_hash) for row in store.documents(kinds=_KINDS)}
        kept = _PROFILES.load(store, fingerprints)
        for path, said in kept.items():
            self._take(path, said)
        unread = [path for path in fingerprints if path not in kept]
        for document in store.documents_of(unread):
            self.take(document)
            self._unkept += self.rows([document])

    def take(self, document: Document) -> bool:
        """Parse a new or changed document. True if it has profiles, or its previous version had."""
        dropped = self.drop(document.path)
        return self._take(document.path, profiles_in(document, self._inside(document.path)[1])) or dropped

    def drop(self, path: str) -> bool:
        """Drop a removed document. True if it had profiles."""
        return self._said.pop(path, None) is not None

    def codex(self) -> Codex:
        """The codex of the documents and the user's files; see `build_codex`."""
        said: dict[str, dict[str, Profiles]] = {}
        for path, one in self._said.items():
            root, inside = self._inside(path)
            said.setdefault(root, {})[inside] = one
        series: Sequence[SeriesFolder] = (
            self._authored.codex_files() if isinstance(self._authored, SeriesAuthored) else ()
        )
        authored = AuthoredCodex(self._authored).read()
        return build_codex((), self._authored.declared(), authored=authored, series=series, said=said)

    def rows(self, documents: Iterable[Document]) -> list[DerivedRow]:
        """The rows to store for documents that were taken."""
        return [
            _PROFILES.row(one.path, _fingerprint(one.kind, one.content_hash), self._said.get(one.path, Profiles()))
            for one in documents
            if one.kind in _KINDS
        ]

    def unkept(self) -> Sequence[DerivedRow]:
        """Rows that the store lacks for documents that it already holds; returned once."""
        rows, self._unkept = self._unkept, []
        return rows

    def _take(self, path: str, said: Profiles) -> bool:
        if not said.drafts and not said.lines:
            return False
        self._said[path] = said
        return True

    def _inside(self, path: str) -> tuple[str, str]:
        """The folder of a series that a document lies in, and its path inside it, which takes part in what it says."""
        return self._authored.inside(path) if isinstance(self._authored, SeriesAuthored) else ("", path)


def _fingerprint(kind: str, content_hash: str) -> str:
    return f"{kind} {content_hash}"
