"""The code graph from an `index.scip`, read directly."""

from collections.abc import Sequence
from pathlib import Path

import armarius._core as _core
from armarius.code.source import Reference
from armarius.errors import SourceUnavailable

__all__ = ["ScipSource"]


class ScipSource:
    """A SCIP index file and the folder it describes.

    Old and typed ranges (schema 0.9) are both understood. Files of several indexers that were written one after the
    other into one file are one index.

    Args:
        index: The `index.scip`.
        root: The folder that its paths are relative to.

    Raises:
        SourceUnavailable: `no_index` when there is no such file, `crashed` when it is damaged.

    Cost: reads the file once, as a stream; 24 bytes of memory per occurrence.
    """

    name = "scip"

    def __init__(self, index: str | Path, root: str | Path) -> None:
        self.index = Path(index)
        self.root = Path(root)
        if not self.index.is_file():  # opening a pipe would wait; links are the caller's, who names the index
            raise SourceUnavailable("no_index", f"{self.index}: no such file, or not a regular one")
        try:
            self._occurrences = _core.Occurrences.open(self.index)
        except OSError as error:
            raise SourceUnavailable("no_index", f"{self.index}: {error.strerror or error}") from None
        except ValueError as error:
            raise SourceUnavailable("crashed", f"the index cannot be read: {error}; build it again") from None

    def symbols(self) -> Sequence[str]:
        """Ids of all symbols, those outside of the project included; no locals, no parameters."""
        return self._occurrences.symbols()

    def references(self, symbol: str, /) -> Sequence[Reference]:
        """Every occurrence of `symbol`; () when unknown. Cost: O(occurrences)."""
        return [
            Reference(found.path, found.line, found.column, found.end_column, found.is_definition)
            for found in self._occurrences.references(symbol)
        ]

    def occurrences(self) -> _core.Occurrences:
        """Everything at once."""
        return self._occurrences
