"""The text that a turn searches, as segments: messages, other texts, texts of active entries; keys found in each."""

from armarius.lorebooks.active.compiled import CompiledBooks, CompiledEntry, KeyRef
from armarius.lorebooks.active.macros import without_comments
from armarius.lorebooks.active.rules import Rules
from armarius.lorebooks.active.scan import Scan
from armarius.positions import cleaned

_MAX_DEPTH = 1000
_MARK = "\n\x01"
_ORDER = ("persona", "character", "personality", "depth_prompt", "scenario", "creator_notes")


class Searched:
    """What is searched in one turn.

    Attributes:
        depth: Messages that an entry without a range of its own sees.
        recursed: Texts of active entries that wake others, oldest first.
    """

    def __init__(self, ready: CompiledBooks, rules: Rules, scan: Scan) -> None:
        self._ready, self._rules = ready, rules
        messages = []
        for line in reversed(scan.lines()):
            text = without_comments(line.content) if rules.comments else line.content
            messages.append(f"{line.name}: {text}" if rules.names and line.name else text)
        self._messages = messages  # newest first
        self.depth = len(messages) if rules.depth is None else rules.depth
        self.recursed: list[str] = []
        self._found_recursed: set[int] = set()
        self._first: dict[int, int] = {}
        self._scanned = 0
        self._sources = {name: cleaned(text) for name, text in scan.sources.items() if text}
        self._found_in = {name: frozenset(ready.index.found(text)) for name, text in self._sources.items()}
        self._woken: set[int] = set(ready.always)
        for found in self._found_in.values():
            self._wake(found)
        self._texts: dict[tuple[object, ...], str] = {}
        self._near: set[int] = set()  # found within the depth that entries share
        self._reach(max(self.depth, ready.deepest))

    def _reach(self, depth: int) -> None:
        """Search messages up to a depth; what was searched is not searched again."""
        last = min(depth, _MAX_DEPTH, len(self._messages))
        while self._scanned < last:
            found = self._ready.index.found(self._messages[self._scanned])
            for number in found:
                self._first.setdefault(number, self._scanned)
            self._wake(found)
            self._scanned += 1
        self._near = {number for number, first in self._first.items() if first < self.depth}

    def _wake(self, numbers: "frozenset[int] | tuple[int, ...]") -> None:
        by_key = self._ready.by_key
        for number in numbers:
            if (ranks := by_key.get(number)) is not None:
                self._woken.update(ranks)

    def add(self, text: str) -> None:
        """Text of entries that were just woken."""
        self.recursed.append(text)
        found = self._ready.index.found(cleaned(text))
        self._found_recursed.update(found)
        self._wake(found)

    def deepen(self) -> None:
        """One more message for every entry without a range of its own."""
        self.depth += 1
        self._reach(self.depth)

    def candidates(self) -> list[int]:
        """Ranks of the entries that may be active, best first."""
        return sorted(self._woken)

    def first_of(self, one: CompiledEntry, recursed: bool) -> KeyRef | None:
        """The first of its keys that is found."""
        if one.depth is None and not one.patterned and not one.sources and self.depth > 0:
            for ref in one.keys:
                if ref in self._near:
                    return ref
            if not self.recursed:
                return None
        return next((ref for ref in one.keys if self.has(one, ref, recursed)), None)

    def has(self, one: CompiledEntry, ref: KeyRef, recursed: bool) -> bool:
        """Whether an entry finds a key in what it sees."""
        depth = self.depth if one.depth is None else one.depth
        if depth <= 0:
            return False
        recursed = recursed and (one.by_entries or self._rules.chat_marks)
        if not isinstance(ref, int):
            return ref.search(self._text(depth, one.sources, recursed)) >= 0
        first = self._first.get(ref)
        if first is not None and first < depth:
            return True
        if recursed and ref in self._found_recursed:
            return True
        return any(ref in self._found_in[name] for name in one.sources if name in self._found_in)

    def _text(self, depth: int, sources: tuple[str, ...], recursed: bool) -> str:
        """What an expression sees, as one text; made once for all entries that see the same."""
        key = (depth, sources, len(self.recursed) if recursed else 0)
        text = self._texts.get(key)
        if text is None:
            parts = self._messages[: min(depth, _MAX_DEPTH)]
            if not self._rules.chat_marks:
                parts = parts[::-1]
            parts = [*parts, *(self._sources[name] for name in _ORDER if name in sources and name in self._sources)]
            parts += self.recursed if recursed else []
            marked = "\x01" + _MARK.join(parts) if self._rules.chat_marks else "\n".join(parts)
            text = self._texts[key] = cleaned(marked)
        return text
