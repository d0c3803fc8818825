"""What a host allows: how much a project may hold, how much memory a shelf may take."""

import re
from dataclasses import dataclass

from armarius.errors import ContractError
from armarius.strict import shown

__all__ = ["Quota", "bytes_in"]

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(B|KB|KiB|MB|MiB|GB|GiB)\s*", re.IGNORECASE)
_UNITS = {"b": 1, "kb": 10**3, "kib": 2**10, "mb": 10**6, "mib": 2**20, "gb": 10**9, "gib": 2**30}
_LEAST = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Quota:
    """What a project may hold; None is any number.

    Attributes:
        files: Of one project.
        bytes: Of all files of one project.
    """

    files: int | None = None
    bytes: int | None = None


def bytes_in(memory: str | int) -> int:
    """A size such as "2 GiB" or a number of bytes.

    Raises:
        ContractError: It is none, or below 16 MiB.
    """
    if isinstance(memory, str):
        match = _SIZE.fullmatch(memory)
        if match is None:
            raise ContractError(f'memory: expected a size such as "2 GiB" or a number of bytes, got {shown(memory)}')
        memory = int(float(match[1]) * _UNITS[match[2].lower()])
    if type(memory) is not int or memory < _LEAST:
        raise ContractError(f"memory: at least 16 MiB, got {shown(memory)}")
    return memory
