"""The evidence of all files together: what each file is (`ProjectMap`).

A file's own evidence is in its features. Here come the runs of numbers of a folder, what its neighbours are, which
folders hold the same text again, and the languages.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from types import MappingProxyType
from typing import Final, cast, get_args

from armarius.arguments import Kind
from armarius.documents.classify import kind_named, stated_kind
from armarius.documents.features import CHAPTER, PROSE, SPOKEN, Features
from armarius.documents.kinds import STORY_KINDS, Clue, Vote, best_of, glob, sums_of, votes_of
from armarius.documents.project_map import DocumentState, Edition, MappedFile, ProjectMap
from armarius.documents.segments import folder_of, inside, parts_of
from armarius.documents.series import Series, editions_of, kind_of_folder, orders_of, place_of, series_kind, series_of
from armarius.documents.units import bare_number, unnumbered
from armarius.trust.settings import FileLine

_DRAFTS: Final = frozenset({"draft", "草稿", "wip", "in progress", "first draft", "rough draft"})
_SAME: Final = 0.5  # share of sentences that a text and its copy have in common at least
_FIRST: Final = re.compile("|".join(unnumbered("prologue")), re.IGNORECASE)
_LAST: Final = re.compile("|".join(unnumbered("epilogue", "extra")), re.IGNORECASE)
_NUMBER: Final = re.compile(r"(\d+(?:\.\d+)?)")
_ALIKE: Final = ("setting", "outline", "state", "summary")  # kinds of most files of a folder that tell of the others
_MOST: Final = 2 / 3  # share of them at least
_NOTES: Final = 0.8  # the same of notes, of which there are many: each has a title of its own
_A_BOOK: Final = 0.8  # share of the story in a list of files that is the list of its chapters
_DOUBTLESS: Final = 0.9
_END: Final = float(1 << 31)
_PROPOSED: Final = 0.95  # how sure a model's proposal is

Place = tuple[int | None, float | tuple[int, int, int]]
Rules = Sequence[tuple[str, str]]
"""Pairs of kind and glob of the configuration; the first match decides."""


def decide(
    features: Mapping[str, Features],
    rules: Mapping[str, Rules],
    lines: Mapping[str, Sequence[FileLine]] = MappingProxyType({}),
) -> ProjectMap:
    """What the files are.

    Args:
        features: Of every file, by path, in path order.
        rules: By the folder of a series, "" for the project.
        lines: As well: what else is said of files, and what a model proposed.

    Cost: linear in the files, and in the pairs of folders that hold story text; 1,000 files take some milliseconds.
    """
    if rules.keys() == {""}:
        return ProjectMap.joined({"": _decide_kinds(features, rules[""], lines.get("", ()))})
    folders: dict[str, dict[str, Features]] = {name: {} for name in rules}
    for path, traits in features.items():
        name, own = inside(path, rules)
        folders[name][own] = traits
    return ProjectMap.joined({name: _decide_kinds(folders[name], rules[name], lines.get(name, ())) for name in rules})


def stored_as(file: MappedFile, folders: Container[str] = ()) -> tuple[Kind, int | None]:
    """The kind and number of its document: numbers mean the project's own chapters, and not those of `folders`."""
    return file.kind, None if inside(file.path, folders)[0] else file.number


def diff(mapped: ProjectMap, stored: Mapping[str, tuple[Kind, int | None]], folders: Container[str] = ()) -> list[str]:
    """Paths of the documents that are stored with another kind or number than the map has, in path order."""
    return [
        path
        for path, file in mapped.files.items()
        if file.kind != "code" and path in stored and stored[path] != stored_as(file, folders)
    ]


def _decide_kinds(features: Mapping[str, Features], rules: Rules, lines: Sequence[FileLine]) -> ProjectMap:
    prose = {path: traits for path, traits in features.items() if traits.kind != "code"}
    series = series_of(prose)
    orders = orders_of(prose, series)
    votes = _neighbour_votes(prose, series, orders)
    places = {path: numbers for run in series for path, numbers in run.paths.items()}
    claims = {path: line for path in features if (line := _line_for(path, lines)) is not None} if lines else {}
    stated = {path: stated_kind(path, rules) for path in features} if rules else {}
    files = {
        path: _file(path, traits, stated.get(path), votes.get(path, ()), places.get(path, ()), claims.get(path))
        for path, traits in features.items()
    }
    declared = frozenset(
        path
        for path, file in files.items()
        if file.kind in STORY_KINDS
        and (stated.get(path) is not None or (path in claims and claims[path].edition == "main"))
    )
    _Stories(files, prose, declared, series, orders, claims).place()
    return ProjectMap(files.values(), _main(files, prose))


def _line_for(path: str, lines: Sequence[FileLine]) -> FileLine | None:
    """What the lines say of a file together: of each field the first that says it."""
    matches = [line for line in lines if glob(line.pattern).matches(path)]
    if not matches:
        return None
    kind, edition, place = (
        next(filter(None, map(attrgetter(name), matches)), "") for name in ("kind", "edition", "place")
    )
    return FileLine(path, kind, edition, place, any(line.proposed and (line.kind or line.edition) for line in matches))


def _file(
    path: str,
    traits: Features,
    declared: Kind | None,
    beside: Sequence[Vote],
    place: Sequence[float],
    line: FileLine | None,
) -> MappedFile:
    kind, sure, why = best_of((*traits.votes, *beside))
    counts_on = any(vote[0] == "chapter" for vote in beside)
    if declared is not None:
        kind, sure, why = declared, 1.0, (f"armarius.toml says {declared}", *why)
    elif traits.declared:
        kind, sure, why = traits.kind, 1.0, (f"front matter says {traits.kind}",)
    elif line is not None and line.kind:
        kind, sure, why = kind_named(line.kind), _PROPOSED, ("a model proposed it", *why)
    elif traits.kind == "code":  # of labelled scripts, a third are tools or generated
        kind, sure, why = "code", _DOUBTLESS, ("source code",)
    elif kind == "chapter" and traits.holds_several(beside=counts_on):
        kind = "manuscript"
    number = _number(traits, beside=counts_on) if kind == "chapter" else None
    if number is None and kind == "chapter" and place and place_of(parts_of(path).stem) is None:
        number = int(place[-1])  # of its folder
    volume = int(place[0]) if traits.volume is None and len(place) > 1 and number is not None else traits.volume
    state: DocumentState = "draft" if traits.status in _DRAFTS else "" if traits.length else "empty"
    return MappedFile(
        path, kind, volume, number,
        state=state, confidence=sure, evidence=why[:6], declared=declared is not None or traits.declared,
        chapters=len(traits.numbers) if kind == "manuscript" else 0,
        proposed=line is not None and line.proposed,
    )  # fmt: skip


def _number(traits: Features, *, beside: bool) -> int | None:
    stated = (traits.chapter, traits.marked, *traits.numbers[:1], traits.bare)
    number = next((number for number in stated if number is not None), None)
    return int(traits.counted[1]) if number is None and beside and traits.counted is not None else number


def _number_word(traits: Features) -> str | None:
    return "第" if traits.marked is not None else None if traits.counted is None else traits.counted[0]


def _name_number(traits: Features) -> float | None:
    return float(traits.marked) if traits.marked is not None else None if traits.counted is None else traits.counted[1]


def _neighbour_votes(
    features: Mapping[str, Features], series: Sequence[Series], orders: Sequence[tuple[float, Sequence[str]]]
) -> Mapping[str, Sequence[Vote]]:
    """What the files of the same folder, and of the same series, say of each."""
    folders: defaultdict[str, list[str]] = defaultdict(list)
    clues = defaultdict[str, list[Clue]](list)
    aside: set[str] = set()
    for run in series:
        if run.text is not None and not run.edition:
            aside |= _companions(run, features, clues)
        else:
            _vote_as_most("alike in its series", run.paths, features, clues)
    for share, order in orders[:1]:
        for path in order:
            if features[path].prose and path not in aside:
                is_text = share >= _A_BOOK and (
                    features[path].length >= CHAPTER or place_of(parts_of(path).stem) is not None
                )
                clues[path].append(Clue("in an order", (), is_text))
    for path in features:
        if path not in aside:
            folders[folder_of(path)].append(path)
    for folder, paths in folders.items():
        if len(paths) < 2:
            continue
        _runs(paths, features, clues)
        if folder:  # the root is no group
            _vote_as_most("alike in its folder", paths, features, clues)
    if not any(_heaviest_kind(traits, clues.get(path, ())) in STORY_KINDS for path, traits in features.items()):
        for path, traits in features.items():
            if traits.prose >= PROSE and traits.spoken >= SPOKEN and traits.length >= CHAPTER:
                clues[path].append(Clue("only story"))
    return {path: votes_of(group) for path, group in clues.items()}


def _heaviest_kind(traits: Features, clues: Iterable[Clue]) -> Kind:
    return sums_of((*traits.votes, *votes_of(clues)))[1]


def _companions(series: Series, features: Mapping[str, Features], clues: dict[str, list[Clue]]) -> set[str]:
    """Files with the numbers of a text are about it; what they are, the ending, the folder or their own text says."""
    text = series.text
    assert text is not None
    kind = series_kind(series)
    if kind in (None, *STORY_KINDS):
        kinds = Counter(_heaviest_kind(features[path], [Clue("companion", ("", ""))]) for path in series.paths)
        kind = kinds.most_common(1)[0][0]
    for path in series.paths:
        words = (f"{text.folder}/{text.frame}".lstrip("/"), series.ending)
        clues[path] += [Clue("companion", words), Clue("kind of companions", words, kind=kind)]
    return {*series.paths}


def _vote_as_most(
    feature: str, paths: Collection[str], features: Mapping[str, Features], clues: dict[str, list[Clue]]
) -> None:
    """What most files of a series, or of a folder, are, the others are too, whatever their names speak of."""
    if len(paths) < 3:
        return
    kind, count = Counter([features[path].kind for path in paths]).most_common(1)[0]
    kind = "chapter" if kind == "manuscript" else kind
    share = count / len(paths)
    of_folder = feature == "alike in its folder"
    least = _NOTES if kind == "note" else _MOST if kind in _ALIKE else 1
    if share <= 0.5 or (share < least and (of_folder or kind in _ALIKE)):
        return
    for path in paths:
        if kind != "note" or features[path].prose < PROSE:  # prose without further evidence is judged by its run
            clues[path].append(Clue(feature, (count, len(paths)), share, kind))


def _runs(paths: Sequence[str], features: Mapping[str, Features], clues: dict[str, list[Clue]]) -> None:
    """Prose files of one folder that count on are chapters; those of a folder of notes are none."""
    if kind_of_folder(folder_of(paths[0])) not in (None, *STORY_KINDS):
        return
    counted: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for path in paths:
        traits = features[path]
        if traits.prose < 0.5:
            continue
        if traits.marked is not None:
            counted["第"][path] = traits.marked
        elif traits.counted is not None:
            counted[traits.counted[0]][path] = traits.counted[1]
    for run in counted.values():
        numbers = {*run.values()}
        if len(numbers) < 2 or 3 * len(numbers) < 2 * len(run):
            continue
        for path in run:
            if features[path].kind in (*STORY_KINDS, "note"):
                clues[path].append(Clue("run", (len(run),)))


@dataclass(slots=True)
class _Run:
    """The story files of one folder, or those of one story."""

    folder: str
    paths: list[str]
    length: int
    language: str
    places: frozenset[Place]
    shingles: frozenset[int]
    marks: frozenset[str]  # editions that the names of its folders speak of
    named: frozenset[str]  # what stands before the numbers of its files

    def join_run(self, other: "_Run") -> "_Run":
        return _Run(
            self.folder, [*self.paths, *other.paths], self.length + other.length, self.language,
            self.places | other.places, self.shingles | other.shingles, self.marks, self.named | other.named,
        )  # fmt: skip

    @property
    def whole(self) -> str:
        """Its folder; of a volume, that of all volumes."""
        return f"{folder_of(self.folder)}/" if self.volumes else self.folder

    @property
    def volumes(self) -> bool:
        """Whether all of it lies in volumes."""
        return bool(self.places) and all(volume is not None for volume, _ in self.places)


@dataclass(slots=True)
class _Stories:
    """Puts the story files in order, edition by edition."""

    files: dict[str, MappedFile]
    features: Mapping[str, Features]
    declared: frozenset[str]  # story files whose kind armarius.toml states
    series: Sequence[Series]
    orders: Sequence[tuple[float, Sequence[str]]]
    said: Mapping[str, FileLine] = field(default_factory=dict)
    language: str = ""
    listed: dict[str, int] = field(default_factory=dict)  # places that a file gives which puts them in order
    folder: Mapping[str, str] = field(default_factory=dict)  # of each file
    places: dict[str, Place] = field(default_factory=dict)  # of each story file; no number is `_END`

    def place(self) -> None:
        self.folder = {path: folder_of(path) for path in self.features}
        spoken: Counter[str] = Counter()
        folders: defaultdict[str, list[str]] = defaultdict(list)
        home = {**self.folder, **{path: run.home for run in self.series for path in run.paths}}
        of_story = {path for path in self.features if self.files[path].kind in STORY_KINDS}
        for _, order in self.orders[:1]:
            self.listed = {path: at for at, path in enumerate(order)}
            if homes := Counter(home[path] for path in order if path in of_story):
                home |= dict.fromkeys(order, homes.most_common(1)[0][0])
        for path, traits in self.features.items():
            spoken[traits.language] += traits.length
            if path in of_story:
                folders[home[path]].append(path)
        self.language = _main_language(spoken)
        self._drop_numbers(folders)
        self._name_volumes(folders)
        self.places = {path: self._place(path) for path in of_story}
        self._mark_other_files()
        for folder, paths in folders.items():
            self._remove_editions(folder, paths)
        runs = [self._run(folder, paths) for folder, paths in folders.items()]
        worth: defaultdict[str, float] = defaultdict(float)  # of a folder; of all volumes beside each other
        rows = [(run.whole, self._run_score(run), run.folder, run) for run in runs]
        for whole, own, _, _ in rows:
            worth[whole] += own
        rows.sort(key=lambda row: (-worth[row[0]], -row[1], row[2]))
        main: list[_Run] = []
        for _, _, _, run in rows:
            self._place_run(run, main)
        for run in main:
            self._order_run(run, "main")

    def _drop_numbers(self, folders: Mapping[str, Sequence[str]]) -> None:
        """A declared chapter that counts by another word than one of its number (i1 beside ch01) has no number."""
        beside: defaultdict[tuple[str, float | None], set[str | None]] = defaultdict(set)
        for folder, paths in folders.items() if self.declared else ():
            for path in paths:
                beside[folder_of(folder), _name_number(self.features[path])].add(_number_word(self.features[path]))
        for path in self.declared:
            traits = self.features[path]
            stated = traits.chapter is not None or traits.marked is not None or bool(traits.numbers)
            same = beside[folder_of(self.folder[path]), _name_number(traits)]
            if not stated and traits.counted is not None and traits.counted[0] and same - {traits.counted[0], None}:
                self.files[path] = replace(self.files[path], number=None)

    def _remove_editions(self, folder: str, paths: list[str]) -> None:
        """Take out of `paths` what is said to be of another edition, and what a project of novelWriter leaves out."""
        for edition in get_args(Edition)[1:]:
            stated = [path for path in paths if path in self.said and self.said[path].edition == edition]
            if stated:
                self._order_run(self._run(f"{folder}/{edition}".lstrip("/"), stated), edition)
                paths[:] = [path for path in paths if path not in stated]
        out = {path for path in paths if path not in self.listed and path not in self.declared}
        if out and any(path.endswith(".nwd") for path in self.listed.keys() & paths):
            self._order_run(self._run(f"{folder}/archive".lstrip("/"), [*out]), "archive")
            paths[:] = [path for path in paths if path not in out]

    def _run_score(self, run: _Run) -> float:
        """What speaks for it as the main edition: its length, less for another language and names of other editions."""
        worth = float(run.length)
        for mark, factor in (("archive", 0.1), ("translation", 0.5), ("copy", 0.25), ("draft", 0.3), ("final", 1.5)):
            if mark in run.marks:
                worth *= factor
        if not run.marks and all(self.files[path].kind == "manuscript" for path in run.paths):
            worth *= 0.6  # of a book and its chapters as files it is the copy; lengths are rounded down
        numbered = len(run.places) > 1
        return worth * (1.0 if run.language == self.language else 0.2) * (1.0 if numbered else 0.5)

    def _place_run(self, run: _Run, main: list[_Run]) -> None:
        """Decide whether a run continues a story, is another edition of one, or a story of its own."""
        if "archive" in run.marks and main:
            main[0] = self._add_edition(run, self._declared_files(run, main[0]), main[0], "archive")
            return
        for at, story in enumerate(main):
            shared = run.places & story.places
            overlap = len(shared) / len(run.places) if run.places else 0.0
            if run.language and story.language and run.language != story.language:
                whole = "translation" in run.marks or 2 * len(shared) >= len(story.places)  # else a book of its own
                if (overlap >= 0.5 and whole) or (not run.places and "translation" in run.marks):
                    self._order_run(run, "translation")
                    return
                continue
            is_draft = "draft" in run.marks or "draft" in story.marks
            again = {path for path in run.paths if self._is_copy(path, story)}
            if 2 * len(again) >= len(run.paths):
                rest = {path for path in run.paths if path not in again and self.places[path] not in story.places}
                main[at] = self._add_edition(run, rest | self._declared_files(run, story), story, "copy")
                return
            if overlap and is_draft:  # a text of the same place is finished
                rest = {path for path in run.paths if self.places[path] not in shared}
                main[at] = self._add_edition(run, rest | self._declared_files(run, story), story, "copy", "draft")
                return
            if overlap >= 0.5 and run.marks & {"copy"}:
                main[at] = self._add_edition(run, self._declared_files(run, story), story, "copy")
                return
            continues = run.named & story.named or run.volumes or self.declared.issuperset(run.paths)
            if run.places and story.places and not shared and continues:
                main[at] = story.join_run(run)
                return
        main.append(run)

    def _add_edition(self, run: _Run, rest: set[str], story: _Run, edition: Edition, state: DocumentState = "") -> _Run:
        """Put a run in order as this edition, but the `rest` of it, which continues the story; returns the story.

        What a declared file says again, and is not declared, is the copy.
        """
        self._order_run(self._run(run.folder, [path for path in run.paths if path not in rest]), edition, state)
        if not rest:
            return story
        stated = self._run(run.folder, [path for path in run.paths if path in rest & self.declared])
        again = [path for path in story.paths if path not in self.declared and self._is_copy(path, stated)]
        self._order_run(self._run(f"{story.folder}/copy".lstrip("/"), again), "copy")
        kept = self._run(story.folder, [path for path in story.paths if path not in again])
        return kept.join_run(self._run(run.folder, [path for path in run.paths if path in rest]))

    def _declared_files(self, run: _Run, story: _Run) -> set[str]:
        """The declared files of a run, but what a declared file of the story says again."""
        stated = self._run(story.folder, [path for path in story.paths if path in self.declared])
        return {path for path in run.paths if path in self.declared and not self._is_copy(path, stated)}

    def _is_copy(self, path: str, story: _Run) -> bool:
        """Whether most of its sentences stand in the story. A text of another number is no copy, a book may be."""
        own, numbers = self.features[path].shingles, {number for _, number in self._places(path)}
        others = {number for _, number in story.places}
        if numbers and numbers.isdisjoint(others) and self.files[path].kind != "manuscript":
            return False
        least = _SAME / 2 if self.files[path].kind == "manuscript" else _SAME  # the story may be one volume of a book
        return len(own) >= 3 and len(story.shingles.intersection(own)) >= least * len(own)

    def _order_run(self, run: _Run, edition: Edition, state: DocumentState = "") -> None:
        at, places = -1, dict[str, int]()
        for path in (natural := sorted(run.paths, key=self._key)):
            places[path] = at = self.listed.get(path, at)  # what no list names stays behind the one before it
        is_counted = not run.places and self.listed.keys() >= set(natural)  # a thesis: its main file names them all
        for order, path in enumerate(sorted(natural, key=places.__getitem__)):
            file = self.files[path]
            marked = state or file.state or ("draft" if "draft" in editions_of(self.folder[path]) else "")
            number = order + 1 if is_counted and file.kind == "chapter" else file.number
            self.files[path] = replace(
                file, order=order, edition=edition, story=run.folder, state=marked, number=number
            )

    def _run(self, folder: str, paths: list[str]) -> _Run:
        languages: Counter[str] = Counter()
        places, shingles, named = set[Place](), set[int](), set[str]()
        for path in paths:
            traits, place = self.features[path], self.places[path]
            languages[traits.language] += traits.length
            if self.files[path].kind == "manuscript":
                places.update(self._places(path))
            elif place[1] != _END:
                places.add(place)
            shingles.update(traits.shingles)
            if traits.marked is not None:
                named.add("第")
            elif traits.counted is not None:
                named.add(traits.counted[0])
        marks = editions_of(folder) | ({"copy"} if kind_of_folder(folder) not in (None, *STORY_KINDS) else set())
        return _Run(
            folder, paths, languages.total(), _main_language(languages), frozenset(places), frozenset(shingles), marks,
            frozenset(named),
        )  # fmt: skip

    def _places(self, path: str) -> Iterable[Place]:
        file = self.files[path]
        if file.kind == "manuscript":
            return [(file.volume, float(number)) for number in self.features[path].numbers]
        place = self.places[path]
        return [place] if place[1] != _END else []

    def _place(self, path: str) -> Place:
        file, traits = self.files[path], self.features[path]
        if file.kind == "manuscript" and traits.numbers:
            return file.volume, float(traits.numbers[0])
        if file.number is not None:
            return file.volume, float(file.number)
        return (file.volume, traits.dated) if traits.dated is not None else (file.volume, _END)

    def _key(self, path: str) -> tuple[object, ...]:
        volume, number = self.places[path]
        stem = parts_of(path).stem
        where = -1 if number == _END and _FIRST.search(stem) else 1 if number == _END and _LAST.search(stem) else 0
        if path in self.said and (place := self.said[path].place):
            word, _, beside = place.partition(" ")
            if beside.isdigit():  # before 3, after 29
                number = float(beside) + (0.5 if word == "after" else -0.5)
            else:
                where = -1 if word == "first" else 1
                volume = volume if beside else None if word == "first" else int(_END)
        by_number = (0, (0, 0, 0), number) if isinstance(number, float | int) else (1, number, 0.0)
        parts = [(0, float(part), "") if at % 2 else (1, 0.0, part) for at, part in enumerate(_NUMBER.split(path))]
        return (volume or 0, where if volume is not None or where <= 0 else 0, by_number, where, parts)

    def _name_volumes(self, folders: Mapping[str, list[str]]) -> None:
        """Folders beside each other that begin with numbers are volumes."""
        beside: defaultdict[str, dict[int, str]] = defaultdict(dict)
        for folder, paths in folders.items():
            number = bare_number(folder.rpartition("/")[2])
            if number is not None and all(self.files[path].volume is None for path in paths):
                beside[folder_of(folder)][number] = folder
        for numbers in beside.values():
            if len(numbers) < 2:
                continue
            for number, folder in numbers.items():
                for path in folders[folder]:
                    self.files[path] = replace(self.files[path], volume=number)

    def _mark_other_files(self) -> None:
        """Files outside the story below the folder of an old or translated edition belong to it."""
        for path, traits in self.features.items():
            if self.files[path].kind in STORY_KINDS:
                continue
            marks = editions_of(self.folder[path])
            if path in self.said and self.said[path].edition:
                self.files[path] = replace(self.files[path], edition=cast("Edition", self.said[path].edition))
            elif "archive" in marks:
                self.files[path] = replace(self.files[path], edition="archive")
            elif "translation" in marks and traits.language not in ("", self.language):
                self.files[path] = replace(self.files[path], edition="translation")


def _main_language(lengths: Mapping[str, int]) -> str:
    """The language of most text."""
    return max(lengths, key=lambda code: (code != "", lengths[code], code), default="")


def _main(files: Mapping[str, MappedFile], features: Mapping[str, Features]) -> str | None:
    """The story with the most text."""
    lengths: Counter[str] = Counter()
    for path, file in files.items():
        if file.order is not None and file.edition == "main":
            lengths[file.story] += features[path].length
    return max(lengths, key=lambda story: (lengths[story], story), default=None)
