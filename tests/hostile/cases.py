"""The cases: each file or folder that the package reads or writes, times each kind of thing that may lie there."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.hostile import settings
from tests.hostile.contents import CONTENTS, OFTEN, Make
from tests.hostile.kinds import FILES, FOLDER_SWAPS, FOLDERS, SWAPS, Kind, clear
from tests.hostile.place import SETTINGS, Place, foreign_database, put
from tests.hostile.targets import TARGETS, Target

MINIMUM = 300
"""Of the quick suite."""


@dataclass(frozen=True)
class Case:
    """One hostile project, and what may come of it.

    Attributes:
        group: The file, key or program that it is about.
        kind: What is hostile about it.
        sabotage: Makes it so, in a place that is built.
        setting: Key of `place.SETTINGS`.
        life: What is done with it: a key of `lives.LIVES`.
        prior: Whether an innocent life goes before, so that there is something to lose.
        quiet: Whether every answer must come all the same, but for the steps in `may_fail`.
        swap: File or folder, and the kind that is put there while it is asked for.
        flickers: The swap goes on all the time, in a thread.
        keeps: Files of the project or the index that are somebody else's: nothing may change them.
        inside: The working directory is the project.
        often: In the quick suite.
    """

    group: str
    kind: str
    sabotage: Callable[[Place], object]
    setting: str = "plain"
    life: str = "api"
    prior: bool = False
    quiet: bool = False
    may_fail: frozenset[str] = frozenset()
    swap: tuple[Callable[[Place], Path], Kind] | None = None
    flickers: bool = False
    keeps: tuple[Callable[[Place], Path], ...] = ()
    inside: bool = False
    often: bool = False

    @property
    def name(self) -> str:
        """Unique; what a failure is called by."""
        return f"{self.group}: {self.kind}"


def _of_target(target: Target) -> Iterator[Case]:
    def case(kind: str, sabotage: Callable[[Place], object], **more: object) -> Case:
        return Case(
            target.name,
            kind,
            sabotage,
            target.setting,
            prior=target.prior,
            quiet=target.quiet,
            may_fail=target.may_fail,
            **more,
        )  # type: ignore[arg-type]

    for kind in FOLDERS if target.folder else FILES:
        if target.users and " link" in kind.name:
            continue
        yield case(
            kind.name, lambda place, kind=kind: kind.put(place, target.path(place)), often=kind.often and target.often
        )
    for kind in () if target.users else FOLDER_SWAPS if target.folder else SWAPS:
        swap = (target.path, kind)

        def prepare(place: Place, kind: Kind = kind) -> None:
            kind.prepare(place, target.path(place))

        yield case(kind.name, prepare, swap=swap, often=kind.often and target.often)

        def flickering(place: Place, prepare: Callable[[Place], None] = prepare) -> None:
            path = target.path(place)
            if target.folder:
                path.mkdir(parents=True, exist_ok=True)
            elif not path.exists():  # it comes and goes, as the package makes it
                put(path, "")
            prepare(place)

        yield case(f"{kind.name.partition(' when')[0]} again and again", flickering, swap=swap, flickers=True)
    for name, make in () if target.folder else CONTENTS[target.format].items():
        keeps = (target.path,) if target.foreign and name == "somebody's database" else ()
        yield case(name, _write(target, make), keeps=keeps, often=name in OFTEN and target.often)


def _write(target: Target, make: Make) -> Callable[[Place], object]:
    def write(place: Place) -> None:
        path = target.path(place)
        clear(path)  # another file, not other bytes in the one that is there
        put(path, make())

    return write


def _of_settings() -> Iterator[Case]:
    for (key, kind), write in settings.paths().items():
        often = settings.is_often(key, kind)
        yield Case(f"armarius.toml, {key}", f"path: {kind}", write, inside=True, often=often)
    for (key, size), write in settings.numbers().items():
        yield Case("armarius.toml, numbers", f"{key} = {size}", write, often=settings.is_often(key, size))
    for (key, kind), write in settings.wrong_types().items():
        yield Case("armarius.toml, types", f"{key} = {kind}", write)
    for name, make in settings.NAMES.items():
        yield Case("a document's name", name, make, quiet=True, often=True)


def _innocent() -> Iterator[Case]:
    """Projects with nothing hostile about them: what the others are measured by."""
    for setting in SETTINGS:
        yield Case("innocent", setting, _leave, setting, quiet=True, often=setting != "bert", prior=True)
        yield Case("touched", setting, _leave, setting, quiet=True, prior=True)
    for life in ("command line", "channel", "MCP"):
        yield Case("innocent", life, _leave, life=life, quiet=True, often=True)


def _leave(place: Place) -> None:
    """Nothing hostile."""


def _index_in_the_project(place: Place) -> None:
    """D2 without malice: the index folder is one that has a database of its own."""
    put(place.project / "armarius.toml", '[documents]\nindex_dir = "."\n')
    put(place.project / "index.sqlite", foreign_database())


def _too_much_is_allowed(place: Place) -> None:
    put(place.project / "armarius.toml", "[documents]\nmax_bytes = 1000000000000000000\n")
    next(kind for kind in FILES if kind.name == "huge").put(place, place.project / "chapters/ch001.md")


def _pair(place: Place) -> None:
    """The folder of the authored files and that of the index, both led out."""
    link = next(kind for kind in FOLDERS if kind.name == "a link to a folder outside")
    link.put(place, place.project / ".armarius")
    link.put(place, place.project / "idx")


def _worktree(place: Place) -> None:
    """A `.git` that is a file names a folder with more ignore rules."""
    shutil.rmtree(place.project / ".git")
    put(place.project / ".git", "gitdir: ../outside/repository\n")
    put(place.outside / "repository/commondir", "../repository\n")
    put(place.outside / "repository/info/exclude", "chapters/\n")


_TOGETHER = (
    Case("together", "a .git that names a folder outside", _worktree, quiet=True, often=True),
    Case(
        "together",
        "a foreign database where the index should be",
        _index_in_the_project,
        keeps=(lambda place: place.project / "index.sqlite",),
        often=True,
    ),
    Case("together", "a huge chapter that is allowed", _too_much_is_allowed, often=True),
    Case("together", "both folders are links", _pair, setting="idx", often=True),
)

_AT_THE_DOORS = (
    "armarius.toml: a link to a file outside",
    "armarius.toml: a FIFO",
    "codex.json: a FIFO",
    ".armarius/budget.json: a FIFO",
    ".armarius/budget.tmp: a link to a file outside",
    "chapters/ch001.md: a device",
    ".gitignore: a FIFO",
    "shared: index.seal: a link to a file outside",
    "armarius.toml, documents.index_dir: path: up",
    "armarius.toml, code.ckb: path: from the working directory",
    "a document's name: bytes that are no text",
)


def _at_the_doors(cases: list[Case]) -> Iterator[Case]:
    """Some of them again, through the command line, the channel and the MCP server."""
    known = {case.name: case for case in cases}
    for life in ("command line", "channel", "MCP"):
        for name in _AT_THE_DOORS:
            one = known[name]
            yield Case(
                life,
                name,
                one.sabotage,
                one.setting,
                life,
                prior=one.prior,
                keeps=one.keeps,
                inside=one.inside,
                often=True,
            )


@cache
def all_cases() -> dict[str, Case]:
    """Every case by its name."""
    cases = [case for target in TARGETS for case in _of_target(target)]
    cases += [*_of_settings(), *_TOGETHER, *_innocent()]
    cases += _at_the_doors(cases)
    named = {case.name: case for case in cases}
    if len(named) != len(cases):
        raise ValueError("two cases have one name")
    return named


def groups(*, often: bool) -> tuple[str, ...]:
    """Every group that has cases in the quick suite, or only beside it; in order."""
    return tuple(
        dict.fromkeys(case.group for case in all_cases().values() if case.often == often and case.group != "touched")
    )
