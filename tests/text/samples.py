"""Varied strings: prose and code of several scripts, random characters, and what trips tokenizers up."""

import inspect
import json
import random
from pathlib import Path

ROOT = Path(__file__).parents[2]
ZH = "".join(p.read_text("utf-8") for p in sorted((ROOT / "examples/novel").rglob("*.md")))
EN = (ROOT / "DESIGN.md").read_text("utf-8") + (ROOT / "README.md").read_text("utf-8")
CODE = inspect.getsource(json.decoder) + inspect.getsource(random)
JA = "吾輩は猫である。名前はまだ無い。「ヴァイオリン」をカタカナで書く。どこで生れたかとんと見当がつかぬ。"
KO = "나는 고양이다. 이름은 아직 없다. 어디서 태어났는지 도무지 짐작이 가지 않는다. 민수는 집에 갔다."
OTHER = "Élodie's café; Мой кот спит и ест. Η γάτα κοιμάται. القطة نائمة. बिल्ली सो रही है। แมวนอนอยู่ Tiếng Việt rất đẹp."
AWKWARD = [
    *"aBzQéßſ中国的，。」…·0７1٣½Ⅷ'’s\u0301\u0308Джāا्ไท々〇⺀ーかカ가힣ʰǅΩ_-=/\\#@$€",
    *" \n\r\t\u3000\u00a0\x00\x85\u2028\ufeff\u200d\ufe0f\ue000\U0010ffff\U00020000\U0001d4b3",
    *[
        "  ",
        "\r\n",
        "\n\n",
        "'s",
        "'LL",
        "'Re",
        "'ſ",
        "😀",
        "👨‍👩‍👧",
        "//",
        "==",
        ".\n/",
        "，\n",
        "<|endoftext|>",
        "[INST]",
    ],
    *["\u1112\u1161\u11ab", "か\u3099", "A\u030a", "\u212b", "\u0e33", "<｜end▁of▁sentence｜>"],
]


def _slice(rng: random.Random, text: str, longest: int) -> str:
    at = rng.randrange(len(text))
    return text[at : at + rng.randrange(1, longest)]


def _characters(rng: random.Random, ranges: list[tuple[int, int]]) -> str:
    return "".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(rng.randrange(1, 50)))


def sample(rng: random.Random) -> str:
    """One string of 1 to about 300 characters."""
    kind = rng.randrange(20)
    if kind < 4:
        return _slice(rng, ZH, 200)
    if kind < 6:
        return _slice(rng, EN, 300)
    if kind < 8:
        return _slice(rng, CODE, 300)
    if kind < 10:
        return "".join(_slice(rng, rng.choice([JA, KO, OTHER, ZH]), 40) for _ in range(3))
    if kind == 10:
        return _characters(rng, [(0x4E00, 0xA000), (0x3400, 0x4DC0), (0x3041, 0x3100), (0xAC00, 0xD7A4)])
    if kind == 11:
        return _characters(rng, [(0x20, 0x250), (0x370, 0x600), (0x900, 0xE80), (0x1F300, 0x1F700), (0x2000, 0x2070)])
    if kind == 12:
        return rng.choice(AWKWARD) * rng.randrange(1, 300)
    return "".join(rng.choice(AWKWARD) for _ in range(rng.randrange(1, 40)))


def samples(count: int, seed: int) -> list[str]:
    """The same strings for the same seed."""
    rng = random.Random(seed)
    return [sample(rng) for _ in range(count)]
