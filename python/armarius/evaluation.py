"""Evaluation of prompts with the user's own questions: does the prompt contain the quotes that answer them?

Invariants: a quote counts only if it is in the prompt verbatim, except for white space; every missing quote has a
reason; a question with a quote that is not in the project is left out and reported, because no prompt could contain it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armarius.documents.document import Document
from armarius.engine.engine import ContextEngine
from armarius.errors import ContractError
from armarius.headings import html_table, rich_table
from armarius.requests import AssembleRequest
from armarius.validation import shown

if TYPE_CHECKING:
    from rich.table import Table

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
    questions = tuple(_questions(text, name))
    if not questions:
        raise ContractError(f"{name}: there is no question in it")
    return questions


def without_spaces(text: str) -> str:
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
    are_texts = isinstance(quotes, list) and all(isinstance(item, str) and without_spaces(item) for item in quotes)
    if not quotes or not are_texts:
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


BUDGETS = (4_000, 8_000, 16_000)
_TOLD = 3  # reasons listed in the error if every question was left out


@dataclass(frozen=True, slots=True)
class Miss:
    """A quote that is not in the prompt: its question, the budget, its place in the project and the reason."""

    question: str
    budget: int
    quote: str
    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Recall of the quotes in the prompts.

    Attributes:
        questions: Number of questions that were measured.
        answers: Mean recall by budget: the fraction of a question's quotes in its prompt, 0 to 1.
        tokens: Mean size of a prompt by budget, in tokens.
        misses: Every missing quote, sorted by budget and question.
        left_out: Questions that were not measured, because a quote is not in the project; with the line.
    """

    questions: int
    answers: dict[int, float]
    tokens: dict[int, float]
    misses: tuple[Miss, ...]
    left_out: tuple[str, ...] = ()

    def _rows(self) -> list[tuple[str, str, str, str]]:
        missing = {budget: sum(miss.budget == budget for miss in self.misses) for budget in self.answers}
        return [
            (f"{budget:,}", f"{share:.2f}", f"{self.tokens[budget]:,.0f}", str(missing[budget]))
            for budget, share in self.answers.items()
        ]

    def __rich__(self) -> "Table":
        """A row per budget, as a terminal with rich shows it."""
        return rich_table(("budget", "answers", "tokens", "missing"), self._rows())

    def _repr_html_(self) -> str:
        """A row per budget, as a notebook shows it."""
        return html_table(("budget", "answers", "tokens", "missing"), self._rows())


def evaluate(
    engine: ContextEngine, questions: Sequence[Question], *, budgets: Sequence[int] = BUDGETS, model: str | None = None
) -> Evaluation:
    """Assemble a prompt for every question and budget, and look for the quotes in it.

    A question with a quote that is not in the project is left out and listed in `left_out`.

    Args:
        engine: An open engine; its embedder, reranker and model for query variants are used.
        questions: As `read_questions` returns them.
        budgets: Budgets in tokens; each replaces that of the request.
        model: Replaces the model of the request; None keeps it.

    Raises:
        ContractError: No budget, or no question has all its quotes in the project; lists the first reasons.
        ArmariusError: An error of `assemble`.

    Cost: one prompt for each question and budget.
    """
    if not budgets:
        raise ContractError("budgets: at least one")
    documents = [(document, without_spaces(document.text)) for document in engine.documents()]
    pairs = [(question, {quote: _place(documents, quote) for quote in question.quotes}) for question in questions]
    left_out = tuple(
        _missing_quote(question, quote) for question, at in pairs for quote, place in at.items() if place is None
    )
    measured = [(question, at) for question, at in pairs if None not in at.values()]
    if not measured:
        raise ContractError("; ".join([*left_out[:_TOLD], "no question is left"]))
    shares: dict[int, list[float]] = {budget: [] for budget in budgets}
    sizes: dict[int, list[int]] = {budget: [] for budget in budgets}
    misses = []
    for budget in budgets:
        for question, places in measured:
            changes = {"budget": budget} if model is None else {"budget": budget, "model": model}
            pack = engine.assemble(question.request.model_copy(update=changes))
            prompt = without_spaces(pack.prompt)
            missing = [quote for quote in question.quotes if without_spaces(quote) not in prompt]
            shares[budget].append(1 - len(missing) / len(question.quotes))
            sizes[budget].append(pack.token_count)
            for quote in missing:
                path, number = places[quote] or ("", None)
                why = pack.why(f"{path}#{number}").reason if number is not None else "it spans several paragraphs"
                misses.append(Miss(question.id, budget, quote, path, why.splitlines()[0]))
    mean = {budget: sum(share) / len(share) for budget, share in shares.items()}
    size = {budget: sum(tokens) / len(tokens) for budget, tokens in sizes.items()}
    return Evaluation(len(measured), mean, size, tuple(misses), left_out)


def _missing_quote(question: Question, quote: str) -> str:
    where = f"line {question.line}: " if question.line and question.id != f"line {question.line}" else ""
    return f"{where}{question.id}: the quote {quote[:60]!r} stands nowhere in the project"


def _place(documents: Sequence[tuple[Document, str]], quote: str) -> tuple[str, int | None] | None:
    """Document and paragraph of a quote; the paragraph is None if it spans several. None if it is not found."""
    wanted = without_spaces(quote)
    for document, text in documents:
        if wanted in text:
            inside = (
                index
                for index, paragraph in enumerate(document.paragraphs)
                if wanted in without_spaces(document.text[paragraph.start : paragraph.end])
            )
            return document.path, next(inside, None)
    return None
