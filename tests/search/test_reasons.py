"""Reasons of a hit are those of the moment of the question."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import pytest

import armarius
from armarius.types import Evidence, Hit

from .conftest import SMALL, write

WHY = (Evidence("fulltext", "bell", "a.md", (0, 4)),)


def told(hits):
    return [(hit.reference, hit.evidence) for hit in hits]


def test_reasons_are_those_of_the_texts_that_were_asked(tmp_path):
    root = write(tmp_path, SMALL)
    with armarius.open(root, watch=False) as engine:
        asked = ["Who rang the harbour bell?", "What did Clara find in the ash?", "the truth about the wreckers"]
        read = [told(engine.retrieve(one)) for one in asked]
        unread = [engine.retrieve(one) for one in asked]
        write(root, dict.fromkeys(SMALL, "# Another\n\nNothing of that is left here.\n"))
        assert not any("harbour" in why.detail for hit in engine.retrieve(asked[0]) for why in hit.evidence)
    assert [told(one) for one in unread] == read  # of an engine that is closed, too


def test_a_hit_is_the_same_copied_and_pickled(tmp_path):
    with armarius.open(write(tmp_path, SMALL), watch=False) as engine:
        one, other = (engine.retrieve("Who rang the harbour bell?")[0] for _ in range(2))
        assert one == other
        assert hash(one) == hash(other)
        for again in (copy.copy, copy.deepcopy, lambda hit: pickle.loads(pickle.dumps(hit)), replace):
            assert again(one) == one
            assert again(one).to_wire() == one.to_wire()


def test_a_hit_is_frozen_as_it_was():
    hit = Hit("a.md", (0, 4), (), 1.0, WHY)
    with pytest.raises(FrozenInstanceError):
        hit.evidence = ()
    assert hit.evidence == WHY
    assert Hit("a.md", None, (), 1.0).evidence == ()
