"""How the Python tests are shared out between two processes."""

from scripts.run_tests import LAST, everything, halves


def test_each_process_has_as_much_to_do_and_nothing_is_left_out():
    seconds = {"a": 9.0, "b": 5.0, "c": 4.0, "d": 1.0, "e": 1.0}
    found = halves(seconds, seconds)
    assert sorted(name for half in found for name in half) == list("abcde")
    assert [sum(seconds[name] for name in half) for half in found] == [10.0, 10.0]


def test_a_new_folder_counts_as_one_of_middle_length():
    assert halves(["a", "b", "new"], {"a": 9.0, "b": 5.0, "c": 4.0}) == (["a"], ["b", "new"])


def test_what_keeps_two_cores_busy_comes_last():
    assert halves([LAST, "z", "y"], {LAST: 9.0, "y": 1.0, "z": 8.0}) == ([LAST], ["y", "z"])
    assert halves([LAST, "z"], {LAST: 1.0, "z": 0.0, "y": 9.0}) == ([LAST], ["z"])
    one, _ = halves([LAST, "z", "y", "x"], {LAST: 6.0, "x": 5.0, "y": 5.0, "z": 4.0})
    assert one == ["z", LAST]


def test_every_folder_with_tests_is_run():
    names = everything()
    assert {"books", "hostile", "test_run_tests.py"} <= {*names}
    assert not {"cases", "data", "typing", "conftest.py"} & {*names}
