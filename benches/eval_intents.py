"""What a request asks for, of sentences in five languages: by the table alone, and with the model of sentences.

    python benches/eval_intents.py [--write] [SET ...]

Of intents.jsonl (1,000, written without the table) the lines of even number (`a`) were looked at when the table was
made, those of odd number (`b`) judge it; so do `d` and, of 400 sentences as users type them, `f`. The table was also
made with `train`, `c` and `e`. `g`, `j` and `k` (6,803) were written for the model by people who had seen neither, `i`
by its maker, of misses. `h` (500, by another writer, without the table) judges all: nothing is trained on it, and its
misses are not read. `held out` is of a model that was fitted without the set. Writes benches/results/intents.json.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import armarius.search.query.recipe as recipe
from armarius.search.query.words import LinearModel
from fit_intents import Recorder, Row, cases, classes, fit, sentences

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
        with patch.object(recipe, "_model", Recorder):
            figures = {"table": shares(rows)}
        figures["model"] = shares(rows)
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
