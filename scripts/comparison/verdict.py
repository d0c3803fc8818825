"""What two records of a book say differently, as counts and as a unified diff that a person can read."""

import difflib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from comparison.record import Answer, Record

__all__ = ["Verdict", "compared", "diff_lines"]


@dataclass(frozen=True)
class Verdict:
    """One book, asked twice.

    Attributes:
        book: Name of the folder.
        asked: Requests by verb.
        refused: How many of them the first side answered by an error of the package.
        changed: Ids of those whose answers differ, in order.
        broken: `id: what` of those that a side could not answer at all.
    """

    book: str
    asked: Counter[str]
    refused: int
    changed: tuple[str, ...]
    broken: tuple[str, ...]


def compared(before: Record, after: Record) -> Verdict:
    """Compare by hash; both records must be of the same requests."""
    ids = [one["id"] for one in before.requests]
    sides = (before.answers, after.answers)
    return Verdict(
        book=before.book,
        asked=Counter(one["verb"] for one in before.requests),
        refused=sum(_is_error(before.answers.get(one)) for one in ids),
        changed=tuple(one for one in ids if len({side.get(one, {}).get("sha256", "") for side in sides}) > 1),
        broken=tuple(dict.fromkeys(f"{one}: {fault}" for one in ids for side in sides if (fault := _fault(side, one)))),
    )


def _fault(side: dict[str, Answer], one: str) -> str:
    return str(side[one].get("broken", "")) if one in side else "no answer"


def _is_error(answer: Answer | None) -> bool:
    return answer is not None and isinstance(answer["value"], dict) and "error" in answer["value"]


def diff_lines(before: Record, after: Record, changed: tuple[str, ...]) -> Iterator[str]:
    """For each changed request: the request, then before and after as a unified diff, lines without their ends."""
    requests = {one["id"]: one for one in before.requests}
    for one in changed:
        yield f"=== {before.book} {one}"
        yield f"=== {json.dumps(requests[one], ensure_ascii=False)}"
        old, new = (_shown(record.answers.get(one)) for record in (before, after))
        if old == new:
            # The same to a reader: the bytes differ in the order of keys or in white space.
            old, new = ([json.dumps(record.answers[one]["value"])] for record in (before, after))
        yield from difflib.unified_diff(old, new, f"before/{one}", f"after/{one}", lineterm="", n=2)
        yield ""


def _shown(answer: Answer | None) -> list[str]:
    """JSON over many lines; a wire form opened up, the lines of a prompt apart."""
    if answer is None:
        return ["(no answer)"]
    value = answer["value"]
    if isinstance(value, dict):
        value = {name: _opened(part) if name in ("wire", "messages") else part for name, part in value.items()}
    return [line for whole in _flat(value) for line in whole.split("\n")]


def _opened(part: str) -> object:
    try:
        return json.loads(part)
    except ValueError:
        return part


def _flat(value: object, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(part, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and value and all(isinstance(part, dict | list) for part in value):
        for index, part in enumerate(value):
            yield from _flat(part, f"{name}[{index}]" if isinstance(part, dict) else name)
    elif isinstance(value, str) and "\n" in value:
        yield f"{name}:\n{value}"
    else:
        yield f"{name}: {json.dumps(value, ensure_ascii=False)}"
