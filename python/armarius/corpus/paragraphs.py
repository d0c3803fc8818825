"""The paragraphs of a project as the core ranks them: one part per document, changed by document."""

import threading
from collections.abc import Callable, Sequence

from armarius._core import Corpus, CorpusPart

__all__ = ["KeptBytes", "Paragraphs"]

_FEW = 8  # parts that are read at once
KeptBytes = tuple[str, int, bytes, int]
"""Path, number of paragraphs, bytes, where the part begins in them."""


class Paragraphs:
    """The parts of a project, and the corpus of them; not thread safe while it changes."""

    def __init__(self) -> None:
        self._corpus = Corpus([])
        self._changed: dict[str, CorpusPart] = {}
        self._removed: set[str] = set()
        self._opening: _Opening | None = None

    def open(self, parts: Sequence[KeptBytes], anew: Callable[[str], CorpusPart]) -> None:
        """Take in what a store kept of documents that are new or changed.

        A whole project is read by a thread of its own while the question is being understood; `corpus` waits for it.

        Args:
            parts: Their bytes.
            anew: Makes the part of a document anew when its bytes are damaged.

        Cost: a check of every byte, and one merge; both on all cores.
        """
        self._finish()
        if len(parts) > _FEW and not len(self._corpus) and not self._changed:
            self._opening = _Opening(parts, anew)
            return
        for path, paragraphs, data, begin in parts:
            try:
                self.update(path, _read(path, paragraphs, data[begin:]))
            except ValueError as error:
                self.update(path, _mended(path, str(error), anew))

    def update(self, path: str, part: CorpusPart) -> None:
        """Take in a new or changed document."""
        self._changed[path] = part
        self._removed.discard(path)

    def remove(self, path: str) -> None:
        """Forget a document; unknown paths are no error."""
        self._changed.pop(path, None)
        self._removed.add(path)

    def fork(self) -> "Paragraphs":
        """The same, to be changed by itself."""
        other = Paragraphs()
        other._corpus = self.corpus
        return other

    @property
    def corpus(self) -> Corpus:
        """The corpus of this moment. Cost: a few milliseconds after a change."""
        self._finish()
        if self._changed or self._removed:
            removed = sorted(self._removed & set(self._corpus.paths)) if self._removed else []
            self._corpus = self._corpus.with_parts(list(self._changed.values()), removed)
            self._changed, self._removed = {}, set()
        return self._corpus

    def _finish(self) -> None:
        """Take in what was read; a caller that is interrupted while waiting leaves it to the next."""
        opening = self._opening
        if opening is not None:
            corpus, mended = opening.wait()
            gone = self._removed
            self._corpus = corpus
            self._changed = {path: part for path, part in mended.items() if path not in gone} | self._changed
            self._opening = None


class _Opening:
    """A corpus that is being read by a thread of its own."""

    def __init__(self, parts: Sequence[KeptBytes], anew: Callable[[str], CorpusPart]) -> None:
        self._anew = anew
        self._paths = [path for path, *_ in parts]
        self._read: tuple[Corpus, dict[str, str]] | None = None
        self._thread = threading.Thread(target=self._run, args=(list(parts),), name="armarius-corpus", daemon=True)
        self._thread.start()

    def _run(self, parts: list[KeptBytes]) -> None:
        try:
            self._read = Corpus.recover(parts)
        except Exception as error:  # noqa: BLE001 - all of it can be made anew
            self._read = Corpus([]), dict.fromkeys(self._paths, f"{type(error).__name__}: {error}")

    def wait(self) -> tuple[Corpus, dict[str, CorpusPart]]:
        """The corpus of what could be read, and the parts of what could not, made anew; as often as it is asked."""
        self._thread.join()
        assert self._read is not None, "the thread ends with an answer"
        corpus, damaged = self._read
        return corpus, {path: _mended(path, why, self._anew) for path, why in damaged.items()}


def _read(path: str, paragraphs: int, data: bytes) -> CorpusPart:
    part = CorpusPart.from_bytes(data)
    if (part.path, len(part)) != (path, paragraphs):
        raise ValueError(f"corpus part is damaged: of another document, {part.path} of {len(part)} paragraphs")
    return part


def _mended(path: str, why: str, anew: Callable[[str], CorpusPart]) -> CorpusPart:
    import logging  # as good as never, and a search from the command line is quick

    logging.getLogger("armarius").warning("%s: %s; it is worked out again", path, why)
    return anew(path)
