"""What a display reads of a pack: the figures and rows, none of its verbs."""

from collections.abc import Mapping
from typing import Protocol

from armarius.assembly.report.items import PackItem, PackOmission
from armarius.contract import AssembleRequest, LayerResults
from armarius.records import LayerName

__all__ = ["Account"]


class Account(Protocol):
    """The part of `Pack` that terminal and page show; what each is, `Pack` says."""

    @property
    def request(self) -> AssembleRequest: ...  # noqa: D102
    @property
    def prompt(self) -> str: ...  # noqa: D102
    @property
    def token_count(self) -> int: ...  # noqa: D102
    @property
    def budget(self) -> int: ...  # noqa: D102
    @property
    def counter(self) -> str: ...  # noqa: D102
    @property
    def counter_exact(self) -> bool: ...  # noqa: D102
    @property
    def stable_prefix_hash(self) -> str: ...  # noqa: D102
    @property
    def layers(self) -> LayerResults: ...  # noqa: D102
    @property
    def granted(self) -> Mapping[LayerName, int]: ...  # noqa: D102
    @property
    def items(self) -> tuple[PackItem, ...]: ...  # noqa: D102
    @property
    def omitted(self) -> tuple[PackOmission, ...]: ...  # noqa: D102
    @property
    def warnings(self) -> tuple[str, ...]: ...  # noqa: D102
    def name_of(self, source: str, /) -> str: ...  # noqa: D102
