"""A project folder is data: nothing in it runs, writes, reads outside, hangs, or breaks what is asked of the rest.

Every case is run in this process: one that hangs or crashes ends it with the stacks of all threads.
"""

import itertools
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="FIFOs, devices and rights are of POSIX systems")
if sys.platform != "win32":
    from tests.hostile.cases import Case, all_cases, groups
    from tests.hostile.place import CANARY, ROWS, Place
    from tests.hostile.verdict import judge, strays


@pytest.fixture(scope="session")
def seeds(tmp_path_factory):
    return tmp_path_factory.mktemp("seeds")


@pytest.fixture
def verdict(tmp_path, seeds, capfd):
    """What is wrong with a case; one that was slow beside others is tried again."""
    numbers = itertools.count()

    def verdict(case, live=None, judge=judge):
        place = Place(tmp_path / str(next(numbers)), seeds)
        place.build(case.setting)
        try:
            return judge(case, place, lambda: "".join(capfd.readouterr()), live)
        finally:
            place.remove()

    def twice(case, *more):
        faults = verdict(case, *more)
        return verdict(case, *more) if any(": slow, " in fault for fault in faults) else faults

    return twice


def failures(verdict, group, *, often):
    cases = [case for case in all_cases().values() if case.group == group and case.often == often]
    return {case.name: faults for case in cases if (faults := verdict(case))}


@pytest.mark.parametrize("group", groups(often=True))
def test_nothing_hostile_reaches_outside_runs_hangs_or_breaks_the_rest(verdict, group):
    assert failures(verdict, group, often=True) == {}


@pytest.mark.slow
@pytest.mark.parametrize("group", groups(often=False))
def test_nor_does_anything_else_of_the_whole_product(verdict, record_property, group):
    record_property("count", sum(case.group == group and not case.often for case in all_cases().values()))
    assert failures(verdict, group, often=False) == {}


def test_there_are_hundreds_of_them():
    assert sum(case.often for case in all_cases().values()) >= 300


@pytest.mark.parametrize("setting", ROWS["settings"])
def test_every_file_that_an_innocent_life_touches_is_a_target(verdict, setting):
    def touched(case, place, output, live):
        return judge(case, place, output) + strays(case, place)

    assert verdict(Case("innocent", setting, setting=setting, prior=True), None, touched) == []


def listed_through_a_link(place):
    place.project.joinpath("way").symlink_to(place.outside)
    assert [*place.project.joinpath("way").iterdir()]


def read_through_a_link(place):
    place.project.joinpath("way.md").symlink_to(place.outside / "mine.txt")
    place.project.joinpath("way.md").read_bytes()


DEEDS = {
    "outside: changed BASE/outside/mine.txt": lambda place: Path(place.outside, "mine.txt").write_text("x"),
    "outside: made BASE/outside/more": lambda place: Path(place.outside, "more").mkdir(),
    "outside: deleted BASE/outside/secret.md": lambda place: Path(place.outside, "secret.md").unlink(),
    "outside: made BASE/home/x": lambda place: Path(place.home, "x").touch(),
    "outside: made BASE/cwd/x": lambda place: Path("x").touch(),
    "read BASE/outside": listed_through_a_link,
    "read BASE/outside/mine.txt": read_through_a_link,
    "the writer's own: changed BASE/project/chapters/ch002.md": lambda place: Path(
        place.project, "chapters/ch002.md"
    ).write_text("x"),
    "outside: made BASE/marks/ckb": lambda place: subprocess.run([place.project / "ckb"], check=False),
    "ran a program: os.system": lambda place: os.system("true"),
    "used the network: socket.connect": lambda place: socket.create_connection(("127.0.0.1", 9), timeout=0.1),
    "deed: FileNotFoundError": lambda place: (place.base / "nowhere").read_text(),
    "memory: ": lambda place: len(bytearray(2 << 30)),
    "deed: MemoryError": lambda place: len(bytearray(8 << 30)),
    "deed: said what stands outside": lambda place: CANARY,
    "deed: PermissionError": lambda place: [path.chmod(0) or path.read_text() for path in [place.project / "style.md"]],
    f"printed {'泄密七号渡口'!r}": lambda place: print(CANARY),
    "a thread died of ZeroDivisionError": lambda place: threading.Thread(target=lambda: 1 / 0).start(),
}


@pytest.mark.parametrize("fault", DEEDS)
def test_what_a_project_must_not_do_is_noticed(verdict, tmp_path, fault):
    faults = verdict(Case("guilty", fault), lambda place, step, setting: step("deed", lambda: DEEDS[fault](place)))
    assert any(fault.replace("BASE", f"{tmp_path}/0") in one for one in faults), faults
