"""One shape for whatever is found: by words, by meaning, as an answer to a question, as a passage of a prompt."""

from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from armarius.quick import quick
from armarius.records import Evidence
from armarius.shown import Shown
from armarius.warnings_table import ContextWarning

__all__ = ["Hit", "Hits"]

_SHOWN = 40  # code points of a hit's text in its repr
_CELL = 100  # in a table


@quick
@dataclass(frozen=True, slots=True, repr=False)
class Hit:
    """A place in a project that answers, with why.

    A paragraph where `search` and `similar` found it; where `retrieve` found it a document, or a section of one.

    Attributes:
        path: Of the document, project-relative.
        span: What is meant of the document's text: code points, half-open; None: all of a file that is no document.
        heading: Titles above it, the outermost first; of a section its own is the last; empty for a whole document.
        score: Higher is better; comparable within one answer only. Of `similar` the cosine similarity, in [-1, 1].
        evidence: Every reason, the strongest first (of `search`: in the order of the text), each with where it stands.
            Of `retrieve` they are looked for when they are first read, in the texts that were asked.
        title: Of the document.
        kind: Of the document: chapter, setting, outline, note, code; "" for a file that is none.
        chapter: The chapter that it stands in, or None.
        paragraph: Index of the paragraph in its document; None for a document or section.
        role: Of the paragraph: body, heading or front_matter; "" for a document or section.
        text: Of the paragraph; "" for a document or section, whose text is `engine.excerpt(hit)`.
        snippet: Of `search`: at most 80 code points of `text` around the first word that was found.
    """

    path: str
    span: tuple[int, int] | None
    heading: tuple[str, ...]
    score: float
    evidence: tuple[Evidence, ...] = ()
    title: str = ""
    kind: str = ""
    chapter: int | None = None
    paragraph: int | None = None
    role: str = ""
    text: str = ""
    snippet: str = ""

    @property
    def section(self) -> str:
        """The heading that it stands under, or that it is the section of; "" for a whole document."""
        return self.heading[-1] if self.heading else ""

    @property
    def reference(self) -> str:
        """`path`, `path#section`, or `path#n` for a paragraph."""
        where = self.section if self.paragraph is None else str(self.paragraph)
        return f"{self.path}#{where}" if where else self.path

    @property
    def start(self) -> int:
        """First code point of `span`."""
        return self.span[0] if self.span else 0

    @property
    def end(self) -> int:
        """One past the last code point of `span`."""
        return self.span[1] if self.span else 0

    @property
    def highlights(self) -> tuple[tuple[int, int], ...]:
        """Where the words that were searched for stand in `text`: code points, half-open."""
        spans = (reason.span for reason in self.evidence if reason.kind == "fulltext" and reason.path == self.path)
        return tuple((span[0] - self.start, span[1] - self.start) for span in spans if span is not None)

    def to_wire(self) -> dict[str, Any]:
        """The camelCase form: of a paragraph with its text, of a document or section with its evidence."""
        if self.paragraph is None:
            evidence = [{**asdict(one), "span": one.span and list(one.span)} for one in self.evidence]
            return {"path": self.path, "section": self.section, "score": self.score, "evidence": evidence}
        return {
            "path": self.path,
            "kind": self.kind,
            "title": self.title,
            "chapter": self.chapter,
            "headingPath": list(self.heading),
            "paragraph": self.paragraph,
            "role": self.role,
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "highlights": [list(span) for span in self.highlights],
            "snippet": self.snippet,
            "score": self.score,
        }

    def __repr__(self) -> str:
        said = self.snippet or self.text
        text = f": {said[:_SHOWN]}{'…' * (len(said) > _SHOWN)}" if said else ""
        return f"Hit({self.reference} {self.score:.3f}{text})"


class _Evidence:
    """The field `evidence` of a hit: it may hold who finds the reasons, until somebody reads them."""

    def __init__(self, slot: Any) -> None:  # noqa: ANN401 - a slot has no type of its own
        self._slot: Final = slot

    def __get__(self, hit: Hit | None, owner: type[Hit]) -> "tuple[Evidence, ...] | _Evidence":
        if hit is None:
            return self
        held = self._slot.__get__(hit, owner)
        if callable(held):
            held = held()
            self._slot.__set__(hit, held)
        return cast("tuple[Evidence, ...]", held)

    def __set__(self, hit: Hit, evidence: tuple[Evidence, ...]) -> None:
        self._slot.__set__(hit, evidence)  # unpickled: whoever sets it otherwise is told that hits are frozen


Hit.evidence = _Evidence(Hit.evidence)  # type: ignore[assignment, misc]


class Hits(Shown[Hit]):
    """Hits, best first.

    Attributes:
        warnings: Of `similar`: what is not the model's answer, or not all of it. A slice has none.
    """

    warnings: tuple[ContextWarning, ...] = ()
    noun = ("hit", "hits")
    columns = ("score", "where", "under", "text or reason")

    @classmethod
    def brief(cls, hit: Hit, /) -> str:
        """Where, and the score."""
        return f"{hit.reference} {hit.score:.3f}"

    def __repr__(self) -> str:
        warned = f"; {len(self.warnings)} warning{'s' * (len(self.warnings) != 1)}>" if self.warnings else ">"
        return super().__repr__()[:-1] + warned

    @classmethod
    def cells(cls, hit: Hit, /) -> tuple[str, ...]:
        """Score, place, titles; of a paragraph its text, of the others the strongest reason."""
        why = f"{hit.evidence[0].kind}: {hit.evidence[0].detail}" if hit.evidence else ""
        said = hit.snippet or hit.text or why
        return f"{hit.score:.3f}", hit.reference, " › ".join(hit.heading), _line(said)


def _line(text: str) -> str:
    one = " ".join(text.split())
    return one if len(one) <= _CELL else f"{one[: _CELL - 1]}…"
