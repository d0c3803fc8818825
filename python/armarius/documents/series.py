"""Series: files whose paths differ in their numbers, and in a name behind them; which of parallel ones is the text.

chapters/part#_chapter#.md            the text
chapters/part#_chapter#_summary.md    a companion: the same numbers, with an ending
第#章-…/正文.md                       numbers of folders are those of the files inside
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from armarius.arguments import Kind
from armarius.documents.features import SPOKEN, Features, kinds_of_name
from armarius.documents.kinds import EDITION_WORDS, STORY_KINDS
from armarius.documents.segments import folder_of, parts_of
from armarius.documents.units import CHAPTERS, chapter_number, unit_re, volume_number

_NUMBER: Final = re.compile(r"\d{1,4}(?:\.\d)?(?!\d)")
_MARKED: Final = re.compile(unit_re(*CHAPTERS, "section"))
_DATE: Final = re.compile(r"(?<!\d)(?:19|20)\d\d[-_./年]?[01]?\d[-_./月]?[0-3]?\d(?!\d)")
_VERSION: Final = re.compile(r"[\W_]*v\d+[\W_]*", re.IGNORECASE)
_LONGEST: Final = 24  # code points before a number
_LEAST_NAMED: Final = 0.8  # share of the text of a folder that a file which puts it in order names


class Place(NamedTuple):
    """A numbered name in its parts: `part1_chapter2_summary` is `part#_chapter#`, (1, 2), `_summary`."""

    frame: str
    numbers: tuple[float, ...]
    rest: str


@lru_cache(maxsize=1 << 14)
def place_of(name: str) -> Place | None:
    """The numbers that a name begins with, or has behind a unit of the story; None for a date and a plain name."""
    if _DATE.search(name):
        return None
    if (match := _MARKED.search(name)) and (number := chapter_number(match[0])) is not None:
        volume = volume_number(name[: match.start()])
        before = () if volume is None else (float(volume),)
        return Place("第#章", (*before, float(number)), name[match.end() :])
    first = _NUMBER.search(name)
    if first is None or first.start() > _LONGEST:
        return None
    frame, at, numbers = f"{name[: first.start()]}#", first.end(), [float(first[0])]
    second = _NUMBER.search(name, at)
    if second and second.start() - at <= _LONGEST and chapter_number(f"{name[at : second.start()]}1") is not None:
        frame, numbers = f"{frame}{name[at : second.start()]}#", [*numbers, float(second[0])]
        at = second.end()
    if name[at : at + 1].isascii() and name[at : at + 1].isalpha():  # 9a01f: a handle
        return None
    return Place(frame.lower(), tuple(numbers), name[at:])


@dataclass(slots=True)
class Series:
    """Files of one folder, or one each of numbered folders beside each other.

    Attributes:
        folder: That they lie in, or that their numbered folders lie in.
        frame: What their names have in common, with # for numbers.
        ending: What stands behind the numbers, or the names, of all: `_summary`; "" where it is no more than a name.
        paths: To their numbers; a number may stand twice.
        text: The series whose companion it is.
    """

    folder: str
    frame: str
    ending: str
    paths: dict[str, tuple[float, ...]]
    text: "Series | None" = None

    @property
    def numbers(self) -> set[float]:
        """The last numbers of its paths, which are those of chapters."""
        return {numbers[-1] for numbers in self.paths.values()}

    @property
    def edition(self) -> bool:
        """Whether its ending speaks of another version of the text: `_v2`, `_draft`."""
        return bool(_VERSION.fullmatch(self.ending) or editions_of(self.ending) - {"final"})

    @property
    def home(self) -> str:
        """The folder of its story; another version has one of its own."""
        return f"{self.folder}/copy{self.ending}".lstrip("/") if self.text is not None and self.edition else self.folder


def series_of(features: Mapping[str, Features]) -> list[Series]:
    """The series of a project, each with the text that it accompanies; text before its companions.

    Cost: linear in the files.
    """
    groups: defaultdict[tuple[str, str], dict[str, Place]] = defaultdict(dict)
    inside: defaultdict[str, list[str]] = defaultdict(list)
    for path in features:
        inside[folder_of(path)].append(path)
    for folder, paths in inside.items():
        places = {path: place for path in paths if (place := place_of(parts_of(path).stem)) is not None}
        above, name = folder_of(folder), folder.rpartition("/")[2]
        own = not places or all(parts_of(path).stem == name for path in paths)
        if own and (of_folder := place_of(name)) is not None and len(paths) <= 8:
            for path in paths:
                stem = parts_of(path).stem
                rest = "/" if len(paths) == 1 or stem in (name, of_folder.rest.strip(" -_—：:")) else f"/{stem}"
                groups[above, f"{of_folder.frame}/"][path] = Place(of_folder.frame, of_folder.numbers, rest)
        else:
            for path, place in places.items():
                groups[folder, place.frame][path] = place
    runs = [run for (folder, frame), places in groups.items() for run in _split_series(folder, frame, places)]
    _pair_companions(runs, features)
    return sorted(runs, key=lambda run: (run.text is not None, run.folder, run.frame, run.ending))


def _split_series(folder: str, frame: str, places: Mapping[str, Place]) -> Iterator[Series]:
    """The series of one frame, by their endings."""
    rests: defaultdict[tuple[float, ...], list[str]] = defaultdict(list)
    for place in places.values():
        rests[place.numbers].append(place.rest)
    again = {numbers for numbers, names in rests.items() if len(names) > 1}
    times = Counter([place.rest for place in places.values() if place.numbers in again])
    bases = dict[tuple[tuple[float, ...], str], str]()
    for numbers, names in rests.items():
        base = None
        for name in sorted(names):  # what begins with another one stands behind it
            base = name if base is None or not name.startswith(base) else base
            bases[numbers, name] = base
    parted: defaultdict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
    for path, place in places.items():
        ending = place.rest.removeprefix(bases[place.numbers, place.rest])
        if not ending and place.numbers in again and times[place.rest] > 1:
            ending = place.rest
        parted[ending][path] = place.numbers
    plain = parted.pop("", {})
    yield from (
        Series(folder, frame, ending, paths) for ending, paths in sorted({"": plain, **parted}.items()) if paths
    )


def _pair_companions(runs: list[Series], features: Mapping[str, Features]) -> None:
    """Give each series the text with the same numbers, beside it or in another folder."""
    worth = {id(run): _text_score(run, features) for run in runs}
    beside: defaultdict[tuple[str, str], list[Series]] = defaultdict(list)
    for run in runs:
        beside[run.folder, run.frame].append(run)
    for group in beside.values():
        best = max(group, key=lambda run: (worth[id(run)], not run.ending, run.ending))
        for run in group:
            if run is not best and worth[id(best)] and run.numbers & best.numbers:
                run.text = best
    texts = [run for run in runs if run.text is None and len(run.paths) > 1 and worth[id(run)]]
    for run in runs:
        if run.text is not None or series_kind(run) in (None, *STORY_KINDS):
            continue
        parallel = [
            text
            for text in texts
            if text.folder != run.folder
            and series_kind(text) in (None, *STORY_KINDS)
            and 2 * len(text.numbers & run.numbers) >= len(run.numbers)
        ]
        if parallel and not any(features[path].spoken >= SPOKEN for path in run.paths):
            run.text = max(parallel, key=lambda text: (worth[id(text)], text.folder))


def _text_score(series: Series, features: Mapping[str, Features]) -> float:
    """What speaks for it as the text: its length in prose and in speech; nothing for records."""
    worth = 0.0
    for path in series.paths:
        traits = features[path]
        if traits.kind != "code" and traits.prose >= 0.5:
            worth += traits.length * (0.3 + traits.prose)
    return worth


def series_kind(series: Series) -> Kind | None:
    """The kind that its ending, or the nearest folder with a word of a kind, speaks for."""
    return kind_of_name(series.ending) or kind_of_folder(series.folder)


def kind_of_name(name: str) -> Kind | None:
    """The kind that the words of a name speak for."""
    kinds = kinds_of_name(name.strip(" _-.()（）[]")) if name else []
    return kinds[0][0] if kinds else None


@lru_cache(maxsize=1024)
def kind_of_folder(folder: str) -> Kind | None:
    """The kind that the nearest folder with a word of a kind in its name speaks for."""
    groups = (kinds_of_name(part) for part in reversed(folder.split("/")))
    return next((kinds[0][0] for kinds in groups if kinds), None)


@lru_cache(maxsize=1024)
def editions_of(name: str) -> frozenset[str]:
    """The editions that the names of folders, or an ending, speak of."""
    lowered = name.lower()
    words = set(re.findall(r"[^\W\d_]+", lowered))
    return frozenset(
        edition
        for edition, group in EDITION_WORDS.items()
        if words & group or any(not word.isascii() and word in lowered for word in group)
    )


def orders_of(features: Mapping[str, Features], series: Iterable[Series]) -> list[tuple[float, tuple[str, ...]]]:
    """What is written down as an order: lists of paths, the longest first, with the share of the story in each.

    Such a list names four fifths of the text of a folder, and little else, or its series or chapters in sequence.
    Several files that it names of another folder are not in the order, and a list from the last number to the first
    is no order.

    Cost: linear in the names that the files list.
    """
    lists = {
        path: traits.listed
        for path, traits in features.items()
        if len(traits.listed) > 2 and traits.kind not in STORY_KINDS
    }
    if not lists:
        return []
    index = defaultdict[str, list[str]](list)
    folders = defaultdict[str, dict[str, tuple[float, ...]]](dict)
    numbers = {path: number for run in series if run.text is None for path, number in run.paths.items()}
    for path, traits in features.items():
        below = path.split("/")
        for tail in ("/".join(below[at:]) for at in range(len(below))):
            for name in {tail, tail.rpartition(".")[0]}:
                index[name].append(path)
        if traits.kind != "data":
            folders[folder_of(path)][path] = numbers.get(path, ())
    stories = [texts for texts in folders.values() if len(texts) > 2 and _is_prose(map(features.__getitem__, texts))]
    orders = []
    for path, names in lists.items():
        folder = f"{folder_of(path)}/".lstrip("/")
        order = dict[str, None]()
        for name in names:
            for key in (f"{folder}{name}", name, name.rpartition(" ")[2]):
                near = [place for place in index.get(key, ()) if place.startswith(folder) and place != path]
                if near:
                    order[min(near, key=lambda place: (place.count("/"), place))] = None
                    break
        of_story, in_sequence = dict[str, None](), True
        for texts in stories:
            named = [item for item in order if item in texts]
            whole, listed = (sum(features[item].length for item in part) for part in ({*texts} - {path}, named))
            pairs = [*zip(map(texts.__getitem__, named), map(texts.__getitem__, named[1:]), strict=False)]
            newest_first = len(pairs) > 1 and sum(a > b for a, b in pairs) >= _LEAST_NAMED * len(pairs)
            if listed >= _LEAST_NAMED * whole and not newest_first:
                in_sequence &= all(texts[item] or features[item].kind in STORY_KINDS for item in named)
                of_story |= dict.fromkeys(named)
        share = len(of_story) / len(order) if order else 0.0
        is_project = path.endswith(".nwx")
        if is_project or (len(order) > 2 and (share >= _LEAST_NAMED or (share >= 0.5 and in_sequence))):
            others = Counter(folder_of(item) for item in order.keys() - of_story.keys())
            apart = {home for home, count in others.items() if count > 1 and len(folders[home]) > 2 and not is_project}
            whole_order = tuple(item for item in order if item in of_story or folder_of(item) not in apart)
            orders.append((len(of_story), share, whole_order))
    return [(share, order) for _, share, order in sorted(orders, reverse=True)]


def _is_prose(files: Iterable[Features]) -> bool:
    """Whether most of what they hold is prose of the story, or of no kind."""
    lengths = Counter[bool]()
    for traits in files:
        lengths[traits.prose >= 0.5 and traits.kind in (*STORY_KINDS, "note")] += traits.length
    return lengths[True] > lengths[False]
