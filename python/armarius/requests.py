"""The wire contract: request, result and inspection as pydantic models.

Python names are snake_case, the wire form is camelCase, but for the names of `WIRE_NAMES`; `from_wire` and `to_wire`
convert and lose nothing. The fields of a request are also the keywords of `engine.assemble`. What breaks the
contract raises `ContractError` with the field named as the sender wrote it; nothing is filled in silently. An optional
field that is null is one that is absent.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from operator import is_
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)
from typing_extensions import TypedDict

from armarius.arguments import (
    KINDS,
    LONGEST,
    MOST,
    MOST_TARGETS,
    OPEN,
    Bounds,
    Chapters,
    Kind,
    Turn,
    read_chapter,
    read_chapters,
    read_kinds,
    read_messages,
    read_targets,
    read_wordings,
)
from armarius.errors import ContractError
from armarius.headings import Language, camel_case
from armarius.types import LAYERS, LayerName
from armarius.validation import (
    LONGEST_NAME,
    LONGEST_QUESTION,
    LONGEST_TEXT,
    near,
    read_selection,
    read_text,
    shown,
    suggestion,
)
from armarius.validation import PositionEncoding as PositionEncoding
from armarius.validation import code_points as code_points

# Nothing is converted, as everywhere else (`armarius.validation`): "5", 1.0, True and b"5" are no numbers.
Whole = Annotated[int, Strict()]
Text = Annotated[str, Strict()]
Count = Annotated[Whole, Field(ge=0)]


def _limit_length(most: int) -> AfterValidator:
    """A length that is looked at last: pydantic's own reads a text again, and refuses lone surrogates."""

    def check(text: str) -> str:
        if len(text) > most:
            raise ValueError(f"has {len(text):,} characters, at most {most:,} are read")
        return text

    return AfterValidator(check)


def _check_not_empty(text: str) -> str:
    """An empty text is no name; what is not said is None, and null on the wire."""
    if not text.strip():
        raise ValueError("is empty; leave it out for the default")
    return text


Name = Annotated[str, Strict(), _limit_length(LONGEST_NAME)]
Chosen = Annotated[Name, AfterValidator(_check_not_empty)]
Question = Annotated[str, Strict(), _limit_length(LONGEST_QUESTION)]
Flag = Annotated[bool, Strict()]
Share = Annotated[float, Strict(), Field(ge=0, allow_inf_nan=False)]

WIRE_NAMES = {"document": "documentId", "cursor": "cursorPosition", "skill": "skillId", "task": "taskId"}
"""Python name to wire name, where that is not the same in camelCase: the wire's are fixed by specification."""

_NUMBER: dict[str, Any] = {"type": ["integer", "null"], "minimum": 0}
_PAIR: dict[str, Any] = {"type": "array", "prefixItems": [_NUMBER, _NUMBER], "minItems": 2, "maxItems": 2}
_KIND: dict[str, Any] = {"type": "string", "enum": list(KINDS)}
_TURN: dict[str, Any] = {"type": "object", "properties": {"role": {"type": "string"}, "content": {}}}
_TARGETS: dict[str, Any] = {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": MOST_TARGETS}
_WORDINGS: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": LONGEST},
    "maxItems": MOST,
}

# The fields that several verbs take: rule, schema and description once, for every surface.
ProjectIn = Annotated[
    Name, Field(description="Names the project; any other than the one that is open is refused, empty is that one.")
]
DocumentIn = Annotated[
    Name, Field(description="Path of the current document, relative to the project; empty for no document.")
]
QueryIn = Annotated[Question, Field(description="The user's words, in any language.")]
EncodingIn = Annotated[
    PositionEncoding,
    Field(description="Unit of every offset, given and answered: `code-point`, `utf-16` (JavaScript, LSP) or `utf-8`."),
]
ChapterIn = Annotated[int | None, BeforeValidator(read_chapter), WithJsonSchema(_NUMBER)]
AsOfIn = Annotated[
    ChapterIn,
    Field(
        description="Nothing of a later chapter than this: no paragraph, outline line, fact or relation, even "
        "if the query names it. Over the current chapter."
    ),
]
ChaptersIn = Annotated[
    Chapters,
    BeforeValidator(read_chapters),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, _PAIR]}),
    Field(
        description="Chapters to look into, first and last, inclusive, either open; one number is that chapter alone. "
        "With it, what is no chapter is not looked into."
    ),
]
KindsIn = Annotated[
    tuple[Kind, ...],
    BeforeValidator(read_kinds),
    WithJsonSchema({"anyOf": [_KIND, {"type": "array", "items": _KIND}]}),
    Field(
        description="Kinds of documents to look into, one or several; empty is all. Profiles of people and places are "
        "`setting`."
    ),
]
WordingsIn = Annotated[
    tuple[str, ...],
    BeforeValidator(read_wordings),
    WithJsonSchema(_WORDINGS),
    Field(
        description="The query in other words, as the book would put it, at most 8 of at most 400 characters: looked "
        "up with it, never shown."
    ),
]
MessagesIn = Annotated[
    tuple[Turn, ...],
    BeforeValidator(read_messages),
    WithJsonSchema({"type": "array", "items": _TURN}),
    Field(
        description="The conversation that the query stands in, oldest message first, the query itself last or not: "
        'messages of the form {"role", "content"}, at most 10,000. What the query leaves to it ("where does she '
        'live?") is looked up too. Without a query, the last message is it if a user says it.'
    ),
]
TextIn = Annotated[
    Text | None,
    BeforeValidator(read_text),
    Field(
        description="The current document as the editor holds it, saved or not; the index is not touched. With an "
        "unknown path it is a new document. As saved when not given."
    ),
]
TargetsIn = Annotated[tuple[str, ...], BeforeValidator(read_targets), WithJsonSchema(_TARGETS)]

_UNSAID = ((), OPEN)  # what an optional list says when it is not given


def wire_name(name: str) -> str:
    """The wire's word for a Python name: `reserve_output` is `reserveOutput`, `document` is `documentId`."""
    return WIRE_NAMES.get(name, camel_case(name))


def python_name(name: str) -> str:
    """The Python name of a wire name, in whichever case: `documentId` and `document_id` are `document`."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return next((ours for ours, theirs in WIRE_NAMES.items() if theirs == camel_case(snake)), snake)


class Wire(BaseModel):
    """Frozen, camelCase on the wire, unknown fields refused, every failure a `ContractError`."""

    called: ClassVar[str | None] = ""
    """What an error calls it: "" is the name of the class, None nothing at all."""
    required_on_wire: ClassVar[tuple[str, ...]] = ()
    """Fields that have a default in Python and must be sent all the same."""

    model_config = ConfigDict(
        alias_generator=wire_name, populate_by_name=True, frozen=True, extra="forbid", str_strip_whitespace=False,
        defer_build=True,  # of a hundred models a process uses a few
    )  # fmt: skip

    def __init__(self, /, **values: Any) -> None:  # noqa: ANN401 - any JSON value may arrive
        kind = type(self)
        fields = values
        if any(map(is_, values.values(), repeat(None))):
            fields = values.copy()
            for name, value in values.items():
                if value is None and _omits_null(kind, name):
                    del fields[name]
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise _contract_error(type(self), error, values.keys()) from None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any] | str | bytes) -> Self:
        """Read the camelCase form.

        Args:
            wire: A mapping, or JSON as str or UTF-8 bytes.

        Raises:
            ContractError: Not JSON, not an object, a field missing, unknown or of the wrong type.
        """
        if isinstance(wire, str | bytes):
            if len(wire) > 4 * LONGEST_TEXT:
                raise ContractError(f"{cls.__name__}: JSON of {len(wire):,}, at most {4 * LONGEST_TEXT:,} is read")
            try:
                wire = json.loads(wire)
            except (ValueError, RecursionError) as error:
                raise ContractError(f"{cls._label()}: not valid JSON: {error}") from None
        if not isinstance(wire, Mapping):
            raise ContractError(f"{cls._label()}: expected a JSON object, got {type(wire).__name__}")
        if missing := [field for field in cls.required_on_wire if field not in wire]:
            raise ContractError("; ".join(f"{cls._label()}.{field} is missing" for field in missing))
        return cls.sent(wire)

    @classmethod
    def sent(cls, wire: Mapping[str, Any]) -> Self:
        """From fields by their names on the wire.

        Raises:
            ContractError: A field is missing, unknown or of the wrong type; the name that it has in Python is unknown.
        """
        named = {name: cls.field_name(name) for name in cls.model_fields if name in wire}
        if other := [f"{cls._label()}.{ours} is unknown; near it: {its}" for ours, its in named.items() if ours != its]:
            raise ContractError("; ".join(other))
        return cls(**wire)

    @classmethod
    def _label(cls) -> str:
        return cls.__name__ if cls.called == "" else cls.called or "arguments"

    @classmethod
    def field_name(cls, name: str) -> str:
        """What senders call the field `name`."""
        return wire_name(name)

    def to_wire(self) -> dict[str, Any]:
        """The camelCase form as plain JSON types; optional fields that are unset are left out."""
        unset = {name for name, field in type(self).model_fields.items() if field.default in _UNSAID}
        unset = {name for name in unset if getattr(self, name) in _UNSAID}
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=unset)


@lru_cache(maxsize=1024)
def _omits_null(kind: type[Wire], name: str) -> bool:
    """Whether null is the same as absent: not for what must be there, nor for a name that nobody knows."""
    field = kind.model_fields.get(name) or kind.model_fields.get(python_name(name))
    return field is not None and not field.is_required() and name not in kind.required_on_wire


_FAULTS = {
    "missing": "is missing",
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a number, and finite",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "greater_than_equal": "must be >= {ge}",
    "less_than_equal": "must be <= {le}",
    "literal_error": "must be {expected}",
    "string_too_short": "must have at least {min_length} character",
    "string_too_long": "must have at most {max_length} characters",
}
"""Type of a fault that pydantic finds to what we say of it."""


def _contract_error(kind: type[Wire], error: ValidationError, names: Collection[str]) -> ContractError:
    """The failure as the sender would say it: fields by the names they were given under."""
    prefix = f"{kind.called or kind.__name__}." if kind.called is not None else ""
    lines = []
    for item in error.errors():
        if not item["loc"]:  # a name that is no text: pydantic does not say where
            lines.append(f"{prefix.rstrip('.')}: {item['msg']}, got {shown(item['input'])}")
            continue
        first, *rest = item["loc"]
        ours = python_name(str(first))
        where = ".".join(map(str, (ours if ours in names else first, *rest)))
        context = item.get("ctx", {})
        nested = context.get("error")
        if isinstance(nested, ContractError):
            inside = f"{str(nested).partition('.')[0]}."
            lines += [f"{prefix}{where}.{line}" for line in str(nested).removeprefix(inside).split(f"; {inside}")]
            continue
        if item["type"] == "extra_forbidden":
            names_of = [kind.field_name(name) for name in kind.model_fields]
            hint = suggestion(near(str(first), names_of)) or f"; there are {', '.join(names_of)}"
            lines.append(f"{prefix}{where} is unknown{hint}")
            continue
        fault = _FAULTS.get(item["type"])
        what = f": {item['msg'].removeprefix('Value error, ')}" if fault is None else f" {fault.format(**context)}"
        says_it = item["type"] == "missing" or (fault is None and ", got " in what)
        got = "" if says_it else f", got {shown(item['input'])}"
        lines.append(f"{prefix}{where}{what}{got}")
    return ContractError("; ".join(lines))


class AssembleRequest(Wire):
    """One request for a prompt; its fields are the keywords of `engine.assemble`.

    `from_wire` requires `projectId documentId cursorPosition skillId`, as specified; in Python and over the channel all
    have defaults, and None is the default of each.
    """

    required_on_wire = ("projectId", "documentId", "cursorPosition", "skillId")

    project_id: ProjectIn = ""
    document: DocumentIn = ""
    cursor: Whole | None = Field(
        default=None,
        description="Offset into the current document, in units of `position_encoding`; its end when not given, of a "
        "chapter behind its last prose. Past the end of what is saved it is the end, with CONTEXT_CURSOR_CLAMPED.",
    )
    skill: Name = Field(
        default="",
        description="The host's name for the task: what it says (write, continue, rewrite, polish, check, summarise, "
        "translate, brainstorm, rename, state, present, ask; also 续写, 改写 …, or a name under `[skills]`) is done, "
        "whatever the words are; another name says nothing. Part of the identity of the stable prefix.",
    )
    additional_input: Question = Field(default="", description="The text around the cursor, or the selection.")
    query: QueryIn = ""
    model: Chosen | None = Field(
        default=None,
        description="Decides the tokenizer and the provider's cache rules, such as deepseek-chat; the configured one "
        "when not given.",
    )
    provider: Chosen | None = Field(
        default=None, description="Decides the rules of the prompt cache; part of the identity of the stable prefix."
    )
    tokenizer_version: Chosen | None = Field(default=None, description="Part of the identity of the stable prefix.")
    budget: Whole | None = Field(
        default=None, description="Tokens for prompt and reserve together; the profile's when not given."
    )
    reserve_output: Whole = Field(default=0, description="Tokens of `budget` kept free for the model's answer.")
    position_encoding: EncodingIn = "code-point"
    chapters: ChaptersIn = OPEN
    kinds: KindsIn = ()
    as_of: AsOfIn = None
    also: WordingsIn = ()
    text: TextIn = None
    selection: Annotated[
        tuple[int, int] | None,
        BeforeValidator(read_selection),
        Field(
            description="What is selected in the current document, first and last offset in either order, in units of "
            "`position_encoding`: in the prompt whole. Without a cursor, that is its end."
        ),
    ] = None
    marks: Flag = Field(
        default=True,
        description="Whether the window shows the stated cursor as `<cursor/>`, what is selected in "
        "`<selection>…</selection>`.",
    )
    story: Flag = Field(
        default=False,
        description="Whether the story goes on, as after 续写, where the query does not say what it wants.",
    )
    include: TargetsIn = Field(
        default=(),
        description="Pinned: ids, names, paths (`chapters/ch003.md`, `chapters/ch003.md#12`) or tags, before anything "
        "else of the retrieved layer, also what is muted for good (`engine.pins`).",
    )
    exclude: TargetsIn = Field(
        default=(), description="Muted: ids, names, paths or tags, also what is pinned for good."
    )
    language: Language | None = Field(
        default=None,
        description="Of headings and labels; what `assembly.language` says when not given, else that of the texts.",
    )
    messages: MessagesIn = ()
    include_messages: Count = Field(
        default=0,
        description="So many of the newest messages stand in the prompt before the query, whole, as far as a fifth of "
        "it holds them; 0 for a host that sends the conversation itself.",
    )
    include_content: Flag = Field(
        default=False, description="Whether each layer of the result has its `content`, as in the prompt."
    )
    task: Name | None = Field(
        default=None,
        description="A name of the host's for what is being done: a prompt continues the last one of its task. The 32 "
        "tasks that were at work last are remembered, while the engine is open.",
    )

    @property
    def bounds(self) -> Bounds:
        """What may be looked into."""
        return Bounds(self.chapters, self.kinds, self.as_of)


class _Bounds(TypedDict, total=False):
    document: str
    chapters: int | Chapters | None
    kinds: Kind | Sequence[Kind]
    as_of: int | None
    also: Sequence[str]


class RetrieveOptions(_Bounds, total=False):
    """Keywords of `engine.retrieve`, which describes them."""

    chapter: int | None
    timeout_s: float | None


class RequestOptions(_Bounds, total=False):
    """Keywords of `assemble` that are another with each request."""

    cursor: int | None
    text: str | None
    selection: tuple[int, int] | None
    include: Sequence[str]
    exclude: Sequence[str]
    include_messages: int
    task: str | None


class _Steady(RequestOptions, total=False):
    skill: str
    model: str | None
    budget: int | None
    reserve_output: int
    language: Language | None


class AssembleOptions(_Steady, total=False):
    """With those that stay the same for an agent."""

    timeout_s: float | None


class RequestFields(_Steady, total=False):
    """The fields of an `AssembleRequest` but for the query, as keywords of `assemble` and `inspect` in Python."""

    additional_input: str
    project_id: str
    provider: str | None
    tokenizer_version: str | None
    position_encoding: PositionEncoding
    marks: bool
    story: bool
    messages: Sequence[object]
    include_content: bool


class InspectRequest(AssembleRequest):
    """A request to see what `assemble` would send, and who asks."""

    debug_mode: Flag = Field(default=False, description="Echoed in `inspect_meta`.")
    requested_by: Text = Field(default="", description="Likewise: who asks.")

    def assembly(self) -> AssembleRequest:
        """The request without who asks."""
        return AssembleRequest(**self.model_dump(include=set(AssembleRequest.model_fields)))


class LayerResult(Wire):
    """One layer of a result: where its content comes from and what it costs. Both are mandatory.

    Attributes:
        layer: Its name, which is also the key that it stands under.
        source: Of every item, in prompt order.
        token_count: Of the layer as rendered.
        truncated: Something of it was shortened or left out by the budget.
        warnings: Of this layer.
        content: As rendered, when the request says `include_content`.
    """

    layer: LayerName
    source: tuple[Text, ...]
    token_count: Whole = Field(ge=0)
    truncated: Flag
    warnings: tuple[Text, ...] | None = None
    content: Text | None = None


class LayerDetail(LayerResult):
    """One layer of an inspection: the same with its content as rendered."""

    content: Text


class LayerResults(Wire):
    """The four layers of a result, in prompt order."""

    rules: LayerResult
    settings: LayerResult
    retrieved: LayerResult
    immediate: LayerResult

    @field_validator(*LAYERS)
    @classmethod
    def _check_layer(cls, layer: LayerResult, info: ValidationInfo) -> LayerResult:
        if layer.layer != info.field_name:
            raise ValueError(f"the layer says that it is {layer.layer!r}")
        return layer

    def __getitem__(self, layer: LayerName) -> LayerResult:
        return getattr(self, layer)  # type: ignore[no-any-return]


class LayerDetails(LayerResults):
    """The four layers of an inspection, in prompt order."""

    rules: LayerDetail
    settings: LayerDetail
    retrieved: LayerDetail
    immediate: LayerDetail


class ShownPlace(Wire):
    """Where something that the prompt shows word for word stands.

    Attributes:
        source: Of the item, as in its layer.
        document: Its path; that of the request where the buffer is meant.
        span: In units of the request's `position_encoding`, half-open.
    """

    source: Text
    document: Text
    span: tuple[Whole, Whole]


class AssembleResult(Wire):
    """The answer to a request, exactly as it travels.

    Attributes:
        prompt: The four layers, concatenated.
        token_count: Of `prompt` as sent, by the counter of the request's model.
        stable_prefix_hash: SHA-256 (hex) over the rules and settings layers as rendered.
        stable_prefix_unchanged: Against the previous request of the same project, skill, provider,
            model and tokenizer; False when there was none.
        shown: Where what the prompt shows stands, in prompt order; of requests with `text` or a selection.
        capacity_percent: `token_count` as a share of the budget less the reserve, one decimal.
        confidence: How likely the answer to the query is in what was found, 0 to 1; absent without a query that looks
            for an answer.
    """

    prompt: Text
    token_count: Whole = Field(ge=0)
    stable_prefix_hash: Text
    stable_prefix_unchanged: Flag
    warnings: tuple[Text, ...]
    assembly_order: tuple[LayerName, ...] = LAYERS
    capacity_percent: Share
    layers: LayerResults
    confidence: Share | None = None
    shown: tuple[ShownPlace, ...] | None = None


class InspectTotals(Wire):
    """Sums over an inspection."""

    token_count: Whole = Field(ge=0)
    warnings_count: Whole = Field(ge=0)


class InspectMeta(Wire):
    """Who asked and when (ISO 8601, UTC)."""

    debug_mode: Flag
    requested_by: Text
    requested_at: Text


class InspectResult(Wire):
    """What `assemble` would send, layer by layer. Never contains the prompt."""

    layers_detail: LayerDetails
    totals: InspectTotals
    inspect_meta: InspectMeta
