"""A project folder is data: nothing in it runs, writes, reads outside, hangs, or breaks what is asked of the rest.

`python -m tests.hostile WORDS` runs the cases whose names hold the words, and prints what went wrong.
"""

import sys

import pytest
from tests.hostile.cases import MINIMUM, all_cases, groups

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="FIFOs, devices and forks are of POSIX systems")


def failures(zygotes, group, *, often):
    names = [case.name for case in all_cases().values() if case.group == group and case.often == often]
    verdicts = zygotes.run(names)
    assert [verdict["case"] for verdict in verdicts] == names
    return "".join(
        "\n  ".join((f"\n{verdict['case']}", *verdict["faults"])) for verdict in verdicts if verdict["faults"]
    )


@pytest.mark.parametrize("group", groups(often=True))
def test_nothing_hostile_reaches_outside_runs_hangs_or_breaks_the_rest(zygotes, group):
    assert failures(zygotes, group, often=True) == ""


@pytest.mark.slow
@pytest.mark.parametrize("group", groups(often=False))
def test_nor_does_anything_else_of_the_whole_product(zygotes, record_property, group):
    names = [case.name for case in all_cases().values() if case.group == group and not case.often]
    record_property("count", len(names))
    assert failures(zygotes, group, often=False) == ""


def test_there_are_hundreds_of_them():
    assert sum(case.often for case in all_cases().values()) >= MINIMUM
