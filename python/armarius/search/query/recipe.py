"""What a request asks for, understood once: a row of `lexicon/intents.toml`; what is in none of them is a question.

rename     改名 林默 为 林渊, "rename Pip to Philip"            summarise  总结第3到5章, "summarise this chapter"
state      截至第12章林默有什么, "state of Pip after chapter 12"  write      写第202章, 写下一章, "draft chapter 12"
present    这一段谁在场, "who is in this scene"                  continue   续写, "keep going", or the skill of a host
check      检查第3章的一致性, "check chapter 3"                   translate  翻译第5章, "translate chapter 5"

Fetchers and search ask the recipe and not the task: what a row's prompt holds stands in the row (`Recipe.wants`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Literal, NamedTuple, cast

from armarius.documents.units import CHAPTERS, VOLUMES, names, volume_number
from armarius.lexicon import word_file
from armarius.search.query.chapters import ChapterReference, chapter_references
from armarius.search.query.words import KinshipMatch, Phrases, tokens_of
from armarius.types import Recipe, TaskName

_NOTHING = Recipe()
_MOST_LOOKED_UP = 400  # code points
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


def understand(
    query: str, *, asked: str = "", text: str = "", skill: str = "", story: bool = False, opened: bool = False
) -> Recipe:
    """What a request asks for.

    Args:
        query: The user's words.
        asked: The words with what they leave to earlier turns, where they leave something.
        text: What is looked up where there are no words: the text around the cursor.
        skill: What the host calls the task; where it names one (`task_of`), the words decide nothing else.
        story: The story goes on, where the words do not say what is wanted.
        opened: A document is open, and the request says nothing else.

    Cost: a search for the patterns of each row; about 0.1 ms.
    """
    words = (asked.strip() or query.strip() or text.strip())[:_MOST_LOOKED_UP]
    spelled = _read(words)
    if query.strip():
        recipe = spelled if words == query.strip() else _read(query)
    else:
        recipe = _of_row("continue") if opened else _NOTHING
    if recipe.task == "ask" and spelled.wants("chapters"):
        recipe = spelled
    if (task := task_of(skill)) is not None:
        recipe = _stated(recipe, task)
    elif recipe.task == "ask" and story:
        recipe = _of_row("continue", recipe)
    return _looked_up(recipe, words if spelled.task == "ask" else _without_length(words))


def _read(query: str) -> Recipe:
    """What the words of a request say."""
    said = query.translate(_simplified())
    references = [one for one in chapter_references(said) if not one.excluded] if _OF_CHAPTERS.search(said) else []
    references = [one for one in references if said[one.start : one.end] not in _scenes()]
    named = [one for one in references if one.numbers and _OF_CHAPTERS.search(said[one.start : one.end])]
    chapters = tuple(dict.fromkeys(number for one in named for number in one.numbers))
    if (renamed := _renamed(said)) is not None:
        old, new = (query[start:end].strip() for start, end in renamed)
        return _of_row("rename", Recipe(chapters=chapters, names=(old, new)))
    plans = _patterns().plans.search(said) is not None and bool(references or _patterns().next.search(said))
    recipe = _of_row("ask", Recipe(chapters=chapters, volume=volume_number(said) if named else None, plans=plans))
    if (reading := _reading(said, references)) is not None:
        task, rows = reading
        scope: Literal["", "scene", "story"] = "scene" if "scene" in rows else "story" if "story" in rows else ""
        return _of_row(task, replace(recipe, scope=scope, opened="asks" in rows))
    if (moment := _moment(said, references)) is not None:
        return _of_row("state", replace(recipe, as_of=moment or None))
    for one in named:
        if _patterns().verb.search(said, 0, one.start) or _patterns().behind.match(said, one.end):
            return _of_row("write", replace(recipe, chapters=one.numbers))
    if not named and _patterns().next.search(said):
        return _of_row("write", replace(recipe, next=True))
    text, by = said.strip().casefold(), _patterns()
    goes_on = by.anywhere.search(text) or by.begins.match(text) or by.whole.fullmatch(text)
    return _of_row("continue", recipe) if goes_on else recipe


def _of_row(task: TaskName, recipe: Recipe = _NOTHING) -> Recipe:
    """The recipe with the parts and shares of a row; a task without one is asked like a question."""
    row = _rows().get(task, _rows()["ask"])
    return replace(recipe, task=task, parts=frozenset(row["parts"].split()), shares=row.get("shares", {}))


def task_of(skill: str) -> TaskName | None:
    """The task that the name of a skill says by its first word that says one; None for any other name."""
    named = (_skills().get(word) for word in _WORDS.findall(skill.casefold().replace("_", " ")))
    return next(filter(None, named), None)


def _stated(recipe: Recipe, task: TaskName) -> Recipe:
    """The recipe of a task that the host states, with what the words name."""
    if recipe.task != task:
        scope: Literal["", "scene"] = "scene" if task == "present" and not recipe.chapters else ""
        made = _of_row(task, replace(recipe, scope=scope, opened=True))
        recipe = made if task != "rename" else replace(made, parts=_of_row("ask").parts)  # the words name nobody
    return replace(recipe, stated=True)


@cache
def _skills() -> Mapping[str, TaskName]:
    return {
        word: cast("TaskName", task) for task, named in _table()["skills"].items() for word in (task, *named.split())
    }


def _looked_up(recipe: Recipe, words: str) -> Recipe:
    """The recipe with what is looked up of the words: without a command."""
    chapters = _chapters_alone(words) if recipe.wants("ending") or (recipe.task == "ask" and recipe.chapters) else None
    if not recipe.wants("ending"):
        return replace(recipe, query=words, bare=bool(chapters))
    return replace(recipe, query=_without_command(words) if chapters is None else chapters, bare=chapters is not None)


def _without_length(words: str) -> str:
    """The words of a task without 2000字, "in three sentences"."""
    for found in _patterns().length.finditer(words.translate(_simplified())):
        words = _blank(words, *found.span())
    return words


def _without_command(words: str) -> str:
    """What a request to continue says besides that."""
    words = _without(words, _commands("anywhere", "begins", "command").find(words))
    return words.strip() if any(map(str.isalnum, words)) else ""


def _chapters_alone(words: str) -> str | None:
    """The chapters that a request names; None where it says more, and is looked up."""
    named = chapter_references(words)
    rest = _without(words, named)
    rest = _without(rest, _commands("anywhere", "begins", "command", "whole", "beside").find(rest))
    chapters = " ".join(words[one.start : one.end] for one in named if one.numbers)
    return None if any(map(str.isalnum, rest)) else chapters and f"写 {chapters}"


def _without(words: str, found: Iterable[KinshipMatch[bool] | ChapterReference]) -> str:
    for one in found:
        words = _blank(words, one.start, one.end)
    return words


@cache
def _commands(*rows: str) -> Phrases[bool]:
    planning = words("write", "verbs", "latin", "plans") if "beside" in rows else ()
    return Phrases(dict.fromkeys((*words("continue", *rows), *planning), True))


def told() -> Mapping[str, int]:
    """What parts of the story may take of its room, in percent."""
    found: Mapping[str, int] = _table()["told"]
    return found


@cache
def words(table: str, *rows: str) -> frozenset[str]:
    """The words of rows of a table, as it writes them."""
    return frozenset(word for row in rows for word in _table()[table][row].split())


_LONGEST_RENAMING = 400
_RUN = re.compile(r"\s{4}")


def _renamed(said: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the two names of a request to rename stand; one is short, with no run of blanks to divide in every way."""
    if len(said) > _LONGEST_RENAMING or _RUN.search(said.strip()):
        return None
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


def _reading(said: str, references: Iterable[ChapterReference]) -> tuple[TaskName, set[str]] | None:
    """The task whose words alone are in a request, chapters and a length aside, and the rows that they are of."""
    if not _wanted().occur_in(said):
        return None
    until = any(_is_until(said, one) for one in references)
    for one in references:
        said = _blank(said, one.start, one.end)
    said = _without_length(said)
    tokens = tokens_of(said)
    for task, phrases in _readings().items():
        rest, rows = said, set()
        for phrase in phrases.find(said, tokens):
            rest = _blank(rest, phrase.start, phrase.end)
            rows.add(phrase.value)
        if until:
            rows.add("story")
        if rows & {"asks", "verbs"} and not _LETTER.search(rest):
            return task, rows
    return None


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


@cache
def _table() -> dict[str, Any]:
    return word_file("intents")


@cache
def _rows() -> Mapping[TaskName, dict[str, Any]]:
    """The tasks of the table, in its order."""
    return {cast("TaskName", name): row for name, row in _table().items() if isinstance(row, dict) and "parts" in row}


@cache
def _simplified() -> Mapping[int, str]:
    return str.maketrans({pair[0]: pair[1] for pair in _table()["traditional"].split()})


@cache
def _scenes() -> frozenset[str]:
    return frozenset(_table()["scene"].split())


@cache
def _readings() -> Mapping[TaskName, Phrases[str]]:
    """The tasks whose requests hold no other words than those of their row."""
    found: dict[TaskName, Phrases[str]] = {}
    for task, row in _rows().items():
        if "asks" in row:
            own = {word: name for name in ("asks", "verbs") for word in row[name].split()}
            scopes = ("scene", "story") if "scene" in row["parts"].split() else ()
            places = {word: name for name in scopes for word in _table()[name].split()}
            found[task] = Phrases(dict.fromkeys(row["beside"].split(), "beside") | places | own)
    return found


@cache
def _wanted() -> Phrases[bool]:
    """A word of any row that reads: most questions have none."""
    return Phrases({word: True for task in _readings() for word in words(task, "asks", "verbs")})


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

    table, rows = _table(), _rows()
    rename, state, write, goes_on = rows["rename"], rows["state"], rows["write"], rows["continue"]
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
            r"\s*+[，,]?\s*+的?(?:正文|内容)?[，,]?\s*+"
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
