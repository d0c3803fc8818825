"""`python -m tests.fuzz [TARGET …] [--minutes M | --inputs N] [--seed S]`: mutated inputs, counted, found ones kept.

No coverage guides it: stable Rust has no instrumentation that a Python process could read. Inputs are seeds that are
cut, joined, repeated, flipped and given hostile pieces; every hundredth survivor joins the seeds, so that they drift
away. What fails is written to `tests/fuzz/found/TARGET/` and replayed by `make test`.
"""

import argparse
import hashlib
import json
import random
import sys
import time
from pathlib import Path

from tests.fuzz.targets import SEEDS, TARGETS

FOUND = Path(__file__).with_name("found")
PIECES = [
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n", b"\n\n", b"\xed\xa0\x80", b"[" * 50, b'{"a":' * 40, b"9" * 40,
    b"-1", b"1e999", b"NaN", b"null", b"true", b'""', b"'''", b'"""', b"\\u0000", b"../", b"<!--", b"]]>", b"```",
    b"{{", b"}}", b"<|im_start|>", "\u202e".encode(), "\u200d".encode(), "🇨🇳".encode(), "e\u0301".encode(),
    "宝玉".encode(), "第九十九章".encode(), "﷽".encode(), b"\x80" * 8, (2**63).to_bytes(8, "little"),
]  # fmt: skip
LONGEST = 2000


def mutated(chance, seeds):
    """One input."""
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(7):
            case 0 if data:
                data[at % len(data)] ^= 1 << chance.randrange(8)
            case 1:
                data[at:at] = chance.choice(PIECES)
            case 2:
                del data[at : at + chance.randrange(1, 20)]
            case 3:
                data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 8)))
            case 4:
                other = chance.choice(seeds)
                data[at:] = other[chance.randrange(len(other) + 1) :]
            case 5:
                data[at:at] = data[at : at + 30] * chance.randrange(1, 6)
            case _ if data:
                data[at % len(data)] = chance.randrange(256)
    return bytes(data[:LONGEST])


def run(name, *, inputs=None, seconds=None, seed=0):
    """How many inputs were tried, and those that failed with what they raised."""
    chance, target = random.Random(f"{seed}:{name}"), TARGETS[name]
    seeds, tried, failed = list(SEEDS[name]), 0, []
    end = time.monotonic() + seconds if seconds is not None else None
    for data in SEEDS[name]:
        target(data)
    while (inputs is None or tried < inputs) and (end is None or time.monotonic() < end):
        data = mutated(chance, seeds)
        tried += 1
        try:
            target(data)
        except BaseException as error:  # a panic of the core is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            failed.append((data, f"{type(error).__name__}: {error}"))
            if len(failed) >= 5:
                break
        else:
            if tried % 100 == 0 and len(seeds) < 500:
                seeds.append(data)
    return tried, failed


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []], default=[])
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--inputs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where the figures go")
    given = parser.parse_args()
    names = given.targets or list(TARGETS)
    seconds = None if given.minutes is None else given.minutes * 60 / len(names)
    inputs = given.inputs if seconds is None or given.inputs else None
    figures, bad = {}, 0
    for name in names:
        began = time.monotonic()
        tried, failed = run(name, inputs=inputs if inputs or seconds else 10_000, seconds=seconds, seed=given.seed)
        figures[name] = {"inputs": tried, "seconds": round(time.monotonic() - began, 1), "failed": len(failed)}
        print(f"{name}: {tried:,} inputs in {figures[name]['seconds']} s, {len(failed)} failed", flush=True)
        for data, what in failed:
            bad += 1
            folder = FOUND / name
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / hashlib.blake2b(data, digest_size=6).hexdigest()
            path.write_bytes(data)
            print(f"  {path.name}: {what[:200]}")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
