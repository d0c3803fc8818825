"""Under which names the paragraphs of a source file stand."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from armarius.documents.document import Document

__all__ = ["names_of"]

_NO_NAME = frozenset({"__init__", "__main__", "index", "main", "mod", "lib"})


def names_of(document: Document) -> Iterator[tuple[int, str, str]]:
    """(paragraph, the words of its file and of the definitions around it, the name that it defines or "").

    A definition of several pieces is defined in the first; one that is written twice (an overload and what it
    stands for) in both. Cost: linear in the paragraphs.
    """
    if document.kind != "code":
        return
    path = PurePosixPath(document.path)
    stem = path.stem.partition(".")[0]
    file = path.parent.name if stem in _NO_NAME else stem
    seen: set[tuple[str, ...]] = set()
    for one in document.paragraphs:
        own = ""
        if one.heading_path:
            name = one.heading_path[-1]
            first = one.heading_path not in seen
            seen.add(one.heading_path)
            own = name if first or f"def {name}(" in document.text[one.start : one.end] else ""
        yield one.index, " ".join((file, *one.heading_path)), own
