"""The score and the choice written down as plainly as they can be: dictionaries, lists, every text looked at."""

import math
from collections import Counter
from dataclasses import dataclass, field

import armarius._core as _core

WINDOW = 450  # wide characters; a narrow one counts 9/28
LEVELS = ("paragraph", "window", "unit", "line")
K1 = {"paragraph": 2.0, "window": 1.2, "unit": 1.2, "line": 1.2}
B = 0.75
B_ENTITY = {"paragraph": 0.3, "window": 0.75, "unit": 0.75, "line": 0.3}
FAMILIES = {"main": 1.0, "single": 0.5, "entity": 0.7, "synonym": 0.6}
WEIGHTS = {"paragraph": 1.0, "near": 0.3, "window": 0.75, "unit": 0.5, "line": 0.5, "asked": 6.0, "c": 0.2, "d": 0.2}

Wordings = list[tuple[str, float]]


@dataclass
class Row:
    """One paragraph: where it stands and what it says."""

    path: str
    index: int
    text: str
    body: bool
    kind: str
    unit: int
    chapter: int | None
    entities: dict[str, int]


@dataclass
class Question:
    """Groups of (family, wordings, entities) and chapter numbers."""

    groups: list[tuple[str, Wordings, Wordings]]
    asked: list[int] = field(default_factory=list)


def is_wide(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff"


def counted(row: Row) -> tuple[Counter[str], int]:
    """Terms of a paragraph, and its length: pairs and words."""
    terms = _core.terms(row.text)
    found = Counter(terms)
    found.update(character for character in row.text if is_wide(character))
    found.update({f"@{entity}": count for entity, count in row.entities.items()})
    return found, len(terms)


def frequency(found: Counter[str], wordings: Wordings, entities: Wordings) -> float:
    total = 0.0
    for text, factor in wordings:
        terms = _core.terms(text) or [character for character in text if is_wide(character)]
        total += factor * (min(found[term] for term in terms) if terms else 0)
    return total + sum(factor * found[f"@{entity}"] for entity, factor in entities)


def extent(text: str) -> int:
    wide = sum(ord(character) >= 0x2E80 for character in text)
    return wide + (len(text) - wide) * 9 // 28


def windows(rows: list[Row]) -> list[range]:
    """Grown on the shorter side, after it where both are equal; they begin and end in the order of their paragraphs."""
    found: list[range] = []
    for own, row in enumerate(rows):
        begin = end = own
        size = extent(row.text)
        while size < WINDOW:
            left = begin > 0 and rows[begin - 1].unit == row.unit
            right = end + 1 < len(rows) and rows[end + 1].unit == row.unit
            if right and (not left or end - own <= own - begin):
                end += 1
                size += extent(rows[end].text)
            elif left:
                begin -= 1
                size += extent(rows[begin].text)
            else:
                break
        if own > 0 and rows[own - 1].unit == row.unit:
            begin, end = max(begin, found[-1].start), max(end, found[-1].stop - 1)
        found.append(range(begin, end + 1))
    return found


def bm25(level: str, texts: list[range], rows: list[Row], question: Question) -> list[float]:
    terms = [counted(row) for row in rows]
    lengths = [sum(terms[i][1] for i in text) for text in texts]
    mean = max(sum(lengths) / max(len(texts), 1), 1e-9)
    sums = [0.0] * len(texts)
    for family, wordings, entities in question.groups:
        each = [frequency(found, wordings, entities) for found, _ in terms]
        frequencies = [sum(each[i] for i in text) for text in texts]
        held = sum(value > 0 for value in frequencies)
        rarity = math.log(1 + (len(texts) - held + 0.5) / (held + 0.5))
        k1, b = K1[level], B_ENTITY[level] if family == "entity" else B
        for i, value in enumerate(frequencies):
            if value:
                norm = k1 * (1 - b + b * lengths[i] / mean)
                sums[i] += FAMILIES[family] * rarity * value * (k1 + 1) / (value + norm)
    return sums


def over_best(values: list[float]) -> list[float]:
    best = max(values, default=0.0)
    return [value / best for value in values] if best else values


def score(rows: list[Row], question: Question) -> list[float]:
    units: dict[int, range] = {}
    for i, row in enumerate(rows):
        units[row.unit] = range(units.get(row.unit, range(i, i)).start, i + 1)
    own = over_best(bm25("paragraph", [range(i, i + 1) for i in range(len(rows))], rows, question))
    window = over_best(bm25("window", windows(rows), rows, question))
    whole = over_best(bm25("unit", list(units.values()), rows, question))
    lines = [
        unit
        for unit in units.values()
        if rows[unit.start].kind == "outline"
        and rows[unit.start].chapter is not None
        and any(rows[i].body for i in unit)
    ]
    said = bm25("line", lines, rows, question)
    told = []
    for unit in units.values():
        first = rows[unit.start]
        about = [value for line, value in zip(lines, said, strict=True) if rows[line.start].chapter == first.chapter]
        told.append(max(about, default=0.0) if first.kind == "chapter" and first.chapter is not None else 0.0)
    told = over_best(told)
    scores = []
    for i, row in enumerate(rows):
        unit = units[row.unit]
        near = sum(
            weight / 3 * own[j]
            for distance, weight in ((1, 1.0), (2, 0.5))
            for j in (i - distance, i + distance)
            if j in unit
        )
        asked = row.kind == "chapter" and row.chapter in question.asked
        signals = WEIGHTS["paragraph"] * own[i] + WEIGHTS["near"] * near + WEIGHTS["window"] * window[i] + WEIGHTS["c"]
        document = (
            WEIGHTS["unit"] * whole[row.unit] + WEIGHTS["line"] * told[row.unit] + WEIGHTS["asked"] * asked
        ) + WEIGHTS["d"]
        scores.append(signals * document if row.body else 0.0)
    return scores
