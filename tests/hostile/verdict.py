"""The verdict over one case: what was told, touched, printed and used, against what may be."""

import contextlib
import functools
import os
import re
import time
from pathlib import Path
from typing import Any

from tests.hostile.cases import Case
from tests.hostile.child import Child
from tests.hostile.confine import MEMORY, confine
from tests.hostile.kinds import Swapper, flicker
from tests.hostile.lives import LIVES, Steps, Tell, guilty
from tests.hostile.place import CANARY, Place
from tests.hostile.sentinel import Watch, describe, differences, folders, snapshot
from tests.hostile.targets import TARGETS

_UNEXPECTED = ("Traceback (most recent call last)", "this should not happen")
_MAY_WRITE = ("graph.path",)
"""Cases that name a folder of the project to write into."""

_DRAFT = re.compile(r"\.?[\w.-]+[.-][0-9a-z_]{6,}\.(tmp|part|usearch)")  # a random name, made exclusively


def judge(case: Case, place: Place, watch: Watch) -> dict[str, Any]:
    """Let a life happen in `place`, which is built, and say what it did wrong.

    Returns:
        `faults`: in words; `errors`: by step; `times`: seconds by step; `seconds`: of processor time; `output`: the end
        of what was printed.
    """
    if case.prior:
        first = Child(functools.partial(_live, case, place, "innocent"))
        if first.faults:
            return {"faults": [f"the innocent life: {fault}" for fault in first.faults], "output": _output(place)}
        place.output.unlink()
    case.sabotage(place)
    inside = (place.cache, place.temporary, place.output, *([place.shared] if case.setting == "shared" else []))
    kept = {path(place): describe(path(place)) for path in case.keeps}
    own = _of_the_writer(place, case)
    before = snapshot(place.base, without=(*inside, place.project))
    watched = (place.project, place.cache, place.shared) if case.group == "touched" else (place.outside, place.cwd)
    watch.start((place.home, *(folder for root in watched for folder in folders(root))))
    try:
        base_memory = _resident()
        child = Child(functools.partial(_live, case, place, case.life))
        events = watch.events()
    finally:
        watch.stop()
    if case.group == "touched":
        return {"faults": _no_targets(events, place)}
    faults = [*child.faults, *_steps(case, child.told)]
    if case.flickers:  # watchdog walks by name what it is to watch: docs/reliability.md, "What is not promised"
        events = [event for event in events if not event.startswith("listed ")]
    changes = differences(before, snapshot(place.base, without=(*inside, place.project)))
    faults += [f"outside: {what}" for what in changes]
    faults += [f"outside: {what}" for what in _opened(events, changes, place)]
    told = differences(own, _of_the_writer(place, case))
    if any(key in f"{case.group} {case.kind}" for key in _MAY_WRITE):
        told = [what for what in told if not what.startswith("made ")]
    faults += [f"the writer's own: {what}" for what in told]
    for path, was in kept.items():
        if not path.exists() or describe(path) != was:
            faults.append(f"somebody else's {path.name} was changed or deleted")
    if (grown := child.memory - base_memory) > MEMORY:
        faults.append(f"memory: {grown >> 20} MiB")
    output = _output(place)
    if CANARY in output:
        faults.append("said what stands outside")
    faults += [f"printed {sign!r}" for sign in _UNEXPECTED if sign in output]
    times = {told["ends"]: round(told["seconds"], 3) for told in child.told if "ends" in told}
    return {
        "faults": list(dict.fromkeys(faults)),
        "times": times,
        "seconds": child.seconds,
        "output": output[-3000:],
        "errors": _errors(child.told),
    }


def _live(case: Case, place: Place, life: str, tell: Tell) -> None:
    racing = case.swap is not None and life != "innocent"
    swapper = None
    if racing and not case.flickers:
        assert case.swap is not None
        swapper = Swapper(place, case.swap[0](place), case.swap[1])
    confine(place, tell, inside=case.inside, swapper=swapper)
    if case.group == "guilty":
        Steps(tell)(case.kind, guilty(place)[case.kind])
        time.sleep(0.1)
        return
    with contextlib.ExitStack() as stack:
        if racing and case.flickers:
            assert case.swap is not None
            stack.enter_context(flicker(place, case.swap[0](place), case.swap[1]))
        LIVES[life](place, tell, case.setting)


def _of_the_writer(place: Place, case: Case) -> dict[str, tuple[object, ...]]:
    """The project but for what the package writes there and what the case itself swaps."""
    without = [place.project / name for name in (".armarius", ".git")]
    if case.swap is not None:
        path = case.swap[0](place)
        without += [path, *(path.with_name(name) for name in (".kept", ".hostile", f"{path.name}.was"))]
    return snapshot(place.project, without=without)


def _steps(case: Case, told: list[dict[str, Any]]) -> list[str]:
    faults = [one["did"] for one in told if "did" in one]
    limits = {one["begins"]: one["limit_s"] for one in told if "begins" in one}
    ended = [one for one in told if "ends" in one]
    for one in ended:
        step = one["ends"]
        if "error" in one:
            what = f"{step}: {one['error']}: {one['says'][:120]}"
            if not one["ours"]:
                faults.append(f"{what} (no error of ours)")
            elif case.quiet and step not in case.may_fail:
                faults.append(f"{what} (must answer all the same)")
        if one["seconds"] > limits[step]:
            faults.append(f"{step}: slow, {one['seconds']:.1f} s")
        if one["leaks"]:
            faults.append(f"{step}: said what stands outside")
    search = [one for one in ended if one["ends"] == "search" and case.life == "api"]
    if case.quiet and not case.swap and case.group != "chapters" and search and not search[0]["found"]:
        faults.append("search: does not find what stands in an untouched chapter")
    return faults


def _no_targets(events: list[str], place: Place) -> list[str]:
    """Files that a life opened, made or deleted and for which there are no cases.

    Documents stand for each other, and the text search reads every file that is not hidden.
    """
    known = set()
    for target in TARGETS:
        with contextlib.suppress(StopIteration):  # there only with another setting
            known.add(target.path(place))
    strays = []
    for path in sorted({Path(event.rpartition(" ")[2]) for event in events} - known):
        where, *parts = path.relative_to(place.base).parts
        hidden = not parts or parts[0] in ("idx", "models") or any(part.startswith(".") for part in parts)
        searched = where == "project" and not hidden
        if not searched and not path.is_dir() and not _DRAFT.fullmatch(path.name):
            strays.append(f"no target: {path.relative_to(place.base)}")
    return strays


def _errors(told: list[dict[str, Any]]) -> dict[str, str]:
    return {one["ends"]: f"{one['error']}: {one['says']}" for one in told if "error" in one}


def _output(place: Place) -> str:
    return place.output.read_text("utf-8", "replace") if place.output.exists() else ""


def _opened(events: list[str], changes: list[str], place: Place) -> list[str]:
    """What was done to files that are as they were, one line for each."""
    paths: dict[str, list[str]] = {}
    for event in events:
        what, _, path = event.rpartition(" ")
        paths.setdefault(path.removeprefix(f"{place.base}/"), []).append(what)
    changed = {change.partition(" ")[2] for change in changes}
    return [f"{', '.join(done)} {path}" for path, done in paths.items() if path not in changed]


def _resident() -> int:
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
