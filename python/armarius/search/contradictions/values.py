"""What a sentence says of an attribute, in a form that two sentences can be compared by.

Five kinds of value can be compared without understanding the story: a place, a number of years, who of two is the
older, a part of the body, the colour of a thing. Two sentences compete when they speak of one attribute and share no
value; which of them is right is for the writer to say. A colour belongs to the thing next to it: eyes that rest on a
red coat are not red.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from armarius.documents.units import parse_numeral
from armarius.search.corpus import Corpus
from armarius.search.query.words import Phrases, attributes, table
from armarius.text.matcher import Mention
from armarius.text.unicode import blank_spans

_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_GROWN = rf"(?:(?:{_TENS})(?:[\s-](?:{_ONES}))?|{_TEENS}|[1-9]\d)(?![\w-])"
_EN = rf"(?:\d{{1,3}}|(?:{_TENS})(?:[\s-](?:{_ONES}))?|{_TEENS}|{_ONES})"
_YEARS = re.compile(
    r"(?<![比第])([零〇一二两三四五六七八九十百\d]{1,5})\s*岁"
    rf"|\b({_EN})[\s-]years?[\s-](?:old\b|of\sage\b)"
    rf"|\b(?:[Aa]ged|[Aa]ge\s*[:：]|age\sof)\s*({_EN})(?![\w-])"
    rf"|(?:\b(?:was|is|am|become)|[,:])\s(?:a|an)\s(?:\w+\s)?(?:man|woman|girl|boy|lady|person|child|lad)\sof\s({_GROWN})"
    rf"|(?:年龄|年纪|岁数|年岁|年齡)[*_\s]*[:：|][*_\s]*([零〇一二两三四五六七八九十百]{{1,5}}|\d{{1,3}})(?=\s*(?:$|[，,。；;、|（(*_]))"
    rf"|(?<!when\s)(?<!since\s)\b(?:[Hh]e|[Ss]he|I)\s(?:was|is|am)\s(?:only\s|just\s|now\s)?({_GROWN})(?=[.,;!?]|$|\sand\b)"
)
# Past that age already: later ones may be said as well. "At six she rose" is a clock.
_REACHED = re.compile(rf"\b[Aa]t\s({_GROWN}),?\s(?=he\b|she\b|they\b|[A-Z]\w)")
# 七岁那年, 从五岁起, "when she was five years old", "at the age of five": how old somebody has been.
_SINCE = re.compile(
    r"(?:自|从|從|打|那一?年[^，。；、：“”]{0,6})$|\bwhen\s$"
    r"|\b(?:when|since|while|until|till)\s(?:\w+\s){1,2}(?:was|were|turned)\s(?:only\s|just\s)?$"
    r"|\b(?:at|from|since|by|until|till)\s(?:the\s)?$",
    re.IGNORECASE,
)
_BACK_THEN = re.compile(
    r"(?:的)?(?:那一?年|那[时時天个個会會夜晚]|[时時](?!髦)|时候|時候|起|开始|開始|以来|以來|就|上(?!下)|生日)"
    r"|\s(?:when|at\sthe\stime|that\s(?:year|spring|summer|autumn|winter|day|night))\b"
)
_NOT_YET = re.compile(r"(?:[等直活长長][到她他]*到了?|将满|不到|未满|没到|还没|不足|[老大小长轻長輕]了)$")
_UNTIL = re.compile(r"(?:以|之)?[前后後]|(?:以|之)[上下内]|上下")
# One of these stands in everything that the patterns of ages find.
_NEAR = 80  # characters around a number in which such words stand
_AGES = re.compile(r"[岁比年齡]|[Yy]ear|[Aa]ge|\b(?:of|was|is|am|at)\s|than\b|er\s", re.IGNORECASE)
_WHO = r"[^，。；、：“”‘’！？\s的得]{1,6}?"
_OLDER_ZH = re.compile(
    rf"(?P<left>{_WHO})比(?P<right>{_WHO})(?P<way>年?[大长小幼]|年[长轻])(?=[一二两三四五六七八九十几\d]|些|$|[，。；、！？”])"
)
_OLDER_EN = re.compile(
    r"(?<![\w'’])(?P<left>[\w'’]+)(?:\s+\w+){0,6}?\s+(?P<way>older|younger|elder)\s+(?:than|sister of|brother of)\s+"
    r"(?P<right>[\w'’]+)",
    re.IGNORECASE,
)
_DIMENSIONS = {
    "age": ("age",),
    "house": ("place",),
    "mark": ("body",),
    "appearance": ("colour",),
    "wound": ("body",),
    "infirmity": ("body",),
}
# The attributes that sentences can be compared by when none is named.
ATTRIBUTES = tuple(_DIMENSIONS)
_HAIR = {"hair": ("头发", "发色", "长发", "短发", "白发", "黑发", "红发", "银发", "hair")}
_VAGUE = re.compile(r"的?颜色|\b(?:colou?rs?|of|the|her|his|their)\b", re.IGNORECASE)
_LINK = r"is|are|was|were|been|an?|the|very|almost|deep|dark|pale|light|bright|had|turned|gone|of|colou?r|clear|shade"
_AFTER = re.compile(
    rf"[,，]?[\s:：是为呈带很极的都珠子眸瞳浅深淡暗有些略发泛又乌]{{0,6}}(?:\b(?:{_LINK})\b[\s:]*){{0,4}}"
    r"(?:\ban?\s(?:(?!of\b)[^\W\d_]+,?\s){1,2})?",
    re.IGNORECASE,
)
_APPOSED = re.compile(r"\s(?:as|like|and)\b|\s*(?:[,，.。;；!！]|$)|[得如似]")  # behind "eyes, green"
_BEFORE = re.compile(r"[色的大小长短细]{0,3}|-?(?:,?\s*[^\W\d_]+(?:-[^\W\d_]+)?)?[\s-]+", re.IGNORECASE)
_MIXED = re.compile(r"色?[\s-]?")  # 灰蓝, grey-green: both


class Value(NamedTuple):
    """What a sentence gives, prefixed by its kind, and where: `sentence[start:end]`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Topic:
    """An attribute as it is looked for.

    Attributes:
        name: As asked for.
        named: Those of `ATTRIBUTES` that its name holds.
        dimensions: The kinds of value that are compared: age, place, body, colour.
        words: Any of them shows that a sentence speaks of it.
        valued: A sentence without a value says nothing of it; False when the attribute is not known to have any.
        things: What a colour is the colour of: name to words.
    """

    name: str
    named: tuple[str, ...]
    dimensions: tuple[str, ...]
    words: tuple[str, ...]
    valued: bool
    things: Mapping[str, tuple[str, ...]]

    def spoken_in(self, sentence: str) -> bool:
        """Whether a sentence has a word of the topic, as a whole word in any inflection."""
        return _phrases(self.words).occur_in(sentence)

    def occurs_in(self, text: str) -> bool:
        """Whether a text has a word of the topic or, of an age, a number of years, of whomever."""
        return self.spoken_in(text) or ("age" in self.dimensions and bool(_find_ages(text)))


@lru_cache(maxsize=64)
def topic_of(attribute: str) -> Topic:
    """The topic of an attribute name or of a question: 年龄, 住处, "eye colour".

    A part of the body is a topic of its own; what the vocabulary does not know is looked for as written.
    """
    named = tuple(dict.fromkeys(name for match in attributes().find(attribute) for name in match.value))
    dimensions = tuple(dict.fromkeys(item for name in named for item in _DIMENSIONS.get(name, ())))
    if "appearance" not in named and dimensions:
        rows = table("attributes")
        words = [word for name in named if name in _DIMENSIONS for word in rows[name]]
        for bears in ("mark", "wound"):  # 疤 in 疤痕
            if bears in named:
                words += [word for other in ("mark", "wound") for word in rows[other] if word in attribute]
        return _topic(attribute, named, dimensions, words, True, {})
    matches = _phrases(tuple(word for words in _body_parts().values() for word in words)).find(attribute)
    spans = [attribute[match.start : match.end] for match in matches]
    things = {name: words for name, words in _body_parts().items() if any(_phrases(words).find(span) for span in spans)}
    if things:
        words = [word for row in things.values() for word in row if len(word) > 1]
        return _topic(attribute, named, ("colour",), words + spans, False, things)
    if "appearance" in named:
        words = [word for row in _body_parts().values() for word in row if len(word) > 1]
        return _topic(attribute, named, ("colour",), [*table("attributes")["appearance"], *words], True, _body_parts())
    bare = _VAGUE.sub(" ", attribute).strip() or attribute
    words = [bare, *(word for name in named for word in table("attributes")[name])]
    return _topic(attribute, named, ("colour",), words, False, {"thing": tuple(words)})


def _topic(
    attribute: str,
    named: tuple[str, ...],
    dimensions: tuple[str, ...],
    words: Sequence[str],
    valued: bool,
    things: Mapping[str, tuple[str, ...]],
) -> Topic:
    every = tuple(dict.fromkeys(word.lower().replace("-", " ") for word in words))
    return Topic(attribute, named, dimensions, every, valued, things)


@cache
def _body_parts() -> dict[str, tuple[str, ...]]:
    """Parts of the body and hair; one of two (左手) also goes by what both are called (手)."""
    rows = {name: list(words) for name, words in (table("body") | _HAIR).items()}
    for name in [key for key in rows if part_of(key) != key]:
        if (whole := rows.get(part_of(name))) is not None:  # an eye has one colour, whichever it is
            whole += rows.pop(name)
        else:
            rows[name] += [word.removeprefix("left-").removeprefix("right-").lstrip("左右") for word in rows[name]]
    return {name: tuple(words) for name, words in rows.items()}


def part_of(name: str) -> str:
    """A part of the body without its side: `left_eye` is an `eye`."""
    return name.removeprefix("left_").removeprefix("right_")


def values_at(corpus: Corpus, sentence: str, mentions: Sequence[Mention], topic: Topic) -> frozenset[Value]:
    """The values that a sentence gives, of whomever; empty when it gives none.

    Args:
        corpus: For the types of entities.
        sentence: One sentence.
        mentions: The entities mentioned in it.
        topic: Which kinds of value count.
    """
    result: set[Value] = set()
    bare = without_names(sentence, mentions)  # a place called 翠 is not green
    if "place" in topic.dimensions:
        result |= {
            Value(f"place:{mention.entity_id}", mention.start, mention.end)
            for mention in mentions
            if corpus.entities[mention.entity_id].type == "location"
        }
    if "age" in topic.dimensions:
        result |= _find_ages(sentence)
    if "body" in topic.dimensions and _first_letters("body").search(bare):
        result |= {Value(f"body:{match.value}", match.start, match.end) for match in _values("body").find(bare)}
    if not topic.valued:  # which of two: 左手, 右手
        hands = [match for match in _values("body").find(bare) if match.value.startswith(("left", "right"))]
        result |= {Value(f"body:{match.value}", match.start, match.end) for match in hands}
    if "colour" in topic.dimensions and _first_letters("colour").search(bare):
        result |= _find_colours(bare, topic.things)
    return frozenset(result)


def without_names(sentence: str, mentions: Sequence[Mention]) -> str:
    """The sentence with spaces in place of the names in it."""
    return blank_spans(sentence, ((mention.start, mention.end) for mention in mentions))


def _find_ages(sentence: str) -> set[Value]:
    result: set[Value] = set()
    if not _AGES.search(sentence):
        return result
    for match in _YEARS.finditer(sentence):
        years = parse_numeral(next(filter(None, match.groups())))
        before = sentence[max(0, match.start() - 1) : match.start()]
        if years is not None and before not in ("大", "小", "长"):
            kind = _kind_of(sentence, match)
            result |= {Value(f"{kind}:{years}", match.start(), match.end())} if kind else set()
    result |= {
        Value(f"reached:{parse_numeral(match[1])}", match.start(), match.end()) for match in _REACHED.finditer(sentence)
    }
    for pattern in (_OLDER_ZH, _OLDER_EN):
        for match in pattern.finditer(sentence):
            left, right = match["left"], match["right"]
            younger = match["way"].lower() in ("小", "幼", "年幼", "年轻", "年小", "younger")
            result.add(Value(f"older:{right if younger else left}", match.start(), match.end()))
    return result


def _kind_of(sentence: str, match: re.Match[str]) -> str:
    """Of a number of years: how old somebody is, has been ("reached"), or neither (等到十八岁)."""
    before = sentence[max(0, match.start() - _NEAR) : match.start()]
    behind = sentence[match.end() : match.end() + _NEAR]
    if _NOT_YET.search(before) or _UNTIL.match(behind):
        return ""
    return "reached" if _SINCE.search(before) or _BACK_THEN.match(behind) else "years"


def _find_colours(sentence: str, things: Mapping[str, tuple[str, ...]]) -> set[Value]:
    """`<thing>:<colour>` wherever a colour stands next to its thing."""
    result: set[Value] = set()
    colours: list[tuple[int, int, list[str]]] = []
    for match in _values("colour").find(sentence):
        if colours and _MIXED.fullmatch(sentence, colours[-1][1], match.start):
            start, _, names = colours.pop()
            colours.append((start, match.end, [*names, match.value]))
        else:
            colours.append((match.start, match.end, [match.value]))
    for name, words in things.items() if colours else ():
        for thing in _phrases(words).find(sentence):
            for start, end, names in colours:
                if end <= thing.start:
                    between = _BEFORE.fullmatch(sentence, end, thing.start)
                elif thing.end <= start:
                    between = _AFTER.fullmatch(sentence, thing.end, start)
                    if between and between[0].strip() in (",", "，"):
                        between = _APPOSED.match(sentence, end)
                else:
                    between = re.match("", "")
                if between:
                    result |= {Value(f"{name}:{colour}", min(thing.start, start), end) for colour in names}
    return result


def without_parts(sentence: str) -> str:
    """The sentence with spaces in place of the parts of the body in it."""
    return blank_spans(sentence, ((match.start, match.end) for match in _values("body").find(sentence)))


@lru_cache(maxsize=256)
def _phrases(words: tuple[str, ...]) -> Phrases[bool]:
    return Phrases(dict.fromkeys(words, True))


@cache
def _values(kind: str) -> Phrases[str]:
    rows = table(kind)
    return Phrases({word: name for name, words in rows.items() for word in words})


@cache
def _first_letters(kind: str) -> re.Pattern[str]:
    """What a sentence without any value of this kind does not hold; looking costs next to nothing."""
    words = [word for row in table(kind).values() for word in row]
    latin = "|".join(sorted({re.escape(word.split("-")[0]) for word in words if word.isascii()}))
    other = "".join(sorted({word[0] for word in words if not word.isascii()}))
    return re.compile(rf"[{other}]|\b(?:{latin})", re.IGNORECASE)
