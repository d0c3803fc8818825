"""Questions with the quotes that answer them, one JSON object a line."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from armarius.errors import ContractError
from armarius.requests import AssembleRequest
from armarius.validation import shown

__all__ = ["Question", "read_questions", "squeezed"]

_OWN = ("id", "quotes")
_MOST_QUOTES = 100


@dataclass(frozen=True, slots=True)
class Question:
    """A request and the quotes that its prompt should contain.

    Attributes:
        id: The given id, else `line <n>`.
        request: The request; `evaluate` replaces budget and model.
        quotes: Verbatim quotes, the shortest that together answer the question.
        line: Line in the file, from 1; 0 without a file.
    """

    id: str
    request: AssembleRequest
    quotes: tuple[str, ...]
    line: int = 0


def read_questions(text: str, *, name: str = "questions") -> tuple[Question, ...]:
    """Parse questions in JSON Lines; empty lines and lines that begin with `#` are skipped.

    A line is an object with `query`, `quotes` (strings), optionally `id`, and any other field of a request: `document`,
    `cursor`, `chapters`, `as_of`, `kinds`, `also`, …, in snake_case or camelCase.

    Args:
        text: Content of the file.
        name: Name of the file, for errors.

    Raises:
        ContractError: An invalid line (names file, line and field), or no question at all.
    """
    found = tuple(_questions(text, name))
    if not found:
        raise ContractError(f"{name}: there is no question in it")
    return found


def squeezed(text: str) -> str:
    """The text without white space; quotes and prompts are compared in this form."""
    return re.sub(r"\s+", "", text)


def _questions(text: str, name: str) -> Iterator[Question]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{name}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ContractError(f"{where}: not JSON: {error}") from None
        if not isinstance(row, dict):
            raise ContractError(f"{where}: expected an object, got {type(row).__name__}")
        yield _question(row, where, number)


def _question(row: dict[str, Any], where: str, number: int) -> Question:
    quotes = row.get("quotes")
    if not isinstance(quotes, list) or not quotes or not all(isinstance(one, str) and squeezed(one) for one in quotes):
        raise ContractError(f"{where}: quotes must be a list of one text or more, got {shown(quotes)}")
    if len(quotes) > _MOST_QUOTES:
        raise ContractError(f"{where}: at most {_MOST_QUOTES} quotes, got {len(quotes)}")
    if not isinstance(row.get("query"), str):
        raise ContractError(f"{where}: query must be a text, got {row.get('query')!r}")
    try:
        request = AssembleRequest(**{key: value for key, value in row.items() if key not in _OWN})
    except ContractError as error:
        raise ContractError(f"{where}: {error.message}") from None
    return Question(str(row.get("id", f"line {number}")), request, tuple(quotes), number)
