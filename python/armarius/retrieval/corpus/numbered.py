"""What the core calls by the number of a unit: the text or section that it is, and whom that describes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from armarius._core import Corpus
from armarius.corpus.units import Section
from armarius.retrieval.corpus.text import Text

__all__ = ["Numbered"]

Label = tuple[str, str]
"""Path, and what tells a unit from the others of its document."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbered:
    """The units of one corpus, by number.

    Attributes:
        corpus: Whose.
        texts: Key of the text, None where it is none.
        sections: Key of the section likewise.
        owners: The entities that the section describes.
        headed: A byte for each, 1 where it is a section.
        describing: Likewise, where it describes somebody.
    """

    corpus: Corpus
    texts: Sequence[int | None]
    sections: Sequence[int | None]
    owners: Sequence[tuple[str, ...]]
    headed: bytes
    describing: bytes

    @classmethod
    def of(cls, corpus: Corpus, texts: Mapping[int, Text], sections: Mapping[int, Section]) -> "Numbered":
        """The units of `corpus` in these tables. Cost: one look-up per unit."""
        labelled: dict[Label, int] = {(text.path, text.section): text.key for text in texts.values()}
        named: dict[Label, int] = {(one.path, one.section): one.key for one in sections.values()}
        units = corpus.units
        keys = [named.get(one) for one in units]
        owners = [() if key is None else sections[key].entities for key in keys]
        headed, describing = bytes(key is not None for key in keys), bytes(map(bool, owners))
        return cls(corpus, [labelled.get(one) for one in units], keys, owners, headed, describing)
