"""Records that fetchers and retrieval hand over, and the protocol `Fetcher`.

`FetchRequest`, `Candidate`, `Fetched`, `PassageStream` and `Omission` are for fetchers, `Hit` and `Hits` for retrieval,
`Evidence` for both. A fetcher turns a request into candidates for one layer and does not know the budget. A fetcher
that fails returns what it has with a warning, or raises; the assembler turns the exception into a warning.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol, get_args, runtime_checkable

from armarius.arguments import OPEN, Bounds, Chapters, Hidden, Kind, Turn
from armarius.errors import ContextWarning
from armarius.headings import KEPT, ResultList

if TYPE_CHECKING:
    from armarius.headings import Language

PassageKey = tuple[str, int]  # (document path, paragraph index)
LayerName = Literal["rules", "settings", "retrieved", "immediate"]
LAYERS: tuple[LayerName, ...] = ("rules", "settings", "retrieved", "immediate")
LAYER_INDEX: dict[LayerName, int] = {layer: index for index, layer in enumerate(LAYERS)}

STORY = "story:"
THREAD = f"{STORY}thread:"
PASSAGE = "rag:passage:"
DOCUMENT = "rag:document:"
WINDOW = "editor:cursor-window"
"""What sources begin with: of the story so far, a thread of it, a paragraph, a document; the source of the window."""

Direction = Literal["callers", "callees", "both"]
EdgeKind = Literal["calls", "inherits", "overrides", "refs", "imports"]
"""Of an edge between symbols of source code."""
EDGE_KINDS: tuple[EdgeKind, ...] = get_args(EdgeKind)

OmitReason = Literal["no match", "shadowed", "level", "duplicate", "timeline", "budget", "excluded", "source failed"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a candidate is considered.

    `kind` is one of mention, chapter, relation, fulltext, phrase, scan, outline, vector, level, cursor, memory,
    constraint, code, pin, query, message, share. `detail` says it in English; what this package says is a `Reason`,
    which has a code and other languages. `path` and `span` (code points, half-open) say where, if anywhere.
    """

    kind: str
    detail: Annotated[str, KEPT]
    path: str = ""
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """Something that a request is to hold, or with `mute` not to hold, at any score.

    `kind` is entity, document, paragraph (`path#n`) or source; `why` says who asked. Of kind asked is an entity at
    level `manual_only` that the query names; with `mute`, a pinned one at level `never`.
    """

    kind: str
    key: str
    why: str
    mute: bool = False
    reason: OmitReason = "excluded"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Content offered for one layer, not yet in the prompt.

    Attributes:
        id: Unique within its layer; ties break on `(-score, source, id)`.
        source: Where from: `codex:detected:<id>`, `kg:always:<id>`, `rag:passage:<path>#<n>`,
            `memory:semantic:<id>`, `editor:cursor-window`, `code:subgraph:<symbol>`.
        content: The text as it would stand in the prompt, unescaped; the renderer fences it.
        score: Higher is better; comparable within one layer only.
        group: Bracketed heading that stands once above the first item of its group, or "".
        short: A shorter form used when `content` does not fit, or None.
        pinned: Kept before anything else of its layer.
        keep: Which part survives truncation; None means never truncated, only omitted whole.
        anchor: Code-point offset in `content` that `keep="around"` stays near.
        documents: Project-relative paths this content draws on.
        project_id: The project the content belongs to; another project's is refused.
        together: Candidates of one layer with the same non-empty value enter together or not at all.
        core: What of `content` no truncation may touch (code points, half-open); it is never dropped as a duplicate.
        marks: What the prompt says at offsets of `content`: (offset, text), in order.
    """

    id: str
    layer: LayerName
    source: str
    content: str
    score: float = 0.0
    evidence: tuple[Evidence, ...] = ()
    group: str = ""
    short: str | None = None
    pinned: bool = False
    keep: Literal["head", "tail", "around"] | None = None
    anchor: int = 0
    documents: tuple[str, ...] = ()
    project_id: str = ""
    together: str = ""
    core: tuple[int, int] | None = None
    marks: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Omission:
    """Something considered and left out before the budget saw it, with one reason of the closed list.

    `aspect` says in plain words which part of the source is meant when the rest of it may be in: one fact of a card.
    """

    id: str
    layer: LayerName
    source: str
    reason: OmitReason
    detail: str = ""
    aspect: str = ""


class PassageRow(NamedTuple):
    """A paragraph of the project that may fill the room which everything demanded leaves.

    Attributes:
        path: Of its document.
        paragraph: Its index there.
        score: Its worth; comparable within one offer.
        place: Where it stands in the story; rows enter the prompt in this order.
        title: What it stands under: the chapter or the section.
        text: As in the document, stripped.
        asked: The question asks for its chapter, so it is demanded, before all others.
        line: Of source code, the line that it begins in, from 1; 0 of prose.
        plain: Found by plain search, which has a share of the room of its own.
        clear: So found in a stretch that holds most of what is rare in the question; its share is larger.
    """

    path: str
    paragraph: int
    score: float
    place: tuple[int, str, int]
    title: str
    text: str
    asked: bool = False
    line: int = 0
    plain: bool = False
    clear: bool = False

    @property
    def source(self) -> str:
        """`rag:passage:<path>#<n>`; also its id."""
        return f"rag:passage:{self.path}#{self.paragraph}"


@dataclass(frozen=True, slots=True)
class Shares:
    """How a prompt is divided among cards and the rows of an offer, in percent of the budget; in this order.

    Attributes:
        cards: What cards of entities may take.
        asked: What rows that are asked for may take, with what the window shows of their document.
        others: What is kept for the other rows, while they have that much to say.
        first: Ids of cards, in the order in which they enter; those of others come after them.
    """

    cards: int
    asked: int
    others: int
    first: tuple[str, ...] = ()


class PassageStream(Protocol):
    """Paragraphs ranked for one request. They are no demand: what does not fit is not missed."""

    @property
    def rows(self) -> Iterator[PassageRow]:
        """Anew at each call, best first, ties by source and id, until worth falls to noise; those asked for lead."""

    @property
    def stretches(self) -> Iterator[Sequence[PassageRow]]:
        """Runs of neighbouring paragraphs that plain search finds in all texts, best first; none for a task."""

    @property
    def shares(self) -> Shares | None:
        """How the prompt is divided; None gives rows what demand leaves, best first."""

    @property
    def group(self) -> str:
        """The bracketed heading above the rows."""

    def row(self, path: str, paragraph: int, /) -> PassageRow | None:
        """Any paragraph of the project as it reads today, with its worth; None for an unknown one."""

    def neighbour(self, row: PassageRow, step: int, /) -> PassageRow | None:
        """The row `step` paragraphs behind `row` (negative: before it); None beyond its scene, and of code."""

    def withheld(self, row: PassageRow, /) -> tuple[OmitReason, str] | None:
        """Why a row may not enter at any score; None when it may."""

    def evidence(self, row: PassageRow, /) -> Evidence:
        """What a row is worth, and where it stands. Cost: none; called for every row that enters."""

    def explain(self, row: PassageRow, /) -> tuple[Evidence, ...]:
        """Why a row is worth what it is: every signal. Cost: that of the question."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer of one fetcher. Empty candidates without a warning means: looked, found nothing.

    `offer` is for fetchers over a corpus of their own: candidates compete, an offer fills what they leave. `confidence`
    is how likely the answer to the query is in what was found, 0 to 1; None where nobody asked.
    """

    candidates: Sequence[Candidate] = ()
    omitted: Sequence[Omission] = ()
    warnings: Sequence[ContextWarning] = ()
    offer: PassageStream | None = None
    confidence: float | None = None


TaskName = Literal[
    "ask", "write", "continue", "rewrite", "polish", "check", "summarise", "translate", "brainstorm", "rename", "state",
    "present",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a request asks for and what its prompt holds: a row of `lexicon/intents.toml` and what its words name.

    Attributes:
        task: The row; `ask` is a question.
        parts: What the prompt holds, as the table names it.
        shares: Of the prompt, in percent, by part.
        query: What of the words is looked up.
        bare: Nothing is to be looked up but the chapters, or what is planned.
        chapters: Those that it names, ascending runs as written; of a request to write, those alone.
        volume: The volume it names, or None.
        plans: It speaks of a plan.
        next: It is to write the next chapter.
        names: To rename: the name as it is and as it is to be.
        as_of: The chapter after which nothing counts; None is the current one.
        scope: Of a request that reads: the scene around the cursor, or the story up to the chapter named or open.
        opened: Of a request that reads and names no chapter: the open one.
        stated: The host says the task by its skill.
    """

    task: TaskName = "ask"
    parts: frozenset[str] = frozenset({"passages"})
    shares: Mapping[str, int] = field(default_factory=dict, hash=False)
    query: str = ""
    bare: bool = False
    chapters: tuple[int, ...] = ()
    volume: int | None = None
    plans: bool = False
    next: bool = False
    names: tuple[str, str] = ("", "")
    as_of: int | None = None
    scope: Literal["", "scene", "story"] = ""
    opened: bool = False
    stated: bool = False


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """One request as fetchers see it: resolved, validated, positions in code points; named as in `AssembleRequest`.

    Attributes:
        document: Project-relative path of the current document, "" when the request names none.
        text: The whole text of the current document, "" when the request names none.
        cursor: Code-point offset into `text`.
        chapter: Number of the current chapter, or None.
        chapter_start: Where it begins in `text`.
        chapter_end: Where it ends in `text`, which goes on with another chapter; None when it does not.
        chapters: The chapters to look into.
        kinds: The kinds of documents to look into; empty is all.
        as_of: Nothing later than this chapter; None is up to the current one, unless the query names a later one.
        also: The query in other words.
        withheld: Why `text` is not all of the current document, "" when it is.
        live: `text` is what an editor holds and not what the project has under that path.
        selection: What is selected in `text`, code points, ascending; None without one, or without anything in it.
        marks: Whether the prompt says where the selection is, and `marks_cursor` where the cursor is.
        story: The story goes on, where the query does not say what it wants.
        wishes: What is pinned and what is muted.
        hidden: What documents say of the muted entities alone.
        language: Of headings and labels.
        messages: The turns before the query, oldest first.
        include_messages: So many of the newest may stand in the prompt.
        asked: The query with what it leaves to those turns, "" when it leaves nothing; looked up and never shown.
        carried: What that is, each with its turn.
        recipe: What it asks for.
    """

    project_id: str
    query: str = ""
    additional_input: str = ""
    document: str = ""
    text: str = ""
    cursor: int = 0
    chapter: int | None = None
    skill: str = ""
    chapters: Chapters = OPEN
    kinds: tuple[Kind, ...] = ()
    as_of: int | None = None
    also: tuple[str, ...] = ()
    withheld: str = ""
    live: bool = False
    selection: tuple[int, int] | None = None
    marks: bool = True
    marks_cursor: bool = False
    story: bool = False
    wishes: tuple[Wish, ...] = ()
    language: "Language" = "zh"
    messages: tuple[Turn, ...] = ()
    include_messages: int = 0
    asked: str = ""
    carried: tuple[str, ...] = ()
    hidden: Hidden = ()
    chapter_start: int = 0
    chapter_end: int | None = None
    recipe: Recipe = Recipe()

    @property
    def question(self) -> str:
        """What is to be looked up for the query."""
        return self.asked or self.query

    @property
    def bounds(self) -> Bounds:
        """What may be looked into."""
        return Bounds(self.chapters, self.kinds, self.as_of, hidden=self.hidden)

    @property
    def moment(self) -> int | None:
        """The chapter at which the state of the world is shown: `as_of`, else the current one."""
        return self.chapter if self.as_of is None else self.as_of


@runtime_checkable
class Fetcher(Protocol):
    """Candidates for one layer."""

    @property
    def name(self) -> str:
        """Stable name used in warnings and reports."""

    @property
    def layer(self) -> LayerName:
        """The layer this fetcher fills."""

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """Candidates for `request`; may raise, may be slow, is called in a worker thread."""


@runtime_checkable
class Confirming(Protocol):
    """A fetcher that can say whether what it once offered still holds, after the file behind it has changed."""

    def confirm(self, candidates: Sequence[Candidate], request: FetchRequest, /) -> Collection[str]:
        """The ids of those `candidates` that are its own and would read the same for `request`; may raise."""


_SHOWN = 40  # code points of a hit's text in its repr
_CELL = 100  # in a table


@dataclass(frozen=True, slots=True, repr=False)
class Hit:
    """A place in a project that answers, with why.

    A paragraph where `search` and `similar` found it; where `retrieve` found it a document, or a section of one.

    Attributes:
        path: Of the document, project-relative.
        span: What is meant of the document's text: code points, half-open; None: all of a file that is no document.
        heading: Titles above it, the outermost first; of a section its own is the last; empty for a whole document.
        score: Higher is better; relative to the best of one answer, which may be no good (`Retrieval.confidence`) and
            comparable within that answer only. Of `similar` the cosine similarity, in [-1, 1].
        evidence: Every reason, the strongest first (of `search`: in the order of the text), each with where it stands.
        title: Of the document.
        kind: Of the document: chapter, setting, outline, note, code; "" for any other file.
        chapter: The chapter that it stands in, or None.
        paragraph: Index of the paragraph in its document; None for a document or section.
        role: Of the paragraph: body, heading or front_matter; "" for a document or section.
        text: Of the paragraph; "" for a document or section, which `engine.excerpt(hit)` gives.
        snippet: Of `search`: at most 80 code points of `text` around the first word that was found.
        level: Of `search` and `retrieve`: why prompts do not show it, else "": `never` or `manual_only` where it tells
            only of entities of that level; the kind or the edition of a file that they hold only when asked (`review`,
            `template`, `tool`, `copy`, `translation`, `archive`).
        reason: Of `retrieve`: the evidence as a sentence, in the language of the project.
        line: Of `find`: the line of the document that it begins in, from 1.
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
    level: str = ""
    reason: str = ""
    line: int = 0

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
        level = {"level": self.level} if self.level else {}
        if self.paragraph is None:
            evidence = [{**asdict(item), "span": item.span and list(item.span)} for item in self.evidence]
            named = {"title": self.section or self.title, "reason": self.reason, "score": self.score}
            return {"path": self.path, "section": self.section, **named, "evidence": evidence, **level}
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
            **level,
            **({"line": self.line} if self.line else {}),
        }

    def __repr__(self) -> str:
        excerpt = self.snippet or self.text
        text = f": {excerpt[:_SHOWN]}{'…' * (len(excerpt) > _SHOWN)}" if excerpt else ""
        level = f" {self.level}" if self.level else ""
        return f"Hit({self.reference} {self.score:.3f}{level}{text})"


class Hits(ResultList[Hit]):
    """Hits, best first; the warnings of `similar` say what is not the model's answer, or not all of it."""

    noun = ("hit", "hits")
    columns = ("score", "where", "under", "text or reason")

    @classmethod
    def brief(cls, hit: Hit, /) -> str:
        """Where, and the score."""
        return f"{hit.reference} {hit.score:.3f}"

    @classmethod
    def cells(cls, hit: Hit, /) -> tuple[str, ...]:
        """Score, place, titles; of a paragraph its text, of the others the strongest reason."""
        excerpt = hit.snippet or hit.text or hit.reason or next((item.detail for item in hit.evidence), "")
        where = f"{hit.reference} ({hit.level})" if hit.level else hit.reference
        return f"{hit.score:.3f}", where, " › ".join(hit.heading), preview(excerpt, _CELL)


def preview(text: str, most: int) -> str:
    """A text on one line, of at most so many code points."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


@dataclass(frozen=True, slots=True)
class Near:
    """A paragraph near a query and its cosine similarity.

    Attributes:
        paragraph: Its index in the document.
        by_wording: Whether the vectors are of the built-in lexical embedder, which compares wording and not meaning.
    """

    path: str
    paragraph: int
    similarity: float
    by_wording: bool = False


@dataclass(frozen=True, slots=True)
class VectorHits:
    """Result of vector search for retrieval.

    Attributes:
        found: Paragraphs above the noise floor, best first.
        trouble: Why results may be missing; "" if none are.
        paragraphs: Nearest paragraphs of chapters and notes: path, index, cosine similarity; best first.
        lines: Nearest paragraphs of the outline, likewise.
        trust: Weight of the model in this project, 0 to 1; see `measure_weight`.
    """

    found: tuple[Near, ...] = ()
    trouble: str = ""
    paragraphs: tuple[tuple[str, int, float], ...] = ()
    lines: tuple[tuple[str, int, float], ...] = ()
    trust: float = 0.0
