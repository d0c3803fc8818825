"""Derived rows: what was worked out from a document, kept in the store until what it rests on is something else."""

import struct
from collections.abc import Callable, Mapping
from typing import Final, Generic, TypeVar

from armarius.store.protocol import Store
from armarius.store.rows import DerivedRow

__all__ = ["DerivedCache", "join_pieces", "split_pieces"]

Value = TypeVar("Value")
Packed = TypeVar("Packed")

_FEW: Final = 32  # rows that are read by their paths, not all there are
_LENGTH: Final = struct.Struct("<I")


class DerivedCache(Generic[Packed, Value]):
    """One kind of derived row: how it is packed, and when it may still be believed.

    Args:
        kind: Of the rows; see `Store.learnt`.
        version: Raised when the same document gives another value, or is packed otherwise.
        pack: A value as bytes.
        unpack: What is read of them; raises ValueError for bytes of another shape.

    Attributes:
        kind: As given.
        version: As given.
    """

    def __init__(
        self, kind: str, version: str, pack: Callable[[Packed], bytes], unpack: Callable[[bytes], Value]
    ) -> None:
        self.kind = kind
        self.version = version
        self._pack = pack
        self._unpack = unpack

    def row(self, path: str, fingerprint: str, value: Packed) -> DerivedRow:
        """The row of a document; `fingerprint` names what else the value rests on, its content hash at the end."""
        return DerivedRow(path, self.kind, f"{self.version} {fingerprint}", self._pack(value))

    def value(self, row: DerivedRow | None, fingerprint: str, *, or_others: bool = False) -> Value | None:
        """The value of a row; None where there is no row, or it rests on something else, or is damaged.

        Args:
            row: Of one document.
            fingerprint: As for `row`.
            or_others: The end of the fingerprint is enough: of this content, whatever else it rests on.
        """
        if row is None or not row.about.startswith(f"{self.version} "):
            return None
        fits = row.about.endswith(f" {fingerprint}") if or_others else row.about == f"{self.version} {fingerprint}"
        if not fits:
            return None
        try:
            return self._unpack(row.data)
        except ValueError:
            return None

    def load(self, store: Store, fingerprints: Mapping[str, str], *, or_others: bool = False) -> dict[str, Value]:
        """The values of documents by path, in path order, given their fingerprints; those that have none are left out.

        Raises:
            StoreError: The store cannot be read.

        Cost: one row a document; all rows of the kind where more than 32 are asked for.
        """
        if not fingerprints:
            return {}
        rows = store.learnt(self.kind, None if len(fingerprints) > _FEW else [*fingerprints])
        found = {
            path: self.value(row, fingerprints[path], or_others=or_others)
            for path, row in rows.items()
            if path in fingerprints
        }
        return {path: value for path, value in found.items() if value is not None}


def join_pieces(*pieces: bytes) -> bytes:
    """Several values as one: the length of each but the last as uint32, little-endian, then all of them."""
    return b"".join([*(_LENGTH.pack(len(one)) for one in pieces[:-1]), *pieces])


def split_pieces(data: bytes, count: int) -> tuple[bytes, ...]:
    """What `join_pieces` was given.

    Raises:
        ValueError: The bytes are not so many pieces.
    """
    at = _LENGTH.size * (count - 1)
    if len(data) < at:
        raise ValueError(f"{len(data)} bytes are not {count} pieces")
    found = []
    for (size,) in _LENGTH.iter_unpack(data[:at]):
        found.append(data[at : at + size])
        at += size
    if at > len(data):
        raise ValueError(f"{len(data)} bytes are less than {count} pieces")
    return (*found, data[at:])
