"""What a request asks for, understood once: a row of `lexicon/intents.toml`; what is in none of them is a question.

A request is a task when a clause of it begins (in Japanese and Korean: ends) with a verb of the task, courtesy aside,
or has a noun of it behind a verb like "give me"; `state`, `present` and `check` are also asked as questions. The words
are compared without accents, in small letters and simplified characters; Latin words of six letters or more may have
one wrong letter.

Fetchers and search ask the recipe and not the task: what a row's prompt holds stands in the row (`Recipe.parts`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, Literal, NamedTuple, cast

from armarius.documents.units import CHAPTERS, SPELLED, names, volume_number
from armarius.lexicon import word_file
from armarius.search.query.chapters import ChapterReference, chapter_references
from armarius.search.query.words import KinshipMatch, Phrases
from armarius.types import Recipe, TaskName

_NOTHING = Recipe()
_MOST_LOOKED_UP = 400  # code points
_BEFORE = 60  # code points before a chapter in which "up to and including the end of" stands
_OF_CHAPTERS = re.compile(
    rf"{names('han', *CHAPTERS)}|{names('hangul', *CHAPTERS)}|{names('latin', 'chapter', 'episode')}|\b(?:ch|chap|ep)",
    re.IGNORECASE,
)
_NEXT = re.compile(
    rf"下\s*一?\s*{names('han', 'chapter', 'round', 'episode')}|次の[章話回]|다음\s*(?:장|화|회)|\b(?:next|following)"
    r"\s+(?:chapter|episode)\b|\b(?:prochain|chapitre\s+suivant)",
)
_QUOTES = "“”\"「」『』《》«»‘’'"
_NAME = rf"[{_QUOTES}]?(?P<{{}}>[^，,。！!？?：:；;\n{_QUOTES}]{{{{1,40}}}}?(?:['’][^\W\d_]+)*)[{_QUOTES}]?"
_CLAUSE = re.compile(r"[^\n.!?。！？;；:：,，、—…]+")
_SENTENCE = re.compile(r"[^\n.!。！;；—…?？]*[?？]?")
_HEAD = re.compile(r"[a-z]+")
_BEHIND: Final = 16  # characters before a verb in which somebody who does it is looked for
_LEAST_MISSPELT: Final = 6  # letters
_HAN_ALONE = re.compile(r"[^\u3040-\u30ff\uac00-\ud7af]*")
_DONE = re.compile(r"(?<=写)[到着得的]|[了过](?!一)|的(?:是|人|时候|结果)|报告|记录|结果|人?员")
_TOLD = re.compile(
    r"(?:\b(?:the|an?|of|about|who|she|he|they|which|qui|elle|il|ils|elles|had|has|have|was|were)|谁.{0,8}|[她他]们?)\s*$"
)  # a noun, or somebody who does it
_ASKED = re.compile(r"\s*(?:how|what|who|where|when|which)\b")  # "check how" looks something up
_ABOUT = re.compile(r"[^，,]*的[^的，,]{1,4}\W*$")  # 改名的原因
_INSTEAD: Final[tuple[TaskName, ...]] = ("summarise", "polish")
_TELLS = re.compile("[写续说讲编撰稿创生完成]")  # 往后 and 接着 alone also begin a sentence about something
_LONGEST_OBJECT: Final = 24  # characters of a clause whose verb stands behind its object
_WORDS = re.compile(r"[^\W_]+")
_RUN = re.compile(r"\s{4}")
_CHAPTER: Final = "\x01"  # stands for a chapter that is named
_KINDS: Final = ("verbs", "nouns")


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
    if recipe.task == "ask" and "chapters" in spelled.parts:
        recipe = spelled
    if (task := task_of(skill)) is not None:
        recipe = _stated(recipe, task)
    elif recipe.task == "ask" and story:
        recipe = _of_row("continue", recipe)
    return _looked_up(recipe, words if spelled.task == "ask" else _without_length(words), spelled.task)


def _read(query: str) -> Recipe:
    """What the words of a request say."""
    said = _folded(query)
    references = [one for one in chapter_references(said) if not one.excluded] if _OF_CHAPTERS.search(said) else []
    references = [one for one in references if said[one.start : one.end] not in _places("scene")]
    named = [one for one in references if one.numbers and _OF_CHAPTERS.search(said[one.start : one.end])]
    following = not named and _NEXT.search(said) is not None
    recipe = Recipe(
        chapters=tuple(dict.fromkeys(number for one in named for number in one.numbers)),
        volume=volume_number(said) if named else None,
        plans=_patterns().plans.search(said) is not None and bool(references or following),
    )
    if (renamed := _renamed(said, query)) is not None:
        old, new = (query[start:end].strip() for start, end in renamed)
        return _of_row("rename", replace(recipe, names=(old, new)))
    masked = _without(said, references, _CHAPTER)
    moment = _moment(said, references)
    task = _task(_without_length(masked)) or "ask"
    if moment is not None and task in ("ask", "write", "present"):
        task = "state"
    if task == "ask" and following and _is_bare(masked):
        task = "write"
    if task == "ask" and _is_present(masked):
        task = "present"
    is_scene, is_story = (_words_of(name).occur_in(masked) for name in ("scene", "story"))
    if task in ("write", "continue") and (named or following):
        task = "write"
    elif task == "write" and is_scene:
        task = "continue"
    recipe = _of_row(task, recipe)
    if task == "ask" and not references and _words_of("latest").occur_in(said):
        return replace(recipe, parts=recipe.parts | {"latest", "states"})
    if task == "state":
        return replace(recipe, as_of=moment or None)
    if "target" in recipe.parts:
        return replace(recipe, chapters=named[0].numbers if named else (), next=following)
    if "chapters" not in recipe.parts and task != "rename":
        return recipe
    is_story = is_story or any(_is_until(said, one) for one in references)
    scope: Literal["", "scene", "story"] = "scene" if is_scene else "story" if is_story else ""
    scope = scope if "scene" in recipe.parts or task == "rename" else ""
    bare = _is_bare(masked)
    recipe = replace(recipe, scope=scope, opened=task != "present" and (bare or bool(references or scope)))
    if task == "rename" or not (bare or references or scope):
        return replace(recipe, parts=(recipe.parts - {"places"}) | _of_row("ask").parts)
    if "summaries" in recipe.parts and not bare:  # what it says besides is looked up, in those chapters
        return replace(recipe, parts=_of_row("ask").parts, shares={}, scope="")
    return recipe


def _task(said: str) -> TaskName | None:
    """The task of the first sentence that asks for one."""
    by, most = _patterns(), _MOST_LOOKED_UP
    said = (said if len(said) <= 2 * most else f"{said[:most]}\n{said[-most:]}").replace("tl;dr", "tldr ")
    mentioned = None
    for sentence in filter(None, map(str.strip, _SENTENCE.findall(said))):
        starts = [sentence[one.start() :].lstrip() for one in _CLAUSE.finditer(sentence)]
        tails = {*starts, *(by.courtesy.sub("", one) for one in starts)}
        for task, asks in by.asks.items():
            if any(map(asks.search, tails)):
                return task
        polite = by.polite.search(sentence) or by.orders.match(sentence)
        clauses = [clause.strip() for clause in _CLAUSE.findall(sentence)]
        if not polite and sentence[-1] in "?？":
            last = clauses.pop() if clauses else ""
            if not by.questions.search(last) and (noun := by.noun.match(last)):  # "alternatives to the duel?"
                return _of(_nouns(), noun[0])
        for clause in filter(None, clauses):
            if (polite or not by.questions.search(clause)) and (commanded := _commanded(clause)) is not None:
                return _refined(commanded, sentence)
        if polite or not (sentence[-1] in "?？" or by.questions.search(sentence)):
            mentioned = mentioned or _mentioned(sentence)
            mentioned = mentioned and _refined(mentioned, sentence)
    return mentioned


def _mentioned(sentence: str) -> TaskName | None:
    """The task whose words stand anywhere in a sentence that is no question, and refers to a text or is polite."""
    by = _patterns()
    if not (by.refers.search(sentence) or by.wish.search(sentence)):
        return None
    found = [
        one
        for one in by.anywhere.finditer(sentence)
        if any(entry in _verbs() for entry in _entries(one[0]))
        and not (
            _DONE.match(sentence, one.end())
            or _ABOUT.match(sentence, one.end())
            or _TOLD.search(sentence[max(0, one.start() - _BEHIND) : one.start()])
        )
    ]
    return min((_of(_verbs(), one[0]) for one in found), key=list(_rows()).index, default=None)


def _refined(task: TaskName, sentence: str) -> TaskName:
    """To rewrite with words of a language, a summary, a name or of polishing is that."""
    by = _patterns()
    if task not in ("rewrite", "write", "continue"):
        return task
    if by.into.search(sentence):
        return "translate"
    if task != "rewrite":
        return task
    if by.name.search(sentence):
        return "rename"
    others = {_of(_either_kind(), one[0]) for one in by.anywhere.finditer(sentence)}
    return next((one for one in _INSTEAD if one in others), task)


def _commanded(clause: str) -> TaskName | None:
    """The task that a clause commands."""
    by = _patterns()
    bare = by.courtesy.sub("", clause).lstrip(f" {_CHAPTER}")
    if (head := _HEAD.match(bare)) is None:
        return _commanded_unspaced(clause)
    found = by.spaced.match(bare) or by.spaced.match(_respelled(head[0]) + bare[head.end() :])
    task = _of(_verbs(), found[0]) if found else None
    behind = bare[found.end() :] if found else ""
    if task == "check" and _ASKED.match(behind):
        return None
    if task in ("write", "continue") and by.spaced.match(behind.strip()):
        further = _commanded(behind.strip())
        task = task if further in (None, "write", "continue") else further
    if (found is None or task in ("write", "brainstorm")) and (noun := by.spaced_noun.match(bare)):
        return _of(_nouns(), noun["noun"])
    return task


def _commanded_unspaced(clause: str) -> TaskName | None:
    """The same of a clause in Chinese, Japanese or Korean, where the verb stands behind its object."""
    by = _patterns()
    found = list(by.unspaced.finditer(clause))
    if not found:
        return None
    if _HAN_ALONE.fullmatch(clause):
        if not (_is_bare(clause[: found[0].start()]) or (len(clause) <= _LONGEST_OBJECT and by.object.match(clause))):
            return None
        found = [one for one in found if not _DONE.match(clause, one.end())]
    elif by.past.search(clause, found[-1].end()) and not by.polite.search(clause):
        return None
    tasks: list[TaskName] = [_of(_verbs() if _spelled(one[0]) in _verbs() else _nouns(), one[0]) for one in found]
    specific = [one for one in tasks if one not in ("write", "continue")]
    at = 0 if _HAN_ALONE.fullmatch(clause) else -1
    if specific or not tasks:
        return specific[at] if specific else None
    if _HAN_ALONE.fullmatch(clause) and not (_is_bare(clause) or any(_TELLS.search(one[0]) for one in found)):
        return None
    return "continue" if "continue" in tasks else "write"


def _entries(words: str) -> Iterator[str]:
    """What words may be in a table: as they are, or a stem that they begin with, the longest first."""
    spelled = _spelled(words)
    yield spelled
    yield from (f"{spelled[:end]}~" for end in range(len(spelled), 0, -1))


def _of(table: Mapping[str, TaskName], words: str) -> TaskName:
    """The task of words that are in a table."""
    return next(table[one] for one in _entries(words) if one in table)


def _respelled(word: str) -> str:
    """The verb that a word is with one letter wrong, too many, missing or exchanged; else the word."""
    if len(word) < _LEAST_MISSPELT:
        return word
    return next(
        (verb for verb in _verbs() if verb.isascii() and len(verb) >= _LEAST_MISSPELT and _near(word, verb)), word
    )


def _near(left: str, right: str) -> bool:
    """Whether two words differ by one letter, or by two neighbours that changed places."""
    if abs(len(left) - len(right)) > 1 or left[0] != right[0]:
        return False
    same = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    a, b = left[same:], right[same:]
    return a[1:] == b[1:] or a == b[1:] or a[1:] == b or (a[:2] == b[1::-1] and a[2:] == b[2:])


def _is_bare(said: str) -> bool:
    """Whether a request says nothing besides its command."""
    rest = _without(said, _commands().find(said)).replace(_CHAPTER, "")
    return not any(map(str.isalnum, rest))


def _is_present(said: str) -> bool:
    """Whether a request asks who is at a place of the story, or there now, and says nothing else."""
    places = _words_of("scene").occur_in(said) or _words_of("latest").occur_in(said) or _CHAPTER in said
    if not places or not _words_of("whom").occur_in(said):
        return False
    rest = _without(said, _words_of("whom", "rooms", "being", "scene", "latest").find(said)).replace(_CHAPTER, "")
    return not any(map(str.isalnum, rest))


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


def _looked_up(recipe: Recipe, words: str, spelled: TaskName) -> Recipe:
    """The recipe with what is looked up of the words: without the command, where they are a task themselves."""
    tells = "ending" in recipe.parts
    named = chapter_references(words)
    chapters = " ".join(words[one.start : one.end] for one in named if one.numbers)
    bare = (tells or (recipe.task == "ask" and bool(recipe.chapters))) and _is_bare(_folded(_without(words, named)))
    if not tells:
        return replace(recipe, query=words, bare=bare and bool(chapters))
    if bare:
        return replace(recipe, query=chapters and f"写 {chapters}", bare=True)
    if spelled != "ask":
        words = _without(words, _commands().find(_folded(words)))
    return replace(recipe, query=words.strip() if any(map(str.isalnum, words)) else "")


def _without_length(words: str) -> str:
    """The words of a task without 2000字, "in three sentences"."""
    for found in _patterns().length.finditer(_folded(words)):
        words = _blank(words, *found.span())
    return words


def _without(words: str, found: Iterable[KinshipMatch[bool] | ChapterReference], by: str = " ") -> str:
    for one in found:
        words = words[: one.start] + by * (one.end - one.start) + words[one.end :]
    return words


def told() -> Mapping[str, int]:
    """What parts of the story may take of its room, in percent."""
    found: Mapping[str, int] = _table()["told"]
    return found


@cache
def words(table: str, *rows: str) -> frozenset[str]:
    """The words of rows of a table, as it writes them."""
    return frozenset(word for row in rows for word in _table()[table][row].split())


def _renamed(said: str, query: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the two names of a request to rename stand; one is short, with no run of blanks to divide in every way."""
    if len(said) > _MOST_LOOKED_UP or _RUN.search(said.strip()):
        return None
    if not _patterns().renaming.search(said):
        return None
    begin = len(said) - len(_patterns().kindly.sub("", said, count=1))
    for pattern, proper in _renames():
        found = pattern.fullmatch(said, begin)
        if found is None or any(_patterns().not_named.search(found[name]) for name in "ab"):
            continue
        first = found.start("a")
        if not proper or query[first].isupper() or said[first - 1] in _QUOTES:
            return found.span("a"), found.span("b")
    return None


def _moment(said: str, references: Iterable[ChapterReference]) -> int | None:
    """The chapter as of which a state is asked for, 0 for the current one; None where none is."""
    by = _patterns()
    of_state = by.state.search(said) is not None
    for one in references:
        begin = max(0, one.start - _BEFORE)
        if _is_until(said, one) or (
            of_state and (by.after.search(said, begin, one.start) or by.moment_behind.match(said, one.end))
        ):
            return max(one.numbers, default=0)
    return 0 if of_state and by.now.search(said) else None


def _is_until(said: str, reference: ChapterReference) -> bool:
    """Whether a request speaks of everything up to a chapter."""
    before = _patterns().until.search(said, max(0, reference.start - _BEFORE), reference.start)
    return before is not None or _patterns().until_behind.match(said, reference.end) is not None


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _folded(text: str) -> str:
    """The text as it is compared, of the same length: small letters without accents, simplified characters."""
    small = text.translate(_simplified()).replace("’", "'").lower()
    return small if len(small) == len(text) else text


@cache
def _table() -> dict[str, Any]:
    return word_file("intents")


@cache
def _rows() -> Mapping[TaskName, dict[str, Any]]:
    """The tasks of the table, in its order."""
    return {cast("TaskName", name): row for name, row in _table().items() if isinstance(row, dict) and "parts" in row}


@cache
def _simplified() -> Mapping[int, str]:
    accents = str.maketrans("àâäáãéèêëíîïóôöõúùûüçñÀÂÄÉÈÊËÎÏÔÖÙÛÜÇ", "aaaaaeeeeiiioooouuuucnaaaeeeeiioouuuc")
    return accents | {ord(pair[0]): pair[1] for pair in _table()["traditional"].split()}


@cache
def _places(*names: str) -> frozenset[str]:
    rows = _table() | _rows()["present"]
    return frozenset(_folded(" ".join(rows[name] for name in names)).split())


@cache
def _words_of(*names: str) -> Phrases[bool]:
    return Phrases(dict.fromkeys(_places(*names), True))


@cache
def _verbs() -> Mapping[str, TaskName]:
    """The task of each verb, of English ones the form in -ing too."""
    return _of_words("verbs")


@cache
def _nouns() -> Mapping[str, TaskName]:
    return _of_words("nouns")


@cache
def _either_kind() -> Mapping[str, TaskName]:
    return {**_nouns(), **_verbs()}


def _of_words(kind: str) -> Mapping[str, TaskName]:
    found: dict[str, TaskName] = {}
    for task, row in _rows().items():
        for word in _folded(row.get(kind, "")).split():
            found.setdefault(_spelled(word.replace("-", " ")) + "~" * word.endswith("~"), task)
            if word.isascii() and word.isalpha() and kind == "verbs":
                found.setdefault(word.removesuffix("e") + "ing", task)
    return found


def _spelled(words: str) -> str:
    return " ".join(_WORDS.findall(words))


@cache
def _commands() -> Phrases[bool]:
    """What a command consists of: verbs, nouns, courtesy, places, words that say nothing."""
    table = _table()
    rows = [table[name] for name in ("courtesy", "generic", "scene", "story", "fillers")]
    rows += [row.get(kind, "") for row in _rows().values() for kind in (*_KINDS, "plans")]
    return Phrases({word: True for row in rows for word in _folded(row).split()})


class _Patterns(NamedTuple):
    renaming: re.Pattern[str]  # a word that every request to rename has
    kindly: re.Pattern[str]  # courtesy before it
    not_named: re.Pattern[str]
    until: re.Pattern[str]
    until_behind: re.Pattern[str]
    state: re.Pattern[str]
    after: re.Pattern[str]
    moment_behind: re.Pattern[str]
    now: re.Pattern[str]
    length: re.Pattern[str]
    plans: re.Pattern[str]
    asks: Mapping[TaskName, re.Pattern[str]]
    questions: re.Pattern[str]
    polite: re.Pattern[str]
    wish: re.Pattern[str]
    orders: re.Pattern[str]  # a command in spite of a word of a question
    past: re.Pattern[str]
    courtesy: re.Pattern[str]  # at the beginning of a clause
    spaced: re.Pattern[str]  # a verb at the beginning
    spaced_noun: re.Pattern[str]  # behind a verb like "give", or at the beginning
    unspaced: re.Pattern[str]
    anywhere: re.Pattern[str]  # the same and nouns at any place
    noun: re.Pattern[str]
    into: re.Pattern[str]  # a language as the end
    name: re.Pattern[str]  # what something is called
    refers: re.Pattern[str]  # a chapter, a scene, the story
    object: re.Pattern[str]  # begins with what a verb of Chinese may stand behind


@cache
def _marks() -> Mapping[str, str]:
    """The parts of patterns that the table names."""
    table, rename = _table(), _rows()["rename"]
    marks = {"<of>": f"(?:{'|'.join(rename['of'].splitlines())})?", "<a>": _NAME.format("a"), "<b>": _NAME.format("b")}
    marks |= {"<to>": rename["to"], "<all>": rename["all"], "<text>": rename["text"]}
    marks |= {f"<{name}>": f"(?:{pattern})" for name, pattern in table["marks"].items()}
    marks |= {"<here>": _here(table["scene"]), "<chapter>": _CHAPTER, "<spelled>": SPELLED}
    return marks


def _compiled(pattern: str | list[str]) -> re.Pattern[str]:
    pattern = pattern if isinstance(pattern, str) else "|".join(pattern)
    for mark, part in _marks().items():
        pattern = pattern.replace(mark, part)
    return re.compile(pattern.translate(_simplified()), re.IGNORECASE)


@cache
def _renames() -> tuple[tuple[re.Pattern[str], bool], ...]:
    """Patterns of a request to rename, and whether its names must begin with a capital letter."""
    rename = _rows()["rename"]
    tail = rf"(?:{'|'.join(rename['tail'])})?[\s。.!！~？?]*"
    return tuple((_compiled(one + tail), kind == "proper") for kind in ("patterns", "proper") for one in rename[kind])


@cache
def _patterns() -> _Patterns:
    compiled, table, rows = _compiled, _table(), _rows()
    rename, state = rows["rename"], rows["state"]

    def either(words: str, *, spaced: bool) -> str:
        return _either(" ".join(one for one in words.split() if one.isascii() is spaced))

    courtesy, generic = table["courtesy"], _either(table["generic"])
    verbs, nouns = (" ".join(one.replace(" ", "-") for one in words) for words in (_verbs(), _nouns()))
    polite = " ".join(one for one in courtesy.split() if len(one) > 1 or one == "请")  # 来 and 那 begin names
    kindly, places = either(courtesy, spaced=False), _either(table["scene"] + table["story"])
    article = r"(?:(?:an?|the|quick|short|brief|full|une?|le|la)\b|\W)*"
    whole = " ".join(one for one in f"{verbs} {nouns}".split() if one[-1] != "~")
    planned = rows["write"]["plans"].split()
    languages, tongues = (either(table["languages"], spaced=one) for one in (True, False))
    return _Patterns(
        renaming=compiled(rename["words"]),
        kindly=compiled(rf"^[\s,，]*(?:(?:{_either(polite)})[\s,，]*)*"),
        not_named=compiled(rename["not_named"]),
        until=compiled(rf"(?:{'|'.join(state['until'])})\Z"),
        until_behind=compiled(state["until_behind"]),
        state=compiled(state["words"]),
        after=compiled(rf"{state['after']}\Z"),
        moment_behind=compiled(state["behind"]),
        now=compiled(state["now"]),
        length=compiled(
            [
                ahead.replace("<n>", n) + unit
                for n, ahead, unit in zip(table["number"], table["length"][::2], table["length"][1::2], strict=True)
            ]
        ),
        plans=compiled([rf"\b{one}\b" if one.isascii() else one for one in planned]),
        asks={task: compiled(row["asks"]) for task, row in rows.items() if "asks" in row},
        questions=compiled(table["questions"]),
        polite=compiled(table["polite"]),
        wish=compiled(table["wish"]),
        orders=compiled(table["orders"]),
        past=compiled(table["past"]),
        courtesy=compiled(rf"^(?:(?:{either(courtesy, spaced=True)})(?![\w'-])[\s,]*|(?:{kindly})+)*"),
        spaced=compiled(rf"\s*(?:{either(verbs, spaced=True)})(?![\w'])"),
        spaced_noun=compiled(
            rf"(?:(?:{generic})\b(?:[^\w'-]+[\w'-]+){{0,6}}?[^\w'-]+|{article})(?P<noun>{either(nouns, spaced=True)})\b"
            r"(?!\s+(?:is|was|are|says?|said)\b)"
        ),
        unspaced=compiled(either(f"{verbs} {nouns}", spaced=False)),
        anywhere=compiled(
            rf"\b(?:{either(whole, spaced=True)})(?![\w'])"
            rf"|{either(f'{verbs} {nouns}', spaced=False)}"
        ),
        noun=compiled(rf"(?:{either(nouns, spaced=True)})\b"),
        into=compiled(
            rf"\b(?:in|into|to|en|vers)\s+(?:l')?(?:{languages})\b|(?:{tongues})(?:に|へ|로|으로|版|で)|(?:成|为|用|到)(?:{tongues})"
        ),
        name=compiled(rf"\b(?:{either(rename['name'], spaced=True)})\b|{either(rename['name'], spaced=False)}"),
        refers=compiled(rf"{_CHAPTER}|{places}"),
        object=compiled(rf"(?:{kindly})*(?:[把将对给{_CHAPTER}这本上那此]|{places})"),
    )


def _here(words: str) -> str:
    spaced, others = (" ".join(one for one in words.split() if one.isascii() is is_) for is_ in (True, False))
    return rf"(?:\b(?:{_either(spaced)})\b|{_either(others)})"


def _either(words: str) -> str:
    ordered = sorted(set(words.split()), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\-", r"[\s-]+").replace("\\~", "[a-z]*") for word in ordered)
