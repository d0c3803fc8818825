"""What a request asks for, of sentences in five languages: how many tasks and questions are right.

    python benches/eval_intents.py [--write] [SET ...]

`held out` is of a model that was fitted without the set; `model` of the one in the package. Of intents.jsonl (1,000)
the lines of odd number (`b`), `d` and, of 400 sentences as users type them, `f` chose nothing. `g`, `j`, `k` and `l`
(9,739) were written by people who had seen neither table nor model; the features were chosen by what is right of them
when held out. `m` and `n` are mostly questions, `o` lines of pasted text. `h` (500, by another writer) judges all:
nothing is trained on it, and its misses are not read. Writes benches/results/intents.json.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import armarius.search.query.recipe as recipe
from armarius.search.query.words import LinearModel
from fit_intents import Row, cases, classes, fit, sentences

HERE = Path(__file__).parent


def shares(rows: list[Row]) -> dict[str, float]:
    """How much is right, by task, by language, and of all tasks."""
    every: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for row in rows:
        task = row["task"] or "ask"
        is_right = recipe.understand(row["text"]).task == task
        for key in (task, f"{row['language'][:2]} {'ask' if task == 'ask' else 'tasks'}", "tasks" * (task != "ask")):
            every[key] += 1
            right[key] += is_right
    return {key: round(right[key] / every[key], 3) for key in sorted(every) if key}


def main() -> None:
    sets = sentences()
    wanted = [name for name in sys.argv[1:] if name[0] != "-"] or [*sets, "h"]
    result = {}
    for name in wanted:
        rows = sets[name] if name in sets else sentences(["_h"])["h"]
        figures = {"model": shares(rows)}
        if name in sets:
            others = {other: rows for other, rows in sets.items() if other != name}
            model = LinearModel(fit(others | {"cases": cases()}, classes()))
            with patch.object(recipe, "_model", lambda model=model: model):
                figures["held out"] = shares(rows)
        result[name] = figures
        print(name, json.dumps(figures), flush=True)
    if "--write" in sys.argv:
        (HERE / "results" / "intents.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
