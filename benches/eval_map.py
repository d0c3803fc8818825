"""What the files of real projects are taken for: python benches/eval_map.py LABELS CHECKOUTS ...

Kind, order and edition of files, and entities, beside labels made by hand. LABELS holds NAME.json for each project,
a folder NAME in one of CHECKOUTS; each is opened with no configuration. In a label, patterns are globs where `*` stays
within a folder and `**` does not; the first that fits counts:

    training     whether rules were made with a look at it: figures are given apart
    files        [pattern, kind or kinds] rows; several where people disagree; the first is the row of the mean
    optional     patterns of files that need not be read
    scope        patterns of what is labelled, where not all is
    stories      each an `edition` and its `paths` in order, a list in the place of one for alternatives, `?` before
                 one that may be left out; `without` patterns; `if_story` when taking it for no story is right too
    editions     [pattern, editions] rows that differ from that of the story
    entities     `name`, `type` (person, place, thing), `aliases`, `main` of the cast, `text` for one with no sheet,
                 `optional` for one that counts neither way

kinds is the share right, mean over the kinds of a project; order counts a text of the story as right with both its
neighbours; precision and recall are of entities, with type when one is given. Written to benches/results/map.json.
"""

import argparse
import json
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import armarius
from armarius.documents.project_map import ProjectMap
from record import record

PERSON = frozenset({"character", "person", "npc", "pc"})
PLACE = frozenset(
    {"location", "place", "city", "town", "village", "region", "district", "landmark", "realm", "country", "world"}
)
HIDDEN = frozenset({"review", "template", "tool"})
NEITHER = frozenset({"data", "code"})
Label = Mapping[str, Any]


def fits(path: str, pattern: str) -> bool:
    """Whether a glob fits a whole path."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^]]*\])", pattern)
    kinds = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return (
        re.fullmatch("".join(kinds.get(one) or (one if one[:1] == "[" else re.escape(one)) for one in parts), path)
        is not None
    )


def listed(said: Any) -> list[str]:
    """One or several, as a list."""
    return said if isinstance(said, list) else [said]


def first(rows: Iterable[Sequence[Any]], path: str) -> list[str] | None:
    """What the first row that fits says of a path."""
    return next((listed(row[1]) for row in rows if fits(path, row[0])), None)


def by_number(path: str) -> list[Any]:
    """Sort key: numbers in names by their value."""
    return [float(part) if re.fullmatch(r"\d+(\.\d+)?", part) else part for part in re.split(r"(\d+(?:\.\d+)?)", path)]


def told(story: Label, paths: Sequence[str]) -> list[tuple[list[str], bool]]:
    """The story in its order: alternatives of each place, and whether it may be left out."""
    rows: list[tuple[list[str], bool]] = []
    for said in story["paths"]:
        if isinstance(said, list):
            rows.append((said, False))
            continue
        pattern = said.removeprefix("?")
        found = [pattern] if pattern in paths else sorted((one for one in paths if fits(one, pattern)), key=by_number)
        without = [f"**/{one.removeprefix('*/')}" for one in story.get("without", ())]
        rows += [([one], said[0] == "?") for one in found if not any(fits(one, other) for other in without)]
    return rows


def beside(rows: Sequence[tuple[list[str], bool]], at: int, step: int) -> set[str | None]:
    """What may stand next to a place of the story."""
    found: set[str | None] = set(rows[at][0]) if len(rows[at][0]) > 1 else set()
    place = at + step
    while 0 <= place < len(rows):
        found.update(rows[place][0])
        if not rows[place][1]:
            return found
        place += step
    return found | {None}


def orders(label: Label, paths: Sequence[str], found: ProjectMap) -> tuple[list[int], dict[str, list[str]]]:
    """Story texts with both neighbours right, of how many; and the edition of each."""
    counted, editions = [0, 0], {}
    for story in label["stories"]:
        rows = told(story, paths)
        inside = [path for alternatives, _ in rows for path in alternatives]
        editions.update({path: [story["edition"]] for path in inside})
        taken = {path for path in inside if path in set(found.story(path))}
        if story.get("if_story") and not taken.issuperset(inside):
            continue
        for at, (alternatives, optional) in enumerate(rows):
            for path in alternatives:
                if optional and path not in taken:
                    continue
                counted[1] += 1
                right = found.before(path) in beside(rows, at, -1) and found.after(path) in beside(rows, at, 1)
                counted[0] += path in taken and right
    for pattern, said in label.get("editions", ()):
        editions.update({path: listed(said) for path in paths if fits(path, pattern)})
    return counted, editions


def folded(name: str) -> str:
    """A name without marks, case and article."""
    return re.sub(r"^the ", "", " ".join(re.sub("[《》「」『』\"“”'’`*_]", "", name).lower().split()))


def type_of(kind: str) -> str:
    """Person, place or thing."""
    return "person" if kind.lower() in PERSON else "place" if kind.lower() in PLACE else "thing"


def entities(label: Label, engine: armarius.ContextEngine) -> dict[str, list[int]]:
    """Entities that are real of those found, and found of those that are real; the cast under its usual name."""
    known = label.get("entities", [])
    names = [{folded(one["name"]), *map(folded, one.get("aliases", ()))} for one in known]
    found: dict[int, tuple[set[str], str]] = {}
    counted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in sorted(engine.codex.list(), key=lambda one: one.name):
        mine = {folded(name) for name in (one.name, *one.aliases)}
        tests: tuple[Callable[[int], bool], ...] = (
            lambda at, one=one: folded(known[at]["name"]) == folded(one.name),
            lambda at, one=one: folded(one.name) in names[at],
            lambda at, mine=mine: folded(known[at]["name"]) in mine,
        )
        which = next((at for test in tests for at in range(len(known)) if test(at)), None)
        again = which in found
        if which is not None and not again:
            found[which] = (mine, type_of(one.type))
            if known[which].get("optional"):
                continue
        for row in ("precision", f"precision {type_of(one.type)}"):
            counted[row][0] += which is not None and not again
            counted[row][1] += 1
    for at, one in enumerate(known):
        if one.get("optional"):
            continue
        rows = ["recall", f"recall {one['type']}"]
        right = at in found
        for row in rows:
            counted[row][0] += right
            counted[row][1] += 1
        if one.get("main") and one["type"] == "person":
            named = right and folded(one["name"]) in found[at][0] and found[at][1] == "person"
            for row in ("cast",) if one.get("text") else ("cast", "cast with a sheet"):
                counted[row][0] += named
                counted[row][1] += 1
    return dict(counted)


def measured(label: Label, root: Path) -> dict[str, Any]:
    """The figures of one project, as [right, of how many]."""
    paths = sorted(one.relative_to(root).as_posix() for one in root.rglob("*") if one.is_file())
    with armarius.open(root, watch=False) as engine:
        engine.documents()
        found = engine.index.map
        counted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        counted["order"], editions = orders(label, paths, found)
        kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for path in paths:
            said, got = first(label["files"], path), found.get(path)
            inside = not label.get("scope") or any(fits(path, one) for one in label["scope"])
            if said is None or not inside:
                continue
            if got is None and any(fits(path, one) for one in label.get("optional", ())):
                continue
            right = got is not None and got.kind in said
            for row in (kinds[said[0]], counted["files"]):
                row[0] += right
                row[1] += 1
            edition = editions.get(path, ["main"])
            if path in editions:
                counted["edition"][0] += got is not None and got.edition in edition
                counted["edition"][1] += 1
            away = HIDDEN.issuperset(said) or "main" not in edition
            if got is not None and (away or (not (HIDDEN | NEITHER).intersection(said) and edition == ["main"])):
                counted["hidden"][0] += (path in found.hidden) == away
                counted["hidden"][1] += 1
        counted.update(entities(label, engine))
    share = sum(right / of for right, of in kinds.values()) / len(kinds)
    return {"kinds": round(share, 3), **{row: counted[row] for row in sorted(counted)}}


def together(figures: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Mean of `kinds` over projects, and the other shares over all they count."""
    rows = list(figures)
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in rows:
        for row, counted in one.items():
            if row != "kinds":
                sums[row] = [sums[row][0] + counted[0], sums[row][1] + counted[1]]
    shares = {row: round(right / of, 3) for row, (right, of) in sorted(sums.items()) if of}
    return {"projects": len(rows), "kinds": round(sum(one["kinds"] for one in rows) / len(rows), 3), **shares}


def main() -> None:
    """Measure every labelled project that is checked out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("labels", type=Path)
    parser.add_argument("checkouts", type=Path, nargs="+")
    asked = parser.parse_args()
    sets: dict[str, dict[str, Any]] = {"training": {}, "held out": {}}
    with tempfile.TemporaryDirectory() as cache:  # nothing that another build derived
        os.environ["ARMARIUS_CACHE"] = cache
        for path in sorted(asked.labels.glob("*.json")):
            label = json.loads(path.read_text("utf8"))
            root = next((one / path.stem for one in asked.checkouts if (one / path.stem).is_dir()), None)
            if root is not None:
                figures = measured(label, root)
                sets["training" if label.get("training") else "held out"][path.stem] = figures
                print(path.stem, json.dumps(figures), flush=True)
    found = {name: {"all": together(rows.values()), **rows} for name, rows in sets.items() if rows}
    for name, rows in found.items():
        print(name, json.dumps(rows["all"]))
    record("map", found)


if __name__ == "__main__":
    main()
