"""`Continuation`: what the next prompt needs of this one, and its form as bytes for a host to keep.

    pack = engine.assemble(query="…", previous=kept)      # kept: the bytes of the last call, or its pack
    kept = pack.continuation()

The bytes hold the prompt and the positions of its items, compressed to about half of the prompt's UTF-8. They are for
this version of the package, checked against damage and not against malice: who can write them can put text into the
next prompt, as who can write the conversation can. Keep them where you keep that.
"""

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter

from armarius.errors import ContractError
from armarius.prompt.allocate import Previous
from armarius.types import Candidate

__all__ = ["MAX_BYTES", "Continuation"]

MAX_BYTES: Final = 4 * 1024 * 1024
"""Of a continuation; what it holds may be four times that."""

_MAGIC: Final = b"ARMc"
_DIGEST: Final = 16
_LEVEL: Final = 6
_SLICED: Final = 24  # code points from which a text that stands in the prompt is kept as its place there
_PLACE: Final = "@"


@dataclass(frozen=True, slots=True)
class Continuation:
    """One prompt, as the next one sees it.

    Attributes:
        project_id: Of its request, as are the next nine.
        counter: That its tokens were counted by.
        stable_prefix_hash: Of its rules and settings.
        ids: Of everything in it.
        stamps: Of the files that its items were read from.
        previous: What stood where.
    """

    project_id: str
    document: str
    skill: str
    provider: str | None
    model: str | None
    tokenizer_version: str | None
    chapters: tuple[int | None, int | None]
    kinds: tuple[str, ...]
    as_of: int | None
    language: str
    counter: str
    stable_prefix_hash: str
    ids: tuple[str, ...]
    stamps: Mapping[str, str]
    previous: Previous

    @property
    def retrieved(self) -> tuple[Candidate, ...]:
        """The candidates behind the items of its retrieved layer."""
        return tuple(item.candidate for item in self.previous.retrieved)

    def to_bytes(self) -> bytes:
        """For the next call, in whichever process.

        Raises:
            ContractError: The prompt is too long to be carried in 4 MiB.
        """
        prompt = self.previous.prompt
        plain = [prompt, _sliced(_adapter().dump_python(self, mode="json", warnings=False), prompt)]
        body = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        packed = zlib.compress(body.encode("utf-8", "surrogatepass"), _LEVEL)
        data = _MAGIC + _schema() + hashlib.blake2b(packed, digest_size=_DIGEST).digest() + packed
        if len(data) > MAX_BYTES:
            raise ContractError(f"the continuation has {len(data):,} bytes, at most {MAX_BYTES:,} are carried")
        return data

    @classmethod
    def from_bytes(cls, data: bytes) -> "Continuation":
        """What `to_bytes` wrote.

        Raises:
            ContractError: Something else, damaged, or written by another version of the package.
        """
        head = len(_MAGIC) + _DIGEST
        if len(data) > MAX_BYTES or not data.startswith(_MAGIC) or len(data) < head + _DIGEST:
            raise ContractError("previous: these bytes are no continuation, as pack.continuation() gives it")
        if data[len(_MAGIC) : head] != _schema():
            raise ContractError("previous: a continuation of another version of armarius; leave it out this once")
        packed = data[head + _DIGEST :]
        if hashlib.blake2b(packed, digest_size=_DIGEST).digest() != data[head : head + _DIGEST]:
            raise ContractError("previous: the continuation is damaged")
        try:
            unpacked = zlib.decompressobj().decompress(packed, 4 * MAX_BYTES)
            prompt, plain = json.loads(unpacked.decode("utf-8", "surrogatepass"))
            return _adapter().validate_python(_whole(plain, prompt))
        except (zlib.error, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            raise ContractError(f"previous: the continuation cannot be read: {type(error).__name__}") from error


def _sliced(plain: Any, prompt: str) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """`plain` with each longer text that stands in the prompt as its place there."""
    if isinstance(plain, str):
        at = prompt.find(plain) if len(plain) >= _SLICED else -1
        return plain if at < 0 else {_PLACE: [at, at + len(plain)]}
    if isinstance(plain, dict):
        return {key: _sliced(value, prompt) for key, value in plain.items()}
    return [_sliced(value, prompt) for value in plain] if isinstance(plain, list | tuple) else plain


def _whole(plain: Any, prompt: str) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """What `_sliced` was given."""
    if isinstance(plain, dict):
        if plain.keys() == {_PLACE}:
            start, end = plain[_PLACE]
            if not 0 <= start <= end <= len(prompt):
                raise ValueError("no place in the prompt")
            return prompt[start:end]
        return {key: _whole(value, prompt) for key, value in plain.items()}
    return [_whole(value, prompt) for value in plain] if isinstance(plain, list) else plain


@cache
def _adapter() -> TypeAdapter[Continuation]:
    return TypeAdapter(Continuation)


@cache
def _schema() -> bytes:
    """Differs between versions with other fields of the records."""
    said = json.dumps(_adapter().json_schema(), sort_keys=True)
    return hashlib.blake2b(said.encode(), digest_size=_DIGEST).digest()
