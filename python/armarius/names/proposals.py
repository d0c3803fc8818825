"""Names of a story that nobody has described: found in the text alone, in both languages.

A proposal is for the writer to look at. What is looked for is how names behave: capital letters where no sentence
begins, titles, who speaks; in Chinese, characters that hold together, stand where a subject stands, act and are
spoken to. Constants were set on Great Expectations, 红楼梦 and 二十年目睹之怪现状 (docs/decisions/0112).
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from armarius.display import counted
from armarius.lexicon import word_file
from armarius.names.words import RawName, letters, words
from armarius.text.unicode import fold, is_han

__all__ = ["ProposedName", "han_names", "latin_names", "propose_names"]

_RUN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_LONGEST = 4
# How much more often characters stand together than by chance, at the least cut inside.
_TOGETHER = 12.0
# Bits of surprise about what stands beside it; a part of a word has a fixed neighbour.
_FREE = 1.6
_WHOLE = 0.6  # of the occurrences of a part, so many inside one longer name: it is only a part
_ACTS = 0.06  # of its occurrences, so many act: a person
_STARTS = 0.22  # so many stand where a clause begins
_OPENS = 0.6  # so many: a subject, and with a family name a person
_MET = frozenset("和与见给对同跟向把被叫请")
_MEETS = 0.02  # without a family name, so many are met or spoken to: an adverb is not
_GONE_TO = 0.16  # so many behind a verb of going or being somewhere: a place
_PRONOUNS = frozenset("我你您他她咱")
_BESIDE = 0.08  # so many beside a pronoun: 我方才, 莫非他, an adverb and no name
_TIMES = 0.06  # so many behind a number with a measure word: 一个老妈子, a noun and no name
_POINTED = 0.15  # so many behind this, that or every: 那弓兵, a noun and no name
_POINTED_FAMILY = 0.2  # likewise of what begins with a family name: 尤三姐 is pointed at too
_CLEAR = 3  # of either, not by chance
_POINTERS = frozenset("这那此该各众诸本某每")
_NO_START = frozenset("这那此该各众每某")  # begins no name, though 那 is a family name
_FULL = 1.0  # bits beside a family name with a given name that is known
_CLASSIFIERS = frozenset("个位名所座间家")
_BOUND = "的了着过们是不在有就也都又很把被个这那么吗呢吧啊呀些"
# In a name, and far oftener not: such a candidate must act much.
_BEFORE = frozenset("那这向和与虽且待又同跟叫见把被对给")
_COUNTED = frozenset("大双二三四五六七八九十小老")
_SOFT = frozenset("之才以于同儿子一")


def han_names(texts: Sequence[str], least: int) -> list[RawName]:
    """Names of two to four characters, each form with its count. Cost: three passes over the text."""
    runs = [run for text in texts for run in _RUN.findall(text)]
    singles = Counter("".join(runs))
    total = sum(singles.values())
    if total < 1_000:
        return []
    grams: Counter[str] = Counter()
    for run in runs:
        for size in range(2, _LONGEST + 1):
            grams.update(run[at : at + size] for at in range(len(run) - size + 1))
    barred = (letters("han", "function") | frozenset(_BOUND)) - _SOFT
    acts, no_end = letters("han", "acts"), letters("han", "no_end")
    no_name = words("han", "no_name")
    closed = frozenset(word_file("functions")["han"].split())
    candidates = {
        gram
        for gram, count in grams.items()
        if count >= least
        and not barred.intersection(gram[1:])
        and gram[0] not in _NO_START
        and (gram[0] not in barred or gram[0] in letters("han", "surnames"))
        and gram[-1] not in acts
        and gram[-1] not in no_end
        and gram not in no_name
        and gram not in closed
        and _holds_together(gram, count, grams, singles, total)
    }
    # 贾宝玉: where both parts are written thousands of times, together they need not be often.
    loose = {
        gram
        for gram, count in grams.items()
        if count >= least and len(gram) == 3 and gram[1:] in candidates and gram[0] in letters("han", "surnames")
    }
    seen = _neighbours(runs, candidates | loose)
    return _chosen(candidates, loose, grams, seen, barred)


def _holds_together(gram: str, count: int, grams: "Counter[str]", singles: "Counter[str]", total: int) -> bool:
    def often(part: str) -> int:
        return singles[part] if len(part) == 1 else grams[part]

    return all(count * total >= _TOGETHER * often(gram[:cut]) * often(gram[cut:]) for cut in range(1, len(gram)))


class _Seen:
    """What stands beside a candidate."""

    __slots__ = ("acts", "beside", "gone_to", "left", "met", "numbered", "pointed", "right", "starts")

    def __init__(self) -> None:
        self.left: Counter[str] = Counter()
        self.right: Counter[str] = Counter()
        self.starts = self.acts = self.gone_to = self.met = self.beside = self.numbered = self.pointed = 0


def _neighbours(runs: Sequence[str], candidates: set[str]) -> dict[str, _Seen]:
    acts, done_to = letters("han", "acts"), letters("han", "done_to")
    going, numbers = letters("han", "going"), letters("han", "numbers")
    measures = letters("han", "measures") | _CLASSIFIERS
    seen: dict[str, _Seen] = defaultdict(_Seen)
    for run in runs:
        for at in range(len(run) - 1):
            for size in range(2, min(_LONGEST, len(run) - at) + 1):
                gram = run[at : at + size]
                if gram not in candidates:
                    continue
                one = seen[gram]
                before, behind = run[at - 1 : at] if at else "", run[at + size : at + size + 1]
                one.left[before or "^"] += 1
                one.right[behind or "$"] += 1
                one.starts += not before
                one.acts += (behind in acts and bool(behind)) or (before in done_to and bool(before))
                one.met += bool(before) and (before in done_to or before in _MET)
                one.beside += before in _PRONOUNS or behind in _PRONOUNS
                one.numbered += at > 1 and before in measures and run[at - 2] in numbers
                one.pointed += before in _POINTERS or (at > 1 and before in measures and run[at - 2] in _POINTERS)
                one.gone_to += bool(before) and before in going
    return seen


def _entropy(counts: "Counter[str]", edge: str) -> float:
    """Bits; every clause end is a neighbour of its own."""
    total = sum(counts.values())
    bits = 0.0
    for char, count in counts.items():
        share = count / total
        bits -= share * math.log2(1 / total if char == edge else share)
    return bits


def _chosen(
    candidates: set[str], loose: set[str], grams: "Counter[str]", seen: dict[str, _Seen], barred: frozenset[str]
) -> list[RawName]:
    addressed = words("han", "male") | words("han", "female") | words("han", "either")
    addressed |= words("han", "professions") | words("han", "wives")
    found: dict[str, RawName] = {}
    for gram in sorted(candidates | (loose - found.keys())):
        one, count = seen[gram], grams[gram]
        if _entropy(one.left, "^") < _FREE or _entropy(one.right, "$") < _FREE:
            continue
        if not _put_together(gram, count, grams, candidates) and (name := _named(gram, count, one, addressed)):
            found[gram] = name
    found |= _joined(candidates - found.keys(), loose - candidates, grams, seen, found, addressed, barred)
    # 袭人姐姐 is how 袭人 is spoken to; 继之夫人 is somebody else.
    spoken = [title for title in words("han", "male") | words("han", "female") if len(title) == 2]
    found = {
        gram: one
        for gram, one in found.items()
        if not any(gram.endswith(title) and len(gram) > 3 and gram[:-2] in found for title in spoken)
    }
    return [one for one in found.values() if not _only_a_part(one, found, grams)]


def _joined(
    candidates: set[str],
    loose: set[str],
    grams: "Counter[str]",
    seen: dict[str, _Seen],
    found: dict[str, RawName],
    addressed: frozenset[str],
    barred: frozenset[str],
) -> dict[str, RawName]:
    """Names that others vouch for: a family name before a given name that is known, a character of one with a title.

    Both are introduced and spoken of more than they act, so that by themselves they would not do.
    """
    people = [name for name, one in found.items() if one.kind == "person"]
    given = {char for name in people if len(name) <= 3 and not _titled(name, addressed) for char in name}
    given -= _COUNTED | letters("han", "kin")
    made: dict[str, RawName] = {}
    for gram in sorted(candidates):
        one, count = seen[gram], grams[gram]
        if gram[0] in barred | _BEFORE | _MET or (gram in loose and one.starts < _STARTS / 2 * count):
            continue
        if min(_entropy(one.left, "^"), _entropy(one.right, "$")) < _FULL:
            continue
        family = 2 if gram[:2] in words("han", "compound_surnames") else 1
        rest = gram[family:]
        of_family = family == 2 or gram[0] in letters("han", "surnames")
        if of_family and len(rest) == 2 and rest in found and found[rest].kind == "person":
            made[gram] = RawName(gram, count, "person", f"a family name before {rest}")
        elif gram[0] in given and rest in addressed and len(rest) > 1:
            made[gram] = RawName(gram, count, "person", "a character of a name with a title")
    return made


def _titled(gram: str, addressed: frozenset[str]) -> bool:
    return any(gram.endswith(title) and len(gram) > len(title) for title in addressed)


def _named(gram: str, count: int, one: _Seen, addressed: frozenset[str]) -> RawName | None:
    """A person, a place, or nothing."""
    acting, starting, gone_to = one.acts / count, one.starts / count, one.gone_to / count
    of_number = all(char in _COUNTED for char in gram[:-1]) or (gram[0] in _COUNTED and gram[1:] in addressed)
    if (gram in addressed or of_number) and acting < 3 * _ACTS:
        return None
    if not _SOFT.isdisjoint(gram[1:]) and acting < 2 * _ACTS:
        return None
    titled = _titled(gram, addressed)
    named = gram[0] in letters("han", "surnames") or gram[:2] in words("han", "compound_surnames")
    alone = acting >= 2 * _ACTS and one.met >= max(2, _MEETS * count)
    if not titled and one.numbered >= max(_CLEAR, _TIMES * count):
        return None
    if not titled and one.pointed >= max(2 * _CLEAR, (_POINTED_FAMILY if named else _POINTED) * count):
        return None
    adverb = len(gram) == 2 and not titled and one.beside >= max(_CLEAR, _BESIDE * count)
    if len(gram) == 2 and named and not titled:  # 胡乱, 满口: a family name alone says little of two characters
        named = one.met >= max(1, _MEETS / 2 * count) or starting >= _OPENS
    if acting >= _ACTS and not adverb and starting >= _STARTS and (named or titled or alone):
        return RawName(gram, count, "person", f"acts or is spoken to {counted(one.acts, 'time')}")
    if titled and named and starting >= _STARTS / 2:
        return RawName(gram, count, "person", "a family name with a title")
    # Two characters name a district or a river; 花园, 后门 and 会馆 are what they say.
    ends = letters("han", "places" if len(gram) > 2 else "short_places")
    if gram[-1] in ends and gone_to >= _GONE_TO / (2 if len(gram) > 2 else 1):
        return RawName(gram, count, "place", f"gone to or been at {counted(one.gone_to, 'time')}")
    return None


def _put_together(gram: str, count: int, grams: "Counter[str]", candidates: set[str]) -> bool:
    """向袭人, 贾赦贾政: a word before a name, two names."""
    if len(gram) == _LONGEST and gram[:2] in candidates and gram[2:] in candidates:
        return grams[gram[:2]] >= 2 * count and grams[gram[2:]] >= 2 * count
    rest = gram[1:]
    return len(rest) > 1 and gram[0] in _BEFORE and grams[rest] >= 2 * count


def _only_a_part(one: RawName, found: dict[str, RawName], grams: "Counter[str]") -> bool:
    return any(
        one.name in other and one.name != other and grams[other] >= _WHOLE * one.count and not other.endswith(one.name)
        for other in found
    )


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


_MOST = 2_000
NameKind = Literal["person", "place", "thing"]


@dataclass(frozen=True, slots=True)
class ProposedName:
    """A name that the text uses and no profile describes.

    Attributes:
        name: Its fullest common form.
        aliases: Other forms that are likely it, by count.
        kind: What it probably is.
        count: How often name and aliases are written.
        document: Where it is written first.
        position: There, code points.
        reason: What speaks for it.
        known: Whether it is described already.
    """

    name: str
    aliases: tuple[str, ...]
    kind: NameKind
    count: int
    document: str
    position: int
    reason: str
    known: bool = False


def propose_names(
    texts: Iterable[tuple[str, str]], *, known: Iterable[str] = (), least: int = 10, keep_known: bool = False
) -> tuple[ProposedName, ...]:
    """The names of a story, most written first.

    Args:
        texts: Path and text of each document of the story, in its order.
        known: Names that are described already, compared folded; they and their forms are left out. A title and a
            surname ("Mr Crane") makes the bare surname known, and no longer name that holds it.
        least: How often a name must be written.
        keep_known: Mark those that are described instead.

    Returns:
        Proposals by count, ties by name.

    Cost: linear in the text; about 4 s for a novel of 800,000 Chinese characters, 1 s for one of 180,000 English words.
    """
    documents = list(texts)
    found = [*latin_names([text for _, text in documents], least), *han_names([text for _, text in documents], least)]
    described = {fold(name) for name in known}
    surnames = {bare for name in described if (bare := _untitled(name)) != name}
    alike = surnames | {name.replace(".", "") for name in described}
    made = []
    for one in grouped(found):
        called = [fold(name) for name in (one.name, *one.aliases)]
        is_known = not described.isdisjoint(called) or called[0].replace(".", "") in alike
        if is_known and not keep_known:
            continue
        document, position = _first(documents, (one.name, *one.aliases))
        made.append(
            ProposedName(one.name, one.aliases, one.kind, one.count, document, position, one.reason, is_known)  # type: ignore[arg-type]
        )
    return tuple(sorted(made, key=lambda one: (-one.count, one.name)))


def grouped(found: Sequence[RawName]) -> list[RawName]:
    """Forms of one name together: a short one under the one long name that holds it."""
    found = sorted(found, key=lambda one: (-one.count, one.name))[:_MOST]
    by_name = {one.name: one for one in found}
    under: dict[str, str] = {}
    for one in found:
        alike = (other for other in found if other is not one and other.kind == one.kind)
        longer = [other for other in alike if _holds(other.name, one.name)]
        longer.sort(key=lambda other: -other.count)
        if longer and (len(longer) == 1 or longer[0].count >= 4 * longer[1].count):
            under[one.name] = longer[0].name
    groups: dict[str, list[RawName]] = {}
    for one in found:
        head = one.name
        seen = {head}
        while head in under and under[head] not in seen:
            head = under[head]
            seen.add(head)
        groups.setdefault(head, []).append(one)
    made = []
    for head, members in groups.items():
        lead = by_name[head]
        others = sorted((one for one in members if one.name != head), key=lambda one: (-one.count, one.name))
        # Within Chinese text a short form is counted inside the long one too.
        total = max(one.count for one in members) if is_han(head[0]) else sum(one.count for one in members)
        made.append(replace(lead, aliases=tuple(one.name for one in others), count=total))
    return made


def _holds(long: str, short: str) -> bool:
    if long == short:
        return False
    if is_han(long[0]) and is_han(short[0]):
        return len(short) >= 2 and long.endswith(short) and len(long) <= len(short) + 2
    return short in long.split() or f" {short} " in f" {long} "


def _untitled(name: str) -> str:
    """The one word behind a title ("Crane" of "Mr. Crane"); any other name as it is."""
    title, _, rest = name.partition(" ")
    titles = words("latin", "titles") | words("latin", "male") | words("latin", "female")
    return rest if rest and " " not in rest and title.rstrip(".").lower() in titles else name


def _first(documents: Sequence[tuple[str, str]], names: Sequence[str]) -> tuple[str, int]:
    for path, text in documents:
        places = [at for name in names if (at := text.find(name)) >= 0]
        if places:
            return path, min(places)
    return "", 0
