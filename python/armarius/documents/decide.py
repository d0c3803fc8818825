"""The evidence of all files together: what each file is (`ProjectMap`)."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from armarius.documents.classify import kind_named
from armarius.documents.features import Features
from armarius.documents.kinds import STORY_KINDS, glob
from armarius.documents.project_map import DocumentState, Edition, MappedFile, ProjectMap
from armarius.documents.segments import parts_of

__all__ = ["decide"]

_DRAFTS: Final = frozenset({"draft", "草稿"})
_SAME: Final = 0.3  # share of sentences that two files of one text have in common at least


def decide(features: Mapping[str, Features], rules: Sequence[tuple[str, str]] = ()) -> ProjectMap:
    """What the files are.

    Args:
        features: Of every file, by path, in path order.
        rules: `(kind, glob)` pairs of the configuration; the first match decides.

    Cost: linear in the files, and in the pairs of folders that may hold the same story.
    """
    files = {path: _alone(path, one, rules) for path, one in features.items()}
    return _with_stories(files, features)


def _alone(path: str, one: Features, rules: Sequence[tuple[str, str]]) -> MappedFile:
    declared = next((kind for kind, pattern in rules if glob(pattern).matches(path)), None)
    kind = one.kind if declared is None else kind_named(declared)
    state: DocumentState = "draft" if one.status in _DRAFTS else ""
    number = one.chapter
    if declared is None and kind == "note" and state and (one.marked or one.bare or one.numbers):
        kind = "chapter"  # a draft in progress is a story
    if kind == "chapter" and number is None:
        number = one.marked if one.marked is not None else one.bare
    if kind == "chapter" and number is None and len(one.numbers) > 1:
        kind = "manuscript"
    if kind != "chapter":
        number = None
    evidence = (f"armarius.toml says {kind}",) if declared else ()
    return MappedFile(path, kind, one.volume, number, state=state, evidence=evidence, declared=declared is not None)


@dataclass(slots=True)
class _Run:
    """The story files of one folder."""

    folder: str
    paths: list[str]
    length: int
    language: str
    shingles: frozenset[int]
    keys: frozenset[tuple[int | None, int | None]]


def _with_stories(files: dict[str, MappedFile], features: Mapping[str, Features]) -> ProjectMap:
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for path, one in files.items():
        if one.kind in STORY_KINDS:
            folders["/".join(parts_of(path).folders)].append(path)
    runs = [_run(folder, paths, files, features) for folder, paths in folders.items()]
    if not runs:
        return ProjectMap(files.values())
    spoken: Counter[str] = Counter()
    for said in features.values():
        spoken[said.language] += said.length
    spoken.pop("", None)
    language = max(spoken, key=lambda one: spoken[one]) if spoken else ""
    runs.sort(key=lambda run: (run.language != language, -run.length, run.folder))
    stories: list[tuple[Edition, list[_Run]]] = []
    for run in runs:
        edition: Edition = "main"
        for known_as, inside in stories:
            if known_as != "main" or not any(run.keys & one.keys for one in inside):
                continue
            if any(one.language != run.language for one in inside):
                edition = "translation"
            elif any(_alike(run, one) for one in inside):
                edition = "copy"
        if edition == "main" and stories and not any(run.keys & one.keys for one in stories[0][1]):
            stories[0][1].append(run)
        else:
            stories.append((edition, [run]))
    for edition, inside in stories:
        story = inside[0].folder
        paths = sorted((path for run in inside for path in run.paths), key=lambda path: _place(files[path]))
        for order, path in enumerate(paths):
            files[path] = replace(files[path], order=order, edition=edition, story=story)
    return ProjectMap(files.values(), stories[0][1][0].folder)


def _run(folder: str, paths: list[str], files: Mapping[str, MappedFile], features: Mapping[str, Features]) -> _Run:
    languages = Counter(features[path].language for path in paths)
    languages.pop("", None)
    return _Run(
        folder,
        paths,
        sum(features[path].length for path in paths),
        max(languages, key=lambda one: languages[one]) if languages else "",
        frozenset(shingle for path in paths for shingle in features[path].shingles),
        frozenset((files[path].volume, files[path].number) for path in paths if files[path].number is not None),
    )


def _alike(one: _Run, other: _Run) -> bool:
    shared = len(one.shingles & other.shingles)
    return shared >= _SAME * max(1, min(len(one.shingles), len(other.shingles)))


def _place(one: MappedFile) -> tuple[int, int, str]:
    return (one.volume or 0, one.number if one.number is not None else 1 << 31, one.path)
