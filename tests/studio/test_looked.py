"""What is looked for beside the pages: said as far as it is known, looked for once for each state."""

import threading

from armarius.errors import StoreError
from armarius.studio.inbox import BackgroundSearch


class Steps:
    """A look that goes on when told, and counts how often it began."""

    def __init__(self, things):
        self.things, self.began, self.go = things, 0, threading.Semaphore(0)

    def __call__(self):
        self.began += 1
        for one in self.things:
            self.go.acquire(timeout=10)
            yield one


def settled(looked):
    for thread in threading.enumerate():
        if thread.name == "armarius-studio-look":
            thread.join(10)
    return looked.now()


def test_the_first_call_does_not_wait_and_what_is_known_so_far_is_said():
    steps = Steps(["a", "b"])
    looked = BackgroundSearch(steps, lambda: 1)
    assert looked.now() == ([], False)
    steps.go.release(2)
    assert settled(looked) == (["a", "b"], True)
    assert steps.began == 1


def test_another_state_is_looked_at_again_and_the_old_answer_stands_until_then():
    state, steps = [1], Steps(["a"])
    looked = BackgroundSearch(steps, lambda: state[0])
    steps.go.release()
    looked.now()
    assert settled(looked) == (["a"], True)
    state[0], steps.things = 2, ["b"]
    assert looked.now() == (["a"], False)
    steps.go.release()
    assert settled(looked) == (["b"], True)


def test_a_look_of_a_state_that_is_gone_adds_nothing():
    state, steps = [1], Steps(["old"])
    looked = BackgroundSearch(steps, lambda: state[0])
    looked.now()
    state[0], steps.things = 2, ["new"]
    looked.now()
    steps.go.release(2)
    assert settled(looked) == (["new"], True)


def test_a_look_that_failed_is_made_again():
    failing = [True]

    def look():
        if failing:
            raise StoreError("closed")
        yield "a"

    looked = BackgroundSearch(look, lambda: 1)
    looked.now()
    for thread in threading.enumerate():
        if thread.name == "armarius-studio-look":
            thread.join(10)
    failing.clear()
    looked.now()
    assert settled(looked) == (["a"], True)
