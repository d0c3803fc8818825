"""`Features`: the evidence of one file for what it is; `documents/decide.py` weighs it together with other files'.

Every clue is a vote for a kind, with the weight of its row in `documents/kinds.py`. `filled_in` is of forms:
templates, and pages of headings and labels with nothing behind them.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Final

import armarius._core as _core
from armarius.arguments import KINDS, Kind
from armarius.documents.kinds import (
    CONTENT_WORDS,
    KIND_OF_WORD,
    LANGUAGE_WORDS,
    STORY_KINDS,
    TYPE_OF_WORD,
    Clue,
    Vote,
    sums_of,
    title_words,
    votes_of,
)
from armarius.documents.segments import Paragraph, parts_of
from armarius.documents.titles import FrontMatter, as_strings, filled_in
from armarius.documents.units import (
    CHAPTERS,
    bare_number,
    chapter_number,
    is_supplement,
    leading_span,
    names,
    unit_re,
    volume_number,
)
from armarius.text.unicode import HAN, HANGUL, KANA, fold

PROSE: Final = 0.7
"""Share of a text in plain lines, from which on it is prose: most chapters have .9 and more, other kinds below .5."""
SPOKEN: Final = 0.06
"""Lines that begin speech, a line, from which on a text is told in scenes."""
CHAPTER: Final = 600
"""Code points that the shortest chapter has, as a rule."""

_DATA: Final = "json jsonl yaml yml csv tsv toml ini cfg conf properties plist xml log bib"
_DATA_SUFFIXES: Final = frozenset(f".{name}" for name in _DATA.split())
_BY_WORDS: Final[tuple[Kind, ...]] = ("review", "tool", "state", "summary", "outline", "setting")
_SAMPLE: Final = 16_000  # code points whose shape is judged
_MOST_NAMED: Final = 2_000  # files
_TITLE: Final = 80  # code points of a heading that are looked at
_SHORT: Final = 120  # code points below which a text has no shape
_SHINGLES: Final = 24
_STYLE: Final = title_words("style")
_AGAIN: Final = 3 / 35  # share of a word of a kind, each time that it stands there
_LABEL: Final = re.compile(
    r"^[ \t]*(?:[-+*•][ \t]+)?\**([^\s:：*|#\n][^:：*|\n]{0,18}?)\**[:：]\**[ \t]*(\S?)", re.MULTILINE
)
_HEADER: Final = re.compile(r"^\|(.{3,200})\|[ \t]*\n\|[ \t:|-]{3,}\|[ \t]*$", re.MULTILINE)
_LONGEST_UNIT: Final = 24  # code points of the name of a chapter, and of the blanks before it
_CITABLE: Final = ("chapter", "episode", "scene")
_CITED_HAN: Final = re.compile(rf"第\s*([0-9一二三四五六七八九十百]{{1,5}})\s*{names('han', *CHAPTERS)}")
_NUMBER: Final = re.compile(r"\d+")
_CITED_LATIN: Final = re.compile(
    rf"\b(?:{names('latin', *_CITABLE)}|{names('short', *_CITABLE)})s?\.?\s?#?$", re.IGNORECASE
)
_ASIDE: Final = re.compile(r"(?<!\s)\s*[(（\[【][^()（）\[\]【】]*[)）\]】]?\s*$")
_FILE_LINE: Final = re.compile(r"^[ \t]*(?:[-*] )?[\w./][\w./ -]{0,120}\.(?:md|txt|markdown)[ \t\r]*$", re.MULTILINE)
_BEFORE_CHAPTER: Final = re.compile(rf"{unit_re(*CHAPTERS)}|(?i:{names('latin', *_CITABLE)}|ch\b)")
_TO_NUMBER: Final = re.compile(rf"{unit_re(*CHAPTERS, 'section')}|\d{{1,5}}")
_COUNTED: Final = re.compile(r"^(\D{0,24}?)(\d{1,4}(?:\.\d)?)(?!\d)")
_PATH: Final = re.compile(
    r"\.(?:md|markdown|mdx|qmd|rmd|txt|rst|adoc|tex|fountain|ink|rpy)(?![\w.])"
    r"|^[ \t]*+(?:[-*+]|\d++[.)])?[ \t]*+!?\[\[([^\]|#\n]{1,120})"
    r"|\\(?:include|input|subfile)\{([^{}\n]{1,120})\}|^[ \t]*+-?[ \t]*+file:[ \t]*+(\S{1,120})",
    re.MULTILINE,
)
_PATH_MARKS: Final = ("[[", r"\in", r"\subfile", "file:")
_PATH_ENDINGS: Final = (".md", ".qmd", ".rmd", ".Rmd", ".txt", ".rst", ".adoc", ".tex", ".fountain", ".ink")
_INCLUDES: Final = (r"\include{", r"\input{", r"\subfile{")
_BEFORE_PATH: Final = re.compile(r"[\n\"'`()\[\]<>|#,:;*=]|[-+][ \t]|\d[.)][ \t]")
_HANDLE: Final = re.compile(r'\bhandle="(\w{1,40})"')
_DATED: Final = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_./年]?([01]?\d)[-_./月]?([0-3]?\d)(?!\d)")
_SENTENCE: Final = re.compile(r"(?<=[^\W\d_A-Z])(?:[.!?…]++['\"’”)}]*+(?=\s|$)|[。！？])")
_SENTENCES: Final = 0.1  # a line, from which on a text in an unknown format is prose
_HUMP: Final = re.compile("(?<=[a-z])(?=[A-Z])")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_WORD: Final = re.compile("[A-Za-z\u00c0-\u024f]+")
_UNSPACED: Final = re.compile(f"[{KANA}{HAN}{HANGUL}]")


@dataclass(frozen=True, slots=True)
class Features:
    """The evidence of one file, as coarse as what is decided by it: most saves leave it as it was.

    Attributes:
        kind: What it is by itself.
        chapter: Its chapter number by itself, as of the document.
        votes: The clues, in the order that they were looked for.
        declared: Its front matter states the kind.
        status: Of its front matter, lower case.
        marked: Number after a chapter word in the file name.
        bare: Number that the file name begins with.
        counted: Text before the first number in the file name, and the number: ("s", 6.0) of `S06 - The Bridge`; or the
            key and number of front matter such as `session: 6`.
        dated: Date in the file name or front matter as year, month, day.
        volume: Number of a volume that the file name, or the nearest folder that states one, has.
        numbers: Numbers of chapters in its headings, each once, in order.
        length: Code points, rounded down to 10, from 100 on to 100, from 1,000 on to 500.
        prose: Share of plain lines in the text, by length, in tenths; 1 for a text that is too short.
        spoken: Lines that begin speech, a line; at most `SPOKEN`.
        language: Two letters, "" for too little text.
        shingles: The smallest hashes of its sentences, ascending.
        listed: Files that it names, in its order: chapters of a book (`_quarto.yml`, `SUMMARY.md`, `nwProject.nwx`).
    """

    kind: Kind
    chapter: int | None
    votes: tuple[Vote, ...] = ()
    declared: bool = False
    status: str = ""
    marked: int | None = None
    bare: int | None = None
    counted: tuple[str, float] | None = None
    dated: tuple[int, int, int] | None = None
    volume: int | None = None
    numbers: tuple[int, ...] = ()
    length: int = 0
    prose: float = 1.0
    spoken: float = 0.0
    language: str = ""
    shingles: tuple[int, ...] = ()
    listed: tuple[str, ...] = ()

    def holds_several(self, *, beside: bool) -> bool:
        """Whether a file of the story holds several chapters of it.

        Args:
            beside: Its file name has a number that other files of its folder count on.
        """
        if len(self.numbers) < 2 or self.marked is not None:
            return False
        if self.length >= _SHORT and not _is_narrated(self.length, len(self.numbers), self.spoken):
            return False
        return [*self.numbers] == sorted(self.numbers) and not (beside and len(self.numbers) < 4)


def _is_narrated(length: int, chapters: int, spoken: float) -> bool:
    """Whether the text below headings of chapters is long enough for them, or, below three and more, has dialogue."""
    return length // chapters >= CHAPTER or (chapters >= 3 and spoken >= SPOKEN)


def features_of(
    path: str,
    front_matter: FrontMatter,
    paragraphs: Sequence[Paragraph],
    text: str,
    number_of: Callable[[Kind], int | None],
    *,
    of_prose: bool = True,
) -> Features:
    """The evidence of a file of prose.

    Args:
        path: Posix path inside the project.
        front_matter: Of the text.
        paragraphs: Of the text, split as prose.
        text: The text itself.
        number_of: The chapter number of the file if it is of this kind.
        of_prose: Its format is one of prose; of another one it is prose when its lines end sentences.

    Cost: its first 16,000 code points are looked through a dozen times; 0.3 ms.
    """
    parts = parts_of(path)
    suffix = parts.suffix.lower()
    if suffix == ".nwx":
        votes = votes_of([Clue("project file")])
        return Features("data", None, tuple(votes), length=len(text), prose=0.0, listed=_texts_of(text))
    # A file of novelWriter has its name inside.
    stem = "".join(as_strings(front_matter.get("title"))) if suffix == ".nwd" else parts.stem
    begins = paragraphs[0].end if paragraphs and paragraphs[0].role == "front_matter" else 0
    sample = text[begins : begins + _SAMPLE]
    headings = [p for p in paragraphs if p.role == "heading"]
    titles = [p.heading_path[-1] for p in headings]
    above = sum(p.end - p.start for p in headings[:1] if text[p.start] == "#" and p.end <= begins + _SAMPLE)
    shape = _Shape(sample, titles, above)
    numbers = tuple(
        dict.fromkeys(n for title in titles if (n := chapter_number(title)) is not None and not is_supplement(title))
    )
    stated = stated_by(front_matter)
    least = _SENTENCES / 2 if suffix == ".tex" else _SENTENCES  # between formulas
    is_text = of_prose or len(_SENTENCE.findall(sample)) >= least * shape.lines
    recorded = (suffix[1:] or stem) if suffix in _DATA_SUFFIXES or not is_text else None
    votes = _votes(parts.folders, stem, recorded, front_matter, titles, numbers, shape)
    of_tex = is_text and suffix == ".tex" and any("\\chapter" in text[p.start : p.end] for p in headings[:1])
    if of_tex or suffix == ".fountain":
        votes += votes_of([Clue("format", (suffix[1:],))])
    elif recorded == "tex" and "\\begin{document}" in text and any(map(text.__contains__, _INCLUDES)):
        votes = votes_of([Clue("main file")])
    kind = sums_of(votes)[1] if stated is None else stated
    status = front_matter.get("status")
    in_name = _DATED.search(stem)
    counted = None if in_name else _COUNTED.match(stem)
    dated = in_name or _DATED.search(" ".join(as_strings(front_matter.get("date") or front_matter.get("日期"))))
    counted_by_field = _order_field(front_matter)
    result = Features(
        kind=kind,
        chapter=number_of(kind),
        votes=tuple(votes),
        declared=stated is not None,
        status=status.lower() if isinstance(status, str) else "",
        marked=None if is_supplement(stem) else chapter_number(stem),
        bare=bare_number(stem),
        counted=counted_by_field or ((counted[1].strip(" _-.").lower(), float(counted[2])) if counted else None),
        dated=(int(dated[1]), int(dated[2]), int(dated[3])) if dated else None,
        volume=_volume(parts.folders, stem),
        numbers=numbers,
        length=_round_length(len(text) - begins),
        prose=int(round(shape.prose, 2) * 10) / 10 if recorded is None else 0.0,
        spoken=min(SPOKEN, round(shape.spoken, 2)),
        language=_language(sample, shape.scripts),
        shingles=tuple(shape.sentences),
        listed=_files_in(text),
    )
    if kind != "chapter" or not result.holds_several(beside=False):
        return result
    return replace(result, kind="manuscript", chapter=None)


def _round_length(length: int) -> int:
    return length - length % (500 if length >= 1_000 else 100 if length >= 100 else 10)


def _order_field(front_matter: FrontMatter) -> tuple[str, float] | None:
    for key in (
        () if not front_matter else ("session", "scene", "order", "sequence", "episode", "weight", "nav_order", "场次")
    ):
        value = front_matter.get(key)
        if isinstance(value, str) and re.fullmatch(r"\d{1,4}(?:\.\d)?", value):
            return key, float(value)
    return None


def _texts_of(project: str) -> tuple[str, ...]:
    """The names of the texts of the novel, in the order of a project file of novelWriter; no XML is expanded."""
    names: dict[str, None] = {}
    for item in project.split("<item ")[1:]:
        if 'class="NOVEL"' in item or "<class>NOVEL</class>" in item:
            names.update(dict.fromkeys(_HANDLE.findall(item[:200])[:1]))
    return tuple(names)


def _files_in(text: str) -> tuple[str, ...]:
    """The files that a text names, each once, in its order; none where it names fewer than three."""
    names: dict[str, None] = {}
    marks = (*_PATH_MARKS, *_PATH_ENDINGS) if "." in text else _PATH_MARKS
    for match in _PATH.finditer(text) if any(map(text.__contains__, marks)) else ():
        name = match[1] or match[2] or match[3]
        if name is None:
            name = _BEFORE_PATH.split(text[max(0, match.start() - 160) : match.end()])[-1]
        names[name.strip().removeprefix("./").replace("%20", " ")] = None
        if len(names) == _MOST_NAMED:
            break
    return tuple(names) if len(names) > 2 else ()


def stated_by(front_matter: FrontMatter) -> Kind | None:
    """The kind that front matter states."""
    values = [front_matter.get(key) for key in ("kind", "type", "类型")]
    stated = [value.strip().lower() for value in values if isinstance(value, str)]
    return next((kind for value in stated for kind in KINDS if value == kind), None)


class _Shape:
    """What the lines of a text look like; `lists` is 0 for prose and 1 for lists.

    Args:
        text: Without front matter.
        titles: Of its headings.
        above: Characters in the line of its title, which is neither prose nor list.
    """

    def __init__(self, text: str, titles: Sequence[str], above: int) -> None:
        count, length, marked, spoken, self.scripts, self.sentences = _core.shape(text, _SHINGLES)
        self.length, marked = max(0, length - above), max(0, marked - above)
        self.lines = lines = max(1, count)
        self.is_short = length < _SHORT and not marked and (self.length > 0 or len(titles) < 3)
        self.headings = titles
        self.spoken = spoken / lines
        self.labels: list[str] = []
        self.columns: list[str] = []
        self.prose = 1.0 if self.is_short else 1 - marked / self.length if self.length else 0.0
        self.empty = 0
        self.filled = 1.0
        self.cited = len({*_citations(text)})
        self.files = len(_FILE_LINE.findall(text)) / lines if ".md" in text or ".txt" in text else 0.0
        if self.spoken >= 0.1:  # scenes with letters, lists, lines of a chat
            self.prose = min(1.0, self.prose + self.spoken)
        self.lists = 0.0 if self.is_short else min(1.0, max(0.0, (PROSE - self.prose) / 0.4))
        if self.prose < PROSE:
            fields = _LABEL.findall(text)
            self.labels = [label.strip().lower() for label, _ in fields]
            heads = _HEADER.findall(text) if "|" in text else ()
            self.columns = [cell.strip(" *").lower() for head in heads for cell in head.split("|")]
            self.empty = sum(not value for _, value in fields)
            unfilled = self.empty >= 3 and 2 * self.empty > len(fields)
            self.filled = len(filled_in(text)) / len(text) if unfilled else 1.0


def _citations(text: str) -> Iterator[tuple[str, str]]:
    """The numbers of chapters that a text refers to inside its lines, in Chinese and in Latin letters.

    Cost: a search for 第, and one for digits, with the letters before each.
    """
    for match in _CITED_HAN.finditer(text):
        if _is_in_line(text, match.start()):
            yield match[1], ""
    for digits in _NUMBER.finditer(text):
        start = digits.start()
        word = _CITED_LATIN.search(text, max(0, start - _LONGEST_UNIT), start)
        if word is not None and _is_in_line(text, word.start()):
            yield "", digits[0].lstrip("0")[:4]


def _is_in_line(text: str, at: int) -> bool:
    """Whether something but marks stands before `at` in its line."""
    before = text[max(0, at - _LONGEST_UNIT) : at].rstrip(" \t*")
    return bool(before) and before[-1] != "#" and not before[-1].isspace()


def _votes(
    folders: Sequence[str],
    stem: str,
    recorded: str | None,
    front_matter: FrontMatter,
    titles: Sequence[str],
    numbers: Sequence[int],
    shape: _Shape,
) -> list[Vote]:
    is_prose = shape.prose >= PROSE
    is_counted = is_prose and bare_number(stem) is not None
    named = [*_name_clues(stem, shape), *_folder_clues(folders, is_counted)]
    named += _front_clues(front_matter)
    if recorded is not None:
        if f".{recorded}" not in _DATA_SUFFIXES:
            return votes_of([Clue("data suffix", (recorded,), kind="tool")])
        others = [vote for vote in votes_of(named) if vote[0] not in STORY_KINDS]
        return [*votes_of([Clue("data suffix", (recorded,), not named, "data")]), *others]
    headings = _heading_clues(titles, numbers, shape, is_prose)
    return votes_of([one for one in (*named, *headings, *_text_clues(shape, is_prose)) if one.kind != "data"])


def _name_clues(stem: str, shape: _Shape) -> Iterator[Clue]:
    if is_supplement(stem) and chapter_number(stem) is None:
        yield Clue("supplement", (stem,))
        return
    if fold(stem).replace("_", "-") in _STYLE:
        yield Clue("style guide", (stem,))
    number = chapter_number(stem)
    if number is None:
        for kind, share, word in kinds_of_name(stem):
            if kind in STORY_KINDS and shape.lists:  # chapters.md, 章节安排.md
                yield Clue("unit in name, lists", (word,), share * shape.lists)
            yield Clue("whole name" if share == 1 else "word in name", (word,), share, kind)
        return
    yield Clue("chapter number", (stem, number), shape.lists)
    yield Clue("chapter number, lists", (stem, number), shape.lists)
    for kind, share, word in kinds_of_name(_rest_of_name(stem)[0]):
        if kind != "chapter" and share > 0.5:
            yield Clue("title", (word,), share, kind)


@lru_cache(maxsize=256)
def _folder_clues(folders: Sequence[str], is_counted: bool) -> tuple[Clue, ...]:
    for folder in folders:  # what is below such a folder is a form, whatever the nearer folders are called
        if any(kind == "template" for kind, _, _ in kinds_of_name(folder)):
            return (Clue("template folder", (folder,)),)
    clues: list[Clue] = []
    near = 1.0
    for folder in reversed(folders):
        kinds = kinds_of_name(folder)
        for kind, share, word in kinds[:1]:
            clues.append(Clue("folder", (folder, word), near * max(0.6, share), kind))
        if kinds:
            near *= 0.45
        elif is_counted and (volume_number(folder) is not None or chapter_number(folder) is not None):
            clues.append(Clue("volume folder", (folder,)))
    return tuple(clues)


def _front_clues(front_matter: FrontMatter) -> Iterator[Clue]:
    for feature, keys in (("kind field", ("kind", "type", "类型")), ("tag field", ("category", "tags", "tag"))):
        for key in keys:
            for value in as_strings(front_matter.get(key))[:6]:
                for kind, share, word in kinds_of_name(value.strip("#"))[:1]:
                    yield Clue(feature, (key, word), share, kind)
    fields = [key for key in front_matter if key.lower() in CONTENT_WORDS["setting"]]
    if len(fields) >= 2:
        yield Clue("sheet fields", (", ".join(fields[:4]),))


def _heading_clues(titles: Sequence[str], numbers: Sequence[int], shape: _Shape, is_prose: bool) -> Iterator[Clue]:
    if titles:
        first = titles[0][:_TITLE]
        rest, parted = first, False
        number = chapter_number(first)
        is_place = number is not None or (volume_number(first) is not None and is_prose)
        if is_place:
            yield Clue("chapter heading", (first,), shape.lists)
            rest, parted = _rest_of_name(first) if number is not None and is_prose else (first, False)
        for kind, share, word in kinds_of_name(rest):
            if not is_place or (kind not in STORY_KINDS and not (is_prose and parted)):
                yield Clue("heading", (word,), share, kind)
    if len(numbers) > 1 and not is_prose and (items := sum(leading_span(title) is not None for title in titles)) > 1:
        yield Clue("headings, lists", (items,))


def _text_clues(shape: _Shape, is_prose: bool) -> Iterator[Clue]:
    if shape.filled <= 0.3:
        yield Clue("most fields empty", (shape.empty, len(shape.labels)))
    if shape.files > 0.5:
        yield Clue("list of files")
    if shape.cited >= 4:  # of 650 chapters one does
        yield Clue("citations", (shape.cited,))
    if is_prose:
        spoken = shape.spoken >= SPOKEN
        if not shape.is_short and (shape.length >= CHAPTER or spoken):
            yield Clue("dialogue" if spoken else "prose")
        return
    yield Clue("lists", share=shape.lists)
    words = _content_words(shape)
    for kind in _BY_WORDS:
        met = [word for word in words if word in CONTENT_WORDS[kind]]
        distinct = [*dict.fromkeys(met)]
        if len(distinct) >= 2 and (kind != "review" or shape.cited):
            yield Clue("words of a kind", (", ".join(distinct[:4]),), len(distinct) + _AGAIN * len(met), kind)
    fields = len(shape.labels) / shape.lines
    if fields >= 0.3 and len(shape.labels) > 2 * shape.empty:
        yield Clue("fields")


def _content_words(shape: _Shape) -> list[str]:
    words: list[str] = []
    for title in (*(heading[:_TITLE].lower() for heading in shape.headings[:200]), *shape.labels, *shape.columns):
        words += (title, *_LETTERS.findall(title)) if " " in title or not title.isalpha() else (title,)
        if _UNSPACED.search(title):
            words += [word for word in _unspaced_content() if word != title and word in title]
    return words


@cache
def _unspaced_content() -> tuple[str, ...]:
    return tuple(sorted({word for words in CONTENT_WORDS.values() for word in words if _UNSPACED.match(word)}))


@lru_cache(maxsize=1024)
def _rest_of_name(name: str) -> tuple[str, bool]:
    """What follows the chapter number of a name, and whether something parts the two."""
    match = _TO_NUMBER.search(name)
    rest = name[match.end() :] if match else name
    bare = rest.lstrip(" _-—–:：.·")
    return bare, bare != rest


@lru_cache(maxsize=4096)
def kinds_of_name(name: str) -> list[tuple[Kind, float, str]]:
    """The kinds that a name speaks for: (kind, weight, word), the heaviest first.

    The weight is 1 where the whole name is such words, or the last of them ends it (`magic notes`), less for a word
    inside it. `Review notes` and `Beta notes` are reviews.
    """
    lowered = _HUMP.sub(" ", name).lower().strip()
    lowered = _ASIDE.sub("", lowered) or lowered
    if not lowered:
        return []
    if lowered in KINDS:
        return [(kind, 1.0, lowered) for kind in KINDS if kind == lowered]
    if TYPE_OF_WORD.get(lowered) in ("character", "location", "faction", "item"):
        return [("setting", 0.6, lowered)]
    matches = [match for match in _LETTERS.finditer(lowered) if match[0] in KIND_OF_WORD]
    if _UNSPACED.search(lowered):
        ends = {match.end() for match in matches}
        matches += [match for match in _unspaced_pattern().finditer(lowered) if match.end() not in ends]
    hits = sorted((match.end(), match[0]) for match in matches)  # end of the word, word
    if not hits:
        return []
    letters = sum(map(str.isalpha, lowered)) or 1
    covered = sum(len(word) for _, word in hits)
    last_end, last = hits[-1]
    weights: dict[Kind, tuple[float, str]] = {}
    for _, word in hits[:-1]:
        weights.setdefault(KIND_OF_WORD[word], (0.5 * min(1.0, covered / letters), word))
    ends_it = not any(map(str.isalpha, lowered[last_end:]))
    share = covered / letters
    weights[KIND_OF_WORD[last]] = (max(share, 0.75 if ends_it else 0.3), last)
    if KIND_OF_WORD[last] == "note" and ("review" in weights or "beta" in lowered):
        weights["review"] = weights.pop("note")
    return [(kind, *pair) for kind, pair in sorted(weights.items(), key=lambda item: -item[1][0])]


@cache
def _unspaced_pattern() -> re.Pattern[str]:
    """Words that may stand inside others, the longest first."""
    words = sorted((word for word in KIND_OF_WORD if _UNSPACED.match(word)), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, words)))


def _volume(folders: Sequence[str], stem: str) -> int | None:
    volume = volume_number(_BEFORE_CHAPTER.split(stem, maxsplit=1)[0])
    return _volume_of(tuple(folders)) if volume is None else volume


@lru_cache(maxsize=256)
def _volume_of(folders: tuple[str, ...]) -> int | None:
    return next((number for name in reversed(folders) if (number := volume_number(name)) is not None), None)


def _language(text: str, scripts: Sequence[int]) -> str:
    kana, hangul, han, cyrillic, latin = scripts
    if max(scripts) < 30:
        return ""
    if kana * 8 > han and kana > 20:
        return "ja"
    if 3 * max(hangul, han) >= latin:
        return "ko" if hangul > han else "zh"
    if cyrillic > latin:
        return "ru"
    counts: dict[str, int] = {}
    languages = _languages_of()
    for word in _WORD.findall(text[:240].lower()):
        for language in languages.get(word, ()):
            counts[language] = counts.get(language, 0) + 1
    return max(counts, key=lambda name: (counts[name], name)) if counts else "en"


@cache
def _languages_of() -> dict[str, tuple[str, ...]]:
    """Frequent word to its languages."""
    words = {word for group in LANGUAGE_WORDS.values() for word in group}
    return {word: tuple(name for name, group in LANGUAGE_WORDS.items() if word in group) for word in words}


_FIELDS: Final = attrgetter(*(field.name for field in fields(Features)))
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def pack(features: Features) -> bytes:
    """The data of a row."""
    return _ENCODER.encode(_FIELDS(features)).encode("utf-8", "surrogatepass")


def unpack(data: bytes) -> Features:
    """What `pack` gave.

    Raises:
        ValueError: The bytes are something else.
    """
    try:
        row: list[Any] = [tuple(item) if isinstance(item, list) else item for item in json.loads(data)]
        row[2] = tuple(map(tuple, row[2]))
        return Features(*row)
    except (TypeError, ValueError, IndexError, RecursionError) as error:
        raise ValueError(f"no features of a document: {error}") from error
