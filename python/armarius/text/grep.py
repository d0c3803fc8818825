"""Search the files of a folder without an index, with the ripgrep engine in-process."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import armarius._core as _core
from armarius._core import ScanHit
from armarius.errors import ContractError
from armarius.validation import shown, text, texts, whole

__all__ = ["ScanHit", "ScanHits", "scan"]


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
