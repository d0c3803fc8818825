"""Proposals for names that no profile describes, found in Chinese or English text.

Proposals are for a writer to review. Evidence in English: capitals inside sentences, titles, speakers. Evidence in
Chinese: cohesion of characters, subject position, verbs of action and speech. Constants were set on Great Expectations,
红楼梦 and 二十年目睹之怪现状 (docs/decisions/0112).
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from armarius.codex.people import letters, title_gender, words
from armarius.documents.titles import parse_front_matter
from armarius.headings import count_noun
from armarius.lexicon import word_file
from armarius.text.unicode import fold, is_han

_RUN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_LONGEST = 4
# Least cohesion at any split: observed over expected frequency.
_TOGETHER = 12.0
# Least entropy of the neighbouring characters, in bits; a part of a word has a fixed neighbour.
_FREE = 1.6
_WHOLE = 0.6  # share of occurrences inside one longer name from which a form is only a part of it
_ACTS = 0.06  # share with a verb of action: a person
_STARTS = 0.22  # share at the beginning of a clause
_OPENS = 0.6  # share at the beginning of a clause: a person, if it has a family name
_MET = frozenset("和与见给对同跟向把被叫请")
_MEETS = 0.02  # share as an object of meeting or speech, without a family name: excludes adverbs
_DOUBLED = 0.05  # the same of a doubled character: 死死 is an adverb
_GONE_TO = 0.16  # share behind a verb of motion or location: a place
_PRONOUNS = frozenset("我你您他她咱")
_BY_PRONOUN = 0.08  # share next to a pronoun: 我方才, 莫非他, an adverb
_TIMES = 0.06  # share behind a number and a measure word: 一个老妈子, a noun
_POINTED = 0.15  # share behind a demonstrative: 那弓兵, a noun
_POINTED_FAMILY = 0.2  # the same with a family name: 尤三姐 has demonstratives too
_CLEAR = 3  # least count of either, to exclude chance
_POINTERS = frozenset("这那此该各众诸本某每")
_NO_START = frozenset("这那此该各众每某")  # not read as the family name 那
_FULL = 1.0  # least entropy after a family name with a known given name
_CLASSIFIERS = frozenset("个位名所座间家")
_BOUND = "的了着过们是不在有就也都又很把被个这那么吗呢吧啊呀些"
# Characters more common outside names: such a candidate needs more verbs of action.
_BEFORE = frozenset("那这向和与虽且待又同跟叫见把被对给")
_COUNTED = frozenset("大双二三四五六七八九十小老")
_SOFT = frozenset("之才以于同儿子一")


@dataclass(frozen=True, slots=True)
class RawName:
    """One form of a proposed name.

    Attributes:
        name: As written.
        count: Number of occurrences.
        kind: `person`, `place` or `thing`.
        reason: The evidence.
        aliases: Set when forms are grouped.
    """

    name: str
    count: int
    kind: str
    reason: str
    aliases: tuple[str, ...] = ()


def han_names(texts: Sequence[str], least: int) -> list[RawName]:
    """Names of two to four characters, with counts per form. Cost: three passes over the text."""
    runs = [run for text in texts for run in _RUN.findall(text)]
    singles = Counter("".join(runs))
    total = sum(singles.values())
    if total < 1_000:
        return []
    whole, grams = "\n".join(runs), Counter[str]()
    places: Iterable[int] = range(len(whole) - 1)
    for size in range(2, _LONGEST + 1):  # the parts of a frequent form are frequent
        grams.update(whole[at : at + size] for at in places)
        often = dict.fromkeys(at for at in places if grams[whole[at : at + size]] >= least)
        places = [at for at in often if at + 1 in often]
    barred = (letters("han", "function") | frozenset(f"{_BOUND}\n")) - _SOFT  # a line is a run
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
        and _is_collocation(gram, count, grams, singles, total)
    }
    # 贾宝玉: very frequent parts lower the cohesion.
    loose = {
        gram
        for gram, count in grams.items()
        if count >= least and len(gram) == 3 and gram[1:] in candidates and gram[0] in letters("han", "surnames")
    }
    seen = _neighbours(runs, candidates | loose)
    return _choose_names(candidates, loose, grams, seen, barred)


def _is_collocation(gram: str, count: int, grams: "Counter[str]", singles: "Counter[str]", total: int) -> bool:
    def count_of(part: str) -> int:
        return singles[part] if len(part) == 1 else grams[part]

    return all(count * total >= _TOGETHER * count_of(gram[:cut]) * count_of(gram[cut:]) for cut in range(1, len(gram)))


class _Contexts:
    """Counts of the contexts of a candidate."""

    __slots__ = ("acts", "by_pronoun", "gone_to", "left", "met", "numbered", "pointed", "right", "starts")

    def __init__(self) -> None:
        self.left: Counter[str] = Counter()
        self.right: Counter[str] = Counter()
        self.starts = self.acts = self.gone_to = self.met = self.by_pronoun = self.numbered = self.pointed = 0


def _neighbours(runs: Sequence[str], candidates: set[str]) -> dict[str, _Contexts]:
    acts, done_to = letters("han", "acts"), letters("han", "done_to")
    going, numbers = letters("han", "going"), letters("han", "numbers")
    measures = letters("han", "measures") | _CLASSIFIERS
    seen, starts = defaultdict[str, _Contexts](_Contexts), {gram[:2] for gram in candidates}
    for run in runs:
        for at in range(len(run) - 1):
            if run[at : at + 2] not in starts:
                continue
            for size in range(2, min(_LONGEST, len(run) - at) + 1):
                gram = run[at : at + size]
                if gram not in candidates:
                    continue
                stats = seen[gram]
                before, behind = run[at - 1 : at] if at else "", run[at + size : at + size + 1]
                stats.left[before or "^"] += 1
                stats.right[behind or "$"] += 1
                stats.starts += not before
                stats.acts += (behind in acts and bool(behind)) or (before in done_to and bool(before))
                stats.met += bool(before) and (before in done_to or before in _MET)
                stats.by_pronoun += before in _PRONOUNS or behind in _PRONOUNS
                stats.numbered += at > 1 and before in measures and run[at - 2] in numbers
                stats.pointed += before in _POINTERS or (at > 1 and before in measures and run[at - 2] in _POINTERS)
                stats.gone_to += bool(before) and before in going
    return seen


def _entropy(counts: "Counter[str]", edge: str) -> float:
    """Entropy in bits; each clause end counts as a distinct neighbour."""
    total = sum(counts.values())
    bits = 0.0
    for char, count in counts.items():
        share = count / total
        bits -= share * math.log2(1 / total if char == edge else share)
    return bits


def _choose_names(
    candidates: set[str], loose: set[str], grams: "Counter[str]", seen: dict[str, _Contexts], barred: frozenset[str]
) -> list[RawName]:
    addressed = words("han", "male") | words("han", "female") | words("han", "either")
    addressed |= words("han", "professions") | words("han", "wives")
    names: dict[str, RawName] = {}
    for gram in sorted(candidates | (loose - names.keys())):
        stats, count = seen[gram], grams[gram]
        if _entropy(stats.left, "^") < _FREE or _entropy(stats.right, "$") < _FREE:
            continue
        if not _is_compound(gram, count, grams, candidates) and (name := _classify_name(gram, count, stats, addressed)):
            names[gram] = name
    names |= _join_names(candidates - names.keys(), loose - candidates, grams, seen, names, addressed, barred)
    return [item for item in names.values() if not _is_fragment(item, names, grams)]


def _join_names(
    candidates: set[str],
    loose: set[str],
    grams: "Counter[str]",
    seen: dict[str, _Contexts],
    names: dict[str, RawName],
    addressed: frozenset[str],
    barred: frozenset[str],
) -> dict[str, RawName]:
    """Names supported by other names: family name and known given name, or a character of one with a title.

    Their own verbs of action are too few to accept them alone.
    """
    people = [name for name, item in names.items() if item.kind == "person"]
    chars = {char for name in people if len(name) <= 3 and not _ends_in_title(name, addressed) for char in name}
    chars -= _COUNTED | letters("han", "kin")
    made: dict[str, RawName] = {}
    for gram in sorted(candidates):
        stats, count = seen[gram], grams[gram]
        if gram[0] in barred | _BEFORE | _MET or (gram in loose and stats.starts < _STARTS / 2 * count):
            continue
        if min(_entropy(stats.left, "^"), _entropy(stats.right, "$")) < _FULL:
            continue
        family = 2 if gram[:2] in words("han", "compound_surnames") else 1
        rest = gram[family:]
        of_family = family == 2 or gram[0] in letters("han", "surnames")
        if of_family and len(rest) == 2 and rest in names and names[rest].kind == "person":
            made[gram] = RawName(gram, count, "person", f"a family name before {rest}")
        elif gram[0] in chars and rest in addressed and len(rest) > 1:
            made[gram] = RawName(gram, count, "person", "a character of a name with a title")
    return made


def _ends_in_title(gram: str, addressed: frozenset[str]) -> bool:
    return any(gram.endswith(title) and len(gram) > len(title) for title in addressed)


def _classify_name(gram: str, count: int, stats: _Contexts, addressed: frozenset[str]) -> RawName | None:
    """The candidate as a person or a place, or None."""
    acting, starting, gone_to = stats.acts / count, stats.starts / count, stats.gone_to / count
    of_number = all(char in _COUNTED for char in gram[:-1]) or (gram[0] in _COUNTED and gram[1:] in addressed)
    if (gram in addressed or of_number) and acting < 3 * _ACTS:
        return None
    common = letters("han", "bare_titles").issuperset(gram) or any(
        gram.endswith(noun) and gram.removesuffix(noun) not in letters("han", "surnames")
        for noun in words("han", "no_name")
    )
    if common or (gram[0] == gram[1] and stats.met < _DOUBLED * count):  # 少奶奶, 书房门口, 死死
        return None
    if not _SOFT.isdisjoint(gram[1:]) and acting < 2 * _ACTS:
        return None
    titled = _ends_in_title(gram, addressed)
    named = gram[0] in letters("han", "surnames") or gram[:2] in words("han", "compound_surnames")
    if (gram[-1] == "一" and not named) or (gram[-1] == "地" and acting >= _ACTS):  # 最后一, 郑重地
        return None
    alone = acting >= 2 * _ACTS and stats.met >= max(2, _MEETS * count)
    if (not titled or len(gram) == 2) and stats.numbered >= max(_CLEAR, _TIMES * count):
        return None
    if not titled and stats.pointed >= max(2 * _CLEAR, (_POINTED_FAMILY if named else _POINTED) * count):
        return None
    adverb = len(gram) == 2 and not titled and stats.by_pronoun >= max(_CLEAR, _BY_PRONOUN * count)
    if len(gram) == 2 and named and not titled:  # 胡乱, 满口: a family name is weak evidence for two characters
        named = stats.met >= max(1, _MEETS / 2 * count) or starting >= _OPENS
    if acting >= _ACTS and not adverb and starting >= _STARTS and (named or titled or alone):
        return RawName(gram, count, "person", f"acts or is spoken to {count_noun(stats.acts, 'time')}")
    if titled and named and starting >= _STARTS / 2:
        return RawName(gram, count, "person", "a family name with a title")
    # Two characters with such an ending name a district or a river; 花园, 后门 and 会馆 are common nouns.
    ends = letters("han", "places" if len(gram) > 2 else "short_places")
    if gram[-1] in ends and gone_to >= _GONE_TO / (2 if len(gram) > 2 else 1):
        return RawName(gram, count, "place", f"gone to or been at {count_noun(stats.gone_to, 'time')}")
    return None


def _is_compound(gram: str, count: int, grams: "Counter[str]", candidates: set[str]) -> bool:
    """Whether a form is a word and a name, or two names: 向袭人, 贾赦贾政."""
    if len(gram) == _LONGEST and gram[:2] in candidates and gram[2:] in candidates:
        return grams[gram[:2]] >= 2 * count and grams[gram[2:]] >= 2 * count
    rest = gram[1:]
    return len(rest) > 1 and gram[0] in _BEFORE and grams[rest] >= 2 * count


def _is_fragment(item: RawName, names: dict[str, RawName], grams: "Counter[str]") -> bool:
    return any(
        item.name in other
        and item.name != other
        and grams[other] >= _WHOLE * item.count
        and not other.endswith(item.name)
        for other in names
    )


_WRITTEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[.!?:;\"“”‘’()\[\]\n—–…]|\S")
_BEFORE_DIGIT = re.compile(r"\b([A-Z][a-z]+)[ #]\d")
_ENDS = frozenset('.!?:;"“”‘’()[]\n—–…')
# Ratio of lower-case uses to capitals inside sentences from which a form is a common word.
_SMALL = 0.25
_NUMBERED = 1 / 3  # share before a number: Scene 4, Phase 2
# Shares for a place: behind a preposition of place, and with a verb of action.
_PLACED = 0.35
_ALONE = 0.05  # share of occurrences without another name or a title


def latin_names(texts: Sequence[str], least: int) -> list[RawName]:
    """Names of one or several words, with counts per form."""
    capital, small = Counter[str](), Counter[str]()
    titled, acting, placed = Counter[str](), Counter[str](), Counter[str]()
    runs: Counter[tuple[str, ...]] = Counter()
    titles = words("latin", "titles") | words("latin", "male") | words("latin", "female")
    particles, calendar, at = (words("latin", row) for row in ("particles", "calendar", "at"))
    called: Counter[tuple[str, str]] = Counter()  # title as written, and the following name
    numbered = Counter[str]()
    for text in texts:
        run: list[str] = []
        numbered.update(_BEFORE_DIGIT.findall(text))
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
                if bare.lower() in titles or bare.lower().removesuffix("s") in calendar:
                    _close(run, runs, acting, "")
                else:
                    if not begins or before.lower() in titles:
                        capital[bare] += 1
                    if before.lower() in titles and before[:1].isupper():
                        titled[bare] += 1
                        called[
                            f"{before}." if text[match.start() - 2 : match.start() - 1] == "." else before, bare
                        ] += 1
                    if before.lower() in at:
                        placed[bare] += 1
                    if not run and begins:
                        run.append("")  # may be a common word: decided by its other occurrences
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
        if count >= max(3, least // 3)
        and small[word.lower()] <= _SMALL * count
        and numbered[word] <= _NUMBERED * count
        and len(word) > 1
    }
    result = _forms(names, runs, titled, acting, placed, least)
    for (title, name), count in called.items():
        if count >= least and name in names:
            result.append(RawName(f"{title} {name}", count, "person", "a title and a name"))
    return result


def _close(run: list[str], runs: "Counter[tuple[str, ...]]", acting: "Counter[str]", behind: str) -> None:
    """End a run of capitalised words; the following words show whether it acts."""
    while run and run[-1].islower():
        run.pop()
    if run and run != [""]:
        runs[tuple(run)] += 1
        if behind in words("latin", "acting"):
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
            words_ = words_[1:]  # the sentence begins with a common word
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
    result = []
    for word, count in singles.items():
        # A part that rarely stands alone is no separate form.
        by_itself = alone[word] - titled[word]
        if count >= least and by_itself >= max(2, _ALONE * count):
            result.append(RawName(word, count, _kind(word, count, titled, acting, placed), "capitals inside sentences"))
    for form, count in forms.items():
        if count >= least:
            kinds = [_kind(word, singles[word], titled, acting, placed) for word in form if word in names]
            kind = "place" if "place" in kinds and "person" not in kinds else kinds[-1]
            result.append(RawName(" ".join(form), count, kind, "words that stand together"))
    return result


def _kind(word: str, count: int, titled: "Counter[str]", acting: "Counter[str]", placed: "Counter[str]") -> str:
    if titled[word] * 10 >= count or acting[word] * 25 >= count:
        return "person"
    return "place" if placed[word] >= _PLACED * count else "thing"


_MOST = 2_000
_LINK = r"(?:!?\[\[[^\[\]\n]{0,200}\]\]|\[[^\[\]\n]{0,200}\]\([^()\n]{0,300}\))"
# Headings and lines of links; those of a template stand in every page.
_FRAME = re.compile(rf"^(?:[ ]{{0,3}}#{{1,6}}[ \t].*|[^\w\n]*{_LINK}(?:[^\w\n\[]*{_LINK})*[^\w\n]*)$", re.MULTILINE)
NameKind = Literal["person", "place", "thing"]


@dataclass(frozen=True, slots=True)
class ProposedName:
    """A name in the text that no profile describes.

    Attributes:
        name: The longest common form.
        aliases: Other probable forms, by count.
        kind: The probable kind.
        count: Occurrences of name and aliases.
        document: Path of its first occurrence.
        position: Offset of its first occurrence, in code points.
        reason: What speaks for it.
        known: Whether a profile describes it.
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
    """Propose names of a story, the most frequent first.

    Args:
        texts: Path and text of each document of the story, in its order.
        known: Described names, compared folded; they and their forms are left out. A title and a surname ("Mr Crane")
            excludes the bare surname, but no longer name that contains it.
        least: Least count of a name.
        keep_known: Mark described names instead of leaving them out.

    Returns:
        Proposals by count, ties by name.

    Cost: linear in the text; about 4 s for a novel of 800,000 Chinese characters, 1 s for one of 180,000 English words.
    """
    documents = list(texts)
    prose = [_FRAME.sub("", text[parse_front_matter(text)[1] :]) for _, text in documents]
    items = [*latin_names(prose, least), *han_names(prose, least)]
    described = {fold(name) for name in known}
    surnames = {bare for name in described if (bare := _drop_title(name)) != name}
    alike = surnames | {name.replace(".", "") for name in described}
    alike |= {word for name in described for word in name.split() if " " in name}  # Mysteries, of its Department
    made = []
    for item in group_forms(items):
        called = [fold(name) for name in (item.name, *item.aliases)]
        is_known = not described.isdisjoint(called) or not alike.isdisjoint((called[0].replace(".", ""), *called[1:]))
        if (is_known and not keep_known) or (is_han(called[0]) and called[0][:-1] in described):  # 林尘冷 of 林尘冷笑
            continue
        document, position = _first_mention(documents, (item.name, *item.aliases))
        made.append(
            ProposedName(item.name, item.aliases, item.kind, item.count, document, position, item.reason, is_known)  # type: ignore[arg-type]
        )
    return tuple(sorted(made, key=lambda item: (-item.count, item.name)))


def group_forms(items: Sequence[RawName]) -> list[RawName]:
    """Group forms of one name: a short form under the only long name that contains it."""
    items = sorted(items, key=lambda item: (-item.count, item.name))[:_MOST]
    by_name = {item.name: item for item in items}
    under: dict[str, str] = {}
    for item in items:
        longer = [other for other in items if item.name in other.name and _holds_name(other.name, item.name)]
        longer = [other for other in longer if not _is_wife(other, item)]
        titled = [other for other in longer if _drop_title(other.name) == item.name]
        if titled and len({title_gender(other.name.split()[0]) or "" for other in titled} - {""}) < 2:
            under |= {other.name: titled[0].name for other in titled[1:]}  # Mr. Vale, Uncle Vale
            longer = titled[:1]
        longer = [other for other in longer if other.kind == item.kind or other in titled]
        if longer and (len(longer) == 1 or longer[0].count >= 4 * longer[1].count):
            under[item.name] = longer[0].name
    groups: dict[str, list[RawName]] = {}
    for item in items:
        head = item.name
        seen = {head}
        while head in under and under[head] not in seen:
            head = under[head]
            seen.add(head)
        groups.setdefault(head, []).append(item)
    made = []
    for head, members in groups.items():
        lead = by_name[head]
        others = sorted((item for item in members if item.name != head), key=lambda item: (-item.count, item.name))
        # In Chinese text occurrences of a short form include those of the long one.
        total = max(item.count for item in members) if is_han(head[0]) else sum(item.count for item in members)
        made.append(replace(lead, aliases=tuple(item.name for item in others), count=total))
    return made


def _holds_name(long: str, short: str) -> bool:
    if long == short:
        return False
    if is_han(long[0]) and is_han(short[0]):
        if long == f"{short}儿":
            return True
        return len(short) >= 2 and long.endswith(short) and len(long) <= len(short) + 2
    return f" {short} " in f" {long} "


def _is_wife(long: RawName, short: RawName) -> bool:
    """Whether a title before a name that mostly stands without it makes another person: Mrs. Joe is not Joe."""
    title = long.name.partition(" ")[0].rstrip(".").lower()
    wife = title in words("latin", "by_marriage") and _drop_title(long.name) == short.name
    return wife and 2 * long.count < short.count


def _drop_title(name: str) -> str:
    """The single word behind a title ("Crane" of "Mr. Crane"); other names unchanged."""
    title, _, rest = name.partition(" ")
    titles = words("latin", "titles") | words("latin", "male") | words("latin", "female")
    return rest if rest and " " not in rest and title.rstrip(".").lower() in titles else name


def _first_mention(documents: Sequence[tuple[str, str]], names: Sequence[str]) -> tuple[str, int]:
    for path, text in documents:
        places = [at for name in names if (at := text.find(name)) >= 0]
        if places:
            return path, min(places)
    return "", 0
