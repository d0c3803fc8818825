"""Files that hold a quoted phrase and are no documents, or have not been read yet: the ripgrep engine looks there."""

from collections.abc import Sequence
from pathlib import Path

from armarius.errors import ArmariusError, ContextWarning, message_of
from armarius.hits import Hit
from armarius.pathless import without_paths
from armarius.records import Evidence
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.text.grep import scan
from armarius.warnings_table import SCAN_FAILED

__all__ = ["unread"]

_SCANNED = 20


def unread(
    root: Path, tables: CorpusTables, phrases: Sequence[str], hits: Sequence[Hit], warnings: list[ContextWarning]
) -> list[Hit]:
    """Hits in files that the tables has not, one per file; what could not be looked for is added to `warnings`.

    Cost: one scan of the folder per phrase; none without phrases.
    """
    known = {hit.path for hit in hits}
    found: list[Hit] = []
    for phrase in phrases:
        try:
            lines = scan(root, phrase, limit=_SCANNED)
        except (OSError, ValueError, ArmariusError) as error:
            warnings.append(SCAN_FAILED(phrase=phrase, error=without_paths(message_of(error))))
            continue
        for line in lines:
            if line.path not in known and tables.document(line.path) is None:
                known.add(line.path)
                evidence = Evidence("scan", f"{phrase} in line {line.line}", line.path, (line.start, line.end))
                found.append(Hit(line.path, None, (), 0.0, (evidence,)))
    return found
