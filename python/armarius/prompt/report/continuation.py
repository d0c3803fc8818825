"""What of a prompt the next one continues, and its form as bytes: all that a host need keep between two calls.

    pack = engine.assemble(query="…", previous=kept)      # kept: the bytes of the last call, or its pack
    kept = pack.continuation()

The bytes hold the prompt and what stood where in it, compressed: about half of the prompt's own UTF-8. They are for
this version of the package, checked against damage and not against malice: whoever can write them can put text into the
next prompt, as whoever can write the conversation can. Keep them where you keep that.
"""

import hashlib
import json
import types
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from math import isfinite
from numbers import Real
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from armarius.errors import ContractError
from armarius.prompt.allocate import Previous
from armarius.types import Candidate

__all__ = ["MAX_BYTES", "Continuation"]

MAX_BYTES: Final = 4 * 1024 * 1024
"""Of a continuation; what it holds may be four times that."""

_MAGIC: Final = b"ARMc"
_DIGEST: Final = 16
_LEVEL: Final = 6
_INFINITE: Final = ("inf", "-inf", "nan")
_SLICED: Final = 24  # code points from which a text that stands in the prompt is kept as its place there


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
        plain = [prompt, list(_plain(self, prompt))]
        body = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
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
            found: Continuation = _typed(plain, cls, prompt)
        except (zlib.error, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            raise ContractError(f"previous: the continuation cannot be read: {type(error).__name__}") from error
        return found


def _plain(value: Any, prompt: str) -> Iterator[Any]:  # noqa: ANN401 - a record, by reflection
    """The fields of a record as JSON holds them, in order; what stands in the prompt, as its place there."""
    for field in fields(value):
        yield _one(getattr(value, field.name), prompt)


def _one(value: Any, prompt: str) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        at = prompt.find(value) if len(value) >= _SLICED else -1
        return value if at < 0 else [at, at + len(value)]
    if is_dataclass(value):
        return list(_plain(value, prompt))
    if isinstance(value, Mapping):
        return [[key, _one(value[key], prompt)] for key in sorted(value)]
    if isinstance(value, tuple | list):
        return [_one(item, prompt) for item in value]
    if isinstance(value, Real) and not isinstance(value, int):
        return float(value) if isfinite(value) else repr(float(value))
    return value


def _typed(plain: Any, kind: Any, prompt: str) -> Any:  # noqa: ANN401 - one answer for each kind of type
    """`plain` as the type that an annotation names; ValueError for anything else."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is str:
        return prompt[slice(*_numbers(plain, 2))] if isinstance(plain, list) else _exactly(plain, str)
    if _is_record(kind):
        hints = _hints(kind)
        values = _exactly(plain, list)
        if len(values) != len(hints):
            raise ValueError(f"{len(values)} fields for {len(hints)}")
        named = zip(hints.items(), values, strict=True)
        return kind(**{name: _typed(value, hint, prompt) for (name, hint), value in named})
    if origin in (Union, types.UnionType):
        if plain is None and type(None) in parts:
            return None
        (one,) = [part for part in parts if part is not type(None)]
        return _typed(plain, one, prompt)
    if origin is Literal:
        if plain not in parts:
            raise ValueError(f"{plain!r} is none of {parts}")
        return plain
    if origin is tuple:
        values = _exactly(plain, list)
        kinds = [parts[0]] * len(values) if parts[-1] is Ellipsis else list(parts)
        return tuple(_typed(value, one, prompt) for value, one in zip(values, kinds, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        return {_exactly(key, str): _typed(value, parts[1], prompt) for key, value in _exactly(plain, list)}
    if kind is float:
        return float(plain) if type(plain) is int or plain in _INFINITE else _exactly(plain, float)
    return _exactly(plain, kind)


def _exactly(value: Any, kind: type) -> Any:  # noqa: ANN401
    if type(value) is not kind:
        raise ValueError(f"{type(value).__name__} in the place of {kind.__name__}")
    return value


def _numbers(values: list[Any], count: int) -> list[int]:
    if len(values) != count or any(type(value) is not int or value < 0 for value in values):
        raise ValueError("no place in the prompt")
    return values


def _is_record(kind: Any) -> bool:  # noqa: ANN401
    return is_dataclass(kind)


@cache
def _hints(kind: Any) -> dict[str, Any]:  # noqa: ANN401
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@cache
def _schema() -> bytes:
    """Differs between versions whose records have other fields."""
    said: list[str] = []

    def say(kind: Any) -> None:  # noqa: ANN401
        if _is_record(kind):
            said.append(f"{kind.__name__}{sorted(_hints(kind).items(), key=str)}")
            for hint in _hints(kind).values():
                say(hint)
        for part in get_args(kind):
            say(part)

    say(Continuation)
    return hashlib.blake2b("\n".join(said).encode(), digest_size=_DIGEST).digest()
