"""Run cases and print what fails: `python -m tests.hostile [--all] [--once] [--verbose] [words of names …]`."""

import json
import sys
import time

from tests.hostile.cases import all_cases
from tests.hostile.pool import Zygotes

words = [word for word in sys.argv[1:] if not word.startswith("--")]
cases = [case for case in all_cases().values() if case.often or "--all" in sys.argv or words]
names = [case.name for case in cases if all(word in case.name for word in words)]
if words and words[0] == "guilty":
    names = [f"guilty: {' '.join(words[1:])}"]
start = time.perf_counter()
with Zygotes() as zygotes:
    verdicts = zygotes.run(names, again="--once" not in sys.argv)
for verdict in verdicts:
    if verdict["faults"] or "--verbose" in sys.argv:
        print(verdict["case"], *verdict["faults"], sep="\n    ")
        if "--verbose" in sys.argv:
            print(json.dumps(verdict, ensure_ascii=False, indent=1))
failed = sum(bool(verdict["faults"]) for verdict in verdicts)
print(f"{len(verdicts)} cases, {failed} fail, {time.perf_counter() - start:.1f} s")
