"""Keywords of the engine that adapters pass on."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from armarius.arguments import Chapters, Kind
from armarius.headings import Language


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
    """Keywords of `engine.assemble` that are another with each request, described in `AssembleRequest`."""

    cursor: int | None
    text: str | None
    selection: tuple[int, int] | None
    include: Sequence[str]
    exclude: Sequence[str]
    include_messages: int
    task: str | None


class AssembleOptions(RequestOptions, total=False):
    """With those that stay the same for an agent."""

    skill: str
    model: str | None
    budget: int | None
    reserve_output: int
    language: Language | None
    timeout_s: float | None
