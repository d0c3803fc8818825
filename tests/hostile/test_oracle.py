"""The suite of hostile projects would notice: each of its senses is shown what it must not miss."""

import sys

import pytest
from tests.hostile.cases import all_cases

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what is only read is noticed by inotify")

DEEDS = {
    "write outside": "outside: changed outside/mine.txt",
    "make outside": "outside: made outside/more",
    "delete outside": "outside: deleted outside/secret.md",
    "write in the home": "outside: made home/x",
    "write where it stands": "outside: made cwd/x",
    "list through a link": "outside: listed outside",
    "read through a link": "outside: opened, read outside/mine.txt",
    "change a chapter": "the writer's own: changed chapters/ch002.md",
    "run a program": "outside: made marks/ckb",
    "run a shell": "ran a program: os.system",
    "connect": "used the network: socket.connect",
    "hang": "hang: hangs",
    "work without end": "work without end: hangs",
    "raise OSError": "raise OSError: FileNotFoundError",
    "raise RecursionError": "raise RecursionError: RecursionError",
    "use memory": "memory: ",
    "say a secret": "say a secret: said what stands outside",
    "die": "die: died of SIGABRT",
    "a thread dies": "a thread died of ZeroDivisionError",
    "leave a process": "left a process behind",
}


@pytest.mark.parametrize("deed", DEEDS)
def test_what_a_project_must_not_do_is_noticed(zygotes, deed):
    (verdict,) = zygotes.run([f"guilty: {deed}"], again=False)
    assert any(DEEDS[deed] in fault for fault in verdict["faults"]), verdict


def test_doing_nothing_is_no_fault(zygotes):
    (verdict,) = zygotes.run(["guilty: nothing"])
    assert verdict["faults"] == []


def test_an_innocent_project_answers_every_step(zygotes):
    (verdict,) = zygotes.run(["innocent: table"])
    assert verdict["faults"] == []
    assert verdict["errors"] == {}
    assert {"open", "similar", "subgraph", "entity", "update the profile", "doctor", "assemble again"} <= set(
        verdict["times"]
    )


def test_every_file_that_an_innocent_life_touches_is_a_target(zygotes):
    names = [name for name, case in all_cases().items() if case.group == "touched"]
    verdicts = zygotes.run(names)
    assert [fault for verdict in verdicts for fault in verdict["faults"]] == []
    assert names
