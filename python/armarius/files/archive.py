"""Archives, in memory: members are looked at by their declared size, read up to a limit, and never laid on a disk."""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Final

from armarius.errors import BookError

__all__ = ["MAX_BYTES", "MAX_MEMBERS", "MAX_UNPACKED", "Archive", "check_size", "looks_like_archive"]

MAX_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one file, of one member of an archive, and of the decoded text of a picture."""
MAX_UNPACKED: Final = 256 * 1024 * 1024
"""Bytes that the members of one archive may have together."""
MAX_MEMBERS: Final = 20_000
"""Members of one archive, files of one vault."""

_FRONT = 16 * 1024 * 1024  # a picture may stand before the archive
_SIGNATURE = b"PK\x03\x04"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def check_size(size: int, name: str, limit: int = MAX_BYTES) -> None:
    """Refuse what is above a limit.

    Raises:
        BookError: Name, size and limit.
    """
    if size > limit:
        raise BookError(f"{name}: {size:,} bytes, at most {limit:,} are read")


def looks_like_archive(data: bytes) -> bool:
    """Whether a zip begins at the front or behind something else."""
    return data.find(_SIGNATURE, 0, _FRONT) >= 0 and data.rfind(b"PK\x05\x06", max(0, len(data) - 66_000)) >= 0


class Archive:
    """A zip that was looked at: names, sizes, and members on demand.

    Raises:
        BookError: It is damaged, has too many members, or they would be too large together. Nothing is unpacked.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._data = data
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            infos = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError, OverflowError) as error:
            raise BookError(f"{name}: not a readable archive: {error}") from None
        except Exception as error:  # noqa: BLE001 - struct.error, UnicodeDecodeError: whatever a damaged directory makes of it
            raise BookError(f"{name}: not a readable archive: {type(error).__name__}") from None
        if len(infos) > MAX_MEMBERS:
            raise BookError(f"{name}: {len(infos):,} members, at most {MAX_MEMBERS:,} are read")
        check_size(sum(info.file_size for info in infos), f"{name}: unpacked", MAX_UNPACKED)
        self._infos = {info.filename: info for info in infos}
        self.outside = tuple(one for one in self._infos if _climbs(one))
        self.names = tuple(one for one in self._infos if not _climbs(one))

    def read(self, member: str) -> bytes:
        """The bytes of one member.

        Raises:
            BookError: It is not there, too large, encrypted, packed in a way that is not read, or damaged.
        """
        info = self._infos.get(member)
        if info is None:
            raise BookError(f"{self.name}: no member {member!r}")
        check_size(info.file_size, f"{self.name}: {member}")
        if info.flag_bits & 1 or info.compress_type not in _METHODS:
            raise BookError(f"{self.name}: {member}: encrypted, or packed in a way that is not read")
        try:
            with self._zip.open(info) as file:
                data = file.read(min(info.file_size, MAX_BYTES) + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError) as error:
            raise BookError(f"{self.name}: {member}: damaged: {error}") from None
        except Exception as error:  # noqa: BLE001 - as above
            raise BookError(f"{self.name}: {member}: damaged: {type(error).__name__}") from None
        if len(data) > info.file_size:
            raise BookError(f"{self.name}: {member}: more than the {info.file_size:,} bytes it declares")
        return data

    def changed(self, members: Mapping[str, bytes]) -> bytes:
        """The archive with other bytes for these members; what stands before it, order and attributes stay.

        Raises:
            BookError: A member that is kept cannot be read.
        """
        infos = self._zip.infolist()
        # Offsets of the first member count from the start of the file: what lies before is not the archive's.
        front = self._data[: min((info.header_offset for info in infos), default=0)]
        made = io.BytesIO()
        made.write(front)
        with zipfile.ZipFile(made, "a") as target:
            target.comment = self._zip.comment
            for info in infos:
                data = members[info.filename] if info.filename in members else self.read(info.filename)
                method = info.compress_type if info.compress_type in _METHODS else zipfile.ZIP_DEFLATED
                try:
                    target.writestr(info, data, compress_type=method)
                except (ValueError, OverflowError, NotImplementedError, zipfile.LargeZipFile, struct.error) as error:
                    raise BookError(f"{self.name}: {info.filename}: not written: {error}") from None
        return made.getvalue()


def _climbs(name: str) -> bool:
    """Whether a member would lie outside of the folder it is unpacked to."""
    parts = name.replace("\\", "/").split("/")
    return name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\0" in name
