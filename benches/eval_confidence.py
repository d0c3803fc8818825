"""Fits and judges `confidence`: how likely the answer to a question is in what was found.

    python benches/eval_confidence.py NOVEL NOVEL NOVEL... [--projects CHECKOUTS] [--also FILE] [--no-record]

A novel is a folder with `truth/queries.jsonl`, whose questions carry `evidence`, quotes that answer them. CHECKOUTS has
a `NAME.json` (questions, each with a quote) beside each folder NAME; nothing is fitted on those. FILE has other
wordings of the novels' questions.

A question counts as answered when at least half of its quotes stand in a prompt of 8,000 tokens. Without an answer are
the absent questions of a book, questions about other books, and the same with the names of the people of this one.
They make a third of every book (`SHARE`). For each novel the weights are fitted on the others (`honest`); those of
projects, and those to be written into `search/hits.py`, on all novels. Brier scores stand over that of the
constant that is best for the very book; bins are of the honest predictions. Needs numpy.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np

import armarius
import record
from armarius.search import retrieve
from armarius.search.hits import SIGNS
from eval_retrieval import copy_of

BUDGET, MODEL = 8000, "gpt-4o"
SHARE = 1 / 3
LIKE, UNLIKE = 24, 6  # questions of another book in the same language, and in another
NAMES = 12
RIDGE = 1.0
BINS = 5
NOTHING = (0.0,) * len(SIGNS)
"""The signs where nothing is found: 0, whatever the weights are."""
_MARKS = re.compile(r"\s+|\*\*|\[\[|\]\]")


@dataclass
class Book:
    """A novel or a project: its questions (text, quotes, other wordings), and a row (signs, answered, asked) for each.

    `kind` of a row is own, absent, foreign, renamed or, with other wordings, the same with a `+`.
    """

    folder: Path
    asked: list[tuple[str, list[str], list[str]]]
    is_project: bool = False
    rows: list[tuple[Sequence[float], float, str]] = field(default_factory=list)

    @property
    def is_chinese(self) -> bool:
        """By its questions."""
        return sum("一" <= char <= "鿿" for text, _, _ in self.asked for char in text) > len(self.asked)

    def data(self) -> tuple[Any, Any, Any]:
        """Signs, answers, and weights by which those without an answer make `SHARE`."""
        signs, answers = (np.array([row[at] for row in self.rows], float) for at in (0, 1))
        own = np.array([row[2].startswith("own") for row in self.rows])
        return signs, answers, np.where(own, (1 - SHARE) / own.sum(), SHARE / (~own).sum())


def squeezed(text: str) -> str:
    """Without white space and Markdown's marks."""
    return _MARKS.sub("", text)


def novel(folder: Path, also: Mapping[str, Mapping[str, list[str]]]) -> Book:
    """A folder with `truth/queries.jsonl`."""
    lines = (folder / "truth" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [
        (
            one["query"],
            [quote["quote"] for quote in one.get("evidence", ())],
            also.get(folder.name, {}).get(one["id"], []),
        )
        for one in map(json.loads, filter(str.strip, lines))
    ]
    return Book(folder, asked)


def project(file: Path) -> Book:
    """A checkout and the questions beside it."""
    questions = json.loads(file.read_text(encoding="utf-8")).get("questions", ())
    return Book(file.with_suffix(""), [(one["question"], [one["quote"]], []) for one in questions], is_project=True)


def measure(book: Book, books: Sequence[Book], engines: Mapping[Path, armarius.ContextEngine]) -> None:
    """Ask a book its own questions and those of others."""
    engine, chance = engines[book.folder], random.Random(book.folder.name)
    seen: list[Sequence[float]] = []
    rank = retrieve.rank

    def watched(*given: Any, **named: Any) -> Any:
        found = rank(*given, **named)
        seen.append(found.signs if found.outcome != "nothing found" else NOTHING)
        return found

    def ask(text: str, quotes: Sequence[str], kind: str, wordings: Sequence[str] = ()) -> None:
        prompt = squeezed(engine.assemble(text, model=MODEL, budget=BUDGET, also=wordings).prompt)
        held = sum(squeezed(quote) in prompt for quote in quotes) >= len(quotes) / 2 > 0
        book.rows.append((seen[-1], float(held), kind + "+" * bool(wordings)))

    found = engine.entities()
    own = [one.name for one in sorted(found, key=lambda one: -found.mentions.get(one.id, 0))][:NAMES]
    retrieve.rank = watched
    for text, quotes, wordings in book.asked:
        for worded in ((), wordings[:4]) if wordings else ((),):
            ask(text, quotes, "own" if quotes else "absent", worded)
    for other in books:
        if other is book:
            continue
        alike = other.is_chinese == book.is_chinese
        for text, _, wordings in chance.sample(other.asked, min(len(other.asked), LIKE if alike else UNLIKE)):
            ask(text, (), "foreign")
            if wordings and alike:
                ask(text, (), "foreign", wordings[:4])
            renamed = text
            for at, name in enumerate({one.matched_term: None for one in engines[other.folder].detect(text)}):
                renamed = renamed.replace(name, own[at % len(own)]) if own else text
            if renamed != text:
                ask(renamed, (), "renamed")
    retrieve.rank = rank


def fitted(books: Sequence[Book]) -> Any:
    """Weights of a logistic regression (Newton's steps), every book counting the same."""
    signs, answers, weights = (np.concatenate(parts) for parts in zip(*(one.data() for one in books), strict=True))
    weights = np.where(signs[:, 0] > 0, weights * 60, 0.0)  # about as many questions as a book has
    ridge = RIDGE * np.diag([1e-6] + [1.0] * (signs.shape[1] - 1))
    beta = np.zeros(signs.shape[1])
    for _ in range(40):
        p = 1 / (1 + np.exp(-signs @ beta))
        slope = signs.T @ (weights * (p - answers)) + ridge @ beta
        beta = beta - np.linalg.solve((signs * (weights * p * (1 - p))[:, None]).T @ signs + ridge, slope)
    return beta


def predicted(signs: Any, beta: Any) -> Any:
    """As `Ranked.confidence` is: 0 where nothing is found."""
    return np.where(signs[:, 0] > 0, 1 / (1 + np.exp(-signs @ beta)), 0.0)


def judged(book: Book, beta: Any) -> tuple[dict[str, Any], Any]:
    """Brier score beside the best constant, mean prediction by kind; (prediction, answer, weight) of each row."""
    signs, answers, weights = book.data()
    p = predicted(signs, beta)
    base = np.average(answers, weights=weights)
    brier, constant = (np.average((one - answers) ** 2, weights=weights) for one in (p, base))
    kinds = sorted({row[2] for row in book.rows})
    means = {kind: np.mean([q for q, row in zip(p, book.rows, strict=True) if row[2] == kind]) for kind in kinds}
    figures = {"brier": brier, "constant": constant, "ratio": brier / constant, "base rate": base}
    rounded = {name: round(float(value), 3) for name, value in figures.items()}
    said = {
        "rows": len(book.rows),
        **rounded,
        "mean by kind": {name: round(float(one), 2) for name, one in means.items()},
    }
    return said, np.stack([p, answers, weights])


def bins(rows: Any) -> list[dict[str, float]]:
    """Mean prediction and share answered, by fifths of the scale; weighted."""
    p, answers, weights = rows
    at = np.minimum((p * BINS).astype(int), BINS - 1)
    found = []
    for one in (at == number for number in range(BINS)):
        if one.any():
            sure, seen = (np.average(values[one], weights=weights[one]) for values in (p, answers))
            share = weights[one].sum() / weights.sum()
            found.append({"share": share, "predicted": sure, "answered": seen, "questions": float(one.sum())})
    return [{name: round(float(value), 3) for name, value in row.items()} for row in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("novels", nargs="+", type=Path)
    parser.add_argument("--projects", type=Path)
    parser.add_argument("--also", type=Path)
    parser.add_argument("--no-record", action="store_true")
    given = parser.parse_args()
    also = json.loads(given.also.read_text(encoding="utf-8"))["books"] if given.also else {}
    novels = [novel(folder, also) for folder in given.novels]
    files = sorted(given.projects.glob("*.json")) if given.projects else ()
    projects = [one for file in files if file.with_suffix("").is_dir() and (one := project(file)).asked]
    with tempfile.TemporaryDirectory() as work:
        engines = {}
        for at, book in enumerate((*novels, *projects)):
            index = Path(work) / f"index{at}"
            folder = book.folder if book.is_project else copy_of(book.folder, Path(work) / f"{at}", codex=False)
            engines[book.folder] = armarius.open(folder, watch=False, index_dir=index)
        for book in (*novels, *projects):
            measure(book, [*novels, *projects], engines)
        for engine in engines.values():
            engine.close()
    weights = fitted(novels)
    honest = {one.folder.name: judged(one, fitted([other for other in novels if other is not one])) for one in novels}
    others = {one.folder.name: judged(one, weights) for one in projects}
    figures = {
        "novels, fitted on the others": {name: said for name, (said, _) in honest.items()},
        "mean ratio of novels": round(float(np.mean([said["ratio"] for said, _ in honest.values()])), 3),
        "bins of novels": bins(np.concatenate([rows for _, rows in honest.values()], axis=1)),
        "projects, fitted on the novels": {name: said for name, (said, _) in others.items()},
        "bins of projects": bins(np.concatenate([rows for _, rows in others.values()], axis=1)) if others else [],
        "weights": dict(zip(SIGNS, (round(float(one), 2) for one in weights), strict=True)),
    }
    print(json.dumps(figures, ensure_ascii=False, indent=1))
    if not given.no_record:
        record.record("confidence", figures, peers=[])


if __name__ == "__main__":
    main()
