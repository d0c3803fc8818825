"""What a request asks for, understood once: a row of `lexicon/intents.toml`; what is in none of them is a question.

A sentence is a task when it commands and has an object: a clause begins (in Japanese and Korean: ends) with a verb of
the task, courtesy aside, and names a text, a pronoun, a name, an amount; or it wishes for what a noun of a task names.
Verbs that say little (give, make) leave the task to these nouns. A question asks for a task when words of all
sets of one of its rules stand in it. Compared are small letters without accents and simplified characters; what is
quoted and names of code are names and no words; an English verb of six letters or more may have one wrong letter.

What these rules say is one feature of a linear model (`lexicon/intents.txt`) beside the n-grams of the sentence and the
sets of its words. Another task, or a question, is meant where the model is ahead of the rules by `_LEADS`.

Fetchers and search ask the recipe and not the task: what a row's prompt holds stands in the row (`Recipe.parts`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Final, Literal, cast

import armarius.text.unicode as unicode
from armarius.documents.units import CHAPTERS, SPELLED, names, volume_number
from armarius.lexicon import text_file, word_file
from armarius.search.query.chapters import ChapterReference, chapter_references
from armarius.search.query.words import (
    KinshipMatch,
    LinearModel,
    Phrases,
    SetWord,
    WordSets,
    blank_out,
    differ_little,
    is_greeting,
    ngrams,
)
from armarius.types import Recipe, TaskName

_Words = Sequence[SetWord]
_Sets = frozenset[str]
_NOTHING = Recipe()
_SETS = attrgetter("sets")
_MOST_LOOKED_UP = 400  # code points
_BEFORE = 60  # code points before a chapter in which "up to and including the end of" stands
_OF_CHAPTERS = re.compile(
    rf"{names('han', *CHAPTERS)}|{names('hangul', *CHAPTERS)}|{names('latin', 'chapter', 'episode')}|\b(?:ch|chap|ep)",
    re.IGNORECASE,
)
_NEXT = re.compile(
    rf"下\s*一?\s*{names('han', 'chapter', 'round', 'episode')}|次の[章話回]|다음\s*(?:장(?!면)|화|회)"
    r"|\b(?:next|following)\s+(?:chapter|episode)\b|\b(?:prochain|chapitre\s+suivant)",
)
_QUOTES = "“”\"「」『』《》«»‘’'"
_NAME = rf"[{_QUOTES}]?(?P<{{}}>[^，,。！!？?：:；;\n{_QUOTES}]{{{{1,40}}}}?(?:['’][^\W\d_]+)*)[{_QUOTES}]?"
_CLAUSE = re.compile(r"[^\n.!?。！？;；:：,，、—…]+")
_SENTENCE = re.compile(r"[^\n.!。！;；—…?？]*[?？]?")
_QUOTED = re.compile(
    r"“[^”]{0,80}”|\"[^\"]{0,80}\"|「[^」]{0,80}」|『[^』]{0,80}』|«[^»]{0,80}»|《[^》]{0,80}》|(?<!\w)['‘][^'’]{1,40}['’](?!\w)"
)
_CODE = re.compile(r"(?<![\w.])--?\w[\w-]{0,80}|\b\w{0,80}(?:_\w{1,80}|\w\.(?=[a-z])\w{1,80}|\(\))(?:\(\))?", re.ASCII)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_HAN_ALONE = re.compile(r"[^\u3040-\u30ff\uac00-\ud7af]*")
_HEAD = re.compile(r"[a-z'-]+")
_WORDS = re.compile(r"[^\W_]+")
_RUN = re.compile(r"\s{4}")
_LEAST_MISSPELT: Final = 6  # letters
_CHAPTER: Final = "\x01"  # stands for a chapter that is named
_NAMED: Final = "\x02"  # for a letter of what is quoted, and of a name of code
_LIGHT: Final = ("continue", "brainstorm", "change", "write", "give")  # verbs that say less than others, the last least
_NEED_OBJECT: Final = frozenset({*_LIGHT, "check", "polish"}) - {"continue"}  # draft, list, check are nouns as well
_OF_FRAGMENTS: Final = ("brainstorm", "summarise", "translate", "continue")  # "alternatives to the duel?"
_OF_STATES: Final = ("check", "summarise")  # of what is or is not: 检查称呼是否统一
_LEADS: Final = (7, 13)  # of a task over a question, and over the task of the table; 8 is a weight of 1
_TEXTS: Final = frozenset({"place", "text"})
_BY_PATTERN: Final = ("several", "brief", "more", "who", "pair", "quoted", "colon", "too", "upto", "where")  # sets
_JUDGES: Final = frozenset({"n:check", "faults", "agree", "judge"})


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

    Cost: 0.1 ms in Chinese, 0.3 to 0.6 ms for 60 Latin letters.
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
    task = _task(masked) or "ask"
    if moment is not None and task in ("ask", "write", "present"):
        is_count = _patterns()["how_many"].search(text) and not _patterns()["state"].search(text)
        task = "ask" if is_count and moment else "state"
    if task == "ask" and following and _is_bare(masked):
        task = "write"
    if weighs:
        task = cast("TaskName", _model().best(_features(masked, task), task, _LEADS[task != "ask"]))
    if task == "continue" and following:
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


def _task(text: str) -> TaskName | None:
    """The task of the first sentence that asks for one."""
    most = _MOST_LOOKED_UP
    text = (text if len(text) <= 2 * most else f"{text[:most]}\n{text[-most:]}").replace("tl;dr", "tldr ")
    sentences = [sentence for sentence in map(str.strip, _SENTENCE.findall(_mask_names(text))) if sentence]
    if len(sentences) > 1 and sentences[-1][-1] in "?？" and _patterns()["own"].search(sentences[0]):
        del sentences[0]  # "I want to rewrite it; who is named there?"
    return next(filter(None, map(_task_of_sentence, sentences)), None)


def _features(text: str, task: TaskName) -> set[str]:
    """The features of a sentence, folded and its chapters masked: n-grams, sets of words, the task of the rules."""
    text = _mask_names(text[:_MOST_LOOKED_UP])
    return {*ngrams(text), *map("#{}".format, _sets_in(text)), f"={task}"}


def _mask_names(text: str) -> str:
    """The text with what is quoted and names of code masked."""
    for pattern in (_QUOTED, _CODE):
        text = pattern.sub(lambda match: _NAMED * len(match[0]), text)
    return text


@lru_cache(maxsize=16)
def _words_in(text: str) -> _Words:
    """The words of a text; each sentence of a request is looked at several times."""
    return _words().find(text)


@lru_cache(maxsize=16)
def _sets_in(text: str) -> _Sets:
    """The sets of the words in a text, and what else a rule may ask for."""
    by = _patterns()
    sets = {name for name in _BY_PATTERN if by[name].search(text)}.union(*map(_SETS, _words_in(text.rstrip("?？"))))
    sets |= {"asks"} if "who" in sets else set()
    return frozenset(sets | {"place"} if _CHAPTER in text else sets)


def _task_of_sentence(sentence: str) -> TaskName | None:
    """The task that a sentence commands, or asks for by the words of a rule."""
    by, is_spaced, is_marked = _patterns(), _UNSPACED.search(sentence) is None, sentence[-1] in "?？"
    clauses = [clause for clause in map(str.strip, _CLAUSE.findall(sentence)) if clause]
    if not clauses:
        return None
    sets, last = _sets_in(sentence), clauses[-1]
    wishes = dict(zip(clauses, map(_wishes, clauses), strict=True))
    is_polite = any(wishes.values())
    questions = list(filter(by["questions"].search, clauses if is_marked or not is_spaced else clauses[:1]))
    is_query = not is_polite and (is_marked or bool(questions))
    ruled = _ruled(sets, asked=is_query) or (_ruled(_sets_in(last), asked=True) if is_query else None)
    is_told = "tells" in sets or ("seek" in sets and "n:check" not in sets)
    if ruled == "rename" or is_told or (is_query and ruled):
        return ruled
    is_next = "n:continue" in sets and sum(name[:2] == "n:" for name in sets) == 1 and _is_bare(sentence)
    if is_next or by["alone"].fullmatch(sentence):
        return "continue"
    if not is_spaced and not _HAN_ALONE.fullmatch(sentence):
        clauses.reverse()
        clauses.sort(key=lambda clause: not any(word.verbs for word in _words_in(clause)))
    again = [(True, clause) for clause in clauses if not wishes[clause]] if is_polite else []
    for wish, clause in [*zip(map(wishes.__getitem__, clauses), clauses, strict=True), *again]:
        commanded = _commanded_task if _UNSPACED.search(clause) is None else _unspaced_task
        task = commanded(clause, _words_in(clause), sets, wish=wish, ruled=ruled is not None)
        if task is None or (not is_spaced and task == "check" and "asks" in sets and not sets & _JUDGES):
            continue  # 确认一下是谁送的 looks something up
        if ruled in ("present", "state") and task in ("write", "summarise"):
            return ruled  # "list the characters", "sum up where everyone stands"
        if questions and clause not in questions and by["own"].search(clause):
            return ruled
        if not is_query or (clause not in questions and (clause != last or task in _OF_FRAGMENTS)):
            return task
        begin = next((word.start for word in _words_in(clause) if word.verbs), len(clause))
        if task in _OF_STATES and not is_spaced and _is_bare(clause[:begin].replace(_NAMED, "a")):
            return task
    return ruled


def _wishes(clause: str) -> bool:
    """Whether a clause begins or ends with courtesy."""
    spans = [(word.start, word.end) for word in _words_in(clause) if "wish" in word.sets]
    begins = bool(spans) and not any(map(str.isalnum, _patterns()["article"].sub("", clause[: spans[0][0]])))
    return begins or (bool(spans) and spans[-1][1] == len(clause)) or _patterns()["polite"].search(clause) is not None


def _ruled(sets: _Sets, *, asked: bool) -> TaskName | None:
    """The first task one of whose rules fits."""
    facts = {*sets, "?" if asked else "."}
    return next((task for task, wanted, barred in _rules() if wanted <= facts and barred.isdisjoint(facts)), None)


@cache
def _rules() -> list[tuple[TaskName, set[str], set[str]]]:
    """Each rule: its task, what it asks for, what it must not meet."""
    rules = [(task, {*rule.split()}) for task, row in _rows().items() for rule in row.get("rules", ())]
    barred = [{part for part in rule if part[0] == "!"} for _, rule in rules]
    return [
        (task, rule - those, {part[1:] for part in those}) for (task, rule), those in zip(rules, barred, strict=True)
    ]


def _commanded_task(clause: str, words: _Words, sets: _Sets, *, wish: bool, ruled: bool) -> TaskName | None:
    """The task that a clause in English or French commands."""
    by, at = _patterns(), 0
    ahead = {item.start: item for item in words}
    while True:
        at += len(clause[at:]) - len(clause[at:].lstrip(f" {_CHAPTER}'-"))
        word = ahead.get(at)
        if word is None or not word.sets & {"wish", "skip"} or word.verbs:
            break
        at = word.end
    article = by["article"].match(clause, at)
    begin = article.end() if article else at
    word = ahead.get(begin)
    if word is None and not article and (head := _HEAD.match(clause, at)) and (verb := _correct_verb(head[0])):
        word = SetWord(at, head.end(), frozenset({f"v:{verb}"}), (verb,), ())
    rest = [item for item in words if item.start >= begin]
    near, nouns, is_chapter = _near_words(clause, rest), _nouns_of(clause, begin, rest), _CHAPTER in clause
    if word is not None and not article and (verbs := word.verbs):
        behind = _nouns_of(clause, word.end, rest[1:])
        is_given = by["indefinite"].match(clause, word.end) is not None or is_chapter
        if verbs[0] == "check" and by["asked"].match(clause, word.end):
            return None  # "check who sent it" looks something up
        refers = by["object"].match(clause, word.end) or behind or any(item.sets & _TEXTS for item in rest[1:])
        refers = refers or word.end == len(clause) or is_chapter
        if wish or refers or verbs[0] not in _NEED_OBJECT or "name" in sets:
            return _combine(verbs, behind, sets, near, given=is_given and not ruled)
    is_definite = by["definite"].match(clause, at) is not None and not near & {"tongue", "points"}
    is_alone = nouns[:1] not in ([], ["write"], ["polish"])
    is_alone = is_alone and (nouns[0] != "check" or bool(near & _TEXTS) or is_chapter)
    is_alone = is_alone or (nouns[:1] == ["polish"] and by["more_so"].search(clause, at) is not None)
    is_given = by["indefinite"].match(clause, at) is not None
    is_text = wish and not near.isdisjoint(_TEXTS) and by["asked"].search(clause) is None
    if wish or "more" in near or (is_alone and not is_definite) or (nouns[:1] == ["write"] and is_given):
        return _combine([], nouns, sets, near, given=not ruled and (is_given or is_text))
    this = None if ruled or by["no_verb"].match(clause, at) else by["this"].match(clause, at)
    if this and (this[1] or any(item.sets & {*_TEXTS, "n:write"} for item in _object_words(clause, at, rest))):
        return _combine(["change"], nouns, sets, near, given=True)
    return None


def _near_words(clause: str, words: _Words) -> set[str]:
    """The sets of the words of a clause, and "more" where it asks for more of a text."""
    return set[str]().union(*map(_SETS, words)) | ({"more"} if _patterns()["more"].search(clause) else set())


def _object_words(clause: str, begin: int, words: _Words) -> list[SetWord]:
    """The words before the first preposition."""
    end = preposition.start() if (preposition := _patterns()["preposition"].search(clause, begin)) else len(clause)
    return [word for word in words if word.start < end]


def _nouns_of(clause: str, begin: int, words: _Words) -> list[str]:
    """The rows of the nouns of an object, those of a text that is there already last: "give the letter an edit"."""
    words = _object_words(clause, begin, words)
    wanted = [word for word in words if _patterns()["wanted"].search(clause[: word.start])]
    words.sort(key=lambda word: "n:write" in word.sets)
    rows = [word.nouns or [name for name in word.verbs if word in wanted and name not in _LIGHT] for word in words]
    return [name for row in rows for name in row]


def _unspaced_task(clause: str, words: _Words, sets: _Sets, *, wish: bool, ruled: bool) -> TaskName | None:
    """The same of a clause in Chinese, where the verb stands first, in Japanese and Korean, where it stands last."""
    by = _patterns()
    verbs = [word for word in words if word.verbs and not by["done"].match(clause, word.end)]
    nouns, near = [name for word in reversed(words) for name in word.nouns], _near_words(clause, words)
    last = words[-1].end if words else 0
    tail, is_order = len(clause[last:].strip()), "more" in near or by["orders"].search(clause) is not None
    if _HAN_ALONE.fullmatch(clause):
        verbs = [word for word in verbs if wish or _may_command(clause, word, words)]
        refers = bool(sets & {"text", "name", "quoted", "tongue"} or nouns or by["amount"].search(clause))
        if verbs and not (wish or refers or _is_bare(clause)):
            verbs = [word for word in verbs if word.verbs[0] not in _LIGHT or "resumes" in word.sets]
        ordered = wish or bool(verbs) or (refers and is_order)
    else:
        verbs.reverse()
        ordered = wish or is_order or (bool(verbs) and verbs[0].end == last and tail < 2)
    rows = [name for word in verbs for name in word.verbs]
    if not ordered:
        last_rows = (*words[-1].nouns, *words[-1].verbs) if words and tail < 3 else ()
        ends = [name for name in last_rows if name not in _LIGHT] if last_rows else []
        if not ends or ruled or not (sets & _TEXTS or nouns[:1] == ["continue"] or _is_bare(clause)):
            return None
        return _combine([], ends, sets, near, given=False)
    if not rows and is_order and not ruled and "wish" not in near and nouns[:1] in ([], ["polish"], ["rewrite"]):
        rows = ["change"] if nouns or sets & {"tongue", "name", "text"} else []
    nouns = nouns or [name[2:] for name in sorted(sets) if name[:2] == "n:"]
    return _combine(rows, nouns, sets, near, given=not ruled and (bool(rows) or wish))


def _may_command(clause: str, verb: SetWord, words: _Words) -> bool:
    """Whether a verb of Chinese stands where a command has it: behind what it may take, courtesy or a text."""
    before = [word for word in words if word.end <= verb.start]
    text = blank_out(clause[: verb.start], [word for word in before if "never" in word.sets])
    is_behind = _NAMED in text or any(word.sets & {"name", "text", "n:write"} for word in before)
    if is_behind or _patterns()["takes"].search(text):
        return True
    text = blank_out(text, [word for word in before if word.sets - {"past", "asks"}])
    return not _UNSPACED.search(_patterns()["counted"].sub("", text))


def _combine(verbs: Sequence[str], nouns: list[str], sets: _Sets, near: set[str], *, given: bool) -> TaskName | None:
    """The task of the verbs and nouns of a clause, the first of each counting most.

    Args:
        verbs: Rows of verbs.
        nouns: Rows of nouns.
        sets: Of the words of the sentence.
        near: Of the words of the clause.
        given: A text is wanted, whatever it is.
    """
    verb = next((name for name in verbs if name not in _LIGHT), "") or min(verbs, key=_LIGHT.index, default="")
    task: str = nouns[0] if nouns else ""
    if verb in ("write", "give", "") and "more" in near:
        task = "continue"
    elif verb == "change":
        task = "translate" if "tongue" in near else "polish" if {"n:polish", "language"} & sets else "rewrite"
    elif verb not in ("give", ""):
        task = verb
    elif not task:
        task = "write" if given else ""
    return cast("TaskName", task) if task else None


def _correct_verb(word: str) -> str:
    """The row of the verb that a word is with one letter wrong, too many, missing or exchanged; else nothing."""
    if len(word) < _LEAST_MISSPELT:
        return ""
    return next((row for verb, row in _long_verbs() if differ_little(word.removesuffix("e"), verb)), "")


def _is_bare(text: str) -> bool:
    """Whether a request says nothing besides its command."""
    rest = "a" if _strange().search(text) else blank_out(text, _command_words(text)).replace(_CHAPTER, "")
    return not any(map(str.isalnum, rest))


def _command_words(text: str) -> list[SetWord | KinshipMatch[bool]]:
    """The words of a text that only command: verbs, nouns, courtesy, places, words that say nothing."""
    words = [word for word in _words_in(text) if word.sets & {"wish", "skip"} or word.verbs or word.nouns]
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
        verbs = [word for word in _words().find(_fold_text(words)) if word.verbs] if _CODE.search(words) else []
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
def _long_verbs() -> list[tuple[str, str]]:
    """Verbs of Latin letters that may be misspelt, without an e at their end, with their rows."""
    rows = [(word, row) for row, of in _rows().items() for word in of.get("verbs", "").split()]
    verbs = [(word.rstrip("~").removesuffix("e"), row) for word, row in rows]
    return [pair for pair in verbs if pair[0].isascii() and pair[0].isalpha() and len(pair[0]) >= _LEAST_MISSPELT - 1]


@cache
def _words() -> WordSets:
    """The words of the table: `v:` and `n:` verbs and nouns of a row, what leads a command, sets of rules."""
    table = _table()
    rows = {"wish": table["courtesy"], "skip": table["skipped"], "tells": table["tells"], "never": table["never"]}
    rows |= {"v:give": table["give"], "v:change": table["change"], "tongue": table["languages"]} | table["marks"]
    rows |= {name: f"{rows[name]} {table['scene']}" for name in ("place", "here", "text")}
    for task, row in _rows().items():
        rows |= {f"{kind[0]}:{task}": row[kind] for kind in ("verbs", "nouns") if kind in row}
    return WordSets({name: _fold_text(words) for name, words in rows.items()})


def _compiled(pattern: str | list[str], needs: str = "") -> re.Pattern[str]:
    """A pattern of the table: a list is one of them, a space a run of them, `<name>` a part; in texts that `needs`."""
    rename = _rows()["rename"]
    parts = {"of": f"(?:{'|'.join(rename['of'].splitlines())})?", "a": _NAME.format("a"), "b": _NAME.format("b")}
    parts |= {name: rename[name] for name in ("to", "all", "text")}
    parts |= {name: f"(?:{part})" for name, part in _table()["parts"].items()} | {"spelled": SPELLED}
    pattern = pattern if isinstance(pattern, str) else "|".join(pattern)
    pattern = rf"\A(?=[\s\S]*?(?:{needs}))[\s\S]*?(?:{pattern})" if needs else pattern
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
    return {name: _compiled(pattern, table["needs"].get(name, "")) for name, pattern in table["patterns"].items()} | {
        "kindly": re.compile(rf"^[\s,，]*(?:(?:{kindly})(?![a-z])[\s,，]*)*"),  # 来 and 那 begin names
        "length": _compiled([ahead.replace("<n>", n) + unit for n, ahead, unit in lengths]),
        "plans": _compiled([rf"\b{word}\b" if word.isascii() else word for word in plans]),
    }
