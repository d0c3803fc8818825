"""What a request asks for, understood once: a row of `lexicon/intents.toml`; what is in none of them is a question.

A linear model (`lexicon/intents.txt`) weighs each request: its n-grams, and which sets of words of the table are in it,
alone, in pairs, and at the beginning and the end of its clauses. A task is meant where the model is ahead of a question
by `_LEAD`. Compared are small letters without accents and simplified characters; what is quoted and names of code are
names and no words. Exact are only a rename, whose two names stand in it, and a state as of a chapter.

Fetchers and search ask the recipe and not the task: what a row's prompt holds stands in the row (`Recipe.parts`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations
from typing import Any, Final, Literal, cast

import armarius.text.unicode as unicode
from armarius.documents.units import CHAPTERS, SPELLED, names, volume_number
from armarius.lexicon import text_file, word_file
from armarius.search.query.chapters import ChapterReference, chapter_references
from armarius.search.query.words import (
    KinshipMatch,
    LinearModel,
    Phrases,
    WordSets,
    blank_out,
    is_greeting,
    ngrams,
)
from armarius.types import Recipe, TaskName

_NOTHING = Recipe()
_MOST_LOOKED_UP = 400  # code points
_BEFORE = 60  # code points before a chapter in which "up to and including the end of" stands
_OF_CHAPTERS = re.compile(
    rf"{names('han', *CHAPTERS)}|{names('hangul', *CHAPTERS)}|{names('latin', 'chapter', 'episode')}|\b(?:ch|chap|ep)",
    re.IGNORECASE,
)
_NEXT = re.compile(
    rf"(?:下\s*一?\s*|次の){names('han', 'chapter', 'round', 'episode')}|다음\s*(?:장(?!면)|화|회)"
    r"|\b(?:next|following)\s+(?:chapter|episode)\b|\b(?:prochain|chapitre\s+suivant)",
)
_QUOTES = "“”\"「」『』《》«»‘’'"
_NAME = rf"[{_QUOTES}]?(?P<{{}}>[^，,。！!？?：:；;\n{_QUOTES}]{{{{1,40}}}}?(?:['’][^\W\d_]+)*)[{_QUOTES}]?"
_CLAUSE = re.compile(r"[^\n.!?。！？;；:：,，、—…]+")
_QUOTED = re.compile(
    r"“[^”]{0,80}”|\"[^\"]{0,80}\"|「[^」]{0,80}」|『[^』]{0,80}』|«[^»]{0,80}»|《[^》]{0,80}》|(?<!\w)['‘][^'’]{1,40}['’](?!\w)"
)
_CODE = re.compile(r"(?<![\w.])--?\w[\w-]{0,80}|\b\w{0,80}(?:_\w{1,80}|\w\.(?=[a-z])\w{1,80}|\(\))(?:\(\))?", re.ASCII)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORDS = re.compile(r"[^\W_]+")
_RUN = re.compile(r"\s{4}")
_CHAPTER: Final = "\x01"  # stands for a chapter that is named
_NAMED: Final = "\x02"  # for a letter of what is quoted, and of a name of code
_LEAD: Final = 5  # of a task over a question; 8 is a weight of 1
_NO_SET: Final = frozenset([""])
_BY_PATTERN: Final = ("upto", "where")  # sets of the table that are no words
_LEADING: Final = frozenset({"wish", "skip"})


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

    Cost: 0.05 to 0.2 ms for 60 letters; linear in the text.
    """
    words = (asked.strip() or query.strip() or text.strip())[:_MOST_LOOKED_UP]
    spelled = _read(words, weighs=bool(query.strip()))
    recipe = _recipe_of_row("continue") if opened else _NOTHING
    if query.strip():
        recipe = spelled if words == query.strip() else _read(query)
    if recipe.task == "ask" and "chapters" in spelled.parts:
        recipe = spelled
    if (task := task_of(skill)) is not None:
        recipe = _stated_recipe(recipe, task)
    elif recipe.task == "ask" and story:
        recipe = _recipe_of_row("continue", recipe)
    elif not opened and asked.strip() in ("", query.strip()) and is_greeting(query):
        return replace(_NOTHING, parts=frozenset(), query=words)
    return _look_up_words(recipe, words if spelled.task == "ask" else _drop_length(words), spelled.task)


@lru_cache(maxsize=16)
def _read(query: str, *, weighs: bool = True) -> Recipe:
    """What the words of a request say; text that nobody asks with is no sentence to weigh."""
    text = _fold_text(query)
    references, named = list[ChapterReference](), list[ChapterReference]()
    if _OF_CHAPTERS.search(text):
        scenes = _fold_text(_table()["scene"]).split()
        all_references = chapter_references(text)
        references = [ref for ref in all_references if not (ref.excluded or text[ref.start : ref.end] in scenes)]
        named = [ref for ref in references if ref.numbers and _OF_CHAPTERS.search(text[ref.start : ref.end])]
    following = not named and _NEXT.search(text) is not None
    recipe = Recipe(
        chapters=tuple(dict.fromkeys(number for ref in named for number in ref.numbers)) if named else (),
        volume=volume_number(text) if named else None,
        plans=bool(references or following) and _patterns()["plans"].search(text) is not None,
    )
    if (renamed := _renamed_spans(text, query)) is not None:
        old, new = (query[start:end].strip() for start, end in renamed)
        return _recipe_of_row("rename", replace(recipe, names=(old, new)))
    masked = blank_out(text, references, _CHAPTER)
    moment = _moment(text, references)
    task = _task(masked) if weighs else "ask"
    if moment and task in ("ask", "write", "present"):
        is_count = _patterns()["how_many"].search(text) and not _patterns()["state"].search(text)
        task = "ask" if is_count else "state"
    if following and (task == "continue" or (task == "ask" and _is_bare(masked))):
        task = "write"
    recipe = _recipe_of_row("write" if task == "continue" and named else task, recipe, task)
    if task == "ask" and not references and _words_of("latest").occur_in(text):
        return replace(recipe, parts=recipe.parts | {"latest", "states"})
    if moment is not None and task in ("ask", "state"):
        return replace(_recipe_of_row("state", recipe), task=task, as_of=moment or None)
    if "target" in recipe.parts:
        return replace(recipe, chapters=named[0].numbers if named else (), next=following)
    if "chapters" not in recipe.parts and task != "rename":
        return recipe
    is_scene = _words_of("scene").occur_in(masked)
    is_story = _words_of("story").occur_in(masked) or any(_is_until(text, ref) for ref in references)
    scope: Literal["", "scene", "story"] = "scene" if is_scene else "story" if is_story else ""
    scope = scope if "scene" in recipe.parts or task == "rename" else ""
    bare = _is_bare(masked)
    recipe = replace(recipe, scope=scope, opened=task != "present" and (bare or bool(references or scope)))
    if task == "rename" or not (bare or references or scope):
        return replace(recipe, parts=(recipe.parts - {"places"}) | _recipe_of_row("ask").parts)
    if "summaries" in recipe.parts and not bare:  # what it says besides is looked up, in those chapters
        return replace(recipe, parts=_recipe_of_row("ask").parts, shares={}, scope="")
    return recipe


def _task(text: str) -> TaskName:
    """The task of a request, folded, its chapters masked; beside a text that is pasted, its first or last line says."""
    lines = [line for line in map(str.strip, text.splitlines()) if line] or [""]
    task = "ask"
    for line in dict.fromkeys((lines[0], lines[-1])):
        task = _model().best(_features(line), "ask", _LEAD)
        if task != "ask":
            break
    return cast("TaskName", task)


def _features(text: str) -> set[str]:
    """What the model is given of a request, folded and its chapters masked: n-grams, sets of words and pairs of sets.

    `^` precedes a set of a word that begins a clause, `$` of one that ends it; where none does, they stand alone.
    """
    text = _mask_names(text[:_MOST_LOOKED_UP])
    words = _words().find(text)
    first, last = {word.start: word.value for word in words}, {word.end: word.value for word in words}
    sets = {name for name in _BY_PATTERN if _patterns()[name].search(text)}.union(*first.values())
    for clause in _CLAUSE.finditer(text):
        begin = clause.end() - len(clause[0].lstrip())
        end = clause.start() + len(clause[0].rstrip())
        if begin < end:
            sets.update(map("^".__add__, first.get(begin, _NO_SET)), map("$".__add__, last.get(end, _NO_SET)))
    return {*ngrams(text), *map("#{}".format, sets), *map("&".join, combinations(sorted(sets), 2))}


def _mask_names(text: str) -> str:
    """The text with what is quoted and names of code masked."""
    for pattern in (_QUOTED, _CODE):
        text = pattern.sub(lambda match: _NAMED * len(match[0]), text)
    return text


def _is_bare(text: str) -> bool:
    """Whether a request says nothing besides its command."""
    rest = "a" if _strange().search(text) else blank_out(text, _command_words(text)).replace(_CHAPTER, "")
    return not any(map(str.isalnum, rest))


def _command_words(text: str) -> list[KinshipMatch[Any]]:
    """The words of a text that only command: verbs, nouns, courtesy, places, words that say nothing."""
    words = [word for word in _words().find(text) if any(name in _LEADING or name[1] == ":" for name in word.value)]
    fillers = [match for match in _commands().find(text) if "_" not in text[max(0, match.start - 1) : match.end + 1]]
    return [*words, *fillers]  # delete is no word of `delete_where`


def _recipe_of_row(name: TaskName, recipe: Recipe = _NOTHING, task: TaskName | None = None) -> Recipe:
    """The recipe with the parts and shares of the row `name`, or of a question; its task is `task`, else `name`."""
    row = _rows().get(name, _rows()["ask"])
    return replace(recipe, task=task or name, parts=frozenset(row["parts"].split()), shares=row.get("shares", {}))


def task_of(skill: str) -> TaskName | None:
    """The task that the name of a skill says by its first word that says one; None for any other name."""
    named = (_skills().get(word) for word in _WORDS.findall(skill.casefold().replace("_", " ")))
    return next(filter(None, named), None)


def _stated_recipe(recipe: Recipe, task: TaskName) -> Recipe:
    """The recipe of a task that the host states, with what the words name."""
    if recipe.task != task:
        scope: Literal["", "scene"] = "scene" if task == "present" and not recipe.chapters else ""
        made = _recipe_of_row(task, replace(recipe, scope=scope, opened=True))
        recipe = made if task != "rename" else replace(made, parts=_recipe_of_row("ask").parts)  # the words name nobody
    return replace(recipe, stated=True)


@cache
def _skills() -> Mapping[str, TaskName]:
    return {word: task for task, named in _table()["skills"].items() for word in (task, *named.split())}


def _look_up_words(recipe: Recipe, words: str, spelled: TaskName) -> Recipe:
    """The recipe with what is looked up of the words: without the command, where they are a task themselves."""
    tells = "ending" in recipe.parts
    named = chapter_references(words) if tells or recipe.chapters else ()
    chapters = " ".join(words[ref.start : ref.end] for ref in named if ref.numbers)
    bare = (tells or (recipe.task == "ask" and bool(recipe.chapters))) and _is_bare(_fold_text(blank_out(words, named)))
    if not tells:
        found = _words().find(_fold_text(words)) if _CODE.search(words) else []
        verbs = [word for word in found if any(name[:2] == "v:" for name in word.value)]
        if verbs and _is_bare(_fold_text(words[: verbs[0].start])):  # what is done to code is no word of it
            words = words[verbs[0].end :].strip()
        return replace(recipe, query=words, bare=bare and bool(chapters))
    if bare:
        return replace(recipe, query=chapters and f"写 {chapters}", bare=True)
    if spelled != "ask":
        words = blank_out(words, _command_words(_fold_text(words)))
    return replace(recipe, query=words.strip() if any(map(str.isalnum, words)) else "")


def _drop_length(words: str) -> str:
    """The words of a task without 2000字, "in three sentences"."""
    return unicode.blank_spans(words, [match.span() for match in _patterns()["length"].finditer(_fold_text(words))])


def story_shares() -> Mapping[str, int]:
    """What parts of the story may take of its room, in percent."""
    return cast("Mapping[str, int]", _table()["told"])


@cache
def words(table: str, *rows: str) -> frozenset[str]:
    """The words of rows of a table, as it writes them."""
    return frozenset(word for row in rows for word in _table()[table][row].split())


def _renamed_spans(text: str, query: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the two names of a request to rename stand; one is short, with no run of blanks to divide in every way."""
    if len(text) > _MOST_LOOKED_UP or _RUN.search(text.strip()) or not _patterns()["renaming"].search(text):
        return None
    begin = len(text) - len(_patterns()["kindly"].sub("", text, count=1))
    for pattern, proper in _renames():
        match = pattern.fullmatch(text, begin)
        if match is None or any(_patterns()["not_named"].search(match[name]) for name in "ab"):
            continue
        first = match.start("a")
        if not proper or query[first].isupper() or text[first - 1] in _QUOTES:
            return match.span("a"), match.span("b")
    return None


def _moment(text: str, references: Sequence[ChapterReference]) -> int | None:
    """The chapter as of which a state is asked for, 0 for the current one; None where none is."""
    by = _patterns()
    of_state = bool(references or by["now"].search(text)) and by["state"].search(text) is not None
    for ref in references:
        begin = max(0, ref.start - _BEFORE)
        if _is_until(text, ref) or (
            of_state and (by["after"].search(text, begin, ref.start) or by["moment_behind"].match(text, ref.end))
        ):
            return max(ref.numbers, default=0)
    return 0 if of_state and by["now"].search(text) else None


def _is_until(text: str, reference: ChapterReference) -> bool:
    """Whether a request speaks of everything up to a chapter."""
    before = _patterns()["until"].search(text, max(0, reference.start - _BEFORE), reference.start)
    return before is not None or _patterns()["until_behind"].match(text, reference.end) is not None


def _fold_text(text: str) -> str:
    """The text as it is compared, of the same length: small letters without accents, simplified characters."""
    small = text.translate(_fold_table()).replace("’", "'").lower()
    return small if len(small) == len(text) else text


@cache
def _table() -> dict[str, Any]:
    return word_file("intents")


@cache
def _model() -> LinearModel:
    return LinearModel(text_file("intents.txt"))


@cache
def _rows() -> Mapping[TaskName, dict[str, Any]]:
    """The tasks of the table, in its order."""
    return {cast("TaskName", name): row for name, row in _table().items() if isinstance(row, dict) and "parts" in row}


@cache
def _fold_table() -> Mapping[int, str]:
    accents = str.maketrans("àâäáãéèêëíîïóôöõúùûüçñÀÂÄÉÈÊËÎÏÔÖÙÛÜÇ", "aaaaaeeeeiiioooouuuucnaaaeeeeiioouuuc")
    return accents | {ord(pair[0]): pair[1] for pair in _table()["traditional"].split()}


@cache
def _words_of(*names: str) -> Phrases[bool]:
    return Phrases(dict.fromkeys(_fold_text(" ".join(_table()[name] for name in names)).split(), True))


@cache
def _commands() -> Phrases[bool]:
    """What stands in a command and says nothing: places, fillers, plans."""
    rows = [_table()[name] for name in ("scene", "story", "fillers", "courtesy", "skipped")]
    return Phrases(dict.fromkeys(_fold_text(" ".join([*rows, _rows()["write"]["plans"]])).split(), True))


@cache
def _strange() -> re.Pattern[str]:
    """A letter of a script without spaces that stands nowhere in the table, so in no word of a command."""
    letters = _fold_text(str({**_table(), "traditional": ""}))
    return re.compile(rf"(?=[{_UNSPACED.pattern[1:-1]}])[^\W{re.escape(''.join(sorted({*letters})))}]")


@cache
def _words() -> WordSets:
    """The words of the table: `v:` and `n:` verbs and nouns of a row, what leads a command, marks."""
    table = _table()
    rows = {"wish": table["courtesy"], "skip": table["skipped"], "tells": table["tells"], "never": table["never"]}
    rows |= {"v:give": table["give"], "v:change": table["change"], "tongue": table["languages"]} | table["marks"]
    rows |= {name: f"{rows[name]} {table['scene']}" for name in ("place", "here")}
    rows |= {"place": f"{rows['place']} {_CHAPTER}", "quoted": _NAMED, "colon": ": ："}
    for task, row in _rows().items():
        rows |= {f"{kind[0]}:{task}": row[kind] for kind in ("verbs", "nouns") if kind in row}
    return WordSets({name: _fold_text(words) for name, words in rows.items()})


def _compiled(pattern: str | list[str]) -> re.Pattern[str]:
    """A pattern of the table: a list is one of them, a space a run of them, `<name>` a part."""
    rename = _rows()["rename"]
    parts = {"of": f"(?:{'|'.join(rename['of'].splitlines())})?", "a": _NAME.format("a"), "b": _NAME.format("b")}
    parts |= {name: rename[name] for name in ("to", "all", "text")}
    parts |= {name: f"(?:{part})" for name, part in _table()["parts"].items()} | {"spelled": SPELLED}
    pattern = pattern if isinstance(pattern, str) else "|".join(pattern)
    for name, part in parts.items():
        pattern = pattern.replace(f"<{name}>", part)
    return re.compile(pattern.replace(" ", r"\s+").replace("’", "'").translate(_fold_table()), re.IGNORECASE)


@cache
def _renames() -> tuple[tuple[re.Pattern[str], bool], ...]:
    """Patterns of a request to rename, and whether its names must begin with a capital letter."""
    rename = _rows()["rename"]
    tail = rf"(?:{'|'.join(rename['tail'])})?[\s。.!！~？?]*"
    return tuple((_compiled(row + tail), kind == "proper") for kind in ("patterns", "proper") for row in rename[kind])


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """The patterns of the table by their names."""
    table, plans = _table(), _rows()["write"]["plans"].split()
    polite = [word for word in f"{table['courtesy']} {table['skipped']}".split() if len(word) > 1 or word == "请"]
    kindly = "|".join(_fold_text(word).replace("-", r"[\s-]+") for word in sorted(polite, key=len, reverse=True))
    lengths = zip(table["number"], table["length"][::2], table["length"][1::2], strict=True)
    return {name: _compiled(pattern) for name, pattern in table["patterns"].items()} | {
        "kindly": re.compile(rf"^[\s,，]*(?:(?:{kindly})(?![a-z])[\s,，]*)*"),  # 来 and 那 begin names
        "length": _compiled([ahead.replace("<n>", n) + unit for n, ahead, unit in lengths]),
        "plans": _compiled([rf"\b{word}\b" if word.isascii() else word for word in plans]),
    }
