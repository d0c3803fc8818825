"""A record made fast is the record that `dataclass` makes."""

import copy
import gc
import inspect
import os
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

from armarius.quick import quick, uncollected
from armarius.types import Candidate, Evidence, Row

RECORDS = [
    Candidate("a", "rules", "s", "text", 1.0),
    Evidence("mention", "a", span=(1, 2)),
    Row("a.md", 1, 0.5, (1, "a.md", 3), "t", "x"),
]


@quick
@dataclass(frozen=True, slots=True)
class Made:
    """A record."""

    name: str
    size: int = 3
    parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError(f"size: {self.size}")


def test_the_signature_is_the_one_that_was_declared():
    said = inspect.signature(Made)
    assert list(said.parameters) == ["name", "size", "parts"]
    assert said.parameters["size"].default == 3
    assert said.parameters["name"].annotation is str
    for wrong in ((), ("a", 1, (), 4)):
        with pytest.raises(TypeError, match=r"Made\.__init__"):
            Made(*wrong)
    with pytest.raises(TypeError, match="unexpected keyword argument 'length'"):
        Made("a", length=1)


def test_fields_defaults_and_the_check_behind_them_hold():
    assert (Made("a").size, Made("a", 5, ("x",)).parts) == (3, ("x",))
    assert Made("a") == Made(name="a", parts=(), size=3) != Made("b")
    with pytest.raises(ValueError, match="size: -1"):
        Made("a", -1)


@pytest.mark.parametrize("record", RECORDS, ids=lambda one: type(one).__name__)
def test_a_record_is_frozen_compares_copies_and_pickles(record):
    first = fields(record)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(record, first, "other")
    assert pickle.loads(pickle.dumps(record)) == copy.deepcopy(record) == replace(record) == record
    assert hash(replace(record)) == hash(record)
    assert replace(record, **{first: "other"}) != record
    assert repr(record).startswith(f"{type(record).__name__}({first}=")


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"frozen": True}, {}),
        ({"slots": True}, {}),
        ({"frozen": True, "slots": True, "kw_only": True}, {}),
        ({"frozen": True, "slots": True}, {"parts": field(default_factory=list)}),
        ({"frozen": True, "slots": True}, {"size": field(default=1, init=False)}),
    ],
)
def test_what_it_cannot_write_is_refused(options, names):
    annotations = {"name": str} | dict.fromkeys(names, int)
    plain = dataclass(**options)(type("Plain", (), {"__annotations__": annotations, **names}))
    with pytest.raises(TypeError, match="Plain"):
        quick(plain)


class TestUncollected:
    """The search for cycles put off while many records are made."""

    def test_it_is_put_off_inside_and_on_again_afterwards_whatever_happens(self):
        seen = []

        def work():
            with uncollected():
                seen.append(gc.isenabled())
                with uncollected():
                    seen.append(gc.isenabled())
                seen.append(gc.isenabled())
                raise ZeroDivisionError

        assert gc.isenabled()
        with pytest.raises(ZeroDivisionError):
            work()
        assert (seen, gc.isenabled()) == ([False] * 3, True)

    def test_what_the_host_turned_off_stays_off(self):
        gc.disable()
        try:
            with uncollected():
                assert not gc.isenabled()
            assert not gc.isenabled()
        finally:
            gc.enable()

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
    def test_a_child_forked_meanwhile_collects(self):
        with uncollected():
            child = os.fork()
            if not child:
                os._exit(0 if gc.isenabled() else 1)
            assert not gc.isenabled()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
