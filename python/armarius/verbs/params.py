"""What each method takes, as pydantic models; those of prompts are in `armarius.requests`.

A field is written here once: its type, bounds, default and description are those of every surface.

Spans are half-open, in units of the request's `positionEncoding`.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictBool, StrictInt

from armarius.arguments import OPEN, BookFormat, Kind, ProfileName
from armarius.codex.model import ContextLevel, PassageSummary
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
from armarius.types import EDGE_KINDS, Direction, EdgeKind

_MOST = 1_000  # results of one answer; a list of documents goes on with `offset`
_LONGEST_MS = 600_000

Confidence = Annotated[Share, Field(le=1, description="From 0 to 1.")]
MemoryKind = Annotated[
    Literal["semantic", "episodic", "procedural"], Field(description="Only semantic ones enter prompts by themselves.")
]
NameIn = Annotated[str, Field(description="Name, alias or id of an entity.", min_length=1)]


class Params(Wire):
    """Fields common to all methods: the project."""

    called: ClassVar[str | None] = "params"

    project_id: ProjectIn = ""

    def stated(self, *without: str) -> dict[str, Any]:
        """The fields that were sent, by name, but for the project and those in `without`."""
        names = [name for name in type(self).model_fields if name not in ("project_id", *without)]
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class ById(Params):
    """Names one record."""

    id: str


Line = Annotated[StrictInt, Field(ge=1)]
LinesIn = Annotated[tuple[Line, Line] | None, Field(description="Only these lines of the text: [first, last], from 1.")]


class OneProject(Params):
    """Names a project of many."""

    project_id: str = Field(min_length=1, description="Names the project.")


class Snapshot(OneProject):
    """A project of a snapshot."""

    data: str = Field(description="The `data` of `projects:snapshot`, of a project of this name.")


class ProjectOfRequest(OneProject):
    """The project of many that a request is about."""

    create_if_missing: StrictBool = Field(default=False, description="Create the project if it does not exist.")


class WhyRequest(AssembleRequest):
    """A request for a prompt, and what to explain in it."""

    thing: Text = Field(
        min_length=1, description="Id, name, alias, path or paragraph (`path#n`) of what is asked about."
    )


class MessagesRequest(AssembleRequest):
    """A request for a prompt as a provider's messages."""

    form: Literal["openai", "anthropic"] = Field(
        default="openai",
        description="Whose messages: those of OpenAI and compatible servers (a string each), or of Anthropic (parts).",
    )


class WhatIfRequest(AssembleRequest):
    """A request for a prompt, and another budget for it."""

    other_budget: Whole = Field(ge=1, description="Tokens: the same candidates under another budget.")


class DiffRequest(AssembleRequest):
    """A request for a prompt, and the fields that differ in the second request."""

    other: dict[str, Any] = Field(description="The fields that differ, by their names on the wire.")


class ListProjects(Params):
    """Which projects of many."""

    limit: StrictInt = Field(default=100, ge=1, description="At most so many.")
    after: str = Field(default="", description="Only those with a later id.")


class WriteFiles(Params):
    """Files to write and delete in one transaction."""

    files: dict[str, str] = Field(default={}, description="Path to text.")
    remove: tuple[str, ...] = Field(default=(), description="Paths to forget.")
    expect: StrictInt | None = Field(default=None, description="On a server: the version that these were made from.")


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
    """A rule and the fields to change."""

    text: str | None = None
    source: Literal["user", "kg"] | None = None
    priority: Count | None = None


class NewMemory(Params):
    """A memory to store."""

    text: str = Field(description="One statement, as it is to be read later.")
    kind: MemoryKind = "semantic"
    confidence: Confidence = 1.0
    id: str = ""


class ChangedMemory(ById):
    """A memory and the fields to change."""

    text: str | None = None
    kind: MemoryKind | None = None
    confidence: Confidence | None = None


class Target(Params):
    """The id, name, path or tag to pin or mute, always or only while a document is open."""

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
    """An entity to add; fields left out stay empty.

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
    """An entity, by id, name or alias, and the fields to change; `unset` lists fields to remove.

    A new name or alias that another entity has is refused.
    """

    id: str
    name: str | None = None  # type: ignore[assignment]
    unset: tuple[Literal["type", "aliases", "description", "attributes", "level", "facts"], ...] = ()
    expect: str = Field(default="", description="The `digest` of a preview: refused if the page has changed since.")


class DeletedEntity(ById):
    """Names an entity, by id, name or alias; with its relations if they are to go too.

    One that relations need is refused else, and one that relations of `codex.json` need in any case.
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
    """The entity whose card is returned."""

    id: NameIn
    as_of: AsOfIn = None


class RelationsOf(Params):
    """The entity whose relations are returned, by id, name or alias; "" returns those of all entities."""

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
    lines: LinesIn = None
    position_encoding: EncodingIn = "code-point"


class NewKind(Params):
    """What files are, as a line of `[documents]` in armarius.toml says it."""

    pattern: str = Field(description="A path, or a pattern such as `notes/**`.", min_length=1)
    kind: Kind


class ModelReply(Params):
    """What a language model replied to the text of `project:understand:request`."""

    reply: Text = Field(description="The reply as it came.", min_length=1)
    model: Text = Field(default="", description="Name of the model, written beside what is applied.")
    hash: Text = Field(default="", description="Of the question; refused when files have changed since.")


class AppliedReply(ModelReply):
    """A reply to apply, except the proposals named in `without`."""

    without: tuple[Text, ...] = Field(default=(), description="Names of proposals that are left out, and stay out.")
    declared: Flag = Field(default=False, description="A person has said yes: they weigh as lines of the user's own.")


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


class Finding(_Bounded):
    """Words in any order, or a question; words in quotation marks as they are written."""

    cursor: Count = Field(
        default=0, alias="cursor", description="`nextCursor` of the page before; a page has at most 800 characters."
    )

    @classmethod
    def field_name(cls, name: str) -> str:
        """As of all requests; but this cursor is no place in a text."""
        return name if name == "cursor" else super().field_name(name)


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


class RenamedDocument(OfDocument):
    """Names a document, and its new path."""

    to: str = Field(min_length=1, description="Its path from now on.")


class NewSummary(OfDocument):
    """A document's summary, as it is now."""

    text: str
    passages: tuple[PassageSummary, ...] = Field(
        default=(), description="What paragraphs of it say, each from one to another, numbered from 0."
    )


class SummariesDue(Params):
    """How many chapters are to be summed up."""

    limit: StrictInt | None = Field(default=None, ge=0, description="At most so many chapters; all when not given.")


class SummariesReply(Params):
    """What a language model replied to one item of `summaries:requests`."""

    documents: tuple[str, ...] = Field(description="The `documents` of the item, in its order.")
    reply: Text = Field(description="The reply as it came.", min_length=1)


class Around(Params):
    """A symbol, how far around it, and along which edges."""

    symbol: str = Field(description="Name or qualified name of a function, method or class.", min_length=1)
    depth: Count | None = Field(default=None, description="Edges from the symbol, at most.")
    direction: Direction = "both"
    kinds: tuple[EdgeKind, ...] = EDGE_KINDS
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
    """An entry and the fields to change."""

    name: str | None = None
    text: str | None = None
    level: ContextLevel | None = None
    keys: tuple[KeyIn, ...] | None = None
    folder: str | None = None
    type: str | None = None


class ChangedBook(ById):
    """A book, by id or name, and the fields to change; the imported file is not written."""

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
