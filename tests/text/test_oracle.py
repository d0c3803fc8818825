"""Against a naive oracle that shares no code with the matcher: Python's own tables, every span tried."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from armarius import EntityMatcher

LETTERS = "aAbﬁßİıéΣςк" + "Ａ１" + "_7 -'‘’ʼ" + "宝玉甄" + "エ" + "\u0301" + "😀𠮷" + "，。\n"
TEXTS = st.text(st.sampled_from(LETTERS), max_size=24)
ALIASES = st.lists(st.text(st.sampled_from(LETTERS), min_size=1, max_size=3), min_size=1, max_size=6)


def folded(text):
    ordinary = "".join(
        unicodedata.normalize("NFKC", c) if "\uff01" <= c <= "\uffee" or c == "\u3000" else c for c in text
    )
    caseless = unicodedata.normalize("NFD", ordinary).casefold()
    return unicodedata.normalize("NFC", re.sub("[‘’ʼ]", "'", caseless))


def joins(character):
    return unicodedata.combining(character) != 0


def spaced(character):
    han_or_kana = any(name in unicodedata.name(character, "") for name in ("CJK UNIFIED", "KATAKANA"))
    return (character.isalnum() or character == "_") and not han_or_kana and character != "ʼ"


def is_mention(text, start, end):
    before, after = text[start - 1 : start], text[end : end + 1]
    if joins(text[start]) and start > 0:
        return False
    if after and joins(after):
        return False
    outside_in_word = before and not joins(before) and spaced(before)
    if before and joins(before):
        base = start - 1
        while base > 0 and joins(text[base]):
            base -= 1
        outside_in_word = not joins(text[base]) and spaced(text[base])
    letters = [c for c in folded(text[start:end]) if not joins(c)]
    first, last = letters[0], letters[-1]
    if spaced(first) and outside_in_word:
        return False
    return not (after and spaced(last) and spaced(after))


def naive(aliases, text):
    wanted = {folded(alias.strip()) for alias in aliases}
    found, at = [], 0
    while at < len(text):
        ends = [e for e in range(len(text), at, -1) if folded(text[at:e]) in wanted and is_mention(text, at, e)]
        if ends:
            found.append((at, ends[0]))
            at = ends[0]
        else:
            at += 1
    return found


@given(ALIASES, TEXTS)
def test_find_all_equals_trying_every_span(aliases, text):
    aliases = [alias for alias in aliases if alias.strip() and not joins(alias.strip()[0])]
    if not aliases:
        return
    matcher = EntityMatcher([{"id": "a", "name": aliases[0], "aliases": aliases[1:]}])
    assert [(m.start, m.end) for m in matcher.find_all(text)] == naive(aliases, text)


def test_folding_equals_the_language_tables_for_every_character():
    """One alias per character: its folded form must find it."""
    tried = 0
    for code in range(0x80, 0x11_0000):
        character = chr(code)
        if unicodedata.category(character) in {"Cs", "Cn", "Mn", "Mc", "Me", "Cf", "Zs", "Zl", "Zp", "Cc"}:
            continue
        if character.casefold() == character:
            continue
        matcher = EntityMatcher([{"id": "a", "name": character.casefold()}])
        assert [(m.start, m.end) for m in matcher.find_all(f"-{character}-")] == [(1, 2)], hex(code)
        tried += 1
    assert tried > 1400
