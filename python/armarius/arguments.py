"""Arguments of the public verbs: what is no text and no number is refused by name, before anything is done with it."""

from operator import index
from typing import SupportsIndex

from armarius.errors import ContractError

__all__ = ["checked_count", "checked_text"]


def checked_text(name: str, value: object) -> str:
    """`value` as a text.

    Raises:
        ContractError: It is none, with the name of the argument.
    """
    if isinstance(value, str):
        return value
    raise ContractError(f"{name}: expected a text, {_kind(value)} is none")


def checked_count(name: str, value: object, least: int = 0) -> int:
    """`value` as a whole number of at least `least`; a float is none, nor is a truth value.

    Raises:
        ContractError: It is none, with the name of the argument.
    """
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise ContractError(f"{name}: expected a whole number, {_kind(value)} is none")
    count = index(value)
    if count < least:
        raise ContractError(f"{name} must be >= {least}, got {count}")
    return count


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
