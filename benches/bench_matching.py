"""Matching beside ahocorasick_rs, daachorse, pyahocorasick and re: 2 kB and 1 MB, 100 to 100,000 aliases.

Chinese and English. Dense: the aliases are pieces of the text, of 2 to 4 characters; most of it is mentions.
ARMARIUS_CORPUS may name a folder with chapters/*.md; without it the shipped example is repeated. Times include
the boundary policy, folding and building the mentions; the peers have neither policy nor folding.
"""

import importlib
import re
from importlib.util import find_spec

import ahocorasick
import ahocorasick_rs
import pytest
from benches.matching_inputs import settings
from benches.record import interleaved, record

from armarius import EntityMatcher

FIGURES: dict[str, dict[str, object]] = {}


def spans_of_pyahocorasick(automaton, text):
    return [(end - length + 1, end + 1) for end, length in automaton.iter_long(text)]


@pytest.mark.parametrize("setting", list(settings()), ids=lambda s: f"{s[0]} {s[1]} {len(s[3])} aliases")
def test_matching_is_faster_than_its_peers(setting):
    language, size, text, aliases, origin = setting
    matcher = EntityMatcher({"id": str(number), "name": alias} for number, alias in enumerate(aliases))
    longest = ahocorasick_rs.MatchKind.LeftmostLongest
    rust = ahocorasick_rs.AhoCorasick(aliases, matchkind=longest)
    rust_bytes = ahocorasick_rs.BytesAhoCorasick([alias.encode() for alias in aliases], matchkind=longest)
    encoded = text.encode()
    c = ahocorasick.Automaton()
    for alias in aliases:
        c.add_word(alias, len(alias))
    c.make_automaton()

    mentions = matcher.find_all(text)
    spans = [(mention.start, mention.end) for mention in mentions]
    assert all(text[mention.start : mention.end] == mention.term for mention in mentions)
    contestants = {
        "armarius find_all": lambda: matcher.find_all(text),
        "armarius find_packed": lambda: matcher.find_packed([text]),
        "ahocorasick_rs str": lambda: rust.find_matches_as_indexes(text),
        "ahocorasick_rs bytes": lambda: rust_bytes.find_matches_as_indexes(encoded),
        "pyahocorasick": lambda: spans_of_pyahocorasick(c, text),
    }
    if find_spec("daachorse"):
        daachorse = importlib.import_module("daachorse")
        characters = daachorse.CharwiseDoubleArrayAhoCorasick(aliases, daachorse.MATCH_KIND_LEFTMOST_LONGEST)
        contestants["daachorse"] = lambda: characters.find(text)
        assert [span[:2] for span in characters.find(text)] == [one[1:] for one in rust.find_matches_as_indexes(text)]
    small, slow = size.startswith("2 kB"), {}
    alternatives = "|".join(re.escape(alias) for alias in sorted(aliases, key=len, reverse=True))
    if language == "zh":
        assert spans == [(start, end) for _, start, end in rust.find_matches_as_indexes(text)]
        assert spans == spans_of_pyahocorasick(c, text)
        pattern = re.compile(alternatives)
    else:
        pattern = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE)
    if len(aliases) <= (10_000 if small else 1_000):
        assert spans == [match.span() for match in pattern.finditer(text)]
        # Apart from the others: it is slow enough to empty their caches.
        slow = interleaved({"re": lambda: [match.span() for match in pattern.finditer(text)]}, rounds=5)

    timed = interleaved(contestants, rounds=60 if small else 15, inner=20 if small else 1) | slow
    ours = timed["armarius find_all"]
    ratios = {name: round(ours["p50"] / taken["p50"], 3) for name, taken in timed.items() if "armarius" not in name}
    FIGURES[f"{language} {size} {len(aliases)} aliases"] = {
        "text": origin,
        "mentions": len(mentions),
        "seconds": timed,
        "find_all relative to": ratios,
        "find_all relative to, by minima": {
            name: round(ours["min"] / taken["min"], 3) for name, taken in timed.items() if "armarius" not in name
        },
    }
    print(f"\n{ours['p50'] * 1e6:9.1f} µs, × the time of {ratios}")
    record("matching", FIGURES, peers=["ahocorasick_rs", "daachorse", "pyahocorasick"])
