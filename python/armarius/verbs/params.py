"""What each method takes, as pydantic models; those of prompts are in `armarius.requests`.

A field is written here once: its type, bounds, default and description are those of every surface.

Models of answers that are no dataclass of the engine follow, for the JSON Schemas; tests compare every answer with
them.

Spans are half-open, in units of the request's `positionEncoding`.
"""

from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import Field, StrictInt

from armarius.arguments import OPEN, Kind
from armarius.code.subgraph import KINDS
from armarius.codex.model import ContextLevel, Fact, Origin, Overruled, PassageSummary
from armarius.documents.document import Skipped
from armarius.documents.project_map import DocumentState, Edition
from armarius.index.status import Progress
from armarius.lorebooks.book import BookFormat
from armarius.lorebooks.record import ProfileName
from armarius.requests import (
    AsOfIn,
    AssembleRequest,
    ChapterIn,
    ChaptersIn,
    Count,
    DocumentIn,
    EncodingIn,
    Flag,
    KindsIn,
    MessagesIn,
    ProjectIn,
    QueryIn,
    Share,
    Text,
    TextIn,
    Whole,
    Wire,
    WordingsIn,
)
from armarius.search.hits import Outcome
from armarius.types import Evidence, Omission

_MOST = 1_000  # results of one answer; a list of documents goes on with `offset`
_LONGEST_MS = 600_000

Confidence = Annotated[Share, Field(le=1, description="From 0 to 1.")]
MemoryKind = Annotated[
    Literal["semantic", "episodic", "procedural"], Field(description="Only semantic ones enter prompts by themselves.")
]
NameIn = Annotated[str, Field(description="Name, alias or id of an entity.", min_length=1)]
EdgeKind = Literal["calls", "inherits", "overrides", "refs", "imports"]


class Params(Wire):
    """What every method takes: the project that is meant."""

    called: ClassVar[str | None] = "params"

    project_id: ProjectIn = ""

    def stated(self, *without: str) -> dict[str, Any]:
        """The fields that were sent, by name, but for the project and those in `without`."""
        names = [name for name in type(self).model_fields if name not in ("project_id", *without)]
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class ById(Params):
    """Names one record."""

    id: str


class OneProject(Params):
    """Names a project of many."""

    project_id: str = Field(min_length=1, description="Names the project.")


class ListedProject(Wire):
    """A project of many; in folders whether it is open, on a server its state."""

    id: str
    hot: bool | None = None
    tenant: str | None = None
    version: int | None = None
    characters: int | None = None
    bytes: int | None = None
    touched: str | None = None


class WhyRequest(AssembleRequest):
    """A request for a prompt, and what is asked about."""

    thing: Text = Field(
        min_length=1, description="Id, name, alias, path or paragraph (`path#n`) of what is asked about."
    )


class MessagesRequest(AssembleRequest):
    """A request for a prompt as a provider's messages."""

    form: Literal["openai", "anthropic"] = Field(
        default="openai", description="Whose messages: those of OpenAI and compatible servers, or of Anthropic."
    )


class MessagesResult(Wire):
    """A prompt as messages, its cache marker right after the stable prefix; `system` beside them is Anthropic's."""

    system: list[dict[str, Any]] | None = None
    messages: list[dict[str, Any]]
    token_count: Whole
    stable_prefix_hash: Text
    stable_prefix_unchanged: Flag
    warnings: list[Text]
    capacity_percent: Share


class WhatIfRequest(AssembleRequest):
    """A request for a prompt, and another budget for it."""

    other_budget: Whole = Field(ge=1, description="Tokens: the same candidates under another budget.")


class DiffRequest(AssembleRequest):
    """A request for a prompt, and what is another in the one that it is compared with."""

    other: dict[str, Any] = Field(description="The fields that differ, by their names on the wire.")


class ListProjects(Params):
    """Which projects of many."""

    limit: StrictInt = Field(default=100, ge=1, description="At most so many.")
    after: str = Field(default="", description="Only those with a later id.")


class WriteFiles(OneProject):
    """What is to be another in a project, all of it or nothing."""

    files: dict[str, str] = Field(default={}, description="Path to text.")
    remove: tuple[str, ...] = Field(default=(), description="Paths to forget.")
    expect: StrictInt | None = Field(default=None, description="The version that these were made from.")


class UpdateBudget(Params):
    """A profile, and the version that it was made from."""

    version: StrictInt
    profile: dict[str, Any]


class NewConstraint(Params):
    """A rule that every prompt is to state."""

    text: str
    source: Literal["user", "kg"] = "user"
    priority: Count = 0
    id: str = ""


class ChangedConstraint(ById):
    """What of a rule is to be another."""

    text: str | None = None
    source: Literal["user", "kg"] | None = None
    priority: Count | None = None


class NewMemory(Params):
    """What is to be remembered."""

    text: str = Field(description="One statement, as it is to be read later.")
    kind: MemoryKind = "semantic"
    confidence: Confidence = 1.0
    id: str = ""


class ChangedMemory(ById):
    """What of a memory is to be another."""

    text: str | None = None
    kind: MemoryKind | None = None
    confidence: Confidence | None = None


class Target(Params):
    """What is pinned or muted: id, name, path or tag; while a document is open, or always."""

    target: str
    document: str = ""


class NewPin(Target):
    """A pin, or a mute."""

    mute: Flag = False


class FactIn(Wire):
    """A statement that holds from one chapter until another."""

    text: str
    since: StrictInt | None = None
    until: StrictInt | None = None


class NewEntity(Params):
    """An entity to be known; what is not given is not stated.

    A name or an alias that another entity has is refused.
    """

    name: str
    id: str = ""
    force: Flag = Field(default=False, description="Take a name that another entity has: two are meant.")
    type: str | None = Field(
        default=None,
        description="character, location, event, item, faction, foreshadowing, inspiration, or another word.",
    )
    aliases: tuple[str, ...] | None = None
    description: str | None = None
    attributes: dict[str, str] | None = None
    level: ContextLevel | None = None
    facts: tuple[FactIn, ...] | None = None


class ChangedEntity(NewEntity):
    """Of which entity, by id, name or alias, what is to be another; `unset` names what is no longer to be stated.

    A new name or alias that another entity has is refused.
    """

    id: str
    name: str | None = None  # type: ignore[assignment]
    unset: tuple[Literal["type", "aliases", "description", "attributes", "level", "facts"], ...] = ()
    expect: str = Field(default="", description="The `digest` of a preview: refused if the page has changed since.")


class DeletedEntity(ById):
    """Names an entity, by id, name or alias; with its relations if they are to go too.

    One that authored relations need is refused else.
    """

    relations: Flag = False


class Ends(Params):
    """A relation, read from source to target; each end by id, name or alias."""

    source: str
    target: str
    type: str


class NewRelation(Ends):
    """A relation, and in which chapters it holds."""

    since: StrictInt | None = None
    until: StrictInt | None = None


class CardOf(ById):
    """Of which entity a card is asked for."""

    id: NameIn
    as_of: AsOfIn = None


class RelationsOf(Params):
    """Of which entity, by id, name or alias, relations are asked for; "" is of all."""

    id: str = ""


class InText(Params):
    """A text to look for names in."""

    text: str
    position_encoding: EncodingIn = "code-point"


class EvidenceOf(Params):
    """An entity, or one attribute of it, and where to look."""

    name: NameIn
    attribute: str | None = Field(
        default=None,
        description="Such as 年龄, 住处 or eye colour; without, what the settings say, and what is disputed.",
    )
    chapter: ChapterIn = Field(default=None, description="The current chapter; later ones are left out.")
    chapters: ChaptersIn = OPEN
    kinds: KindsIn = ()
    as_of: AsOfIn = None
    position_encoding: EncodingIn = "code-point"


class Proposing(Params):
    """Which names are proposed."""

    least: StrictInt = Field(default=10, ge=2, description="How often a name must be written.")
    known: Flag = Field(default=False, description="Also those that are described, marked.")
    position_encoding: EncodingIn = "code-point"


class Listing(Params):
    """Which documents, and which part of the list."""

    chapters: ChaptersIn = OPEN
    kinds: KindsIn = ()
    limit: StrictInt = Field(default=_MOST, ge=1, le=_MOST, description="At most so many.")
    offset: Count = Field(default=0, description="Skip so many.")


class Reading(Params):
    """One document; with its paragraphs if they are asked for."""

    document: str
    paragraphs: Flag = False
    position_encoding: EncodingIn = "code-point"


class NewKind(Params):
    """What files are, as a line of `[documents]` in armarius.toml says it."""

    pattern: str = Field(description="A path, or a pattern such as `notes/**`.", min_length=1)
    kind: Kind


class _Bounded(Params):
    query: QueryIn
    chapters: ChaptersIn = OPEN
    kinds: KindsIn = ()
    as_of: AsOfIn = None
    also: WordingsIn = ()
    position_encoding: EncodingIn = "code-point"


class Searching(_Bounded):
    """Words as written."""

    limit: StrictInt = Field(default=10, ge=1, le=_MOST, description="At most so many.")


class Retrieving(_Bounded):
    """A question."""

    limit: StrictInt = Field(default=5, ge=0, le=_MOST, description="At most so many.")
    document: DocumentIn = ""
    messages: MessagesIn = ()
    excerpts: Flag = Field(default=False, description="Whether each has the text behind it.")


class Locating(Params):
    """Quoted words, and the document that is open."""

    quote: str = Field(description="Words that stand in the project.", min_length=1)
    document: DocumentIn = ""
    text: TextIn = None
    position_encoding: EncodingIn = "code-point"


class OfDocument(Params):
    """Names a document."""

    document: str


class NewSummary(OfDocument):
    """A document's summary, as it is now."""

    text: str
    passages: tuple[PassageSummary, ...] = Field(
        default=(), description="What paragraphs of it say, each from one to another, numbered from 0."
    )


class Around(Params):
    """A symbol, how far around it, and along which edges."""

    symbol: str = Field(description="Name or qualified name of a function, method or class.", min_length=1)
    depth: Count | None = Field(default=None, description="Edges from the symbol, at most.")
    direction: Literal["callers", "callees", "both"] = "both"
    kinds: tuple[EdgeKind, ...] = KINDS  # type: ignore[assignment]
    max_nodes: Annotated[StrictInt, Field(ge=1)] | None = None
    max_edges: Count | None = None
    external: Flag = False
    include_tree: Flag = False


class BookFile(Params):
    """A lorebook, card, module, vault or export of another program."""

    data: str = Field(description="The bytes of the file, in base64; at most 6 MB of them.", min_length=1)
    name: str = Field(default="", description="Of the file, such as `harbour.json`.")
    profile: ProfileName | None = Field(default=None, description="Whose activation rules; else those of its format.")
    updates: str = Field(default="", description="Id of the book that this is a newer state of; detected when empty.")
    theirs: tuple[str, ...] = Field(
        default=(), description="Entries, `entry.field`, or `all` conflicts to take as the file has them."
    )
    preview: Flag = Field(default=False, description="Only the report; nothing is written.")


class BookAs(ById):
    """Which book, by id or name, as a file of which format."""

    to: BookFormat | None = Field(default=None, description="The format that it came in when not given.")


class KeyIn(Wire):
    """A key of an entry."""

    text: str
    kind: Literal["plain", "regex", "wildcard"] = "plain"


class EntryIn(Wire):
    """What of an entry is to be another."""

    name: str | None = None
    text: str | None = None
    level: ContextLevel | None = None
    keys: tuple[KeyIn, ...] | None = None
    folder: str | None = None
    type: str | None = None


class ChangedBook(ById):
    """What of a book, by id or name, is to be another; the file that it came in stays as it is."""

    profile: ProfileName | None = Field(default=None, description="Whose activation rules.")
    switched_off: Flag | None = Field(default=None, description="Keep it, and out of prompts.")
    entries: dict[str, EntryIn | None] = Field(
        default={}, description="Entry id to what of it is to be another; null takes it out, a new id adds one."
    )


class Activating(Params):
    """The messages of a chat or the text of a story, and how its program is set."""

    messages: tuple[Any, ...] = Field(
        default=(), description='Oldest first: texts, `{"name", "text"}`, or `{"role", "content"}`.'
    )
    text: str = ""
    story: str | tuple[str, tuple[str, ...]] = ""
    books: tuple[str, ...] | None = Field(default=None, description="Ids; all that are not switched off.")
    settings: dict[str, Any] | None = Field(default=None, description="By the names of the book's program.")
    turn: StrictInt | None = None
    rolls: tuple[float, ...] = ()
    state: dict[str, Any] | None = Field(default=None, description="That of the last answer; else it is replayed.")
    character: str = ""
    user: str = ""
    trigger: str = "normal"
    tags: tuple[str, ...] = ()
    sources: dict[str, str] | None = None
    greeting: StrictInt | None = None
    model: str | None = None
    budget: StrictInt | None = None


class Waiting(Params):
    """For how long at most."""

    timeout_ms: StrictInt = Field(default=10_000, ge=0, le=_LONGEST_MS, description="Milliseconds.")


Item = TypeVar("Item")


class Listed(Wire, Generic[Item]):
    """What retrieval found; with bounds what they left out, with messages what of them was looked up too."""

    items: list[Item]
    outcome: Outcome
    confidence: float
    warnings: list[str]
    omitted: list[Omission] | None = None
    carried: list[str] | None = None


class Found(Wire):
    """A document or a section of one, with every reason; `text` when `excerpts` are asked for."""

    path: str
    section: str
    title: str
    reason: str
    score: float
    evidence: list[Evidence]
    text: str | None = None
    level: str | None = None


class FoundPassage(Wire):
    """A paragraph that holds the words: `start` and `end` in its document, `highlights` in its text."""

    path: str
    kind: str
    title: str
    chapter: int | None
    heading_path: list[str]
    paragraph: int
    role: str
    start: int
    end: int
    text: str
    highlights: list[tuple[int, int]]
    snippet: str
    score: float
    level: str | None = None


class DocumentSummary(Wire):
    """A document without its text; `contentHash` changes with its file."""

    path: str
    kind: Kind
    title: str
    chapter: int | None
    paragraphs: int
    encoding: str
    content_hash: str


class MappedFile(Wire):
    """What a file is taken for; `order` is its place in the story of its edition, from 0."""

    path: str
    kind: Kind
    volume: int | None
    number: int | None
    order: int | None
    edition: Edition
    story: str
    state: DocumentState
    confidence: float
    evidence: list[str]
    declared: bool
    hidden: bool


class Doubt(Wire):
    """Files whose kind is doubtful, and the line of `[documents]` in armarius.toml that settles it."""

    pattern: str
    kind: Kind
    files: int
    confidence: float
    evidence: list[str]
    line: str


class ProjectMap(Wire):
    """What every file is taken for; doubts, most doubtful first; what is not read, by folder or ending."""

    files: list[MappedFile]
    doubts: list[Doubt]
    unread: dict[str, int]


class Part(Wire):
    """A paragraph of a document."""

    index: int
    span: tuple[int, int]
    heading_path: list[str]
    role: str
    chapter: int | None


class DocumentText(DocumentSummary):
    """A document; `paragraphs` is their number, or the list of them when the request asks for it."""

    paragraphs: int | list[Part]  # type: ignore[assignment]
    text: str


class Matched(Wire):
    """An entity that a text names, and where first."""

    entity_id: str
    matched_term: str
    position: int


class ListedEntity(Wire):
    """An entity, with its number of mentions in all documents."""

    id: str
    name: str
    type: str
    aliases: list[str]
    description: str
    attributes: dict[str, str]
    level: ContextLevel
    facts: list[Fact]
    origins: list[Origin]
    overruled: list[Overruled]
    mentions: int


class Mentioned(Wire):
    """One mention of an entity in a text."""

    entity_id: str
    term: str
    span: tuple[int, int]


class Proposed(Wire):
    """A name that the chapters use and no profile describes."""

    name: str
    aliases: list[str]
    kind: str
    count: int
    document: str
    position: int
    reason: str
    known: bool


class ListedBook(Wire):
    """A lorebook of the project, with the number of its entries."""

    id: str
    name: str
    character: str | None
    format: str
    profile: ProfileName
    entries: int
    file: str
    switched_off: bool


class BookEntry(Wire):
    """An entry of a lorebook."""

    id: str
    name: str
    text: str
    level: ContextLevel
    folder: str
    type: str
    keys: list[KeyIn]


class BookText(ListedBook):
    """A lorebook with its entries, in the order of the file."""

    entries: list[BookEntry]  # type: ignore[assignment]


class FieldWithoutEffect(Wire):
    """A field of the file that has no effect, was repaired, or cannot be said."""

    path: str
    value: Any
    reason: str


class Imported(Wire):
    """What an import is, or would be: the report of `armarius import --json`."""

    kind: Literal["new", "update", "same"]
    book: dict[str, str]
    character: str | None
    folder: str | None
    entries: list[dict[str, Any]]
    losses: list[FieldWithoutEffect]
    changes: list[dict[str, Any]]
    conflicts: list[dict[str, Any]]
    entities: list[dict[str, Any]]
    codex: dict[str, Any]
    shared: list[dict[str, Any]]
    kept: bool


class ActiveEntry(Wire):
    """An entry of a lorebook that is active, where it goes and why; without place and text, one that is not."""

    book: str
    entry: str
    name: str
    reason: str
    place: dict[str, Any] | None = None
    text: str | None = None


class Node(Wire):
    """A symbol."""

    id: str
    name: str
    type: str


class Edge(Wire):
    """What one symbol does with another, by names of nodes."""

    origin: str = Field(alias="from")
    to: str
    type: str


class Line(Wire):
    """A line that has the name in it."""

    file: str
    line: int
    match: str
    text: str


class CodeAround(Wire):
    """A subgraph, or lines of a text search when there is no graph; then `degraded` and `reason` are there."""

    nodes: list[Node] | None = None
    edges: list[Edge] | None = None
    results: list[Line] | None = None
    degraded: bool | None = None
    reason: str | None = None
    truncated: bool | None = None
    warnings: list[str] | None = None
    tree: str | None = None


class Status(Wire):
    """What the index is doing and what it holds."""

    state: Literal["ready", "building", "cancelled", "stale"]
    progress: Progress
    watching: bool
    documents: int
    paragraphs: int
    mentions: int
    entities: int
    bytes: int
    generation: int
    skipped: list[Skipped]
    warnings: list[str]


class Waited(Wire):
    """Whether the build has ended."""

    done: bool
