"""An engine with a model for other wordings: asked once, within a time, and never a reason to fail."""

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import armarius
from armarius.rewording import Reworder

NOVEL = Path(__file__).parents[2] / "examples" / "novel"
ASKED = "who handed over the missing sheet"
WORDED = ["周远把第十八页交给林默", "周远交出第十八页"]
CODE = "REWORDING_UNAVAILABLE"


class Model:
    """A function from messages to a reply that keeps what it was sent."""

    def __init__(self, reply='["周远把第十八页交给林默", "周远交出第十八页"]'):
        self.reply, self.sent = reply, []

    def __call__(self, messages):
        self.sent.append(messages)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


@pytest.fixture
def opened(tmp_path):
    engines = []

    def make(**options):
        engines.append(armarius.open(NOVEL, watch=False, index_dir=tmp_path, **options))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


def test_a_question_is_asked_in_the_wordings_of_the_model(opened):
    model = Model()
    engine = opened(reword=model)
    pack = engine.assemble(ASKED, budget=2000)
    assert pack.request.also == tuple(WORDED)
    assert "chapters/ch005.md" in pack.documents
    assert engine.retrieve(ASKED).also == tuple(WORDED)
    assert pack.warnings == ()


def test_the_model_is_asked_once_for_each_question_with_the_names_of_the_book(opened):
    model = Model()
    engine = opened(reword=model)
    for _ in range(3):
        engine.assemble("小雨点是谁", budget=2000)
        engine.retrieve("小雨点是谁")
        engine.inspect("小雨点是谁")
    assert len(model.sent) == 1
    told = model.sent[0][-1]["content"]
    assert told.index('"小雨点"') < told.index('"林小雨"')  # named in the question
    assert "小雨点是谁" in told


def test_nobody_is_asked_where_wordings_are_given_or_there_is_no_question(opened):
    model = Model()
    engine = opened(reword=model)
    assert engine.assemble(ASKED, also=["灯塔"]).request.also == ("灯塔",)
    engine.assemble(document="chapters/ch003.md")
    engine.search("灯塔")
    assert model.sent == []


def test_a_model_of_a_call_stands_in_for_the_engines_and_remembers(opened):
    own, other = Model(), Model('["灯塔重新点亮"]')
    engine = opened(reword=own)
    for _ in range(2):
        assert engine.assemble(ASKED, reword=other).request.also == ("灯塔重新点亮",)
        assert engine.retrieve(ASKED, reword=other).also == ("灯塔重新点亮",)
    assert (len(own.sent), len(other.sent)) == (0, 1)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (ValueError("no key:\n  set LLM_KEY"), "ValueError: no key: set LLM_KEY"),
        (ValueError("x" * 500), f"ValueError: {'x' * 159}…"),
        (OSError("POST https://key@host failed: sk-0123456789abcdef"), "OSError: POST … failed: …"),
        (RuntimeError(), "RuntimeError"),
        (armarius.errors.RewordingError("the model is being loaded"), "the model is being loaded"),
        ("I'm sorry, I cannot do that.", "the reply holds no wording"),
        ("", "the reply holds no wording"),
        (None, "the reply holds no wording"),
    ],
)
def test_a_model_that_fails_is_a_warning_and_the_answer_is_that_without_it(opened, reply, why):
    engine = opened(reword=Model(reply))
    plain = opened()
    pack = engine.assemble(ASKED, budget=2000)
    assert pack.warnings == (f"{CODE}: {why}",)
    assert pack.prompt == plain.assemble(ASKED, budget=2000).prompt
    assert [str(one) for one in engine.retrieve(ASKED).warnings] == [f"{CODE}: {why}"]


def test_a_model_that_hangs_is_waited_for_no_longer_than_its_time(opened):
    going = threading.Event()
    replies = []

    def slow(messages):
        going.wait(20)
        replies.append(messages)
        return WORDED

    reworder = Reworder(slow, timeout_s=0.05)
    engine = opened(reword=reworder)
    assert engine.assemble(ASKED).warnings == (f"{CODE}: no reply within 0.05 s",)
    assert engine.assemble(ASKED).warnings == (f"{CODE}: no reply within 0.05 s",)  # joins the one under way
    reworder.timeout_s = 20
    going.set()
    assert engine.assemble(ASKED).request.also == tuple(WORDED)
    assert len(replies) == 1  # what came late is kept


def test_a_model_that_hangs_for_every_question_is_not_asked_for_ever(opened):
    going = threading.Event()
    started = []

    def hang(messages):
        started.append(messages)
        going.wait(20)

    engine = opened(reword=Reworder(hang, timeout_s=0.01))
    said = [engine.assemble(f"第{n}问：灯塔").warnings[0] for n in range(12)]
    going.set()
    assert len(started) == 2
    assert said[-1].startswith(f"{CODE}: not asked for ")


async def test_coroutines_are_awaited_where_the_caller_waits(opened):
    loops = []

    async def model(messages):
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return WORDED

    engine = opened(reword=model)
    assert (await engine.aassemble(ASKED)).request.also == tuple(WORDED)
    assert loops == [asyncio.get_running_loop()]
    assert (await asyncio.to_thread(engine.assemble, "谁点亮了灯塔")).request.also == tuple(WORDED)
    assert loops[1] is not loops[0]


async def test_a_chat_model_is_invoked_or_awaited_as_the_caller_is(opened):
    calls = []

    class Chat:
        def invoke(self, messages):
            calls.append(("invoke", [one["role"] for one in messages]))
            return SimpleNamespace(content=[{"type": "text", "text": '["周远交出第十八页"]'}])

        async def ainvoke(self, messages):
            calls.append(("ainvoke", [one["role"] for one in messages]))
            return SimpleNamespace(content='["周远交出第十八页"]')

    engine = opened(reword=Chat())
    assert engine.assemble(ASKED).request.also == ("周远交出第十八页",)
    assert (await engine.aassemble("谁点亮了灯塔")).request.also == ("周远交出第十八页",)
    assert calls == [("invoke", ["system", "user"]), ("ainvoke", ["system", "user"])]


async def test_a_coroutine_that_hangs_is_cancelled(opened):
    cancelled = asyncio.Event()

    async def model(messages):
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    engine = opened(reword=Reworder(model, timeout_s=0.05))
    assert (await engine.aassemble(ASKED)).warnings == (f"{CODE}: no reply within 0.05 s",)
    await asyncio.wait_for(cancelled.wait(), 10)


def test_many_threads_with_one_question_ask_once(opened):
    model, start = Model(), threading.Barrier(6)
    engine = opened(reword=model)
    found = []

    def ask():
        start.wait(60)
        found.append(engine.retrieve(ASKED).also)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert found == [tuple(WORDED)] * 6
    assert len(model.sent) == 1


def test_the_oldest_questions_are_forgotten_first():
    model = Model(WORDED)
    reworder = Reworder(model, remembered=2)
    for question in ("a b", "c d", "a b", "e f", "a b", "c d"):
        assert reworder.ask(question).wordings == tuple(WORDED)
    asked = [messages[-1]["content"].rpartition("Question: ")[2] for messages in model.sent]
    assert asked == ["a b", "c d", "e f", "c d"]
