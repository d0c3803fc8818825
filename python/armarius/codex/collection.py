"""Collections of small records in a `RecordFile`: memories, constraints, pins, summaries."""

import hashlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import MISSING, asdict, fields
from itertools import chain, count
from math import inf
from pathlib import Path
from typing import Any, Final, Generic, Literal, Self, TypeVar, get_args

from armarius.codex.model import Constraint, Deleted, Memory, PassageSummary, Pin, Summary
from armarius.codex.protocol import Authored, Block, BookName
from armarius.codex.record_file import records_of
from armarius.errors import ArmariusError, CodexError, UnknownId
from armarius.headings import count_noun
from armarius.validation import LONGEST_NAME, MOST, has_surrogate, near, option_error, shown, suggestion

MemoryKind = Literal["semantic", "episodic", "procedural"]
ConstraintOrigin = Literal["user", "kg"]
LONGEST_RECORD: Final = 20_000
"""Maximum code points of a rule or memory: rules are never truncated, so a longer one could fill the prompt."""
Item = TypeVar("Item", bound=Memory | Constraint | Pin | Summary)
Wrong = Callable[[dict[str, Any]], str]


One = TypeVar("One")


class Listed(Generic[One]):
    """What has a `list`: iterable, with a length, shown in one line; `in` takes one of them, or what `get` takes."""

    _noun: tuple[str, str]  # what one of it is called, and several

    def list(self) -> tuple[One, ...]:
        """All of them."""
        raise NotImplementedError

    def get(self, id_: str, /) -> One:
        """One of them."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[One]:
        return iter(self.list())

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, str):
            return item in self.list()
        try:
            return self.get(item) is not None
        except UnknownId:
            return False

    def __len__(self) -> int:
        return len(self.list())

    def __repr__(self) -> str:
        try:
            return f"<{count_noun(len(self), *self._noun)}>"
        except (ArmariusError, OSError) as error:
            return f"<{self._noun[1]}: {type(error).__name__}>"


class Collection(Listed[Item]):
    """Records of one kind in file order. Threads may share it; hand edits are seen at the next call."""

    def __init__(self, authored: Authored | Path, book: BookName, table: str, kind: type[Item], wrong: Wrong) -> None:
        self._kind: type[Item] = kind
        self._table = table
        self._noun = table, f"{table[:-1]}ies" if table.endswith("y") else f"{table}s"
        self._wrong = wrong
        self._file = records_of(authored, book, tables=[table], check=lambda block: wrong(_data(kind, block)))

    def list(self) -> tuple[Item, ...]:
        """All records; an invalid one keeps its last valid state."""
        return tuple(map(self._item, self._file.records()))

    def get(self, id_: str, /) -> Item:
        """One record; UnknownId (a KeyError) lists similar ids when no record has the id."""
        for item in self.list():
            if item.id == id_:
                return item
        raise self._unknown_record(id_)

    def update(self, id_: str, /, **changes: Any) -> Item:  # noqa: ANN401 - checked by field
        """Change fields of a record, all but its id.

        Raises:
            UnknownId: No such record; a KeyError that lists similar ids.
            CodexError: No such field, or a wrong value.
            StoreFull: The file cannot be written; nothing has changed.
        """
        item = self.get(id_)
        return self._write({**asdict(item), **changes, "id": item.id}, self._file.replace)

    def delete(self, id_: str, /) -> Deleted:
        """Remove a record; UnknownId (a KeyError) lists similar ids when no record has the id."""
        try:
            self._file.remove(self._table, id_)
        except KeyError:
            self._file.remove(self._table, id_ := self.get(id_).id)
        return Deleted(id_, "record", self._file.name)

    def problems(self) -> tuple[CodexError, ...]:
        """Current errors of the file, each with file, line and message."""
        return self._file.problems()

    def stamp(self) -> Hashable:
        """Changes with every write to the file, also by other programs."""
        return self._file.stamp()

    def _create(self, data: dict[str, Any], *, alike: Callable[[Block], bool] | None = None) -> Item:
        self._check_record(data | {"id": data["id"] or "new"})
        data["id"] = data["id"] or self._new_id(data["text"])
        id_ = self._file.add(self._table, data, alike=alike)
        return self._kind(**data) if id_ == data["id"] else self.get(id_)

    def _write(self, data: dict[str, Any], write: Callable[[str, dict[str, Any]], object]) -> Item:
        self._check_record(data)
        write(self._table, data)
        return self._kind(**data)

    def _check_record(self, data: dict[str, Any]) -> None:
        names = [field.name for field in fields(self._kind)]
        unknown = sorted(data.keys() - set(names))
        what = f"{unknown[0]}: no such field{suggestion(near(unknown[0], names))}" if unknown else self._wrong(data)
        if what:
            raise CodexError(f"{self._table} {shown(data['id'])}: {what}")

    def _unknown_record(self, id_: str) -> UnknownId:
        close = near(id_, (item.id for item in self.list()))
        return UnknownId(f"no {self._table} has the id {shown(id_)}{suggestion(close)}", close)

    def _new_id(self, text: str) -> str:
        """An id from the text, so that two people adding records do not collide in a merge."""
        ids = {item.id for item in self.list()}
        digest = hashlib.blake2b(str(text).encode("utf-8", "replace"), digest_size=16).hexdigest()
        ends = chain((digest[:8], digest[:16], digest), map(f"{digest}-{{}}".format, count(len(ids))))
        return next(id_ for end in ends if (id_ := f"{self._table[0]}-{end}") not in ids)

    def _unused_id(self, id_: str) -> str:
        """The id, or another one where a record has it whose document was moved."""
        ids = {item.id for item in self.list()}
        return next(free for free in chain([id_], map(f"{id_}-{{}}".format, count(1))) if free not in ids)

    def _item(self, block: Block) -> Item:
        return self._kind(**_data(self._kind, block))


def _data(kind: type[Item], block: Block) -> dict[str, Any]:
    stated = block.data or {}
    defaults = {field.name: "" if field.default is MISSING else field.default for field in fields(kind)}
    return {name: stated.get(name, default) for name, default in defaults.items()}


class Memories(Collection[Memory]):
    """The memories of one project; of a folder, in `.armarius/memories.toml`.

    Args:
        authored: Where they are kept; a folder stands for its files.
    """

    def __init__(self, authored: Authored | Path) -> None:
        super().__init__(authored, "memories", "memory", Memory, _memory_error)

    def create(self, text: str, *, kind: MemoryKind = "semantic", confidence: float = 1.0, id: str = "") -> Memory:  # noqa: A002
        """Add a memory.

        Args:
            text: The content; not blank, at most 20,000 characters.
            kind: The kind of memory; only semantic ones are added to prompts automatically.
            confidence: In [0, 1].
            id: Derived from the text when not given.

        Raises:
            CodexError: A value is wrong, or the id is taken.
            StoreFull: The file cannot be written; nothing has changed.
        """
        return self._create({"id": id, "text": text, "kind": kind, "confidence": confidence})

    def memory_list(self, project_id: str, /) -> tuple[Memory, ...]:
        """As a source for fetchers."""
        return self.list()


class Constraints(Collection[Constraint]):
    """The constraints of one project; of a folder, in `.armarius/constraints.toml`.

    Args:
        authored: Where they are kept; a folder stands for its files.
    """

    def __init__(self, authored: Authored | Path) -> None:
        super().__init__(authored, "constraints", "constraint", Constraint, _constraint_error)

    def create(self, text: str, *, source: ConstraintOrigin = "user", priority: int = 0, id: str = "") -> Constraint:  # noqa: A002
        """Add a constraint, or return the existing one with the same text.

        Texts are compared without surrounding white space. The existing constraint keeps its id, source and priority
        (`update` changes them).

        Args:
            text: The rule; not blank, at most 20,000 characters.
            source: Who set it.
            priority: From 0, higher first.
            id: Derived from the text when not given.

        Raises:
            CodexError: A value is wrong, or the id is taken.
            StoreFull: The file cannot be written; nothing has changed.
        """
        data = {"id": id, "text": text, "source": source, "priority": priority}
        return self._create(data, alike=lambda block: _data(Constraint, block)["text"].strip() == str(text).strip())

    def constraint_list(self, project_id: str, /) -> tuple[Constraint, ...]:
        """As a source for fetchers."""
        return self.list()


def _text_error(data: dict[str, Any], keys: Sequence[str], *, may_be_blank: str = "", longest: float = inf) -> str:
    """The first of these fields that is no text, blank, too long or no Unicode, or ""."""
    for key in keys:
        value = data[key]
        if not isinstance(value, str) or (not value.strip() and key != may_be_blank):
            return f"{key}: expected a non-empty string, got {shown(value)}"
        if len(value) > longest:
            return f"{key}: has {len(value):,} characters, at most {longest:,} are kept"
        if has_surrogate(value):
            return f"{key}: holds a lone surrogate"
    return ""


def _memory_error(data: dict[str, Any]) -> str:
    kinds = get_args(MemoryKind)
    confidence = data["confidence"]
    if wrong := _text_error(data, ("id", "text"), longest=LONGEST_RECORD):
        return wrong
    if data["kind"] not in kinds:
        return f"kind: {option_error(kinds, data['kind'])}"
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        return f"confidence: expected a number from 0 to 1, got {shown(confidence)}"
    return ""


def _constraint_error(data: dict[str, Any]) -> str:
    origins = get_args(ConstraintOrigin)
    if wrong := _text_error(data, ("id", "text"), longest=LONGEST_RECORD):
        return wrong
    if data["source"] not in origins:
        return f"source: {option_error(origins, data['source'])}"
    if type(data["priority"]) is not int or not 0 <= data["priority"] <= MOST:
        return f"priority: expected a whole number from 0 to {MOST}, got {shown(data['priority'])}"
    return ""


class Pins(Collection[Pin]):
    """The pins and mutes of one project; of a folder, in `.armarius/pins.toml`.

    Args:
        authored: Where they are kept; a folder stands for its files.
    """

    _same: Callable[[str, Sequence[str]], str | None] | None = None  # without, targets are compared as text

    def __init__(self, authored: Authored | Path) -> None:
        super().__init__(authored, "pins", "pin", Pin, _pin_error)

    def with_targets(self, same: Callable[[str, Sequence[str]], str | None]) -> Self:
        """The same pins, with targets that are looked up.

        Args:
            same: Returns the given target that equals the first argument, or None; raises UnknownId for an unknown one.
        """
        pins = copy(self)
        pins._same = same
        return pins

    def add(self, target: str, *, mute: bool = False, document: str = "") -> Pin:
        """Pin or mute a target; replaces an earlier pin or mute of the same target.

        Args:
            target: Id, name or alias of an entity; path of a document, `chapters/ch003.md`, or of one paragraph of it,
                `chapters/ch003.md#12`; a tag.
            mute: Exclude it from prompts instead.
            document: Applies only while this document is open; "" applies always.

        Raises:
            CodexError: A value is wrong.
            UnknownId: The project, completely indexed, has no such target (lists similar names), or several entities
                have that name (lists their ids).
            StoreFull: The file cannot be written; nothing has changed.
        """
        self._check_record({"id": "new", "target": target, "mute": mute, "document": document})
        if (pin := self._find(target, document)) is not None:
            return pin if pin.mute == mute else self.update(pin.id, mute=mute)
        id_ = self._unused_id(_id("p", f"{target}\n{document}"))
        return self._write({"id": id_, "target": target, "mute": mute, "document": document}, self._file.add)

    create = add

    def get(self, id_: str, /) -> Pin:
        """One, by id or target; UnknownId (a KeyError) lists similar targets when nothing has that name."""
        return next((pin for pin in self.list() if pin.id == id_), None) or self._existing_pin(id_, "")

    def remove(self, target: str, *, document: str = "") -> Deleted:
        """Remove the pin or mute of a target, by any of its names; UnknownId (a KeyError) for an unknown one."""
        return self.delete(self._existing_pin(target, document).id)

    def _existing_pin(self, target: str, document: str) -> Pin:
        with suppress(UnknownId):
            if (pin := self._find(target, document)) is not None:
                return pin
        close = near(target, [pin.target for pin in self.list() if pin.document == document])
        where = f" while {shown(document)} is open" if document else ""
        raise UnknownId(f"{shown(target)} is neither pinned nor muted{where}{suggestion(close)}", close)

    def follow(self, moved: Mapping[str, str]) -> None:
        """Change former paths of documents to the present ones."""
        for pin in self.list():
            path, mark, paragraph = pin.target.partition("#")
            target, document = moved.get(path, path) + mark + paragraph, moved.get(pin.document, pin.document)
            if (target, document) != (pin.target, pin.document):
                self.update(pin.id, target=target, document=document)

    def of(self, document: str) -> tuple[Pin, ...]:
        """The pins and mutes that apply while `document` is open, its own first."""
        pins = [pin for pin in self.list() if pin.document in ("", document)]
        return tuple(sorted(pins, key=lambda pin: not pin.document))

    def _find(self, target: str, document: str) -> Pin | None:
        there = [pin for pin in self.list() if pin.document == document]
        targets = [pin.target for pin in there]
        if target not in targets and self._same is not None:
            target = self._same(target, targets) or target
        return next((pin for pin in there if pin.target == target), None)


def _id(prefix: str, named: str) -> str:
    return f"{prefix}-{hashlib.blake2b(named.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"


def _pin_error(data: dict[str, Any]) -> str:
    if wrong := _text_error(data, ("id", "target", "document"), may_be_blank="document", longest=LONGEST_NAME):
        return wrong
    if not isinstance(data["mute"], bool):
        return f"mute: expected true or false, got {shown(data['mute'])}"
    return ""


class Summaries(Collection[Summary]):
    """The summaries of one project; of a folder, in `.armarius/summaries.toml`.

    Args:
        authored: Where they are kept; a folder stands for its files.
    """

    def __init__(self, authored: Authored | Path) -> None:
        super().__init__(authored, "summaries", "summary", Summary, _wrong_summary)

    def put(self, document: str, text: str, content_hash: str, passages: Sequence[PassageSummary] = ()) -> Summary:
        """Store the summary of a document, replacing an existing one.

        Raises:
            CodexError: A value is wrong.
            StoreFull: The file cannot be written; nothing has changed.
        """
        summary = self.of(document)
        items: Sequence[Any] = passages
        parts = [asdict(item) if isinstance(item, PassageSummary) else item for item in items] or None
        data = {"document": document, "text": text, "content_hash": content_hash, "passages": parts}
        if summary is not None:
            return self.update(summary.id, **data)
        return self._write({"id": self._unused_id(_id("s", document)), **data}, self._file.add)

    def follow(self, moved: Mapping[str, str]) -> None:
        """Change former paths of documents to the present ones, in the place of what was said of another text there."""
        summaries = self.list()
        taken = {moved[summary.document] for summary in summaries if summary.document in moved}
        for summary in summaries:
            if summary.document in moved:
                self.update(summary.id, document=moved[summary.document])
            elif summary.document in taken:
                self.delete(summary.id)

    def of(self, document: str) -> Summary | None:
        """The summary of a document."""
        return next((summary for summary in self.list() if summary.document == document), None)


def _wrong_summary(data: dict[str, Any]) -> str:
    if wrong := _text_error(data, ("id", "document", "text", "content_hash"), may_be_blank="content_hash"):
        return wrong
    passages = data.get("passages") or ()
    if not isinstance(passages, list | tuple):
        return f"passages: expected a list, got {shown(passages)}"
    for at, item in enumerate(passages):
        first, last, text = (
            (item.get(key) for key in ("first", "last", "text")) if isinstance(item, dict) else (0, 0, 0)
        )
        if not (isinstance(text, str) and text.strip()) or not (
            type(first) is type(last) is int and 0 <= first <= last
        ):
            return f"passages[{at}]: expected first, last (from 0) and a text, got {shown(item)}"
    return ""
