"""A table of lines that is asked where it lies: keyed lines found by bisection, others by the byte they start at."""

__all__ = ["LineTable"]


class LineTable:
    """Lines of fields between tabs: a heading, lines sorted by the bytes of their first field, and lines without a key.

    Nothing is parsed and nothing is held but the text, so opening costs no more than reading it; a key is found in some
    17 steps of a bisection over 1.6 MB. Immutable: threads may share it.

    Args:
        text: The lines, each closed by a newline. The heading is `<name> <bytes of the keyed lines>`.

    Raises:
        ValueError: The heading does not say so, or the text is shorter than it says.
    """

    __slots__ = ("_first", "_rest", "_text")

    def __init__(self, text: bytes) -> None:
        heading = text[: text.find(b"\n") + 1]
        _, _, size = heading.rstrip().rpartition(b" ")
        if not size.isdigit() or len(heading) + int(size) > len(text) or not text.endswith(b"\n"):
            raise ValueError(f"not a whole table of lines: {len(text)} bytes, the heading is {heading[:40]!r}")
        self._text = text
        self._first = len(heading)
        self._rest = len(heading) + int(size)

    def __contains__(self, key: str) -> bool:
        return self.find(key) is not None

    def find(self, key: str) -> list[bytes] | None:
        """The fields after the key in its line, or None where no line has that key."""
        text, wanted = self._text, key.encode("utf-8", "surrogatepass")
        low, high = self._first, self._rest  # both are starts of lines
        while low < high:
            start = text.rfind(b"\n", low, (low + high) // 2) + 1 or low
            end = text.index(b"\n", start)
            found, *fields = text[start:end].split(b"\t")
            if found == wanted:
                return fields
            if found < wanted:
                low = end + 1
            else:
                high = start
        return None

    def at(self, place: int) -> list[bytes]:
        """The fields of the line that starts `place` bytes after the last keyed line."""
        start = self._rest + place
        return self._text[start : self._text.index(b"\n", start)].split(b"\t")
