"""Other words for a word: what a question may mean with words that the text does not use.

English by WordNet 3.1, which the package carries (`NOTICE.md`). Chinese by CC-CEDICT where the extra `armarius[cedict]`
is installed: its licence shares alike, so it is not carried; without it a Chinese word has no alternatives. Each
dictionary is read at the first word that needs it and kept: WordNet in a millisecond or two, CC-CEDICT in about a
second. Nothing is fetched. Safe from any thread. Why these: `docs/decisions/0063`.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from armarius.search.thesaurus.words import LONGEST, chinese_alternatives, english_alternatives, headwords

__all__ = ["near", "split"]

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_NONE: Mapping[str, float] = MappingProxyType({})


def near(word: str) -> Mapping[str, float]:
    """Alternatives of a word and what each is worth relative to it.

    English: the first three senses of each part of speech, sense r = 0, 1, 2 worth 1/(1 + r/2): synonyms 1, narrower
    (where there are at most 25), similar and derived words .5, broader words .3; of several ways to a word the best. An
    inflected form is looked up as itself, then as what it may be a form of. Chinese: .5 for one English gloss in
    common, .25 for each further one, at most 1; single characters count half.

    >>> list(near("marry").items())[:3]
    [('conjoin', 1.0), ('espouse', 1.0), ('wed', 1.0)]

    Function words are among them: what a search does not count it drops. An English alternative has three letters or
    more, and never the stem of the word itself; it is not stemmed.

    Args:
        word: One word of a text, in any case, or one piece that `split` gave.

    Returns:
        dict of length k, read only: lower-case words or runs of Han -> weights in (0, 1], heaviest first. Empty for a
        word that no dictionary has.
    """
    if _HAN.match(word):
        return chinese_alternatives(word)
    return english_alternatives(word.lower().replace("’", "'")) if word else _NONE


def split(piece: str) -> list[str]:
    """A run of Han as headwords of the dictionary, leftmost first, the longest that fits, and what is between them.

    The parts joined are the piece. Without a Chinese dictionary, and for text that is not Han, the piece is its only
    part.

    Args:
        piece: A run of Han without function words (they would join what they part).

    Returns:
        list of length k; headwords of up to four characters, and single characters.
    """
    table = headwords() if _HAN.match(piece) else None
    if table is None:
        return [piece] if piece else []
    parts, start = [], 0
    while start < len(piece):
        sizes = range(min(LONGEST, len(piece) - start), 1, -1)
        size = next((size for size in sizes if piece[start : start + size] in table), 1)
        parts.append(piece[start : start + size])
        start += size
    return parts
