"""Derived rows: values computed from one document, stored until the document or another input changes."""

import struct
from collections.abc import Callable, Mapping
from typing import Final, Generic, TypeVar

from armarius.store.protocol import Store
from armarius.store.rows import DerivedRow

Value = TypeVar("Value")
Packed = TypeVar("Packed")

_FEW: Final = 32  # up to so many rows are read by path; beyond, all rows of the kind are read
_LENGTH: Final = struct.Struct("<I")


class DerivedCache(Generic[Packed, Value]):
    """One kind of derived row: its serialisation and its validity.

    Args:
        kind: Kind of the rows; see `Store.learnt`.
        version: Version of algorithm and format; raise it when either changes.
        pack: Serialises a value.
        unpack: Parses the bytes; raises ValueError for another format.

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
        """The row of a document; `fingerprint` identifies all inputs of the value and ends with the content hash."""
        return DerivedRow(path, self.kind, f"{self.version} {fingerprint}", self._pack(value))

    def value(self, row: DerivedRow | None, fingerprint: str, *, or_others: bool = False) -> Value | None:
        """The value of a row; None if there is no row, its inputs changed, or it is damaged.

        Args:
            row: The row of one document.
            fingerprint: As for `row`.
            or_others: Compare only the given end of the fingerprint, such as the content hash.
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
        """The valid values by path, in path order, given the fingerprints by path.

        Raises:
            StoreError: The store cannot be read.

        Cost: one row per document; all rows of the kind for more than 32 documents.
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
    """Concatenate values after their lengths (uint32, little-endian, without the last)."""
    return b"".join([*(_LENGTH.pack(len(one)) for one in pieces[:-1]), *pieces])


def split_pieces(data: bytes, count: int) -> tuple[bytes, ...]:
    """The inverse of `join_pieces`.

    Raises:
        ValueError: The bytes are not `count` pieces.
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
