"""Text search in place of a code graph, and saying so."""

import re
from collections.abc import Sequence
from pathlib import Path

from armarius.code.subgraph import TextMatch, TextMatches
from armarius.errors import ContextWarning, ContractError, SourceUnavailable
from armarius.strict import shown
from armarius.text.grep import scan
from armarius.warnings_table import CODE_GRAPH_UNAVAILABLE

__all__ = ["last_name", "text_search"]


def last_name(symbol: str) -> str:
    """The last component of a dotted, scoped or called name: `a.B#run()` is `run`."""
    parts = [part for part in re.split(r"\.|::|#|/|\\", symbol.strip().removesuffix("()")) if part]
    return parts[-1] if parts else ""


def text_search(
    root: Path,
    symbol: str,
    failures: Sequence[SourceUnavailable],
    *,
    limit: int = 200,
    extra: Sequence[ContextWarning] = (),
) -> TextMatches:
    """Lines of the repository that have the symbol's last name as a whole word.

    Args:
        root: The repository.
        symbol: What was asked for.
        failures: Why each source could not serve; each becomes a warning.
        limit: Most lines.
        extra: Further warnings.

    Raises:
        ValueError: No name in `symbol`.
    """
    name = last_name(symbol)
    if not name:
        raise ContractError(f"no symbol in {shown(symbol)}")
    left, right = (r"\b" if word else "" for word in (re.match(r"\w", name), re.search(r"\w$", name)))
    hits = scan(root, f"{left}{re.escape(name)}{right}", regex=True, limit=limit)
    results: dict[tuple[str, int], TextMatch] = {}
    for hit in hits:
        results.setdefault((hit.path, hit.line), TextMatch(hit.path, hit.line, name, hit.text.strip()))
    warnings = (CODE_GRAPH_UNAVAILABLE(), *(failure.warning for failure in failures), *extra)
    return TextMatches(symbol, tuple(results.values()), warnings, truncated=hits.truncated)
