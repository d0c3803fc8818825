#!/usr/bin/env python3
"""Rebuild the embedded vocabularies from two published crates.

Run by hand, never by the build: `cargo fetch` the crates `tiktoken` 4.1.2 and `toktok-rs` 0.3.0 in a scratch
project, `pip install zstandard`, then `python rust/tokens/vocab/build.py`. The output is committed.

One file per vocabulary, little endian, uncompressed (the wheel is a zip and compresses it):

    "ATV2"   4 bytes
    count    u32      runs
    runs     3 x LEB128 x count: leave out so many tokens of the base, keep so many, then so many of this file's own
    lengths  LEB128 x own tokens, in rank order
    bytes    this file's own tokens grouped by length (ascending), each group in rank order

A token's rank is its position in the list that comes out. Four vocabularies are written over another (`BASE`), whose
tokens they share in nearly the same order: a fifth less in the wheel, for nothing at run time.

Left out: tokens that are control tokens of the chat format, and in qwen35 the tokens to which no merge leads; both
would otherwise be counted where the model's own tokenizer does not produce them. Every vocabulary is checked to be
reachable: merging the bytes of a token by rank gives that token, except where `WHOLE_PIECES` says that the tokenizer
also takes a whole piece from the vocabulary.
"""

import argparse
import itertools
import struct
from bisect import bisect_left
from collections import Counter, defaultdict
from pathlib import Path

import zstandard

HERE = Path(__file__).resolve().parent
NAMES = ["o200k_base", "cl100k_base", "deepseek_v3", "qwen2", "mistral_v3", "kimi_k2", "glm4", "glm5"]
BASE = {"qwen2": "cl100k_base", "qwen35": "cl100k_base", "glm4": "cl100k_base", "glm5": "glm4"}
# The one whose published file holds only what it has beyond its base.
BEYOND = ("glm5",)
# Tokens of control symbols that share the rank space: id ranges to leave out.
CONTROL = {"mistral_v3": range(1000), "deepseek_v3": range(3)}
WHOLE_PIECES = {"glm4", "glm5"}


def leb128(n: int) -> bytes:
    """Unsigned LEB128."""
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes([*out, n])


def read_tkv(path: Path) -> list[bytes]:
    """Tokens of one `.tkv.zst` frame of the tiktoken crate, in rank order."""
    data = zstandard.ZstdDecompressor().decompress(path.read_bytes(), max_output_size=1 << 26)
    count, _ = struct.unpack("<II", data[4:12])
    lengths, at = [], 12
    for _ in range(count):
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        lengths.append(n)
    sizes, cursor = Counter(lengths), {}
    for length in sorted(sizes):
        cursor[length] = at
        at += length * sizes[length]
    tokens = []
    for length in lengths:
        tokens.append(data[cursor[length] : cursor[length] + length])
        cursor[length] += length
    return tokens


def read_toktok(path: Path) -> list[bytes]:
    """Tokens of a `.vocab` file of the toktok-rs crate, without those that no merge produces."""
    data = path.read_bytes()
    (count,) = struct.unpack("<I", data[:4])
    at, by_rank = 4, {}
    for _ in range(count):
        (length,) = struct.unpack("<H", data[at : at + 2])
        token = data[at + 2 : at + 2 + length]
        (rank,) = struct.unpack("<I", data[at + 2 + length : at + 6 + length])
        by_rank[rank] = token
        at += 6 + length
    if data[at : at + 4] != b"SPL1":
        raise SystemExit(f"{path}: no merge section")
    left = data[at + 4 : at + 4 + count]
    return [by_rank[r] for r in range(count) if len(by_rank[r]) == 1 or left[r]]


def merge(token: bytes, ranks: dict[bytes, int]) -> int:
    """How many tokens merging `token` by rank leaves."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 1:
        best = min(((ranks.get(a + b, 1 << 30), i) for i, (a, b) in enumerate(itertools.pairwise(parts))))
        if best[0] == 1 << 30:
            break
        i = best[1]
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return len(parts)


def in_order(base: list[bytes], tokens: list[bytes]) -> dict[int, int]:
    """Position in `tokens` to position in `base`, of the longest common part that both have in the same order."""
    places = {token: place for place, token in enumerate(base)}
    common = [(at, places[token]) for at, token in enumerate(tokens) if token in places]
    lowest: list[int] = []  # the last place of the best chain of each length
    ends: list[int] = []
    before = []
    for number, (_, place) in enumerate(common):
        length = bisect_left(lowest, place)
        before.append(ends[length - 1] if length else -1)
        if length == len(lowest):
            lowest.append(place)
            ends.append(number)
        else:
            lowest[length], ends[length] = place, number
    chain, number = {}, ends[-1] if ends else -1
    while number >= 0:
        at, place = common[number]
        chain[at], number = place, before[number]
    return chain


def write(name: str, tokens: list[bytes], base: list[bytes]) -> None:
    """Write one vocabulary file over `base` (empty for most)."""
    kept, runs, own, at, here = in_order(base, tokens), [], [], 0, 0
    while here < len(tokens):
        start, copied, added = kept.get(here, at), here, len(own)
        skip, at = start - at, start
        while here < len(tokens) and kept.get(here) == at:
            at, here = at + 1, here + 1
        copied = here - copied
        while here < len(tokens) and here not in kept:
            own.append(tokens[here])
            here += 1
        runs.append((skip, copied, len(own) - added))
    groups = defaultdict(list)
    for token in own:
        groups[len(token)].append(token)
    body = b"".join(leb128(number) for run in runs for number in run) + b"".join(leb128(len(t)) for t in own)
    body += b"".join(b"".join(groups[k]) for k in sorted(groups))
    (HERE / f"{name}.bin").write_bytes(b"ATV2" + struct.pack("<I", len(runs)) + body)


def main() -> None:
    """Build every file and check it."""
    cargo = Path.home() / ".cargo/registry/src"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tiktoken", type=Path, help="source of the crate tiktoken 4.1.2")
    parser.add_argument("--toktok", type=Path, help="source of the crate toktok-rs 0.3.0")
    args = parser.parse_args()
    tiktoken = args.tiktoken or next(cargo.glob("*/tiktoken-4.1.2"))
    toktok = args.toktok or next(cargo.glob("*/toktok-rs-0.3.0"))
    files = {n: read_tkv(tiktoken / "src/encodings" / f"{n}.tkv.zst") for n in NAMES}
    files["qwen35"] = read_toktok(toktok / "data/qwen35.vocab")
    whole: dict[str, list[bytes]] = {}
    for name, tokens in files.items():
        kept = [t for i, t in enumerate(tokens) if i not in CONTROL.get(name, ())]
        whole[name] = whole[BASE[name]] + kept if name in BEYOND else kept
        ranks = {t: i for i, t in enumerate(whole[name])}
        if len(ranks) != len(whole[name]) or any(bytes([b]) not in ranks for b in range(256)):
            raise SystemExit(f"{name}: duplicate tokens or missing bytes")
        unreachable = sum(merge(t, ranks) > 1 for t in whole[name])
        if unreachable and name not in WHOLE_PIECES:
            raise SystemExit(f"{name}: {unreachable} tokens cannot be reached by merging")
        write(name, whole[name], whole[BASE[name]] if name in BASE else [])
        print(f"{name}: {len(whole[name])} tokens, {unreachable} only as whole pieces")


if __name__ == "__main__":
    main()
