"""Messages as hosts hold them: what is read of each form, what is refused and how that is said."""

from enum import StrEnum
from types import SimpleNamespace

import pytest

from armarius.arguments import LONGEST_MESSAGE, MOST_MESSAGES, Turn, asked_last, check_arg, read_messages
from armarius.errors import ContractError


class Who(StrEnum):
    USER = "user"


def test_messages_of_every_host_are_read_alike():
    said = [
        {"role": "user", "content": "小雨住哪？"},
        ("user", "小雨住哪？"),
        SimpleNamespace(type="human", content="小雨住哪？"),  # LangChain
        SimpleNamespace(type="HumanMessageChunk", content=[{"type": "text", "text": "小雨住哪？"}]),
        SimpleNamespace(role=Who.USER, content="小雨住哪？"),  # LlamaIndex
        Turn("user", "小雨住哪？"),
    ]
    assert set(read_messages(said)) == {Turn("user", "小雨住哪？")}


def test_a_chat_as_lorebook_programs_keep_it_is_read_by_the_same_parser():
    said = [
        "小雨住哪？",
        {"name": "阿宁", "text": "小雨住哪？"},
        {"role": "narrator", "content": "小雨住哪？"},
        SimpleNamespace(type="human", content="小雨住哪？"),
        Turn("", "小雨住哪？"),
    ]
    found = read_messages(said, lines=True)
    assert {turn.content for turn in found} == {"小雨住哪？"}
    assert [(turn.role, turn.name) for turn in found] == [
        ("", ""), ("", "阿宁"), ("system", ""), ("user", ""), ("", ""),
    ]  # fmt: skip
    for one in said[:3]:
        with pytest.raises(ContractError, match=r"^messages\[0\]"):
            check_arg("messages", read_messages, [one])


def test_text_parts_are_joined_and_what_is_no_text_is_left_out():
    parts = [{"type": "text", "text": "看"}, {"type": "image_url", "image_url": {"url": "x"}}, "图"]
    assert read_messages([{"role": "user", "content": parts}]) == (Turn("user", "看\n图"),)


def test_a_call_of_a_tool_says_nothing_and_instructions_are_no_turn():
    found = read_messages(
        [
            {"role": "developer", "content": "be brief"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
            {"role": "tool", "content": "42"},
            {"role": "assistant", "content": "好"},
        ]
    )
    assert [(turn.role, turn.is_spoken) for turn in found] == [
        ("system", False),
        ("assistant", False),
        ("tool", False),
        ("assistant", True),
    ]


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ("hello", "messages: expected a list of messages, got 'hello'"),
        ({"role": "user"}, "messages: expected a list of messages, got {'role': 'user'}"),
        ([3], "messages[0]: expected {role, content}, got 3"),
        ([{"role": "user", "content": "x"}, None], "messages[1]: expected {role, content}, got None"),
        ([{"role": "user", "content": "x"}, {"content": "x"}], "messages[1].role: expected one of ai, assistant, "),
        ([{"role": "user", "content": None}], "messages[0].content: expected a text or a list of parts, got None"),
        ([{"role": "user", "content": 3}], "messages[0].content: expected a text or a list of parts, got 3"),
        ([{"role": "user", "content": [3]}], "messages[0].content[0]: expected a text or {type, …}, got 3"),
        (
            [{"role": "user", "content": [{"type": "text"}]}],
            "messages[0].content[0].text: expected the text of a part of type text, got None",
        ),
        ([{"role": "user", "content": "x", "name": 3}], "messages[0].name: expected a text, got 3"),
        (
            [("user", "x" * (LONGEST_MESSAGE + 1))],
            "messages[0].content: at most 1,000,000 characters, got 1,000,001",
        ),
        ([("user", "x")] * (MOST_MESSAGES + 1), "messages: at most 10,000 messages, got 10,001"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(messages, message):
    with pytest.raises(ContractError) as refused:
        check_arg("messages", read_messages, messages)
    assert str(refused.value).startswith(message)


def test_an_unknown_role_is_refused_with_those_that_are_known():
    with pytest.raises(ContractError, match=r"^messages\[0\]\.role: expected one of ai, .*, user, got 'narrator'$"):
        check_arg("messages", read_messages, [{"role": "narrator", "content": "x"}])


def test_a_lone_surrogate_becomes_the_sign_for_what_is_no_character():
    assert read_messages([("user", "a\ud800b")]) == (Turn("user", "a\ufffdb"),)


def test_the_question_that_hosts_hand_over_with_its_messages_is_not_said_twice():
    before, newest = Turn("assistant", "好"), Turn("user", " 那后来呢？")
    assert asked_last("那后来呢？", (before, newest)) == ("那后来呢？", (before,))
    assert asked_last("", (before, newest)) == (" 那后来呢？", (before,))
    assert asked_last("别的", (before, newest)) == ("别的", (before, newest))
    assert asked_last("", (newest, before)) == ("", (newest, before))
