"""Keys and names: the key of a project on every row; which names and paths are allowed."""

import hashlib
from collections.abc import Iterable
from uuid import UUID

from armarius.errors import ContractError
from armarius.validation import shown, text

__all__ = ["PIECE", "check_name", "check_path", "pieces_of", "project_key"]

PIECE = 256 * 1024
"""No value of a row is longer, in bytes."""

_PATH, _NAME = 1024, 512


def project_key(tenant: str, project_id: str) -> UUID:
    """BLAKE2b-128 of tenant, NUL and project id: no look-up, and the same on every server; the tenant "" is nobody.

    Raises:
        ContractError: Either cannot be a name.
    """
    check_name(project_id, "project id")
    if text("tenant", tenant):
        check_name(tenant, "tenant")
    return UUID(bytes=hashlib.blake2b(f"{tenant}\0{project_id}".encode(), digest_size=16).digest())


def check_name(name: str, what: str) -> str:
    """A name of at most 512 bytes of UTF-8, without NUL; `what` it is stands in the message.

    Raises:
        ContractError: It is none.
    """
    return _checked(name, what, _NAME)


def check_path(path: str) -> str:
    """A relative posix path of at most 1,024 bytes without `.` and `..`, as a project may hold it.

    Raises:
        ContractError: It is none.
    """
    _checked(path, "path", _PATH)
    if path.startswith("/") or "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise ContractError(f"path: {path!r:.200} is no relative path with / between its parts")
    return path


def pieces_of(data: bytes) -> Iterable[tuple[int, bytes]]:
    """`data` in numbered pieces of at most 256 KiB; one empty piece of nothing."""
    return ((at // PIECE, data[at : at + PIECE]) for at in range(0, max(1, len(data)), PIECE))


def _checked(name: object, what: str, limit: int) -> str:
    if not isinstance(name, str) or not name:
        raise ContractError(f"{what}: expected a non-empty string, got {shown(name)}")
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        raise ContractError(f"{what}: {name!r:.200} holds half a character (a lone surrogate)") from None
    if "\0" in name:
        raise ContractError(f"{what}: {name!r:.200} holds a NUL")
    if size > limit:
        raise ContractError(f"{what}: {size:,} bytes of UTF-8, at most {limit:,}: {name:.40}…")
    return name
