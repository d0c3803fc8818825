r"""The binary module of RisuAI: JSON behind a byte table, then blocks of assets, which stay as they are.

Layout: 111, 0, length (32 bit, little endian), so many bytes, then blocks `1, length, data`, at the end 0. Every byte
of the JSON is written as another one, by one fixed table. Here is the part of the table that could be read off modules
whose text was known; bytes outside it are shown as `\ufffd` (a digit as 1), are reported, and stay as they are.
"""

import re
import struct
from typing import Final

from armarius.errors import BookError
from armarius.lorebooks.limits import check_size

__all__ = ["HEAD", "decoded", "encoded", "with_json"]

HEAD: Final = b"\x6f\x00"
_START = 6
_UNKNOWN = 0xFF  # no byte of UTF-8
_PLAIN = bytes.fromhex(
    "0a20222c2d2f303132343a4041434d5052565b5c5d5f6162636465666768696b6c6d6e6f7072737475767778797b7d8081828488898c8d8e8f"
    "949597999b9c9da1a3a4a7a8a9adafb0b1b2b3b4b7b8b9babbbdbee3e4e5e6e7e8e9ef"
)
_CODES = bytes.fromhex(
    "6e6120000cafd2c1561697ffb4e8db3b4347f415cf34d31d3ce2058e2a570ecd4c2df2402c79480fb27ab5a76ce67bfe87dc02ebb1dd99a6b0"
    "837cbe5cc32146d0125f8f44ea28359e69cc0ac7ad4af377e9d4da9511bcd88c98f97d"
)
_TO_PLAIN = bytearray([_UNKNOWN]) * 256
_TO_CODE: dict[int, int] = dict(zip(_PLAIN, _CODES, strict=True))
for _plain, _code in _TO_CODE.items():
    _TO_PLAIN[_code] = _plain
_STRING = re.compile(rb'("(?:[^"\\]|\\.)*")', re.DOTALL)


def decoded(data: bytes, name: str) -> tuple[bytes, int]:
    """The JSON of a module as UTF-8, and how many of its bytes are not in the table.

    Raises:
        BookError: Its length leads behind its end.
    """
    if len(data) < _START or not data.startswith(HEAD):
        raise BookError(f"{name}: not a module")
    (length,) = struct.unpack_from("<I", data, len(HEAD))
    check_size(length, name)
    if _START + length > len(data):
        raise BookError(f"{name}: says {length:,} bytes, {len(data) - _START:,} are there")
    plain = data[_START : _START + length].translate(bytes(_TO_PLAIN))
    unknown = plain.count(_UNKNOWN)
    if not unknown:
        return plain, 0
    parts = _STRING.split(plain)  # strings at the odd places
    for at in range(0, len(parts), 2):
        parts[at] = parts[at].replace(bytes([_UNKNOWN]), b"1")  # 0 may not lead
    return b"".join(parts).decode("utf-8", "replace").encode(), unknown


def encoded(plain: bytes, name: str) -> bytes:
    """JSON in the codes of a module.

    Raises:
        BookError: It needs a byte whose code is not known.
    """
    try:
        return bytes(_TO_CODE[byte] for byte in plain)
    except KeyError as error:
        raise BookError(f"{name}: byte {error.args[0]:#04x} has no known code; export as another format") from None


def with_json(data: bytes, plain: bytes, name: str) -> bytes:
    """The module with other JSON; its blocks stay.

    Raises:
        BookError: As `encoded`.
    """
    (length,) = struct.unpack_from("<I", data, len(HEAD))
    code = encoded(plain, name)
    return HEAD + struct.pack("<I", len(code)) + code + data[_START + length :]
