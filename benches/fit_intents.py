"""Write the weights by which a request is taken for a task, from sentences whose task is known.

    python benches/fit_intents.py

Run by hand, never by the build. Reads benches/data/intents*.jsonl but for the set that only judges (`h`), and
tests/cases/intents.json; writes python/armarius/lexicon/intents.txt, which is committed (docs/decisions/0214).
A logistic regression by AdaGrad: fitted to all features, then again to those of the largest weights, then rounded.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, cast
from unittest.mock import patch

import numpy as np

import armarius.lexicon as lexicon
import armarius.search.query.recipe as recipe
from armarius.types import TaskName

HERE = Path(__file__).parent
OUTPUT = Path(lexicon.__file__).with_name("intents.txt")
SETS = ("", "_train", "_c", "_d", "_e", "_f", "_g", "_i", "_j", "_k", "_l", "_m", "_n", "_o")
LEAST, MOST = 3, 7000  # sentences that a feature must be in; features
UNITS, LIMIT = 8, 46  # of a weight of 1; the largest weight, in units
MIDDLE = 79  # code of the character of weight 0

Row = dict[str, Any]


def sentences(names: Iterable[str] = SETS) -> dict[str, list[Row]]:
    """The sentences by set; of the first file the lines of even number are `a`, the others `b`."""
    files = {
        name: list(map(json.loads, (HERE / "data" / f"intents{name}.jsonl").read_text("utf-8").splitlines()))
        for name in names
    }
    lines = files.pop("", [])
    return {"a": lines[::2], "b": lines[1::2]} | {name.lstrip("_"): rows for name, rows in files.items()}


def cases() -> list[Row]:
    """The rows of the tests, and verbs of the table that ask for their task with any object."""
    rows = json.loads((HERE.parent / "tests" / "cases" / "intents.json").read_text("utf-8"))
    for task in ("check", "summarise", "translate", "rewrite", "polish"):
        for verb in recipe._rows()[task]["verbs"].split():
            if verb.isascii() and verb.isalpha():
                rows[task] += [f"{verb} chapter 3", f"please {verb} this scene"]
            elif len(verb) == 2 and "\u4e00" <= min(verb) <= max(verb) <= "\u9fff":
                rows[task] += [f"{verb}第3章", f"请{verb}这一段"]
    return 5 * [{"text": text, "task": task or None} for task, texts in rows.items() for text in texts]


def misspelt(rows: Iterable[Row]) -> Iterable[Row]:
    """Each sentence with Latin words of five letters once more, one of them with a letter missing or two exchanged."""
    random = Random(0)
    for row in rows:
        if words := list(re.finditer("[a-zA-Z]{5,}", row["text"])):
            word = random.choice(words)
            at, kept = random.randrange(word.start() + 1, word.end() - 1), random.randrange(2)
            text = row["text"]
            yield {**row, "text": text[:at] + text[at + 1] + text[at] * kept + text[at + 2 :]}


@cache
def features(text: str) -> frozenset[str]:
    """What the model is given of a sentence."""
    with patch.object(recipe, "_model", Recorder):
        recipe.understand(text)
    return frozenset(Recorder.features)


class Recorder:
    """In the place of the model: keeps what it is asked, and answers what is the case without one."""

    features: set[str]

    def best(self, features: set[str], default: str, least: int) -> str:
        Recorder.features = features
        return default


def fit(sets: dict[str, list[Row]], classes: list[str]) -> str:
    """The text of the weights."""
    examples: list[tuple[frozenset[str], int]] = []
    for rows in sets.values():
        for row in [*rows, *misspelt(rows)]:
            Recorder.features = set()
            if own := features(row["text"]):
                examples.append((own, classes.index(row["task"] or "ask")))
    counts = Counter(item for own, _ in examples for item in own)
    names = sorted(name for name, count in counts.items() if count >= LEAST)
    weights = descend(examples, names, len(classes), epochs=4)
    largest = np.argsort(-np.abs(weights - weights.mean(1, keepdims=True)).max(1), kind="stable")[:MOST]
    names = sorted(names[place] for place in largest)
    weights = descend(examples, names, len(classes), epochs=10)
    units = np.rint((weights - np.median(weights, 1, keepdims=True)) * UNITS).clip(-LIMIT, LIMIT).astype(int)
    lines = ("".join(chr(MIDDLE + unit) for unit in row) for row in units.tolist())
    rows = (f"{name}\t{line}\n" for name, line in zip(names, lines, strict=True))
    return " ".join(classes) + "\n" + "".join(rows)


def descend(
    examples: list[tuple[frozenset[str], int]], names: list[str], classes: int, *, epochs: int
) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """The weights, (features, classes); a sentence counts each of its features over the root of their number."""
    places = {name: place for place, name in enumerate(names)}
    rows = [np.array(sorted(places[name] for name in own if name in places), dtype=np.int64) for own, _ in examples]
    weights, squares = np.zeros((len(names), classes)), np.full((len(names), classes), 1e-3)
    random = np.random.default_rng(0)
    for _ in range(epochs):
        for at in random.permutation(len(rows)):
            own, scale = rows[at], len(rows[at]) ** -0.5
            sums = weights[own].sum(0) * scale
            error = np.exp(sums - sums.max())
            error /= error.sum()
            error[examples[at][1]] -= 1
            slope = error * scale
            squares[own] += slope * slope
            weights[own] -= 0.3 * slope / np.sqrt(squares[own])
    return weights


def classes() -> list[str]:
    """The names of the tasks, `ask` first."""
    return ["ask", *sorted(cast("Iterable[TaskName]", recipe._rows().keys() - {"ask"}))]


def main() -> None:
    text = fit(sentences() | {"cases": cases()}, classes())
    OUTPUT.write_text(text, encoding="utf-8")
    print(len(text.splitlines()) - 1, "features,", len(text.encode()), "bytes")


if __name__ == "__main__":
    main()
