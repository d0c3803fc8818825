"""Reasons of a hit are looked for when somebody reads them, and are those of the moment of the question."""

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace

import pytest

import armarius
from armarius.search import explain
from armarius.search import explain as later
from armarius.search.explain import Later
from armarius.types import Evidence, Hit

from .conftest import SMALL, write

WHY = (Evidence("fulltext", "bell", "a.md", (0, 4)),)


@pytest.fixture
def looked(monkeypatch):
    """How often a text was looked through for the words of a question."""
    found, plain = [], explain._looked_for
    monkeypatch.setattr(explain, "_looked_for", lambda *given: found.append(given) or plain(*given))
    return found


def told(hits):
    return [(hit.reference, hit.evidence) for hit in hits]


def test_nothing_is_looked_through_before_a_reason_is_read(tmp_path, looked):
    with armarius.open(write(tmp_path, SMALL), watch=False) as engine:
        hits = engine.retrieve("Who rang the harbour bell?")
        assert [hit.path for hit in hits]
        assert not looked
        first = hits[0].evidence
        assert ("outline", "title: Chapter One: The Bell: bell") in {(why.kind, why.detail) for why in first}
        assert len(looked) == 1
        assert hits[0].evidence is first
        assert len(looked) == 1


def test_reasons_are_those_of_the_texts_that_were_asked(tmp_path):
    root = write(tmp_path, SMALL)
    with armarius.open(root, watch=False) as engine:
        asked = ["Who rang the harbour bell?", "What did Clara find in the ash?", "the truth about the wreckers"]
        read = [told(engine.retrieve(one)) for one in asked]
        unread = [engine.retrieve(one) for one in asked]
        write(root, dict.fromkeys(SMALL, "# Another\n\nNothing of that is left here.\n"))
        assert not any("harbour" in why.detail for hit in engine.retrieve(asked[0]) for why in hit.evidence)
    assert [told(one) for one in unread] == read  # of an engine that is closed, too


def test_a_hit_is_the_same_whether_its_reasons_were_read_or_not(tmp_path):
    with armarius.open(write(tmp_path, SMALL), watch=False) as engine:
        one, other = (engine.retrieve("Who rang the harbour bell?")[0] for _ in range(2))
        assert one == other
        assert hash(one) == hash(engine.retrieve("Who rang the harbour bell?")[0])
        for again in (copy.copy, copy.deepcopy, lambda hit: pickle.loads(pickle.dumps(hit)), replace):
            fresh = engine.retrieve("Who rang the harbour bell?")[0]
            assert again(fresh).evidence == one.evidence
            assert again(fresh).to_wire() == one.to_wire()


def test_a_hit_is_frozen_as_it_was():
    hit = Hit("a.md", (0, 4), (), 1.0, WHY)
    with pytest.raises(FrozenInstanceError):
        hit.evidence = ()
    assert hit.evidence == WHY
    assert Hit("a.md", None, (), 1.0).evidence == ()


def test_the_reasons_of_old_answers_are_found_so_that_what_they_need_can_go(monkeypatch):
    monkeypatch.setattr(later, "_unread", later.deque())
    found = []

    class Needed:
        """What would be kept for it."""

    def one(number):
        needed = Needed()
        return Later(lambda: found.append((number, needed)) or WHY)

    kept = [one(number) for number in range(later._UNREAD + 3)]
    assert [number for number, _ in found] == [0, 1, 2]
    found.clear()
    gc.collect()
    alive = sum(isinstance(thing, Needed) for thing in gc.get_objects())
    assert alive == later._UNREAD
    assert all(why() == WHY for why in kept)
    assert len(found) == later._UNREAD


def test_of_answers_that_nobody_holds_nothing_is_found(monkeypatch):
    monkeypatch.setattr(later, "_unread", later.deque())
    found = []
    for number in range(3 * later._UNREAD):
        Later(lambda number=number: found.append(number) or WHY)
    assert not found
    assert len(later._unread) == later._UNREAD


def test_threads_that_read_the_same_reason_have_the_same(tmp_path):
    with armarius.open(write(tmp_path, SMALL), watch=False) as engine:
        expected = told(engine.retrieve("Who rang the harbour bell?"))
        for _ in range(20):
            hits = engine.retrieve("Who rang the harbour bell?")
            with ThreadPoolExecutor(4) as threads:
                assert list(threads.map(told, [hits] * 4)) == [expected] * 4
