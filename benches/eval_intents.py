"""What a request asks for, of sentences in five languages.

    python benches/eval_intents.py [--write]

Of intents.jsonl (1,000, written without the table) the lines of even number (half `a`) may be looked at when the table
is changed, those of odd number (`b`) judge it. The table was made with `a`, with intents_train.jsonl (`train`),
sentences that were written for it, and later with intents_c.jsonl (`c`); intents_d.jsonl (`d`) judges it too. Of 400
sentences as users type them, short, without a reference, with errors, a hash chose half (`e`) to be looked at and half
(`f`) to judge. Writes benches/results/intents.json.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from armarius.search.query.recipe import understand

HERE = Path(__file__).parent
OTHERS = ("_train", "_c", "_d", "_e", "_f")


def main() -> None:
    lines, *others = (
        (HERE / "data" / f"intents{name}.jsonl").read_text("utf-8").splitlines() for name in ("", *OTHERS)
    )
    result = {}
    for name, part in zip(("a", "b", *(name[1:] for name in OTHERS)), (lines[::2], lines[1::2], *others), strict=True):
        rows = [json.loads(line) for line in part]
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
        result[name] = {key: round(right[key] / every[key], 3) for key in sorted(every) if key}
        print(name, json.dumps(result[name]))
    if "--write" in sys.argv:
        (HERE / "results" / "intents.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
