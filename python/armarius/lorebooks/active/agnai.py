"""Agnai's rules: ASCII word ends, wild cards, the last lines with their speakers, a budget that ends early.

Followed by behaviour, of the program at 2421510; so Chinese keywords are never found under it, which an import reports.
"""

from collections.abc import Sequence

from armarius.lorebooks.active.compiled import BREAK, KeyIndex, KeyRef
from armarius.lorebooks.active.macros import expanded
from armarius.lorebooks.active.result import Activation, Active, SkippedEntry, State
from armarius.lorebooks.active.scan import Random, Scan
from armarius.lorebooks.book import Book
from armarius.positions import cleaned

KNOWN = frozenset({"memoryDepth", "memoryContextLimit"})
_DEPTH, _LIMIT = 50, 500
_TAKEN_OUT = str.maketrans("", "", "\\^$+.()|[]{}_")


class CompiledAgnai:
    """Entries of some books with their keywords."""

    timed = False

    def __init__(self, books: Sequence[Book]) -> None:
        self.index = KeyIndex()
        self.rows = []
        for book in books:
            for entry in book.entries:
                refs: list[KeyRef] = []
                for key in entry.match.keys:
                    text = key.text.strip()
                    if key.kind == "wildcard":
                        refs.append(self.index.wildcard(text))
                    elif key.kind == "regex":
                        refs.append(self.index.expression(text))
                    elif bare := text.translate(_TAKEN_OUT).strip():
                        refs.append(self.index.plain(bare, BREAK, case=False))
                self.rows.append((book, entry, refs))
        self.index.close()


def search_agnai(ready: CompiledAgnai, scan: Scan, luck: Random, state: State) -> Activation:
    """One turn."""
    depth = int(scan.settings.get("memoryDepth") or _DEPTH)
    limit = scan.budget if scan.budget is not None else int(scan.settings.get("memoryContextLimit") or _LIMIT)
    lines = [f"{line.name}: {line.content}" if line.name else line.content for line in scan.lines()[-depth:]]
    text = cleaned("\n".join(lines))
    newest: dict[int, int] = {}  # key to the newest line that holds it
    for number, line in enumerate(lines):
        newest |= dict.fromkeys(ready.index.found(cleaned(line)), number)
    across = frozenset(ready.index.found(text))
    found = []
    left: list[SkippedEntry] = []
    for number, (book, entry, refs) in enumerate(ready.rows):
        if entry.level in ("never", "manual_only") or book.switched_off:
            continue
        at = [_line(ref, newest, across, lines, text) for ref in refs]
        line_number = max(at, default=-1)
        if line_number >= 0:
            sent = expanded(entry.text, *scan.names(book.id), luck, book.id, entry.id)
            priority = entry.share.order if entry.share.keep_priority is None else entry.share.keep_priority
            key = entry.match.keys[at.index(line_number)].text if len(at) == len(entry.match.keys) else ""
            found.append((priority, line_number, -number, book, entry, sent, key))
    found.sort(key=lambda one: one[:3], reverse=True)
    used, kept = 0, []
    for place, one in enumerate(found):
        size = scan.count(one[5])
        if used + size >= limit:
            left += [SkippedEntry(lost[3].id, lost[4], "budget") for lost in found[place:]]
            break
        used += size
        kept.append(one)
    kept.sort(key=lambda one: (one[4].share.order, one[1], one[2]))  # a higher weight stands lower, then a newer match
    active = tuple(
        Active(one[3].id, one[4], one[4].place, f"key {one[6]}", one[5], order) for order, one in enumerate(kept)
    )
    return Activation(active, tuple(left), state)


def _line(ref: KeyRef, newest: dict[int, int], across: frozenset[int], lines: Sequence[str], text: str) -> int:
    """The newest line with a key, -1 without one; a key that goes over a line end stands in the oldest."""
    if isinstance(ref, int):
        return newest.get(ref, 0 if ref in across else -1)
    if ref.search(text) < 0:
        return -1
    return next((at for at in range(len(lines) - 1, -1, -1) if ref.search(cleaned(lines[at])) >= 0), 0)
