"""The wire contract: request, result and inspection as pydantic models.

Python names are snake_case, the wire form is camelCase; `from_wire` and `to_wire` convert and lose
nothing. Whatever breaks the contract raises `ContractError` with the field named as the sender
wrote it; nothing is filled in silently.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from armarius.errors import ContractError, CursorOutOfRange
from armarius.records import LAYERS, LayerName

__all__ = [
    "AssembleRequest",
    "AssembleResult",
    "InspectMeta",
    "InspectRequest",
    "InspectResult",
    "InspectTotals",
    "LayerDetail",
    "LayerDetails",
    "LayerResult",
    "LayerResults",
    "PositionEncoding",
    "code_points",
]

PositionEncoding = Literal["code-point", "utf-16", "utf-8"]


class _Wire(BaseModel):
    """Frozen, camelCase on the wire, unknown fields refused, every failure a `ContractError`."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid", str_strip_whitespace=False
    )

    def __init__(self, **values: Any) -> None:  # noqa: ANN401 - any JSON value may arrive
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _contract_error(type(self).__name__, error) from None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any] | str | bytes) -> Self:
        """Read the camelCase form.

        Args:
            wire: A mapping, or JSON as str or UTF-8 bytes.

        Raises:
            ContractError: Not JSON, not an object, a field missing, unknown or of the wrong type.
        """
        if isinstance(wire, str | bytes):
            try:
                wire = json.loads(wire)
            except ValueError as error:
                raise ContractError(f"{cls.__name__}: not valid JSON: {error}") from None
        if not isinstance(wire, Mapping):
            raise ContractError(f"{cls.__name__}: expected a JSON object, got {type(wire).__name__}")
        for field in cls._required_on_wire():
            if field not in wire:
                raise ContractError(f"{cls.__name__}.{field}: field required")
        return cls(**wire)

    @classmethod
    def _required_on_wire(cls) -> tuple[str, ...]:
        return ()

    def to_wire(self) -> dict[str, Any]:
        """The camelCase form as plain JSON types; optional fields that are unset are left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def _contract_error(name: str, error: ValidationError) -> ContractError:
    lines = []
    for item in error.errors():
        where = ".".join(str(part) for part in item["loc"])
        nested = item.get("ctx", {}).get("error")
        if isinstance(nested, ContractError):
            lines += [f"{name}.{where}.{line.partition('.')[2]}" for line in str(nested).split("; ")]
            continue
        what = item["msg"].removeprefix("Value error, ")
        got = "" if item["type"] == "missing" else f", got {_short(item['input'])}"
        lines.append(f"{name}.{where}: {what}{got}")
    return ContractError("; ".join(lines))


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


class AssembleRequest(_Wire):
    """One request for a prompt.

    The four first fields are required on the wire; in Python all have defaults.

    Attributes:
        project_id: Names the project; another project's id than the engine's is refused.
        document_id: Project-relative path of the current document, "" for none.
        cursor_position: Offset into that document, in units of `position_encoding`; None is its end.
        skill_id: The host's name for the task; part of the identity of the stable prefix.
        additional_input: Text around the cursor, or the selection.
        query: The user's words.
        budget: Tokens for the prompt and the reserve together; None means the configured default.
        reserve_output: Tokens of `budget` kept free for the model's answer.
        position_encoding: Unit of `cursor_position`.
    """

    project_id: str = ""
    document_id: str = ""
    cursor_position: int | None = None
    skill_id: str = ""
    additional_input: str = ""
    query: str = ""
    model: str | None = None
    provider: str | None = None
    tokenizer_version: str | None = None
    budget: int | None = None
    reserve_output: int = 0
    position_encoding: PositionEncoding = "code-point"

    @classmethod
    def _required_on_wire(cls) -> tuple[str, ...]:
        return ("projectId", "documentId", "cursorPosition", "skillId")


class InspectRequest(AssembleRequest):
    """A request to see what `assemble` would send, and who asks."""

    debug_mode: bool = False
    requested_by: str = ""

    def assembly(self) -> AssembleRequest:
        """The request without who asks."""
        return AssembleRequest(**self.model_dump(include=set(AssembleRequest.model_fields)))


class LayerResult(_Wire):
    """One layer of a result: where its content comes from and what it costs. Both are mandatory."""

    source: tuple[str, ...]
    token_count: int = Field(ge=0)
    truncated: bool
    warnings: tuple[str, ...] | None = None


class LayerDetail(LayerResult):
    """One layer of an inspection: the same with its content as rendered."""

    content: str


class LayerResults(_Wire):
    """The four layers of a result, in prompt order."""

    rules: LayerResult
    settings: LayerResult
    retrieved: LayerResult
    immediate: LayerResult

    def __getitem__(self, layer: LayerName) -> LayerResult:
        return getattr(self, layer)  # type: ignore[no-any-return]


class LayerDetails(_Wire):
    """The four layers of an inspection, in prompt order."""

    rules: LayerDetail
    settings: LayerDetail
    retrieved: LayerDetail
    immediate: LayerDetail

    def __getitem__(self, layer: LayerName) -> LayerDetail:
        return getattr(self, layer)  # type: ignore[no-any-return]


class AssembleResult(_Wire):
    """The answer to a request, exactly as it travels.

    Attributes:
        prompt: The four layers, concatenated.
        token_count: Of `prompt` as sent, by the counter of the request's model.
        stable_prefix_hash: SHA-256 (hex) over the rules and settings layers as rendered.
        stable_prefix_unchanged: Against the previous request of the same project, skill, provider,
            model and tokenizer; False when there was none.
        capacity_percent: `token_count` as a share of the budget less the reserve, one decimal.
    """

    prompt: str
    token_count: int = Field(ge=0)
    stable_prefix_hash: str
    stable_prefix_unchanged: bool
    warnings: tuple[str, ...]
    assembly_order: tuple[LayerName, ...] = LAYERS
    capacity_percent: float = Field(ge=0)
    layers: LayerResults


class InspectTotals(_Wire):
    """Sums over an inspection."""

    token_count: int = Field(ge=0)
    warnings_count: int = Field(ge=0)


class InspectMeta(_Wire):
    """Who asked and when (ISO 8601, UTC)."""

    debug_mode: bool
    requested_by: str
    requested_at: str


class InspectResult(_Wire):
    """What `assemble` would send, layer by layer. Never contains the prompt."""

    layers_detail: LayerDetails
    totals: InspectTotals
    inspect_meta: InspectMeta


def code_points(text: str, position: int, encoding: PositionEncoding = "code-point") -> int:
    """Convert an offset into `text` to code points.

    Args:
        text: The whole document.
        position: Offset in units of `encoding`; 0 to the text's length in that unit, inclusive.
        encoding: `code-point`, `utf-16` (JavaScript, LSP) or `utf-8`.

    Returns:
        The offset in code points.

    Raises:
        CursorOutOfRange: Negative, past the end, or inside a character.
        ContractError: An unknown encoding.

    Cost: one encode of the text up to the offset.
    """
    if encoding not in ("code-point", "utf-16", "utf-8"):
        raise ContractError(f"positionEncoding must be code-point, utf-16 or utf-8, got {encoding!r}")
    if position < 0:
        raise CursorOutOfRange(f"cursor {position} is negative")
    if encoding == "code-point":
        if position > len(text):
            raise CursorOutOfRange(f"cursor {position} is past the end: the document has {len(text)} code points")
        return position
    codec, unit = ("utf-16-le", 2) if encoding == "utf-16" else ("utf-8", 1)
    # No character is shorter than one unit, so the first `position` characters are enough.
    encoded = text[:position].encode(codec, "surrogatepass")
    if len(encoded) < position * unit:
        length = len(text.encode(codec, "surrogatepass")) // unit
        raise CursorOutOfRange(f"cursor {position} is past the end: the document has {length} {encoding} units")
    try:
        return len(encoded[: position * unit].decode(codec, "strict"))
    except UnicodeDecodeError:
        raise CursorOutOfRange(f"cursor {position} ({encoding}) lies inside a character") from None
