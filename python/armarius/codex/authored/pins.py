"""What the user wants in every prompt, or in none: pins and mutes, for the project or while one document is open.

[[pin]]
id = "p-1c9f02aa"
target = "chapters/ch003.md#12"
document = "chapters/ch014.md"

[[pin]]
id = "p-77b0e1d4"
target = "林渡"
mute = true
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from armarius.codex.authored.collection import Collection
from armarius.codex.authored.protocol import Authored
from armarius.codex.model import Pin
from armarius.errors import UnknownId
from armarius.strict import LONGEST_NAME, shown
from armarius.text.near import near, suggestion

__all__ = ["Pins"]


class Pins(Collection[Pin]):
    """The pins and mutes of one project; of a folder, in `.armarius/pins.toml`.

    Args:
        authored: Where they are kept; a folder stands for its files.
        check: Raises UnknownId for a target that is none; without it every target is taken.
    """

    def __init__(self, authored: Authored | Path, *, check: Callable[[str], None] | None = None) -> None:
        super().__init__(authored, "pins", "pin", Pin, _wrong)
        self._check_target = check

    def add(self, target: str, *, mute: bool = False, document: str = "") -> Pin:
        """Pin something, or mute it; what was pinned before and is muted now is muted, and the other way about.

        Args:
            target: Id, name or alias of an entity; path of a document, `chapters/ch003.md`, or of one paragraph of it,
                `chapters/ch003.md#12`; a tag.
            mute: Keep it out instead.
            document: Only while this one is open; "" is always.

        Raises:
            CodexError: A value is wrong.
            UnknownId: Nothing of an engine's project is called so, and all of it is indexed; names near ones.
            StoreFull: The file cannot be written; nothing has changed.
        """
        self._see({"id": "new", "target": target, "mute": mute, "document": document})
        known = self._find(target, document)
        data = {"id": _id(target, document), "target": target, "mute": mute, "document": document}
        if known is None:
            if self._check_target is not None:
                self._check_target(target)
            return self._write(data, self._append)
        return known if known.mute == mute else self.update(known.id, mute=mute)

    def remove(self, target: str, *, document: str = "") -> None:
        """Neither pin nor mute it any more; UnknownId, which is a KeyError and names near ones, when it was neither."""
        known = self._find(target, document)
        if known is None:
            close = near(target, [one.target for one in self.list() if one.document == document])
            where = f" while {shown(document)} is open" if document else ""
            raise UnknownId(f"{shown(target)} is neither pinned nor muted{where}{suggestion(close)}", close)
        self.delete(known.id)

    def of(self, document: str) -> tuple[Pin, ...]:
        """Those that hold while `document` is open: its own first."""
        found = [one for one in self.list() if one.document in ("", document)]
        return tuple(sorted(found, key=lambda one: not one.document))

    def _append(self, table: str, record: dict[str, Any]) -> None:
        self._file.add(table, record)

    def _find(self, target: str, document: str) -> Pin | None:
        return next((one for one in self.list() if (one.target, one.document) == (target, document)), None)


def _id(target: str, document: str) -> str:
    named = f"{target}\n{document}".encode("utf-8", "replace")
    return f"p-{hashlib.blake2b(named, digest_size=6).hexdigest()}"


def _wrong(data: dict[str, Any]) -> str:
    for key in ("id", "target", "document"):
        value = data[key]
        if not isinstance(value, str) or (not value.strip() and key != "document"):
            return f"{key}: expected a non-empty string, got {shown(value)}"
        if len(value) > LONGEST_NAME:
            return f"{key}: has {len(value):,} characters, at most {LONGEST_NAME:,} are kept"
        if any("\ud800" <= char <= "\udfff" for char in value):
            return f"{key}: holds a lone surrogate"
    if not isinstance(data["mute"], bool):
        return f"mute: expected true or false, got {shown(data['mute'])}"
    return ""
