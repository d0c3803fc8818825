"""Fresh text counted by two builds of the core, by turns in one process: tells a few per cent on a busy machine.

    python -m benches.compare_counting OTHER/_core.abi3.so [FOLDER...]

Each FOLDER has chapters/*.md; the manual of the standard library is always counted. Every pass runs in a new thread,
which remembers no piece, and counts each stretch of 100 kB once with either build, in changing order; the counts must
be equal. Processor time of the thread, the median of the ratios of 24 passes.
"""

import importlib.util
import statistics
import sys
import threading
import time
from pathlib import Path
from pydoc_data.topics import topics
from types import ModuleType
from typing import Any

from benches.record import record

import armarius._core as this

_SIZE, _PASSES, _ENCODINGS = 100_000, 24, ("o200k_base", "cl100k_base")


def loaded(path: str) -> ModuleType:
    """The extension module in a file, beside the one that is installed."""
    spec = importlib.util.spec_from_file_location("other._core", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no extension module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compared(text: str, counters: dict[str, Any]) -> dict[str, object]:
    """The ratio of the times, and what each counted a second."""
    step = _SIZE * len(text) // len(text.encode())
    parts = [text[at : at + step] for at in range(0, len(text) - step, step)]
    size = sum(len(part.encode()) for part in parts)
    rates: dict[str, list[float]] = {name: [] for name in counters}

    def one(turn: int) -> None:
        spent = dict.fromkeys(counters, 0.0)
        for number, part in enumerate(parts):
            counts = []
            for name in sorted(counters, reverse=(number + turn) % 2 == 1):
                start = time.thread_time()
                counts.append(counters[name].count(part))
                spent[name] += time.thread_time() - start
            assert len(set(counts)) == 1, counts
        for name, seconds in spent.items():
            rates[name].append(size / seconds / 1e6)

    for turn in range(_PASSES):
        thread = threading.Thread(target=one, args=(turn,))
        thread.start()
        thread.join()
    ratios = [other / ours for other, ours in zip(rates["other"], rates["this"], strict=True)]
    low, _, high = statistics.quantiles(ratios, n=4)
    return {
        "time to the other build": round(statistics.median(ratios), 3),
        "quartiles": [round(low, 3), round(high, 3)],
        "MB/s": {name: round(statistics.median(values), 1) for name, values in rates.items()},
    }


def main(arguments: list[str]) -> None:
    """Compare, print, record."""
    other = loaded(arguments[0])
    texts = {"manual of Python": "\n".join(topics.values())}
    for folder in map(Path, arguments[1:]):
        texts[folder.name] = "".join(path.read_text("utf-8") for path in sorted(folder.glob("chapters/*.md")))
    figures: dict[str, object] = {}
    for encoding in _ENCODINGS:
        builds = {"this": this, "other": other}
        counters = {name: build.TokenCounter.for_encoding(encoding) for name, build in builds.items()}
        for counter in counters.values():
            counter.count("a")
        for name, text in texts.items():
            figures[f"{encoding}, {name}"] = found = compared(text, counters)
            print(encoding, name, found)
    record("counting_builds", figures)


if __name__ == "__main__":
    main(sys.argv[1:])
