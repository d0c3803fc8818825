"""Requests and answers of one book on disk: `FOLDER/BOOK/requests.json` and `answers.jsonl`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comparison.plan import Request

__all__ = ["Record", "load", "save"]

Answer = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """What one build said of one book.

    Attributes:
        book: Name of the folder.
        digest: Of the folder as it was asked about.
        requests: In order.
        answers: By request id: `id verb sha256 value`, and `broken` when it is no answer.
        package: Where the package was found, and its version.
    """

    book: str
    digest: str
    requests: list[Request]
    answers: dict[str, Answer]
    package: str


def save(record: Record, folder: Path) -> None:
    """Write the record to a folder of its book's name."""
    place = folder / record.book
    place.mkdir(parents=True, exist_ok=True)
    head = {"digest": record.digest, "package": record.package, "requests": record.requests}
    (place / "requests.json").write_text(json.dumps(head, ensure_ascii=False, indent=1), "utf-8")
    with (place / "answers.jsonl").open("w", encoding="utf-8") as output:
        output.writelines(json.dumps(one, ensure_ascii=False, sort_keys=True) + "\n" for one in record.answers.values())


def load(folder: Path, book: str, digest: str) -> Record:
    """Read the record of a book.

    Raises:
        ValueError: There is none, or the book has changed since: the answers would differ for that alone.
    """
    place = folder / book
    if not (place / "requests.json").is_file():
        raise ValueError(f"{folder}: nothing recorded of {book}")
    head = json.loads((place / "requests.json").read_bytes())
    if head["digest"] != digest:
        raise ValueError(f"{place}: {book} is not the folder that was recorded (another digest); record it again")
    with (place / "answers.jsonl").open(encoding="utf-8") as lines:
        answers = {one["id"]: one for one in map(json.loads, lines)}
    return Record(book, digest, head["requests"], answers, head["package"])
