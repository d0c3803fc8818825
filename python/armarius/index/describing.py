"""Profiles in documents, as derived rows; most documents describe no entity.

What a document says is read once and kept in the index: reopening does not read the text again. Reading 10,000 pages of
notes takes about three seconds.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Final

from armarius._core import __version__
from armarius.codex.authored.codex import AuthoredCodex
from armarius.codex.authored.protocol import Authored
from armarius.codex.load import build_codex, profiles_in
from armarius.codex.merge import SeriesFolder
from armarius.codex.model import Codex
from armarius.codex.names_in_story import Story, Uses, names_sought, uses_in
from armarius.codex.profiles.draft import Profiles, pack, unpack
from armarius.documents.document import Document
from armarius.documents.kinds import CARD_KINDS, STORY_KINDS
from armarius.index.series import SeriesAuthored
from armarius.store.derived import DerivedCache
from armarius.store.protocol import Store
from armarius.store.rows import DerivedRow

_RULES: Final = 9  # raised when the same text of the same version describes something else
_PROFILES: Final = DerivedCache("profiles", f"{__version__}.{_RULES}", pack, unpack)
KIND: Final = _PROFILES.kind
_BATCH: Final = 32  # documents counted at once


def _packed(uses: dict[str, Uses]) -> bytes:
    return json.dumps(uses, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")


def _uses(data: bytes) -> dict[str, Uses]:
    try:
        return {name: (inside, initial, small) for name, (inside, initial, small) in json.loads(data).items()}
    except (TypeError, AttributeError) as error:
        raise ValueError(f"no uses of names: {error}") from error


_USES: Final = DerivedCache[dict[str, Uses], dict[str, Uses]]("uses", "1", _packed, _uses)


class Describing:
    """The profiles found in settings, outlines and notes, as of the last refresh.

    Args:
        authored: The user's codex files and records.
    """

    def __init__(self, authored: Authored) -> None:
        self._authored = authored
        self._profiles: dict[str, Profiles] = {}
        self._unkept: list[DerivedRow] = []
        self._story = _Story()
        self._sought: tuple[str, ...] | None = None  # None after a change of profiles

    def load(self, store: Store) -> None:
        """Load the profiles of all documents from the store.

        Cost: linear in the documents of these kinds; documents without a current row are parsed.
        """
        self._profiles, self._unkept, self._sought = {}, [], None
        self._story = _Story({row.path: (row.content_hash, row.length) for row in store.documents(kinds=STORY_KINDS)})
        fingerprints = {row.path: _fingerprint(row.kind, row.content_hash) for row in store.documents(kinds=CARD_KINDS)}
        kept = _PROFILES.load(store, fingerprints)
        for path, profiles in kept.items():
            self._take(path, profiles)
        unread = [path for path in fingerprints if path not in kept]
        for document in store.documents_of(unread):
            self.take(document)
            self._unkept += self.rows([document])

    def take(self, document: Document) -> bool:
        """Parse a new or changed document. True if it has profiles, or its previous version had."""
        dropped = self.drop(document.path)
        if document.kind in STORY_KINDS:
            self._story.take(document)
        return self._take(document.path, profiles_in(document, self._inside(document.path)[1])) or dropped

    def drop(self, path: str) -> bool:
        """Drop a removed document. True if it had profiles."""
        self._story.drop(path)
        if self._profiles.pop(path, None) is None:
            return False
        self._sought = None
        return True

    def count(self, store: Store) -> bool:
        """Count how the story uses the names that only headings claim. True if that makes other entities.

        Args:
            store: Has the documents that were not taken since the last call.

        Cost: nothing without such names; else the new documents of the story, and all of it when the names changed.
        """
        before = self._story.verdict
        if self._sought is None:
            self._sought = names_sought(self._profiles.values())
        self._unkept += self._story.count(store, self._sought)
        return self._story.verdict != before

    def codex(self) -> Codex:
        """The codex of the documents and the user's files; see `build_codex`."""
        profiles: dict[str, dict[str, Profiles]] = {}
        for path, one in self._profiles.items():
            root, inside = self._inside(path)
            profiles.setdefault(root, {})[inside] = one
        series: Sequence[SeriesFolder] = (
            self._authored.codex_files() if isinstance(self._authored, SeriesAuthored) else ()
        )
        authored = AuthoredCodex(self._authored).read()
        return build_codex(
            (), self._authored.declared(), authored=authored, series=series, profiles=profiles, story=self._story.story
        )

    def rows(self, documents: Iterable[Document]) -> list[DerivedRow]:
        """The rows to store for documents that were taken."""
        documents = list(documents)
        return [
            _PROFILES.row(one.path, _fingerprint(one.kind, one.content_hash), self._profiles.get(one.path, Profiles()))
            for one in documents
            if one.kind in CARD_KINDS
        ] + self._story.rows([one.path for one in documents])

    def unkept(self) -> Sequence[DerivedRow]:
        """Rows that the store lacks for documents that it already holds; returned once."""
        rows, self._unkept = self._unkept, []
        return rows

    def _take(self, path: str, profiles: Profiles) -> bool:
        if not profiles:
            return False
        self._profiles[path], self._sought = profiles, None
        return True

    def _inside(self, path: str) -> tuple[str, str]:
        """The folder of a series that a document lies in, and its path inside it, which takes part in what it says."""
        return self._authored.inside(path) if isinstance(self._authored, SeriesAuthored) else ("", path)


def _fingerprint(kind: str, content_hash: str) -> str:
    return f"{kind} {content_hash}"


class _Story:
    """The documents of the story, and how each uses the names that are sought.

    Args:
        documents: Path to content hash and length in code points.
    """

    def __init__(self, documents: dict[str, tuple[str, int]] | None = None) -> None:
        self.story = Story()
        self.verdict: tuple[object, ...] = ()
        self._documents = documents or {}
        self._names: tuple[str, ...] = ()
        self._uses: dict[str, dict[str, Uses]] = {}
        self._digest = ""  # of the names
        self._new: dict[str, Document] = {}  # not in the store yet
        self._changed = True

    def take(self, document: Document) -> None:
        self._documents[document.path] = document.content_hash, len(document.text)
        self._new[document.path] = document
        self._changed = True

    def drop(self, path: str) -> None:
        if path not in self._documents:
            return
        _, length = self._documents.pop(path)
        self._changed = True
        self._new.pop(path, None)
        if (uses := self._uses.pop(path, None)) is not None:
            self.story.add(length, uses, -1)

    def count(self, store: Store, names: tuple[str, ...]) -> list[DerivedRow]:
        """Count what is not counted; returns the rows of documents that the store holds."""
        if names != self._names:
            self._names, self._uses, self.story = names, {}, Story()
            self._digest = hashlib.blake2b("\n".join(names).encode(errors="surrogatepass"), digest_size=8).hexdigest()
        elif not self._changed:
            return []
        missing = [path for path in self._documents if path not in self._uses]
        kept: list[DerivedRow] = []
        if names and missing:
            stored = {path: self._print(path) for path in missing if path not in self._new}
            self._add(_USES.load(store, stored))
            self._count([self._new[path] for path in missing if path in self._new])
            rest = [path for path in stored if path not in self._uses]
            for at in range(0, len(rest), _BATCH):
                self._count(store.documents_of(rest[at : at + _BATCH]))
            kept = self.rows([path for path in rest if path in self._uses])
        else:
            self._add({path: {} for path in missing})
        self._new, self._changed = {}, False
        self.verdict = self.story.verdict(names)
        return kept

    def rows(self, paths: Iterable[str]) -> list[DerivedRow]:
        if not self._names:
            return []
        return [_USES.row(path, self._print(path), self._uses[path]) for path in paths if path in self._uses]

    def _count(self, documents: Sequence[Document]) -> None:
        for at in range(0, len(documents), _BATCH):
            batch = documents[at : at + _BATCH]
            found = uses_in([one.text for one in batch], self._names)
            self._add({one.path: uses for one, uses in zip(batch, found, strict=True)})

    def _add(self, found: dict[str, dict[str, Uses]]) -> None:
        for path, uses in found.items():
            self._uses[path] = uses
            self.story.add(self._documents[path][1], uses)

    def _print(self, path: str) -> str:
        return f"{self._digest} {self._documents[path][0]}"
