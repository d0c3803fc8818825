"""Leave one book out over the engine's own table of weights: what was chosen on two books, measured on the third.

    python benches/eval_loo.py FOLDER FOLDER FOLDER... [--sweeps N] [--moves] [--no-record]

A folder is a novel with `truth/queries.jsonl`, whose questions carry `evidence`: the shortest verbatim quotes that
answer them. The measure is the mean share of those quotes that stand in a prompt, white space aside (query alone, no
model, nothing open). For each book left out the table of `search/rank.py` begins at constants that are the same
for everything of a kind (`BEGIN`), and each in turn takes the value of its grid that holds most on the other books at
`CHOSEN_AT` tokens; the one it has, when none holds more. Neither the book left out nor the constants installed take
part.

Written to `benches/results/loo.json`: honest (on the book left out), training (the same settings on the books that they
were chosen on), neutral (`BEGIN`), as installed; what was chosen; with --moves also what each weight moves on each book
by itself, from the constants installed to the values of its grid. Not covered: `MEANING` (it needs a model), `ABSENT`
(it has questions of its own, docs/decisions/0065), and the form of the product. A book takes a second for each setting.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import armarius
import record
from armarius.search import order, passages
from armarius.search import rank as ranking
from armarius.search import rank as weights
from eval_retrieval import copy_of

BUDGETS = (4000, 8000, 16000)
CHOSEN_AT = 8000
MODEL = "gpt-4o"
_SHARES = (0.25, 0.5, 1.0)

Setting = dict[str, float]

BEGIN: Setting = {
    **{f"family {name}": 0.5 for name in weights.FAMILY_WEIGHTS if name != "main"},
    "near": 0.5,
    "window": 0.5,
    "unit": 0.5,
    "line": 0.5,
    "asked": 3.0,
    "c": 0.5,
    "d": 0.5,
    **{f"k1 {level}": 1.2 for level in weights.LEVELS},
    "b": 0.75,
    "b of names": 0.75,
    "stop share": 0.1,
}
"""The same for everything of a kind. `main` and `paragraph` stay 1: they are the scale of the others."""

GRID: dict[str, tuple[float, ...]] = {
    name: (1.0, 3.0, 6.0)
    if name == "asked"
    else (0.2, 0.5, 1.0)
    if name in ("c", "d")
    else (1.2, 2.0)
    if name.startswith("k1")
    else (0.3, 0.5, 0.75)
    if name.startswith("b")
    else (0.05, 0.1, 0.2)
    if name == "stop share"
    else _SHARES
    for name in BEGIN
}


def installed() -> Setting:
    """The table as it stands."""
    names = weights.FAMILY_B["entity"]
    return {
        **{f"family {name}": value for name, value in weights.FAMILY_WEIGHTS.items() if name != "main"},
        **{name: value for name, value in weights.WEIGHTS.items() if name != "paragraph"},
        **{f"k1 {level}": value for level, value in weights.K1.items()},
        "b": weights.FAMILY_B["main"]["paragraph"],
        "b of names": names["paragraph"],
        "stop share": weights.STOP_SHARE,
    }


def put(setting: Setting) -> None:
    """Make it the table of this process."""
    for name in weights.FAMILY_WEIGHTS:
        weights.FAMILY_WEIGHTS[name] = setting.get(f"family {name}", 1.0)
        for level in weights.LEVELS:
            of_names = name in weights._NAMES and level in ("paragraph", "line")
            weights.FAMILY_B[name][level] = setting["b of names" if of_names else "b"]
    for name in weights.WEIGHTS:
        weights.WEIGHTS[name] = setting.get(name, 1.0)
    for level in weights.LEVELS:
        weights.K1[level] = setting[f"k1 {level}"]
    passages.STOP_SHARE = order.STOP_SHARE = setting["stop share"]
    order._NOTHING = 3.01 * setting["c"] * setting["d"]
    ranking._weights.cache_clear()


@dataclass
class Book:
    """A novel, its questions, and what has been measured on it.

    Attributes:
        engine: Open on a copy without the truth.
        asked: Question and quotes, white space aside.
        known: Setting and budget to answers.
    """

    engine: armarius.ContextEngine
    asked: list[tuple[str, list[str]]]
    known: dict[tuple[tuple[float, ...], int], float] = field(default_factory=dict)

    def answers(self, setting: Setting, budget: int) -> float:
        """The mean share of the quotes that stand in the prompt."""
        key = (tuple(setting[name] for name in BEGIN), budget)
        if key not in self.known:
            put(setting)
            with self.engine._parts.project.view().corpus.acquire() as corpus:
                corpus.memo.clear()  # what was worked out with other weights
            self.known[key] = sum(self._held(query, quotes, budget) for query, quotes in self.asked) / len(self.asked)
        return self.known[key]

    def _held(self, query: str, quotes: list[str], budget: int) -> float:
        prompt = squeezed(self.engine.assemble(query, model=MODEL, budget=budget).prompt)
        return sum(quote in prompt for quote in quotes) / len(quotes)


def squeezed(text: str) -> str:
    """Without white space."""
    return re.sub(r"\s+", "", text)


def choose(books: Mapping[str, Book], sweeps: int) -> Setting:
    """The setting that holds most on `books`, one weight after another from `BEGIN`."""
    now, best = dict(BEGIN), mean(books, BEGIN, CHOSEN_AT)
    for _ in range(sweeps):
        before = dict(now)
        for name, values in GRID.items():
            for value in values:
                if value == now[name]:
                    continue
                one = {**now, name: value}
                found = mean(books, one, CHOSEN_AT)
                if found > best + 1e-9:
                    now, best = one, found
            print(f"  {name} = {now[name]:g}: {best:.3f}", flush=True)
        if now == before:
            break
    return now


def mean(books: Mapping[str, Book], setting: Setting, budget: int) -> float:
    """Over books, each counting the same."""
    return sum(book.answers(setting, budget) for book in books.values()) / len(books)


def moves(books: Mapping[str, Book], at: Setting) -> dict[str, Any]:
    """What each weight moves by itself at `CHOSEN_AT`: value to the difference on each book."""
    found: dict[str, Any] = {}
    for name, values in GRID.items():
        found[name] = {
            f"{value:g}": {
                title: round(book.answers({**at, name: value}, CHOSEN_AT) - book.answers(at, CHOSEN_AT), 4)
                for title, book in books.items()
            }
            for value in values
            if value != at[name]
        }
    return found


def measured(books: Mapping[str, Book], of: Mapping[str, Setting]) -> dict[str, Any]:
    """Answers of each book at each budget, with the setting `of` says for it, and their mean."""
    rows: dict[str, Any] = {
        title: {str(budget): round(book.answers(of[title], budget), 3) for budget in BUDGETS}
        for title, book in books.items()
    }
    rows["mean"] = {str(b): round(sum(books[t].answers(of[t], b) for t in books) / len(books), 3) for b in BUDGETS}
    return rows


def trained(books: Mapping[str, Book], chosen: Mapping[str, Setting]) -> dict[str, Any]:
    """By the book that was left out, the mean of the others; at `CHOSEN_AT`, where it was chosen."""
    rows = {
        title: round(mean({other: book for other, book in books.items() if other != title}, setting, CHOSEN_AT), 3)
        for title, setting in chosen.items()
    }
    return {
        **{f"without {title}": row for title, row in rows.items()},
        "mean": round(sum(rows.values()) / len(rows), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--sweeps", type=int, default=1, help="how often every weight takes its turn (default: 1)")
    parser.add_argument("--moves", action="store_true", help="and what each weight moves: two minutes a book")
    parser.add_argument("--no-record", action="store_true")
    arguments = parser.parse_args()
    if len(arguments.folders) < 2:
        parser.error("leaving one book out takes two or more")
    stands = installed()
    with tempfile.TemporaryDirectory() as work:
        books = {folder.name: opened(folder, Path(work) / folder.name) for folder in arguments.folders}
        chosen: dict[str, Setting] = {}
        for title in books:
            others = {other: book for other, book in books.items() if other != title}
            print(f"without {title}")
            chosen[title] = choose(others, arguments.sweeps)
        figures = {
            "honest: chosen on the other books": measured(books, chosen),
            "training: the same on the books they were chosen on": trained(books, chosen),
            "neutral: chosen on none": measured(books, dict.fromkeys(books, BEGIN)),
            "as installed (seen on all of them)": measured(books, dict.fromkeys(books, stands)),
            "chosen without": chosen,
        }
        if arguments.moves:
            figures["what each weight moves from the installed ones"] = moves(books, stands)
        for book in books.values():
            book.engine.close()
    print(json.dumps({name: rows for name, rows in figures.items() if ":" in name}, ensure_ascii=False, indent=1))
    if not arguments.no_record:
        record.record("loo", figures, peers=[])


def opened(folder: Path, work: Path) -> Book:
    """A book whose truth is not part of its project."""
    lines = (folder / "truth" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines if line.strip()]
    asked = [
        (one["query"], [squeezed(quote["quote"]) for quote in one["evidence"]])
        for one in questions
        if one.get("evidence")
    ]
    project = copy_of(folder, work / "project", codex=False)
    return Book(armarius.open(project, watch=False, index_dir=work / "index"), asked)


if __name__ == "__main__":
    main()
