"""Which entity a name means, in a project and in the folders beside it."""

import pytest

from armarius.codex.model import Entity, NameIndex

ENTITIES = {"avalon": "Avalon", "bible/avalon.location": "Avalon", "b1/x": "Mara", "b2/x": "Mara", "z": "Mara Vance"}
QUESTIONS = [("Avalon", "bible"), ("Mara", "b1"), ("Avalon", ""), ("Mara", "")]


def entity(id_, name):
    aliases = ("Mara",) if id_ == "z" else ()
    return Entity(id_, name, "other", aliases, "", {}, "when_detected", (), ())


def asked(questions):
    index = NameIndex([entity(*one) for one in ENTITIES.items()], others={"bible/avalon.location", "b1/x", "b2/x"})
    return {question: index.find(*question) for question in questions}


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_what_a_name_means_does_not_hang_on_what_was_asked_before(question):
    before = [*QUESTIONS, *QUESTIONS[::-1]]
    assert asked([question]).items() <= asked(before).items()


def test_the_project_s_own_entity_is_meant_by_a_name_that_others_bear_too():
    assert asked(QUESTIONS) == {
        ("Avalon", "bible"): None,
        ("Mara", "b1"): None,
        ("Avalon", ""): "avalon",
        ("Mara", ""): None,
    }
