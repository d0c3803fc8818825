"""`ProjectMap`: what the files of a project are: kind, place in the story, edition, state, with the evidence.

As it is shown: rows, doubts with the line that settles each, a tree that folds what is alike.

    notes/                       12 notes
    正文/                        300 chapters, 1–300
    审查报告/                    12 reviews, in questions alone
"""

import base64
import json
import zlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby, pairwise
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from armarius.arguments import Edition as Edition
from armarius.arguments import Kind
from armarius.documents.kinds import HIDDEN_KINDS, STORY_KINDS
from armarius.documents.segments import folder_of, parts_of
from armarius.documents.units import SCENE
from armarius.headings import ResultList, count_noun, html_table, rich_table
from armarius.io.toml import quote_toml

if TYPE_CHECKING:
    from rich.table import Table


DocumentState = Literal["", "draft", "cut", "empty"]
_DOUBTFUL: Final = 0.8  # of labelled files, 20 of 88 below it and 26 of 869 others were wrong


@dataclass(frozen=True, slots=True)
class MappedFile:
    """What one file is.

    Attributes:
        path: Of the document.
        kind: As of the document.
        volume: Number of its volume, as labelled.
        number: Number of the chapter in its volume, as labelled; that of the document for a chapter.
        order: Place in the story of its edition, from 0; None outside the story.
        edition: "main" for everything that is no copy.
        story: Id of the edition that it belongs to: its folder ("" for the root); "" outside the story.
        state: `draft` or `cut` as its front matter, name or folder says; `empty` without text.
        confidence: 0 to 1.
        evidence: Short sentences, the most weighty first.
        declared: `armarius.toml` or its front matter states the kind.
        proposed: A model proposed its kind or its edition, and nobody has said otherwise.
        chapters: How many a manuscript holds; else 0.
    """

    path: str
    kind: Kind
    volume: int | None = None
    number: int | None = None
    order: int | None = None
    edition: Edition = "main"
    story: str = ""
    state: DocumentState = ""
    confidence: float = 1.0
    evidence: tuple[str, ...] = ()
    declared: bool = False
    chapters: int = 0
    proposed: bool = False

    @property
    def is_guessed(self) -> bool:
        """Whether nobody declared its kind, and it is of the main edition, or no person said of which it is."""
        return (self.edition == "main" or self.proposed) and not self.declared


_FIELDS: Final = attrgetter(*(field.name for field in fields(MappedFile)))


class ProjectMap:
    """All files of a project; immutable.

    Args:
        files: In any order.
        main: Id of the main edition; None when there is no story.

    Attributes:
        files: By path, in path order.
        is_code: Most of it is code.
        hidden: Paths of reviews, templates, tool files and other editions, which no task looks into unless it asks for
            them by name; none where most of the project is code, whose README and guides are what is asked about.
        guessed: Those of them whose kind nobody declared: questions look into them.
        doubtful: Files of low confidence, the most doubtful first.
        of_scenes: Most files of the story are scenes (`scene5.md`), so that a scene is what others call a chapter.
    """

    def __init__(self, files: Iterable[MappedFile] = (), main: str | None = None) -> None:
        self.files: Mapping[str, MappedFile] = MappingProxyType(
            {file.path: file for file in sorted(files, key=attrgetter("path"))}
        )
        aside = (path for path, file in self.files.items() if file.kind in HIDDEN_KINDS or file.edition != "main")
        self.is_code = _is_code(self.files.values())
        self.hidden = frozenset(() if self.is_code else aside)
        self.guessed = frozenset(path for path in self.hidden if self.files[path].is_guessed)
        unsure = [file for file in self.files.values() if file.confidence < _DOUBTFUL and not file.declared]
        self.doubtful = tuple(sorted(unsure, key=lambda file: (file.confidence, file.path)))
        numbered = [one.path for one in self.files.values() if one.kind in STORY_KINDS and one.number is not None]
        scenes = sum(1 for path in numbered if SCENE.fullmatch(parts_of(path).stem))
        self.of_scenes = 2 * scenes > len(numbered)
        self._main = main
        stories: dict[str, list[MappedFile]] = {}
        for file in self.files.values():
            if file.order is not None:
                stories.setdefault(file.story, []).append(file)
        self._stories = {
            story: tuple([file.path for file in sorted(inside, key=attrgetter("order"))])
            for story, inside in stories.items()
        }

    @classmethod
    def joined(cls, maps: Mapping[str, "ProjectMap"]) -> "ProjectMap":
        """The map of a series: that of the project, "", and those of other folders, by the name before their paths."""
        if len(maps) == 1:
            return maps[""]
        files = [
            replace(file, path=f"{name}/{file.path}", story=f"{name}/{file.story}") if name else file
            for name, part in maps.items()
            for file in part.files.values()
        ]
        return cls(files, maps[""]._main)

    def to_text(self) -> str:
        """The map as a note of the index: 20 bytes a file, which stand by columns and are compressed."""
        columns = zip(*map(_FIELDS, self.files.values()), strict=True)
        data = json.dumps([self._main, *columns], ensure_ascii=False, separators=(",", ":"))
        return base64.b64encode(zlib.compress(data.encode("utf-8", "surrogatepass"))).decode("ascii")

    @classmethod
    def from_text(cls, text: str) -> "ProjectMap":
        """What `to_text` gave. Cost: 5 µs a file."""
        main, *columns = json.loads(zlib.decompress(base64.b64decode(text)))
        rows: Iterable[list[Any]] = (
            [tuple(cell) if isinstance(cell, list) else cell for cell in row] for row in zip(*columns, strict=True)
        )
        return cls((MappedFile(*row) for row in rows), main)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProjectMap) and (self.files, self._main) == (other.files, other._main)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ProjectMap({len(self.files)} files, {len(self._stories)} editions of the story)"

    def get(self, path: str) -> MappedFile | None:
        """What is known of a file; None for an unknown path."""
        return self.files.get(path)

    def aside(self, path: str) -> str:
        """Whether a file is "in questions alone", "in no prompt" unless a request names it, or "" for any prompt."""
        return "" if path not in self.hidden else "in questions alone" if path in self.guessed else "in no prompt"

    def story(self, path: str | None = None) -> tuple[str, ...]:
        """Paths of the story in its order.

        Args:
            path: Of the edition of this file; None, and a file outside the story, mean the main edition.
        """
        file = None if path is None else self.files.get(path)
        which = self._main if file is None or file.kind not in STORY_KINDS or file.order is None else file.story
        return () if which is None else self._stories.get(which, ())

    def before(self, path: str) -> str | None:
        """The file before this one in the story of its edition."""
        return self._neighbour_path(path, -1)

    def after(self, path: str) -> str | None:
        """The file after this one in the story of its edition."""
        return self._neighbour_path(path, 1)

    def _neighbour_path(self, path: str, step: int) -> str | None:
        file = self.files.get(path)
        if file is None or file.order is None:
            return None
        at, inside = file.order + step, self._stories[file.story]
        return inside[at] if 0 <= at < len(inside) else None


def _is_code(files: Iterable[MappedFile]) -> bool:
    code = story = 0
    for file in files:
        code += file.kind == "code"
        story += file.kind in (*STORY_KINDS, "setting")
    return code > story


_Row = tuple[str, str, str]  # name, confidence of the most doubtful, what it is
_NO_PLURAL = {"code", "data"}
_FOLDED = 3  # files of a folder that are alike stand in one line from so many on
_TELLING = 4  # columns of what names have in common, to make a pattern of it
_MOST_UNREAD = 8  # folders and endings
_MOST_DOUBTS = 12  # shown before the tree
_EDITIONS = {"copy": "a copy", "translation": "a translation", "archive": "an archive"}


@dataclass(frozen=True, slots=True)
class Doubt:
    """Files whose kind was decided with little evidence.

    Attributes:
        pattern: Matches them: a path, or `folder/**` where everything in the folder is as doubtful.
        kind: What they are taken for.
        files: How many.
        confidence: From 0 to 1, of the most doubtful.
        evidence: What spoke for the kind, of that one.
    """

    pattern: str
    kind: Kind
    files: int
    confidence: float
    evidence: tuple[str, ...]

    @property
    def line(self) -> str:
        """The line of `[documents]` in armarius.toml that settles it; with another kind where this one is wrong."""
        return f"{quote_toml(self.pattern)} = {quote_toml(self.kind)}"

    @property
    def reason(self) -> str:
        """How sure it is, and why, in a few words."""
        many = f", {self.files} files" if self.files > 1 else ""
        return f"{_share(self.confidence)}{many}: {'; '.join(self.evidence[:2]) or 'nothing speaks for a kind'}"


def doubts_of(mapped: ProjectMap) -> tuple[Doubt, ...]:
    """The doubts of a map, most doubtful first; files that one pattern matches, and no others, are one doubt."""
    left = _OpenDoubts(mapped)
    tried: set[tuple[str, str]] = set()
    doubts = []
    for first in mapped.doubtful:
        if first.path not in left.kinds:
            continue
        pattern = first.path
        paths: Collection[str] = [first.path]
        if (place := (folder_of(first.path), first.kind)) not in tried:
            tried.add(place)
            pattern, paths = next(left.patterns(first.path), (pattern, paths))
        left.remove(paths)
        doubts.append(Doubt(pattern, first.kind, len(paths), first.confidence, first.evidence))
    return tuple(doubts)


class _OpenDoubts:
    """The doubtful files of a map that no pattern matches yet, and how many files there are in each folder."""

    def __init__(self, mapped: ProjectMap) -> None:
        self.kinds = {file.path: file.kind for file in mapped.doubtful}
        self._paths = sorted(mapped.files)
        self._beside = defaultdict[str, list[str]](list)  # folder to its own files
        for path in self._paths:
            self._beside[folder_of(path)].append(path)
        self._every = Counter(folder for path in self._paths for folder in _folders(path))
        self._alike = Counter((kind, folder) for path, kind in self.kinds.items() for folder in _folders(path))

    def remove(self, paths: Iterable[str]) -> None:
        for path in paths:
            kind = self.kinds.pop(path)
            self._alike.subtract((kind, folder) for folder in _folders(path))

    def patterns(self, path: str) -> Iterator[tuple[str, Collection[str]]]:
        """Patterns of `path` and others of its kind, three or more and no further file, with the files they match."""
        kind = self.kinds[path]
        for folder in _folders(path):
            if _FOLDED <= self._every[folder] == self._alike[kind, folder]:
                first = bisect_left(self._paths, folder)
                yield f"{folder}**", self._paths[first : first + self._every[folder]]
        folder, here = path.removesuffix(_name(path)), self._beside[folder_of(path)]
        names = [_name(item) for item in here if self.kinds.get(item) == kind]
        first_part, last = _common(names), _common([name[::-1] for name in names])[::-1]
        ending = last.rpartition(".")[0]
        for pattern, paths in (
            (f"{folder}*{last}", [item for item in here if _width(ending) >= _TELLING and item.endswith(last)]),
            (f"{folder}{first_part}*", [
                item for item in here if _width(first_part) >= _TELLING and _name(item).startswith(first_part)
            ]),
        ):  # fmt: skip
            if len(paths) >= _FOLDED and all(self.kinds.get(item) == kind for item in paths):
                yield pattern, paths


class ShownMap(ResultList[MappedFile]):
    """What every file of a project is taken for, by path. `print` shows the tree, doubts first.

    Attributes:
        doubts: What was decided with little evidence, most doubtful first, with the line that settles it.
        hidden: Paths of reviews, templates, tool files and other editions, as of `ProjectMap`.
        unread: What is not read, by folder or ending, to its number of files.
    """

    noun = ("file", "files")
    columns = ("path", "kind", "number", "edition", "confidence", "evidence")

    def __init__(self, files: Iterable[MappedFile] = ()) -> None:
        super().__init__(files)
        self.doubts: tuple[Doubt, ...] = ()
        self.hidden: frozenset[str] = frozenset()
        self.unread: Mapping[str, int] = {}

    @classmethod
    def of(cls, mapped: ProjectMap, unread: Mapping[str, int] | None = None) -> Self:
        """Of the map of an index, and of what is not read, folders and endings to their number of files."""
        made = cls(mapped.files.values())
        made.doubts, made.hidden = doubts_of(mapped), mapped.hidden
        made.unread = dict(unread or {})
        return made

    @classmethod
    def brief(cls, file: MappedFile, /) -> str:
        """The path and what it is."""
        return f"{file.path}: {_describe_files([file], frozenset())}"

    @classmethod
    def cells(cls, file: MappedFile, /) -> Sequence[str]:
        """Never the text."""
        number = "" if file.number is None else str(file.number)
        return file.path, file.kind, number, file.edition, _share(file.confidence), "; ".join(file.evidence)

    def __repr__(self) -> str:
        kinds = [_describe_files(list(files), frozenset()) for _, files in _group_files(self)]
        more = [f"{len(self.doubts)} doubtful"] if self.doubts else []
        more += [f"{sum(self.unread.values()):,} not read"] if self.unread else []
        count = count_noun(len(self), *self.noun)
        return f"<{count}{': ' * bool(kinds)}{'; '.join(kinds)}{''.join(f'; {part}' for part in more)}>"

    def __str__(self) -> str:
        return self.tree()

    def tree(self, *, every: bool = False) -> str:
        """The map as text: lines for armarius.toml that settle the doubts, then the tree, then what is not read.

        Args:
            every: A line for each file, with its evidence; else folders and files that are alike share one.
        """
        rows = list(self._rows(every=every))
        wide = max((_width(name) for name, _, _ in rows), default=0)
        lines = [f"{name}{' ' * (wide - _width(name) + 2)}{sure:>4}  {what}".rstrip() for name, sure, what in rows]
        text = [*self._doubt_lines(every=every), *lines]
        return "\n".join("".join(char if char.isprintable() else "\ufffd" for char in line) for line in text)

    def _doubt_lines(self, *, every: bool) -> list[str]:
        """The doubts as lines of armarius.toml, an empty one last; none without doubts."""
        if not self.doubts:
            return []
        alike: dict[object, list[Doubt]] = {}
        for doubt in self.doubts:
            alike.setdefault(doubt if every else (folder_of(doubt.pattern), doubt.kind), []).append(doubt)
        groups = list(alike.values())[: None if every else _MOST_DOUBTS]
        rest = len(self.doubts) - sum(map(len, groups))
        head = f"[documents]  # {count_noun(len(self.doubts), 'doubt')}: write what is right into armarius.toml"
        lines = [
            f"{first.line}  # {first.reason}{f'; and {len(others)} more of its folder' if others else ''}"
            for first, *others in groups
        ]
        return [head, *lines, *([f"# and {rest} more"] if rest else []), ""]

    def to_wire(self) -> dict[str, Any]:
        """The map as plain JSON."""
        files = [_wire(file) | {"hidden": file.path in self.hidden} for file in self]
        doubts = [_wire(doubt) | {"line": doubt.line} for doubt in self.doubts]
        return {"files": files, "doubts": doubts, "unread": dict(self.unread)}

    def __rich__(self) -> "Table":
        """The tree that a terminal with rich shows."""
        return rich_table(("", "", ""), self._main_rows())

    def _repr_html_(self) -> str:
        """The tree that a notebook shows."""
        return html_table(("", "", ""), [(name.replace(" ", "\u00a0"), *others) for name, *others in self._main_rows()])

    def _main_rows(self) -> list[_Row]:
        doubts = ((f"? {doubt.line}", _share(doubt.confidence), doubt.reason) for doubt in self.doubts)
        return [*doubts, *self._rows(every=False)]

    def _rows(self, *, every: bool) -> Iterator[_Row]:
        yield from self._folder_rows("", list(self), 0, every=every)
        rows = list(self.unread.items())
        head = rows if every else rows[:_MOST_UNREAD]
        yield from ((name, "", f"{count_noun(files, 'file')}, not read") for name, files in head)
        if len(head) < len(rows):
            yield "…", "", f"{count_noun(sum(files for _, files in rows[len(head) :]), 'file')} more, not read"

    def _folder_rows(self, folder: str, files: list[MappedFile], depth: int, *, every: bool) -> Iterator[_Row]:
        """Rows of what lies in a folder: its folders and files by name."""
        indent = "  " * depth
        for is_folder, part, members in _parts(folder, files):
            if not is_folder:
                for _, alike in _group_files(members):
                    rows = list(alike)
                    if len(rows) >= _FOLDED and not every:
                        yield f"{indent}{_span(rows)}", _least_share(rows), _describe_files(rows, self.hidden)
                    else:
                        yield from (
                            (f"{indent}{_name(file.path)}", _least_share([file]), self._file_text(file, every=every))
                            for file in rows
                        )
                continue
            if len(members) == 1:
                path = members[0].path[len(folder) :]
                yield f"{indent}{path}", _least_share(members), self._file_text(members[0], every=every)
                continue
            while len(inner := _parts(f"{folder}{part}", members)) == 1 and inner[0][0]:
                part += inner[0][1]
            if len({_key(file) for file in members}) == 1 and not every:
                yield f"{indent}{part}", _least_share(members), _describe_files(members, self.hidden)
            else:
                yield f"{indent}{part}", "", ""
                yield from self._folder_rows(f"{folder}{part}", members, depth + 1, every=every)

    def _file_text(self, file: MappedFile, *, every: bool) -> str:
        what = _describe_files([file], self.hidden)
        return f"{what}: {'; '.join(file.evidence)}" if every and file.evidence else what


def _wire(item: MappedFile | Doubt) -> dict[str, Any]:
    values = {field.name: getattr(item, field.name) for field in fields(item) if field.name != "chapters"}
    return values | {"confidence": round(item.confidence, 2), "evidence": list(item.evidence)}


def _common(names: Collection[str]) -> str:
    """What all of them begin with."""
    low, high = min(names), max(names)
    return low[: next((at for at, char in enumerate(low) if high[at : at + 1] != char), len(low))]


def _parts(folder: str, files: Iterable[MappedFile]) -> list[tuple[bool, str, list[MappedFile]]]:
    """Whether it is a folder, its name with a slash ("" for the files of the folder itself, last), what it holds."""
    groups: dict[str, list[MappedFile]] = {}
    for file in files:
        name, slash, _ = file.path[len(folder) :].partition("/")
        groups.setdefault(name + slash if slash else "", []).append(file)
    own = groups.pop("", [])
    return [*((True, name, rows) for name, rows in groups.items()), *([(False, "", own)] if own else [])]


def _key(file: MappedFile) -> tuple[str, ...]:
    return (file.kind, file.edition, _state(file))


def _state(file: MappedFile) -> str:
    """Of a chapter; whether a setting is a draft changes nothing."""
    return file.state.replace("empty", "not written") if file.kind in STORY_KINDS else ""


def _group_files(files: Iterable[MappedFile]) -> Iterator[tuple[tuple[str, ...], Iterator[MappedFile]]]:
    """Files of one kind, edition and state; those with most files first."""
    rows = list(files)
    by_key = Counter(map(_key, rows))
    return groupby(sorted(rows, key=lambda file: (-by_key[_key(file)], _key(file))), key=_key)


def _describe_files(files: Sequence[MappedFile], hidden: frozenset[str]) -> str:
    """`300 chapters, 1–300, a copy`, of files that are alike."""
    first = files[0]
    numbers = sorted({file.number for file in files if file.number is not None})
    one_or_many = first.kind if len(files) == 1 or first.kind in _NO_PLURAL else f"{first.kind}s"
    words = [one_or_many if len(files) == 1 else f"{len(files):,} {one_or_many}"]
    if len(files) == 1 and numbers:
        words[0] += f" {numbers[0]}"
    elif len(numbers) > 1:
        words.append(f"{numbers[0]}–{numbers[-1]}{_gaps(numbers) if first.kind == 'chapter' else ''}")
    if chapters := sum(file.chapters for file in files):
        words.append(count_noun(chapters, "chapter"))
    words += [_EDITIONS[first.edition]] if first.edition in _EDITIONS else []
    words += [_state(first)] if _state(first) else []
    words += ["declared"] if all(file.declared for file in files) else []
    if hidden and all(file.path in hidden for file in files):
        words.append("in questions alone" if any(file.is_guessed for file in files) else "in no prompt")
    return ", ".join(words)


def _gaps(numbers: Sequence[int]) -> str:
    """Of a series that lacks less than it has: ` without 5, 9–11`."""
    gaps = [(number + 1, two - 1) for number, two in pairwise(numbers) if two > number + 1]
    if not gaps or sum(last - first + 1 for first, last in gaps) >= len(numbers):
        return ""
    return " without " + ", ".join(f"{first}" if first == last else f"{first}–{last}" for first, last in gaps)


def _span(files: Sequence[MappedFile]) -> str:
    return f"{_name(files[0].path)} … {_name(files[-1].path)}"


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folders(path: str) -> list[str]:
    """The folders above a file, the outermost first, each with its slash."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:at]) + "/" for at in range(1, len(parts) + 1)]


def _least_share(files: Sequence[MappedFile]) -> str:
    return _share(min(file.confidence for file in files))


def _share(confidence: float) -> str:
    return f"{confidence:.2f}".removeprefix("0")


def _width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
