"""What a process opened works in its forked children."""

import sys
import threading

import pytest
from tests.processes.support import in_a_fork

import armarius
from armarius import EntityMatcher, TokenCounter

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")

TEXTS = ["白鹭来了，又走了。" * 200] * 40


def test_the_core_works_in_a_child_after_it_worked_in_the_parent():
    counter = TokenCounter.for_encoding("o200k")
    matcher = EntityMatcher([{"id": "bai", "name": "白鹭"}])
    expected = (sum(counter.count_batch(TEXTS)), len(matcher.find_packed(TEXTS)))

    def again():
        return (sum(counter.count_batch(TEXTS)), len(matcher.find_packed(TEXTS)))

    assert in_a_fork(again) == str(expected)
    assert again() == expected, "the parent's threads are its own"


def test_a_child_of_a_child_works_too():
    counter = TokenCounter.for_encoding("o200k")
    expected = sum(counter.count_batch(TEXTS))

    def twice():
        assert sum(counter.count_batch(TEXTS)) == expected
        return in_a_fork(lambda: sum(counter.count_batch(TEXTS)))

    assert in_a_fork(twice) == str(expected)


def test_a_fork_beside_threads_that_count_never_hangs():
    counter, stop = TokenCounter.for_encoding("o200k"), threading.Event()

    def busy():
        while not stop.is_set():
            counter.count_batch(TEXTS)

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        expected = str(sum(counter.count_batch(TEXTS)))
        assert [in_a_fork(lambda: sum(counter.count_batch(TEXTS))) for _ in range(10)] == [expected] * 10
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_scan_of_many_files_works_in_a_child(tmp_path):
    for number in range(300):
        (tmp_path / f"{number}.md").write_text("白鹭\n" * 20, encoding="utf-8")
    assert len(armarius.scan(tmp_path, "白鹭")) == 6000
    assert in_a_fork(lambda: len(armarius.scan(tmp_path, "白鹭"))) == "6000"
