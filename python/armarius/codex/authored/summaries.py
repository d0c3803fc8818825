"""Summaries of documents that the user keeps, each with the hash of the text that it sums up.

[[summary]]
id = "s-5b0e1a77c9d2"
document = "chapters/ch003.md"
text = "兄妹争执；怀表走了三下，门槛下塞进一张恐吓的纸条。"
content_hash = "9f0c…"
"""

import hashlib
from pathlib import Path
from typing import Any

from armarius.codex.authored.collection import Collection
from armarius.codex.authored.protocol import Authored
from armarius.codex.model import Summary
from armarius.strict import shown

__all__ = ["Summaries"]


class Summaries(Collection[Summary]):
    """The summaries of one project; of a folder, in `.armarius/summaries.toml`.

    Args:
        authored: Where they are kept; a folder stands for its files.
    """

    def __init__(self, authored: Authored | Path) -> None:
        super().__init__(authored, "summaries", "summary", Summary, _wrong)

    def put(self, document: str, text: str, content_hash: str) -> Summary:
        """Keep a summary of a document, in the place of the one that is there.

        Raises:
            CodexError: A value is wrong.
            StoreFull: The file cannot be written; nothing has changed.
        """
        known = self.of(document)
        data = {"document": document, "text": text, "content_hash": content_hash}
        if known is not None:
            return self.update(known.id, **data)
        digest = hashlib.blake2b(document.encode("utf-8", "replace"), digest_size=6).hexdigest()
        return self._write({"id": f"s-{digest}", **data}, self._append)

    def of(self, document: str) -> Summary | None:
        """The summary of a document."""
        return next((one for one in self.list() if one.document == document), None)

    def _append(self, table: str, record: dict[str, Any]) -> None:
        self._file.add(table, record)


def _wrong(data: dict[str, Any]) -> str:
    for key in ("id", "document", "text", "content_hash"):
        value = data[key]
        if not isinstance(value, str) or (not value.strip() and key != "content_hash"):
            return f"{key}: expected a non-empty string, got {shown(value)}"
        if any("\ud800" <= char <= "\udfff" for char in value):
            return f"{key}: holds a lone surrogate"
    return ""
