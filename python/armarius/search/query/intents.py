"""What a request asks for by its verb: one table, `lexicon/intents.toml`; what is in none of its rows is a question.

rename     改名 林默 为 林渊, "rename Pip to Philip"            summarise  总结第3到5章, "summarise this chapter"
state      截至第42章林默有什么, "state of Pip after chapter 12"  write      写第202章, 写下一章, "draft chapter 12"
present    这一段谁在场, "who is in this scene"                  continue   续写, "keep going", or the skill of a host
check      检查第3章的一致性, "check chapter 3"
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

from armarius.documents.units import CHAPTERS, VOLUMES, names, volume_number
from armarius.lexicon import word_file
from armarius.search.query.chapters import ChapterReference, chapter_references
from armarius.search.query.kinship import Phrases, tokens_of
from armarius.types import FetchRequest

Name = Literal["", "rename", "state", "present", "check", "summarise", "write", "continue"]
READINGS: tuple[Name, ...] = ("present", "check", "summarise")
"""Intents that read chapters, and whose requests hold no other words."""


class Meant(NamedTuple):
    """What a request asks for.

    Attributes:
        intent: The row of the table; "" is a question.
        numbers: The chapters that it names, ascending runs as written; of a request to write, those alone.
        volume: The volume it names, or None.
        plans: It speaks of a plan.
        next: It is to write the next chapter.
        names: Of `rename`, the name as it is and as it is to be.
        as_of: Of `state`, the chapter after which nothing counts; None is the current one.
        place: Of those that read: the scene around the cursor, or the story up to the chapter that is named or open.
        needs_place: It names chapters or a scene, or is a question.
    """

    intent: Name = ""
    numbers: tuple[int, ...] = ()
    volume: int | None = None
    plans: bool = False
    next: bool = False
    names: tuple[str, str] = ("", "")
    as_of: int | None = None
    place: Literal["", "scene", "story"] = ""
    needs_place: bool = False

    @property
    def parts(self) -> frozenset[str]:
        """What its prompt holds; of a question what its words find."""
        return frozenset(_row(self.intent)["parts"].split()) if self.intent else frozenset({"passages"})

    @property
    def continues(self) -> bool:
        """The story goes on."""
        return self.intent in ("write", "continue")


_OF_CHAPTERS = re.compile(
    rf"{names('han', *CHAPTERS)}|{names('hangul', *CHAPTERS)}|{names('latin', 'chapter', 'episode')}|\b(?:ch|chap|ep)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\w")
_WORDS = re.compile(r"[^\W_]+")
_FILLER = "me|us|up|out|the|a|an|my|our|full|whole|text|of|draft|for|scene|rest|prose"
_NEXT = rf"(?:下\s*一?\s*{names('han', 'chapter', 'round', 'episode')}|(?:the\s+)?(?:next|following)\s+chapter\b)"
_QUOTES = "“”\"「」『』《》‘’'"
_NAME = rf"[{_QUOTES}]?(?P<{{}}>[^，,。！!？?：:；;\n{_QUOTES}]{{{{1,40}}}}?(?:['’][^\W\d_]+)*)[{_QUOTES}]?"


def asked_for(request: FetchRequest) -> Meant:
    """What a request asks for: by its words, by `story`, its skill, or by saying nothing else. Cost: as `meant`."""
    if request.query.strip():
        found = meant(request.query)
    else:
        says_more = request.selection or request.additional_input.strip() or request.messages
        found = Meant() if says_more or not request.document else Meant("continue")
    named = {word.casefold() for word in _WORDS.findall(request.skill.replace("_", " "))}
    goes_on = request.story or not named.isdisjoint(words("continue", "skills"))
    return found._replace(intent="continue") if goes_on and not found.intent else found


@lru_cache(maxsize=64)
def meant(query: str) -> Meant:
    """Read a request. Cost: a search for the patterns of each row; about 0.1 ms."""
    said = query.translate(_simplified())
    references = [one for one in chapter_references(said) if not one.excluded] if _OF_CHAPTERS.search(said) else []
    references = [one for one in references if said[one.start : one.end] not in _scenes()]
    named = [one for one in references if one.numbers and _OF_CHAPTERS.search(said[one.start : one.end])]
    numbers = tuple(dict.fromkeys(number for one in named for number in one.numbers))
    if (renamed := _renamed(said)) is not None:
        old, new = (query[start:end].strip() for start, end in renamed)
        return Meant("rename", numbers, names=(old, new))
    plans = _patterns().plans.search(said) is not None and bool(references or _patterns().next.search(said))
    question = Meant("", numbers, volume_number(said) if named else None, plans)
    if (reading := _reading(said, references)) is not None:
        intent, rows = reading
        place: Literal["", "scene", "story"] = "scene" if "scene" in rows else "story" if "story" in rows else ""
        return question._replace(intent=intent, place=place, needs_place="asks" not in rows)
    if (moment := _moment(said, references)) is not None:
        return question._replace(intent="state", as_of=moment or None)
    for one in named:
        if _patterns().verb.search(said, 0, one.start) or _patterns().behind.match(said, one.end):
            return question._replace(intent="write", numbers=one.numbers)
    if not named and _patterns().next.search(said):
        return question._replace(intent="write", next=True)
    text = said.strip().casefold()
    goes_on = _patterns().anywhere.search(text) or _patterns().begins.match(text) or _patterns().whole.fullmatch(text)
    return question._replace(intent="continue") if goes_on else question


def without_length(query: str) -> str:
    """A request with spaces for its length (2000字, "in three sentences"); a question as it is. Cost: as `meant`."""
    if not meant(query).intent:
        return query
    for found in _patterns().length.finditer(query.translate(_simplified())):
        query = _blank(query, *found.span())
    return query


def shares(intent: Name) -> Mapping[str, int]:
    """The shares of an intent in percent, by part."""
    found: Mapping[str, int] = _row(intent)["shares"]
    return found


@cache
def words(intent: Name, *rows: str) -> frozenset[str]:
    """The words of rows of an intent, as the table writes them."""
    return frozenset(word for row in rows for word in _row(intent)[row].split())


def _renamed(said: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the two names of a request to rename stand."""
    for pattern in _patterns().renames:
        found = pattern.fullmatch(said.strip(), 0)
        if found is None or any(_patterns().not_named.search(found[name]) for name in "ab"):
            continue
        shift = len(said) - len(said.lstrip())
        (first, last), (start, end) = found.span("a"), found.span("b")
        return (first + shift, last + shift), (start + shift, end + shift)
    return None


def _moment(said: str, references: Iterable[ChapterReference]) -> int | None:
    """The chapter as of which a state is asked for, 0 for the current one; None where none is."""
    by = _patterns()
    of_state = by.state.search(said) is not None
    for one in references:
        if _is_until(said, one) or (
            of_state and (by.after.search(said, 0, one.start) or by.moment_behind.match(said, one.end))
        ):
            return max(one.numbers, default=0)
    return 0 if of_state and by.now.search(said) else None


def _is_until(said: str, reference: ChapterReference) -> bool:
    """Whether a request speaks of everything up to a chapter."""
    before = _patterns().until.search(said, 0, reference.start)
    return before is not None or _patterns().until_behind.match(said, reference.end) is not None


def _reading(said: str, references: Iterable[ChapterReference]) -> tuple[Name, set[str]] | None:
    """The intent whose words alone are in a request, chapters and a length aside, and the rows that they are of."""
    if not _wanted().occur_in(said):
        return None
    until = any(_is_until(said, one) for one in references)
    for one in references:
        said = _blank(said, one.start, one.end)
    for found in _patterns().length.finditer(said):
        said = _blank(said, *found.span())
    tokens = tokens_of(said)
    for name, phrases in _readings().items():
        rest, rows = said, set()
        for phrase in phrases.find(said, tokens):
            rest = _blank(rest, phrase.start, phrase.end)
            rows.add(phrase.value)
        if until:
            rows.add("story")
        if rows & {"asks", "verbs"} and not _LETTER.search(rest):
            return name, rows
    return None


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


@cache
def _table() -> dict[str, Any]:
    return word_file("intents")


def _row(intent: Name) -> dict[str, Any]:
    row: dict[str, Any] = _table()[intent]
    return row


@cache
def _simplified() -> Mapping[int, str]:
    return str.maketrans({pair[0]: pair[1] for pair in _table()["traditional"].split()})


@cache
def _scenes() -> frozenset[str]:
    return frozenset(_table()["scene"].split())


@cache
def _readings() -> Mapping[Name, Phrases[str]]:
    found: dict[Name, Phrases[str]] = {}
    for name in READINGS:
        own = {word: row for row in ("asks", "verbs") for word in _row(name)[row].split()}
        places = {word: row for row in ("scene", "story") for word in _table()[row].split()} if name != "check" else {}
        found[name] = Phrases(dict.fromkeys(_row(name)["beside"].split(), "beside") | places | own)
    return found


@cache
def _wanted() -> Phrases[bool]:
    """A word of any row that reads: most questions have none."""
    return Phrases({word: True for name in READINGS for word in words(name, "asks", "verbs")})


class _Patterns(NamedTuple):
    renames: tuple[re.Pattern[str], ...]
    not_named: re.Pattern[str]
    until: re.Pattern[str]
    until_behind: re.Pattern[str]
    state: re.Pattern[str]
    after: re.Pattern[str]
    moment_behind: re.Pattern[str]
    now: re.Pattern[str]
    length: re.Pattern[str]
    verb: re.Pattern[str]  # before a chapter's number
    behind: re.Pattern[str]  # behind it
    next: re.Pattern[str]
    plans: re.Pattern[str]
    anywhere: re.Pattern[str]
    begins: re.Pattern[str]
    whole: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    table, rename, state, write = _table(), _row("rename"), _row("state"), _row("write")
    courtesy = rf"(?:(?:{_either(table['courtesy'])})[\s,，]*){{0,6}}"
    parts = {"<of>": rename["of"], "<a>": _NAME.format("a"), "<b>": _NAME.format("b")}
    renames = []
    for pattern in rename["patterns"]:
        for mark, part in parts.items():
            pattern = pattern.replace(mark, part)
        renames.append(compiled(rf"{courtesy}{pattern}{rename['tail']}"))
    han, latin = _either(write["verbs"]), _either(write["latin"])
    volume = rf"第\S{{1,4}}{names('han', *VOLUMES)}的?"
    written = rf"(?<![描抄听])(?:{han})(?:一下|一写|出|好|完|下)?(?:小说|正文|故事)?(?:的|{volume})?\s*"
    said = rf"(?:^|[.,;:!?—-]\s*|\b(?:{_either(write['latin_before'])})\s+)(?:{latin})\s+(?:(?:{_FILLER})\s+){{0,4}}"
    planned = write["plans"].split()
    unspaced, spaced = (_either(" ".join(one for one in planned if one.isascii() == is_)) for is_ in (False, True))
    goes_on = _row("continue")
    return _Patterns(
        renames=tuple(renames),
        not_named=compiled(rename["not_named"]),
        until=compiled(rf"{state['until']}\Z"),
        until_behind=compiled(state["until_behind"]),
        state=compiled(state["words"]),
        after=compiled(rf"{state['after']}\Z"),
        moment_behind=compiled(state["behind"]),
        now=compiled(state["now"]),
        length=compiled(table["length"]),
        verb=compiled(rf"(?:{written}|{said})\Z"),
        behind=compiled(
            r"\s*[，,]?\s*的?(?:正文|内容)?[，,]?\s*"
            r"(?:(?:续|扩|重|改)写|起草|开写|写(?:出来|完|好|一下|吧|$|[，。！,.!]))(?![了没得])"
        ),
        next=compiled(rf"(?:{written}|{said}){_NEXT}|^\s*{_NEXT}(?:\s+please)?\s*[.!。！吧]*\s*$"),
        plans=compiled(rf"{unspaced}|\b(?:{spaced})\b"),
        anywhere=compiled(_either(goes_on["anywhere"])),
        begins=compiled(rf"{courtesy}(?:{_either(goes_on['begins'])})(?:[\s.!…,]|$)"),
        whole=compiled(rf"{courtesy}(?:{_either(goes_on['whole'])})[\s.!…。！～~]*"),
    )


def _either(words: str) -> str:
    ordered = sorted(set(words.split()), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\-", r"\s+") for word in ordered)
