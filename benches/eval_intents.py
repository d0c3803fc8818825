"""What a request asks for, of 1,000 sentences in five languages that were written without the table.

    python benches/eval_intents.py [--write]

The lines of even number (half `a`) may be looked at when the table is changed; those of odd number (`b`) judge it. The
table of today was made with `a` and with intents_train.jsonl (`train`), sentences that were written for it.
Writes benches/results/intents.json.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from armarius.search.query.recipe import understand

HERE = Path(__file__).parent


def main() -> None:
    lines = (HERE / "data" / "intents.jsonl").read_text("utf-8").splitlines()
    result = {}
    trained = (HERE / "data" / "intents_train.jsonl").read_text("utf-8").splitlines()
    for half, half_lines in (("train", trained), ("a", lines[::2]), ("b", lines[1::2])):
        rows = [json.loads(line) for line in half_lines]
        every: Counter[str] = Counter()
        right: Counter[str] = Counter()
        for row in rows:
            task = row["task"] or "ask"
            for key in (
                task,
                f"{row['language'][:2]} {'ask' if task == 'ask' else 'tasks'}",
                "tasks" * (task != "ask"),
            ):
                every[key] += 1
                right[key] += understand(row["text"]).task == task
        result[half] = {key: round(right[key] / every[key], 3) for key in sorted(every) if key}
        print(half, json.dumps(result[half]))
    if "--write" in sys.argv:
        (HERE / "results" / "intents.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
