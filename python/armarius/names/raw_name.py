"""A name as it was found, before its forms are put together."""

from dataclasses import dataclass

__all__ = ["RawName"]


@dataclass(frozen=True, slots=True)
class RawName:
    """One form.

    Attributes:
        name: As written.
        count: How often.
        kind: `person`, `place` or `thing`.
        reason: What speaks for it.
        aliases: Filled in when forms are put together.
    """

    name: str
    count: int
    kind: str
    reason: str
    aliases: tuple[str, ...] = ()
