"""`Verb`, a row of the table; the shapes of answers, of which `docs/schemas/` is made.

The models are of answers that are no dataclass of the engine; tests compare every answer with them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, get_type_hints

from pydantic import Field, create_model

from armarius.arguments import Kind, ProfileName
from armarius.codex.model import ContextLevel, Entity, PassageSummary
from armarius.codex.proposals import ProposedName
from armarius.documents import project_map
from armarius.engine import replies
from armarius.index.freshness import IndexStatus
from armarius.io.files import answer_without_paths
from armarius.requests import Flag, Share, Text, Whole, Wire
from armarius.search.hits import Outcome
from armarius.types import Evidence, LayerName, Omission
from armarius.verbs import params as p
from armarius.verbs.params import KeyIn

if TYPE_CHECKING:
    from armarius.engine import ContextEngine as Engine

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Verb:
    """A row of the table.

    Attributes:
        name: Of the method of the channel: `room:thing:verb`, or `things:verb`.
        about: What it does, in one line.
        params: Checks what is sent; its fields are those of every surface.
        result: The shape of the answer: a type, or field to type.
        answer: From the engine and the checked params to plain JSON.
        python: The same in Python: an attribute of the engine, with dots.
        command: The command over it.
    """

    name: str
    about: str
    params: type[Wire]
    result: Any
    answer: "Callable[[Engine, Any], Any]"
    python: str
    command: str = ""

    def over(self, engine: "Engine") -> Callable[[Mapping[str, Any]], Any]:
        """The verb over one engine, from what is sent to what is answered; may be called from any thread."""

        def call(sent: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
            request = self.params.sent({name: value for name, value in sent.items() if value is not None})
            if isinstance(request, p.Params):
                engine.check_project(request.project_id)
            return answer_without_paths(self.answer(engine, request), engine.root)

        return call


def _with_fields_of(source: type, *without: str) -> Callable[[type[Wire]], type[Wire]]:
    """The model with the fields of a record of the engine before its own; an answer has them all."""
    hints = get_type_hints(source, include_extras=True)
    rows: dict[str, Any] = {name: (hint, ...) for name, hint in hints.items() if name not in without}

    def decorate(model: type[Wire]) -> type[Wire]:
        own: dict[str, Any] = {name: (field.annotation, field) for name, field in model.model_fields.items()}
        return create_model(model.__name__, __base__=Wire, __doc__=model.__doc__, **rows, **own)

    return decorate


class ListedProject(Wire):
    """A project of many; in folders whether it is open, on a server its state."""

    id: str
    hot: bool | None = None
    tenant: str | None = None
    version: int | None = None
    characters: int | None = None
    bytes: int | None = None
    touched: str | None = None


class MessagesResult(Wire):
    """A prompt as messages, its cache marker right after the stable prefix; `system` beside them is Anthropic's."""

    system: list[dict[str, Any]] | None = None
    messages: list[dict[str, Any]]
    token_count: Whole
    stable_prefix_hash: Text
    stable_prefix_unchanged: Flag
    warnings: list[Text]
    capacity_percent: Share


class AccountRow(Wire):
    """Something that is in a prompt, or, without a span, is not.

    Attributes:
        id: Of the thing, wherever it comes from; `include`, `exclude` and `thing` take it.
        title: Its name, and `reason` why it is in or out, both in the language of the prompt.
        code: The reason for programs: of what is out one of a closed list, such as `budget`.
        tokens: What it costs, or would have cost; 0 where that is not known.
        form: `full`, `short` or `truncated`.
        span: In the prompt, in units of the request's `position_encoding`, half-open.
        path: The file to open, and `paragraph` which one of it.
    """

    id: Text
    layer: LayerName
    source: Text
    title: Text
    code: Text
    reason: Text
    tokens: Whole
    form: Text | None = None
    span: tuple[Whole, Whole] | None = None
    path: Text | None = None
    paragraph: Whole | None = None


class LayerTokens(Wire):
    """What a layer takes of the prompt, and what it was granted."""

    token_count: Whole
    granted: Whole


class Account(Wire):
    """What is in a prompt and what is not, without the prompt.

    Attributes:
        budget: Of the request, the reserve included.
        counter: Name of the counter behind every number, and whether it is the model's own.
        confidence: How likely the answer to the query is in what was found, 0 to 1; absent without a query that looks
            for an answer.
        layers: By name.
        items: In prompt order.
        omitted: What nobody mentioned stands last.
    """

    token_count: Whole
    budget: Whole
    counter: Text
    counter_exact: Flag
    capacity_percent: Share
    confidence: Share | None = None
    stable_prefix_hash: Text
    layers: dict[LayerName, LayerTokens]
    warnings: tuple[Text, ...]
    items: tuple[AccountRow, ...]
    omitted: tuple[AccountRow, ...]


class Why(Wire):
    """Why something is in a prompt or is not; `text` says all of it, `change` what would change it."""

    id: Text
    title: Text
    included: Flag
    reason: Text
    change: Text
    text: Text
    items: tuple[AccountRow, ...]
    omitted: tuple[AccountRow, ...]


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
    """A paragraph that holds the words: `start` and `end` in its document, `highlights` in its text.

    Of `documents:find` some sentences of it, and the line that they begin in.
    """

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
    line: int | None = None


class SummaryQuestion(Wire):
    """What to send to a language model, as one text or as messages, and the chapters that it is about."""

    documents: list[str]
    text: str
    messages: list[dict[str, str]]
    tokens: int


class ParsedSummary(Wire):
    """As `summaries:set` takes it."""

    document: str
    text: str
    passages: list[PassageSummary]


class FoundSentences(Wire):
    """A page of `documents:find`: without `nextCursor` it is the last; `missing` are words that stand nowhere."""

    items: list[FoundPassage]
    missing: list[str]
    confidence: float
    warnings: list[str]
    next_cursor: int | None = None


class DocumentSummary(Wire):
    """A document without its text; `contentHash` changes with its file."""

    path: str
    kind: Kind
    title: str
    chapter: int | None
    paragraphs: int
    encoding: str
    content_hash: str


@_with_fields_of(project_map.MappedFile, "chapters")
class MappedFile(Wire):
    """What a file is taken for; `order` is its place in the story of its edition, from 0."""

    hidden: bool


@_with_fields_of(project_map.Doubt)
class Doubt(Wire):
    """Files whose kind is doubtful, and the line of `[documents]` in armarius.toml that settles it."""

    line: str


class ProjectMap(Wire):
    """What every file is taken for; doubts, most doubtful first; what is not read, by folder or ending."""

    files: list[MappedFile]
    doubts: list[Doubt]
    unread: dict[str, int]


class Understanding(Wire):
    """One question to a language model, for any client: `text` or `messages`; `hash` stays while a reply does."""

    text: str
    messages: list[dict[str, str]]
    tokens: int
    hash: str


@_with_fields_of(replies.Proposal, "lines")
class Proposal(Wire):
    """What a model proposes, and what enters and leaves the prompts of tasks with it."""


class Proposals(Wire):
    """What a reply proposes; `refused` is what of it could not be used, `cut` that it ends in the middle."""

    items: list[Proposal]
    refused: list[str]
    unsure: list[str]
    cut: bool


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


@_with_fields_of(Entity)
class ListedEntity(Wire):
    """An entity, with its number of mentions in all documents."""

    mentions: int


class Mentioned(Wire):
    """One mention of an entity in a text."""

    entity_id: str
    term: str
    span: tuple[int, int]


@_with_fields_of(ProposedName)
class Proposed(Wire):
    """A name that the chapters use and no profile describes."""


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


@_with_fields_of(IndexStatus, "path", "warnings")
class Status(Wire):
    """What the index is doing and what it holds."""

    warnings: list[str]


class Waited(Wire):
    """Whether the build has ended."""

    done: bool
