"""Names in languages that write them with capitals: words that keep the capital where no sentence begins."""

import re
from collections import Counter
from collections.abc import Sequence

from armarius.names.lexicon import words
from armarius.names.raw_name import RawName

__all__ = ["latin_names"]

_WRITTEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[.!?:;\"“”‘’()\[\]\n—–…]|\S")
_ENDS = frozenset('.!?:;"“”‘’()[]\n—–…')
_SPOKE = frozenset(
    [
        "said",
        "asked",
        "cried",
        "replied",
        "answered",
        "says",
        "thought",
        "looked",
        "turned",
        "smiled",
        "nodded",
        "laughed",
        "whispered",
        "went",
        "came",
        "stood",
        "sat",
        "took",
        "returned",
        "shook",
        "had",
        "was",
        "would",
        "could",
    ]
)
_AT = frozenset(
    [
        "in",
        "at",
        "to",
        "from",
        "near",
        "into",
        "towards",
        "toward",
        "through",
        "around",
        "outside",
        "inside",
        "leaving",
        "reached",
    ]
)
# A word that is written small more often than this, against its capitals inside sentences, is a word.
_SMALL = 0.25
# So often behind a preposition of place, and hardly ever doing anything: a place.
_PLACED = 0.35
_ALONE = 0.05  # of its occurrences, so many without another name or a title


def latin_names(texts: Sequence[str], least: int) -> list[RawName]:
    """Names of one or several words, each form with its count."""
    capital, small = Counter[str](), Counter[str]()
    titled, acting, placed = Counter[str](), Counter[str](), Counter[str]()
    runs: Counter[tuple[str, ...]] = Counter()
    titles = words("latin", "titles") | words("latin", "male") | words("latin", "female")
    particles, calendar = words("latin", "particles"), words("latin", "calendar")
    called: Counter[tuple[str, str]] = Counter()  # title as written, and the name behind it
    for text in texts:
        run: list[str] = []
        begins, before = True, ""
        for match in _WRITTEN.finditer(text):
            written = match[0]
            if written in _ENDS:
                if written != "." or before.lower() not in titles:
                    _close(run, runs, acting, "")
                    begins = True
                continue
            bare = re.sub(r"['’]s$", "", written)
            if bare[:1].isupper() and bare[1:2].islower() and len(bare) > 1:
                if bare.lower() in titles or bare.lower() in calendar:
                    _close(run, runs, acting, "")
                else:
                    if not begins or before.lower() in titles:
                        capital[bare] += 1
                    if before.lower() in titles and before[:1].isupper():
                        titled[bare] += 1
                        called[
                            f"{before}." if text[match.start() - 2 : match.start() - 1] == "." else before, bare
                        ] += 1
                    if before.lower() in _AT:
                        placed[bare] += 1
                    if not run and begins:
                        run.append("")  # may be any word: only its behaviour elsewhere tells
                    run.append(bare)
                    if bare != written:
                        _close(run, runs, acting, "")
            elif run and written.lower() in particles and written.islower():
                run.append(written)
            else:
                _close(run, runs, acting, written.lower())
                if written.islower():
                    small[written] += 1
            begins, before = False, written
        _close(run, runs, acting, "")
    names = {
        word
        for word, count in capital.items()
        if count >= max(3, least // 3) and small[word.lower()] <= _SMALL * count and len(word) > 1
    }
    found = _forms(names, runs, titled, acting, placed, least)
    for (title, name), count in called.items():
        if count >= least and name in names:
            found.append(RawName(f"{title} {name}", count, "person", "a title and a name"))
    return found


def _close(run: list[str], runs: "Counter[tuple[str, ...]]", acting: "Counter[str]", behind: str) -> None:
    """A run of capitals ends; what stands behind says whether it acts."""
    while run and run[-1].islower():
        run.pop()
    if run and run != [""]:
        runs[tuple(run)] += 1
        if behind in _SPOKE:
            acting[run[-1]] += 1
    run.clear()


def _forms(
    names: set[str],
    runs: "Counter[tuple[str, ...]]",
    titled: "Counter[str]",
    acting: "Counter[str]",
    placed: "Counter[str]",
    least: int,
) -> list[RawName]:
    forms: Counter[tuple[str, ...]] = Counter()
    singles: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for run, count in runs.items():
        words_ = [word for word in run if word]
        if run[0] == "" and words_ and words_[0] not in names:
            words_ = words_[1:]  # a sentence began with a common word
        kept = [word for word in words_ if word in names or word.islower()]
        while kept and kept[0].islower():
            kept.pop(0)
        while kept and kept[-1].islower():
            kept.pop()
        if not kept or (len(kept) != len(words_) and len(words_) > 1 and not all(word in names for word in kept)):
            continue
        if len(kept) > 1:
            forms[tuple(kept[:4])] += count
        else:
            alone[kept[0]] += count
        for word in kept:
            if word in names:
                singles[word] += count
    found = []
    for word, count in singles.items():
        # A part that hardly stands by itself is no form of its own.
        by_itself = alone[word] - titled[word]
        if count >= least and by_itself >= max(2, _ALONE * count):
            found.append(RawName(word, count, _kind(word, count, titled, acting, placed), "capitals inside sentences"))
    for form, count in forms.items():
        if count >= least:
            kinds = [_kind(word, singles[word], titled, acting, placed) for word in form if word in names]
            kind = "place" if "place" in kinds and "person" not in kinds else kinds[-1]
            found.append(RawName(" ".join(form), count, kind, "words that stand together"))
    return found


def _kind(word: str, count: int, titled: "Counter[str]", acting: "Counter[str]", placed: "Counter[str]") -> str:
    if titled[word] * 10 >= count or acting[word] * 25 >= count:
        return "person"
    return "place" if placed[word] >= _PLACED * count else "thing"
