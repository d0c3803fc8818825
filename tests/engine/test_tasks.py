"""A task that a host names: its prompts continue each other, as with `previous`."""

import pytest

import armarius
from armarius.deadline import Recent
from armarius.verbs import methods_of

NOVEL = "examples/novel"
FIRST = {"query": "林默为什么吹灭了灯", "document": "chapters/ch003.md", "budget": 3000}
SECOND = {"query": "纸条是谁写的", "document": "chapters/ch003.md", "budget": 3000}


@pytest.fixture
def engine():
    with armarius.open(NOVEL, watch=False) as engine:
        yield engine


def test_prompts_of_one_task_continue_each_other(engine):
    first = engine.assemble(**FIRST)
    expected = engine.assemble(**SECOND, previous=first)
    assert engine.assemble(**SECOND).prompt != expected.prompt
    engine.assemble(**FIRST, task="desk")
    second = engine.assemble(**SECOND, task="desk")
    assert (second.prompt, second.prefix) == (expected.prompt, expected.prefix)


def test_prompts_of_other_tasks_and_of_none_do_not(engine):
    alone = engine.assemble(**SECOND).prompt
    engine.assemble(**FIRST, task="desk")
    assert engine.assemble(**SECOND, task="chat").prompt == alone
    assert engine.assemble(**SECOND).prompt == alone
    assert engine.assemble(**SECOND, task="").prompt == alone


def test_what_is_given_as_previous_is_heard_before_the_task(engine):
    first, other = engine.assemble(**FIRST), engine.assemble(query="灯塔", budget=3000)
    engine.assemble(query="灯塔", budget=3000, task="desk")
    expected = engine.assemble(**SECOND, previous=first).prompt
    assert engine.assemble(**SECOND, previous=other).prompt != expected
    assert engine.assemble(**SECOND, task="desk", previous=first).prompt == expected


def test_a_look_at_a_task_leaves_it_as_it_is(engine):
    engine.assemble(**FIRST, task="desk")
    engine.inspect(query="灯塔", budget=3000, task="desk")
    assert engine.assemble(**SECOND, task="desk").prompt == (
        engine.assemble(**SECOND, previous=engine.assemble(**FIRST)).prompt
    )


def test_so_many_tasks_are_remembered_and_no_more(engine):
    pack = engine.assemble(**FIRST)
    tasks = Recent(32)
    for number in range(40):
        tasks.keep(f"task {number}", pack)
        tasks.keep("task 0", pack)
    known = [number for number in range(40) if tasks.get(f"task {number}") is pack]
    assert known == [0, *range(9, 40)]


def test_a_task_travels_over_the_wire(engine):
    call = methods_of(engine)["context:prompt:assemble"]
    wire = {"projectId": "", "documentId": "chapters/ch003.md", "cursorPosition": None, "skillId": "", "budget": 3000}
    call({**wire, "query": FIRST["query"], "taskId": "desk"})
    second = call({**wire, "query": SECOND["query"], "taskId": "desk"})
    expected = engine.assemble(**SECOND, previous=engine.assemble(**FIRST))
    assert (second["prompt"], second["stablePrefixUnchanged"]) == (expected.prompt, True)
