"""Find mentions of known entities in a text, and patterns in the files of a folder.

>>> matcher = EntityMatcher([{"id": "c1", "name": "贾宝玉", "aliases": ["宝玉"]}, {"id": "c2", "name": "甄宝玉"}])
>>> matcher.find_all("宝玉见甄宝玉来了")
[Mention(entity_id='c1', term='宝玉', start=0, end=2), Mention(entity_id='c2', term='甄宝玉', start=3, end=6)]

Results, all frozen and hashable, compared by their fields:

- `Mention(entity_id, term, start, end)`: one occurrence; `text[start:end] == term`, code points, half-open.
- `Match(entity_id, matched_term, position)`: the first mention of an entity.
- `Rejection(entity_id, term, start, end, reason, by)`: an alias in the text that is not a mention; `reason` is
  `shadowed` (`by` is the longer name), `inside a word`, `splits a character`, `a longer kin term` or `a word` (a short
  name without its capital).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import armarius._core as _core
from armarius._core import Match, Mention, Rejection, ScanHit, Speech
from armarius.errors import ContractError
from armarius.headings import Reason, ResultList
from armarius.text.unicode import APOSTROPHES
from armarius.validation import cleaned, shown, text, texts, whole
from armarius.validation import text as strict_text

__all__ = ["EntityMatcher", "Match", "Matches", "Mention", "Rejection", "ScanHit", "ScanHits", "ShortName", "scan"]


Answer = TypeVar("Answer")
_PLAIN: Final = APOSTROPHES | {ord("."): None}


@dataclass(frozen=True, slots=True)
class ShortName:
    """A derived name of one person: 雨桐 of 林雨桐, Finch of "Bob Finch".

    Attributes:
        text: The name; written in another case it is a word.
        entity_id: The entity with that name.
        kind: The part of the name `of`.
        of: The listed name of the entity.
    """

    text: str
    entity_id: str
    kind: Literal["given name", "family name", "part of the name"]
    of: str

    def said(self, term: str) -> Reason:
        """A mention of it, as evidence says it."""
        return Reason("term.short", term=term, kind=Reason(f"form.{self.kind}"), of=self.of)


class EntityMatcher:
    """An immutable set of entity names and an automaton that finds all of them in one pass.

    Names and aliases are compared folded: case, full and half width, apostrophes (' ’ ‘ ʼ) and canonically
    equivalent spellings (é as one character or two) are equal, and so are abbreviated titles with and without a full
    stop ("Mr. Finch", "Mr Finch"). If a name begins or ends with a letter of a script written with spaces, the mention
    must be a whole word there; Korean particles may follow it (민수는). Han and kana have no such rule. Thread safe; to
    change the set, build another.

    Args:
        entities: Any number (0 to 100,000 tested) of objects or mappings with `id`, `name` and,
            optionally, `aliases` and `type`. Entries with the same id are one entity. For the type `character` a kin
            term inside a longer one (二姐 in 二姐姐) is no mention. The context level is ignored here.
        short_names: Derived names, as of `armarius.codex.short_names`; those of other entities are ignored.

    Raises:
        ContractError: A name or alias is empty, blank or invisible; the message names the entity.
        ContractError: An `id` or `name` is missing or not a string.

    Cost: linear in the aliases; see benches/results for the time of 10,000.
    Source: Aho & Corasick 1975; leftmost-longest as in the aho-corasick crate's MatchKind.
    """

    __slots__ = ("_core", "_derived")

    def __init__(self, entities: Iterable[object] = (), *, short_names: Iterable[ShortName] = ()) -> None:
        self._derived: Final = {(term.entity_id, _key(term.text)): term for term in short_names}
        named: list[tuple[str, str, list[str]]] = []
        for entity in entities:
            entity_id, names = names_of(entity)
            if self._derived:  # also where they are listed
                names = [name for name in names if (entity_id, _key(name)) not in self._derived]
            named.append((entity_id, kind_of(entity), names))
        self._core = _core.EntityMatcher(named, [(term.entity_id, term.text) for term in self._derived.values()])

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> "EntityMatcher":
        """A matcher of names that are their own ids, without a type."""
        matcher = cls()
        matcher._core = _core.EntityMatcher([(text, "", [text]) for text in texts], [])
        return matcher

    @classmethod
    def from_valid(
        cls, entities: Iterable[object] = (), *, short_names: Sequence[ShortName] = ()
    ) -> "tuple[EntityMatcher, list[str]]":
        """A matcher of the entities with valid names, and the errors of the others."""
        items = list(entities)
        try:
            return cls(items, short_names=short_names), []
        except ValueError:
            valid, faults = list[object](), list[str]()
            for entity in items:
                try:
                    cls([entity])
                except ValueError as error:
                    faults.append(str(error))
                else:
                    valid.append(entity)
            return cls(valid, short_names=short_names), faults

    @property
    def entity_ids(self) -> tuple[str, ...]:
        """The entity ids in the order first given, the indices of `find_packed`."""
        return self._core.entity_ids

    def derived(self, entity_id: str, term: str) -> ShortName | None:
        """The derivation of a mention's term; None for a listed name."""
        return self._derived.get((entity_id, term.lower().translate(_PLAIN))) if self._derived else None

    def __len__(self) -> int:
        return len(self._core)

    def __repr__(self) -> str:
        return f"EntityMatcher({len(self._core)} entities, {self._core.alias_count} aliases)"

    def find_all(self, text: str) -> list[Mention]:
        """Find where entities are mentioned: leftmost, then longest, never overlapping.

        Args:
            text: Any str; a lone surrogate matches no name.

        Returns:
            Sorted by `(start, -length, entity_id)`. A shared alias yields one mention per entity, with the same span.

        Raises:
            ContractError: Not a str.

        Cost: one pass, O(len(text) + k); releases the GIL for texts over 64 KiB.
        """
        return _find_in_text(self._core.find_all, text)

    def find_in_question(self, text: str) -> list[Mention]:
        """`find_all` for a question, where a short name needs no capital if no other entity is named."""
        mentions = self.find_all(text)
        if mentions or not self._derived:
            return mentions
        small = (item for item in self.explain(text) if item.reason == "a word")
        return [Mention(item.entity_id, item.term, item.start, item.end) for item in small]

    def find_overlapping(self, text: str) -> list[Mention]:
        """Find every alias in the text at word boundaries, also inside longer names.

        Returns:
            Sorted by `(start, -length, entity_id)`; spans may nest and overlap.

        Cost: as `find_all`, with k the number of occurrences.
        """
        return _find_in_text(self._core.find_overlapping, text)

    def detect(self, text: str) -> "Matches":
        """Find the mentioned entities: for each its earliest, then longest, mention.

        Returns:
            Sorted by `(position, -length, entity_id)`; positions in code points.

        Raises:
            ContractError: Not a str.

        Cost: as `find_all`.
        """
        return Matches(_find_in_text(self._core.detect, text))

    def find_batch(self, texts: Iterable[str]) -> list[list[Mention]]:
        """`find_all` of several texts, in one call to the core and on all CPU cores.

        Returns:
            One list per text, in order.

        Cost: as `find_all` of each; the GIL is released for the search.
        """
        return _find_in_texts(self._core.find_batch, texts)

    def find_packed(self, texts: Iterable[str]) -> bytes:
        """`find_batch` as packed bytes, for indexing whole projects.

        Returns:
            Little-endian uint32, shape (k, 4) in C order when read with
            `numpy.frombuffer(packed, "<u4").reshape(-1, 4)`: index of the text, index into
            `entity_ids`, start and end in code points; sorted as the texts, then as `find_all`.

        Cost: as `find_batch`; 16 bytes per mention.
        """
        return _find_in_texts(self._core.find_packed, texts)

    def explain(self, text: str) -> list[Rejection]:
        """Explain why aliases in the text are not mentions.

        Returns:
            Every occurrence of an alias that is no mention of `find_all`, sorted by `(start, -length, entity_id)`.

        Cost: as `find_overlapping`; nothing is recorded during an ordinary search.
        """
        return _find_in_text(self._core.explain, text)

    def scene(
        self, text: str, near: tuple[int, int], speech: Speech
    ) -> tuple[list[tuple[Mention, int, bool, bool]], list[tuple[str, str, str | None]]]:
        """Entities named around a cursor, and those only shadowed by a longer name, without an object per mention.

        Args:
            text: The text around the cursor.
            near: First and last code point of the range that counts as near the cursor.
            speech: Words and marks of speech.

        Returns:
            For each entity of `find_all` its first mention, their number, whether one is near and whether one speaks.
            For each other entity that `explain` reports as shadowed its id, the last alias and the longer name.

        Cost: as `explain`.
        """
        return _find_in_text(lambda string: self._core.scene(string, near, speech), text)


class Matches(ResultList[Match]):
    """Matches, by position."""

    noun = ("match", "matches")
    columns = ("entity", "written", "at")

    @classmethod
    def brief(cls, match: Match, /) -> str:
        """The entity, as written, and where."""
        return f"{match.matched_term} ({match.entity_id}) at {match.position}"

    @classmethod
    def cells(cls, match: Match, /) -> tuple[str, ...]:
        """Id, term and position."""
        return match.entity_id, match.matched_term, str(match.position)


def _key(term: str) -> str:
    """A name in the normal form of the core."""
    return term.lower().translate(_PLAIN)


def _find_in_text(find: Callable[[str], Answer], text: str) -> Answer:
    """Run the core on a text, which may contain lone surrogates."""
    try:
        return find(text)
    except UnicodeEncodeError:
        return find(cleaned(text))
    except TypeError:
        strict_text("text", text)
        raise


def _find_in_texts(find: Callable[[list[str]], Answer], texts: Iterable[str]) -> Answer:
    """As `_find_in_text`, for several texts."""
    if isinstance(texts, str):
        raise ContractError("texts must be several texts, got one: give a list")
    batch = list(texts)
    try:
        return find(batch)
    except UnicodeEncodeError:
        return find([cleaned(item) for item in batch])
    except TypeError:
        for at, item in enumerate(batch):
            strict_text(f"texts[{at}]", item)
        raise


def names_of(entity: object) -> tuple[str, list[str]]:
    """The id of an entity and its names, the proper name first.

    Raises:
        ContractError: No `id` or `name`, or a field of the wrong type; the message has the value.
    """
    if isinstance(entity, Mapping):
        entity_id, name, aliases = entity.get("id"), entity.get("name"), entity.get("aliases")
    else:
        entity_id, name, aliases = (getattr(entity, field, None) for field in ("id", "name", "aliases"))
    if not isinstance(entity_id, str) or not isinstance(name, str):
        raise ContractError(f"an entity needs a str id and a str name, got id={shown(entity_id)}, name={shown(name)}")
    if isinstance(aliases, str):
        raise ContractError(f"entity {entity_id!r}: aliases must be a list of str, got the str {shown(aliases)}")
    names = [name, *(aliases or ())]
    if {*map(type, names)} == {str}:
        return entity_id, names
    for alias in names:
        if not isinstance(alias, str):
            raise ContractError(f"entity {entity_id!r}: an alias must be a str, got {shown(alias)}")
    return entity_id, names


def kind_of(entity: object) -> Literal["person", ""]:
    """The kind of an entity for rust/matching/readings.rs, by its `type`; "" when unknown."""
    return "person" if field_of(entity, "type") == "character" else ""


def field_of(entity: object, name: str) -> Any:  # noqa: ANN401 - any value; the callers check it
    if isinstance(entity, Mapping):
        return entity.get(name)
    return getattr(entity, name, None)


class ScanHits(list[ScanHit]):
    """The hits of one scan, sorted by (path, line, start), and the files that could not be read.

    Attributes:
        unread: `path: reason` of files and folders that could not be read, sorted.
        truncated: The limit was reached and more hits exist.
    """

    def __init__(self, hits: Sequence[ScanHit], *, unread: Sequence[str] = (), truncated: bool = False) -> None:
        super().__init__(hits)
        self.unread = tuple(unread)
        self.truncated = truncated


def scan(
    root: str | Path,
    pattern: str,
    *,
    regex: bool = False,
    globs: Sequence[str] = (),
    limit: int | None = None,
    case_sensitive: bool = True,
) -> ScanHits:
    """Find a literal or a regular expression in every text file under a folder.

    Files that `.gitignore`, `.ignore` or `.git/info/exclude` name, in the folder or in one above it,
    hidden files and binary files (a NUL byte) are left out; links are not followed, not even as an ignore file or as
    `.git`; the user's global git ignore file is not read. Files above 256 MiB and ignore files above 1 MiB or 10,000
    lines are listed as unread. UTF-8 and UTF-16 with a byte order mark are understood; in other encodings only ASCII
    matches.

    Args:
        root: The folder to search.
        pattern: A literal, or with `regex` an expression in Rust's `regex` syntax. One line:
            a pattern that needs a line break is refused. Empty matches are not reported.
        regex: Treat `pattern` as a regular expression.
        globs: ripgrep globs relative to `root`: `"*.md"` keeps only those, `"!drafts/"` drops.
        limit: Maximum number of hits; `truncated` is set if there were more.
        case_sensitive: Whether upper and lower case differ.

    Returns:
        Hits in the order (path, line, start), the same on every machine.

    Raises:
        ContractError: The pattern is empty, spans lines or does not parse; a glob does not parse; the
            limit is negative.
        ProjectError: `root` is not a folder.

    Cost: one pass over the files, in parallel, linear in their size; releases the GIL.
    Source: the `ignore`, `grep-searcher` and `grep-regex` crates, as ripgrep uses them.
    """
    limit = None if limit is None else whole("limit", limit)
    text("pattern", pattern)
    if not isinstance(root, str | PathLike):
        raise ContractError(f"root must be a path, got {shown(root)}")
    globs = texts("globs", globs)
    try:
        hits, unread, truncated = _core.scan(
            Path(root), pattern, regex=regex, case_sensitive=case_sensitive, globs=globs, limit=limit
        )
    except UnicodeEncodeError as problem:
        raise ContractError(f"pattern or globs: {problem.object[:60]!a} holds a lone surrogate") from None
    return ScanHits(hits, unread=unread, truncated=truncated)
