"""The map of a project as it is shown: rows, doubts with the line that settles each, a tree that folds what is alike.

notes/                       12 notes
正文/                        300 chapters, 1–300
审查报告/                    12 reviews, in questions alone
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

from armarius.arguments import Kind
from armarius.display import ResultList, counted, html_table, rich_table
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.project_map import MappedFile, ProjectMap
from armarius.documents.segments import folder_of
from armarius.io.toml import quoted

if TYPE_CHECKING:
    from rich.table import Table

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
        return f"{quoted(self.pattern)} = {quoted(self.kind)}"

    @property
    def reason(self) -> str:
        """How sure it is, and why, in a few words."""
        many = f", {self.files} files" if self.files > 1 else ""
        return f"{_share(self.confidence)}{many}: {'; '.join(self.evidence[:2]) or 'nothing speaks for a kind'}"


def doubts_of(mapped: ProjectMap) -> tuple[Doubt, ...]:
    """The doubts of a map, most doubtful first; files that one pattern matches, and no others, are one doubt."""
    left = _Left(mapped)
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


class _Left:
    """The doubtful files of a map that no pattern matches yet, and how many files there are in each folder."""

    def __init__(self, mapped: ProjectMap) -> None:
        self.kinds = {one.path: one.kind for one in mapped.doubtful}
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
        names = [_name(one) for one in here if self.kinds.get(one) == kind]
        first_part, last = _common(names), _common([one[::-1] for one in names])[::-1]
        ending = last.rpartition(".")[0]
        for pattern, found in (
            (f"{folder}*{last}", [one for one in here if _width(ending) >= _TELLING and one.endswith(last)]),
            (f"{folder}{first_part}*", [
                one for one in here if _width(first_part) >= _TELLING and _name(one).startswith(first_part)
            ]),
        ):  # fmt: skip
            if len(found) >= _FOLDED and all(self.kinds.get(one) == kind for one in found):
                yield pattern, found


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
        return f"{file.path}: {_what([file], frozenset())}"

    @classmethod
    def cells(cls, file: MappedFile, /) -> Sequence[str]:
        """Never the text."""
        number = "" if file.number is None else str(file.number)
        return file.path, file.kind, number, file.edition, _share(file.confidence), "; ".join(file.evidence)

    def __repr__(self) -> str:
        kinds = [_what(list(files), frozenset()) for _, files in _alike(self)]
        more = [f"{len(self.doubts)} doubtful"] if self.doubts else []
        more += [f"{sum(self.unread.values()):,} not read"] if self.unread else []
        held = counted(len(self), *self.noun)
        return f"<{held}{': ' * bool(kinds)}{'; '.join(kinds)}{''.join(f'; {one}' for one in more)}>"

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
        text = [*self._doubtful(every=every), *lines]
        return "\n".join("".join(char if char.isprintable() else "\ufffd" for char in line) for line in text)

    def _doubtful(self, *, every: bool) -> list[str]:
        """The doubts as lines of armarius.toml, an empty one last; none without doubts."""
        if not self.doubts:
            return []
        shown = self.doubts if every else self.doubts[:_MOST_DOUBTS]
        more = [f"# and {len(self.doubts) - len(shown)} more"] if len(shown) < len(self.doubts) else []
        head = f"[documents]  # {counted(len(self.doubts), 'doubt')}: write what is right into armarius.toml"
        return [head, *(f"{one.line}  # {one.reason}" for one in shown), *more, ""]

    def to_wire(self) -> dict[str, Any]:
        """The map as plain JSON."""
        files = [_wire(one) | {"hidden": one.path in self.hidden} for one in self]
        doubts = [_wire(one) | {"line": one.line} for one in self.doubts]
        return {"files": files, "doubts": doubts, "unread": dict(self.unread)}

    def __rich__(self) -> "Table":
        """The tree that a terminal with rich shows."""
        return rich_table(("", "", ""), self._shown())

    def _repr_html_(self) -> str:
        """The tree that a notebook shows."""
        return html_table(("", "", ""), [(name.replace(" ", "\u00a0"), *others) for name, *others in self._shown()])

    def _shown(self) -> list[_Row]:
        doubts = ((f"? {one.line}", _share(one.confidence), one.reason) for one in self.doubts)
        return [*doubts, *self._rows(every=False)]

    def _rows(self, *, every: bool) -> Iterator[_Row]:
        yield from self._below("", list(self), 0, every=every)
        rows = list(self.unread.items())
        shown = rows if every else rows[:_MOST_UNREAD]
        yield from ((name, "", f"{counted(files, 'file')}, not read") for name, files in shown)
        if len(shown) < len(rows):
            yield "…", "", f"{counted(sum(files for _, files in rows[len(shown) :]), 'file')} more, not read"

    def _below(self, folder: str, files: list[MappedFile], depth: int, *, every: bool) -> Iterator[_Row]:
        """Rows of what lies in a folder: its folders and files by name."""
        indent = "  " * depth
        for is_folder, part, held in _parts(folder, files):
            if not is_folder:
                for _, alike in _alike(held):
                    rows = list(alike)
                    if len(rows) >= _FOLDED and not every:
                        yield f"{indent}{_span(rows)}", _least(rows), _what(rows, self.hidden)
                    else:
                        yield from (
                            (f"{indent}{_name(one.path)}", _least([one]), self._one(one, every=every)) for one in rows
                        )
                continue
            if len(held) == 1:
                path = held[0].path[len(folder) :]
                yield f"{indent}{path}", _least(held), self._one(held[0], every=every)
                continue
            while len(inner := _parts(f"{folder}{part}", held)) == 1 and inner[0][0]:
                part += inner[0][1]
            if len({_key(one) for one in held}) == 1 and not every:
                yield f"{indent}{part}", _least(held), _what(held, self.hidden)
            else:
                yield f"{indent}{part}", "", ""
                yield from self._below(f"{folder}{part}", held, depth + 1, every=every)

    def _one(self, file: MappedFile, *, every: bool) -> str:
        what = _what([file], self.hidden)
        return f"{what}: {'; '.join(file.evidence)}" if every and file.evidence else what


def _wire(one: MappedFile | Doubt) -> dict[str, Any]:
    values = {field.name: getattr(one, field.name) for field in fields(one) if field.name != "chapters"}
    return values | {"confidence": round(one.confidence, 2), "evidence": list(one.evidence)}


def _common(names: Collection[str]) -> str:
    """What all of them begin with."""
    low, high = min(names), max(names)
    return low[: next((at for at, char in enumerate(low) if high[at : at + 1] != char), len(low))]


def _parts(folder: str, files: Iterable[MappedFile]) -> list[tuple[bool, str, list[MappedFile]]]:
    """Whether it is a folder, its name with a slash ("" for the files of the folder itself, last), what it holds."""
    held: dict[str, list[MappedFile]] = {}
    for one in files:
        name, slash, _ = one.path[len(folder) :].partition("/")
        held.setdefault(name + slash if slash else "", []).append(one)
    own = held.pop("", [])
    return [*((True, name, rows) for name, rows in held.items()), *([(False, "", own)] if own else [])]


def _key(file: MappedFile) -> tuple[str, ...]:
    return (file.kind, file.edition, _state(file))


def _state(file: MappedFile) -> str:
    """Of a chapter; whether a setting is a draft changes nothing."""
    return file.state if file.kind in STORY_KINDS else ""


def _alike(files: Iterable[MappedFile]) -> Iterator[tuple[tuple[str, ...], Iterator[MappedFile]]]:
    """Files of one kind, edition and state; those with most files first."""
    held = list(files)
    by_key = Counter(map(_key, held))
    return groupby(sorted(held, key=lambda one: (-by_key[_key(one)], _key(one))), key=_key)


def _what(files: Sequence[MappedFile], hidden: frozenset[str]) -> str:
    """`300 chapters, 1–300, a copy`, of files that are alike."""
    first = files[0]
    numbers = sorted({one.number for one in files if one.number is not None})
    one_or_many = first.kind if len(files) == 1 or first.kind in _NO_PLURAL else f"{first.kind}s"
    words = [one_or_many if len(files) == 1 else f"{len(files):,} {one_or_many}"]
    if len(files) == 1 and numbers:
        words[0] += f" {numbers[0]}"
    elif len(numbers) > 1:
        words.append(f"{numbers[0]}–{numbers[-1]}")
    if chapters := sum(one.chapters for one in files):
        words.append(counted(chapters, "chapter"))
    words += [_EDITIONS[first.edition]] if first.edition in _EDITIONS else []
    words += [_state(first)] if _state(first) else []
    words += ["declared"] if all(one.declared for one in files) else []
    if hidden and all(one.path in hidden for one in files):
        words.append("in questions alone" if any(one.is_guessed for one in files) else "in no prompt")
    return ", ".join(words)


def _span(files: Sequence[MappedFile]) -> str:
    return f"{_name(files[0].path)} … {_name(files[-1].path)}"


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folders(path: str) -> list[str]:
    """The folders above a file, the outermost first, each with its slash."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:at]) + "/" for at in range(1, len(parts) + 1)]


def _least(files: Sequence[MappedFile]) -> str:
    return _share(min(one.confidence for one in files))


def _share(confidence: float) -> str:
    return f"{confidence:.2f}".removeprefix("0")


def _width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
