"""A long call of the core hears signals while it works, and what a handler raises ends it; the answer is the same.

Nothing here is timed. A timer of processor time sends signals; how often their handler ran before the call was done
says whether the call listened. One that does not hears them all at once, when it is over.
"""

import functools
import gc
import json
import signal
import sys
import threading
import time

import pytest

import armarius
import armarius._core as core

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="timers of POSIX systems")

EVERY = 0.01  # seconds of processor
HEARD = 12  # signals in one call, four times what the handler that ends it needs
LINE = "白鹭来了，又走了。林小雨说：“今天的雨真大！” Éva said: e\u0301va.\n"
WORD = "白鹭来了又走了林小雨说今天的雨真大"
COUNTER = armarius.TokenCounter.for_encoding("o200k")
OTHER = armarius.TokenCounter.for_encoding("qwen2")
MATCHER = armarius.EntityMatcher([{"id": "a", "name": "白鹭", "aliases": ["Éva"]}, {"id": "b", "name": "林小雨"}])
KEYS = core.KeySet([*LINE, "白鹭", "今天", "说：", "雨真大"], [0] * (len(LINE) + 4))


def names(count):
    return [{"id": f"e{i}", "name": f"名{i}字", "aliases": [f"别{i}号{j}" for j in range(9)]} for i in range(count)]


def part(text):
    spans = [(0, len(text) // 2, "body"), (len(text) // 2, len(text), "body")]
    return core.CorpusPart("a.md", "note", text, spans, [("", None, 0)]).to_bytes()


CALLS = {
    "count": lambda text: COUNTER.count(text),
    "count with composition": lambda text: OTHER.count(text),
    "count of one word": lambda text: COUNTER.count(text.replace("\n", "").replace("，", "")),
    "count_batch": lambda text: COUNTER.count_batch(["a", text]),
    "estimate": lambda text: armarius.TokenCounter.estimate().upper_bound(text),
    "truncate head": lambda text: armarius.truncate(text, len(text), counter=COUNTER),
    "truncate tail": lambda text: armarius.truncate(text, len(text) // 2, keep="tail", counter=COUNTER),
    "truncate by the estimate": lambda text: armarius.truncate(
        text, len(text) // 2, counter=armarius.TokenCounter.estimate()
    ),
    "find_all": MATCHER.find_all,
    "find_overlapping": MATCHER.find_overlapping,
    "find_batch": lambda text: MATCHER.find_batch([text]),
    "find_packed": lambda text: MATCHER.find_packed([text]),
    "explain": MATCHER.explain,
    "detect": MATCHER.detect,
    "index_tokens": lambda text: core.index_tokens([text]),
    "text_grams": core.text_grams,
    "find_terms": lambda text: core.find_terms([text], ["白鹭", "eva"]),
    "pieces": lambda text: core.pieces(text, 200),
    "lexical_embed": lambda text: core.lexical_embed([text], 64),
    "CorpusPart": part,
    "KeySet": KEYS.found,
}


def heard_during(work, ended_by=None):
    """How often the handler ran while `work` was under way, and how much processor time that took.

    `ended_by`: the handler raises this at its third call.
    """
    calls = []

    def handler(_signal, _frame):
        calls.append(1)
        if ended_by is not None and len(calls) == 3:
            signal.setitimer(signal.ITIMER_PROF, 0)
            raise ended_by

    before = signal.signal(signal.SIGPROF, handler)
    begun = time.thread_time()
    gc.disable()  # what is raised while somebody listens to the collector is lost
    try:
        signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
        work()
        signal.setitimer(signal.ITIMER_PROF, 0)
        took = time.thread_time() - begun
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        gc.enable()
    return len(calls), took


def long_enough(call, prose):
    """A text for which `call` hears `HEARD` signals, whatever the build and the machine, and the answer.

    The text is twice as long until it does. A call that does not listen hears one, when it is over, for every length.
    """
    text = prose * (1_000_000 // len(prose.encode()))
    while True:
        heard, took = heard_during(functools.partial(call, text))
        if heard >= HEARD:
            return text, call(text)
        assert len(text) < 100_000_000, f"{heard} times in {took:.2f} s, {len(text):,} characters"
        text += text


@pytest.mark.parametrize("name", CALLS)
def test_a_long_call_hears_signals_and_ends_with_what_their_handler_raises(name):
    call = CALLS[name]
    text, answer = long_enough(call, LINE)
    with pytest.raises(InterruptedError, match="by the test"):
        heard_during(lambda: call(text), ended_by=InterruptedError("by the test"))
    assert call(text) == answer


def test_one_word_of_many_megabytes_is_counted_in_stretches():
    text, answer = long_enough(COUNTER.count, WORD)
    assert COUNTER.count(text) == answer


def test_a_matcher_of_very_many_names_is_built_while_signals_are_heard():
    people = names(30_000)
    heard, took = heard_during(lambda: armarius.EntityMatcher(people))
    assert heard >= 3, f"{heard} times in {took:.2f} s"
    with pytest.raises(InterruptedError, match="by the test"):
        heard_during(lambda: armarius.EntityMatcher(people), ended_by=InterruptedError("by the test"))
    assert len(armarius.EntityMatcher(people).find_all("名77字和别77号3")) == 2


def test_a_tokenizer_of_a_file_counts_aside_while_signals_are_heard(tmp_path):
    vocab = {chr(97 + i): i for i in range(26)} | {" ": 26}
    model = {"type": "BPE", "vocab": vocab, "merges": []}
    (tmp_path / "tokenizer.json").write_text(
        json.dumps({"version": "1.0", "added_tokens": [], "model": model}), "utf-8"
    )
    counter = armarius.TokenCounter.from_file(tmp_path / "tokenizer.json")
    text = "abc def " * 400_000
    heard, took = heard_during(lambda: counter.count(text))
    assert heard >= 3, f"{heard} times in {took:.2f} s"
    with pytest.raises(InterruptedError, match="by the test"):
        heard_during(lambda: counter.count(text), ended_by=InterruptedError("by the test"))
    assert counter.count("abc def " * 40_000) * 10 == counter.count(text)


def test_a_handler_may_count_while_a_count_is_under_way():
    text, answer = long_enough(COUNTER.count, LINE)
    seen = []

    def handler(_signal, _frame):
        seen.append(COUNTER.count(text[:20_000]))

    before = signal.signal(signal.SIGPROF, handler)
    try:
        signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
        counted = COUNTER.count(text)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert counted == answer
    assert set(seen) == {COUNTER.count(text[:20_000])}


def test_another_thread_counts_on_while_the_main_one_hears_the_signal():
    text, answer = long_enough(COUNTER.count, LINE)
    found = []
    thread = threading.Thread(target=lambda: found.append(COUNTER.count(text)))
    thread.start()
    with pytest.raises(InterruptedError, match="by the test"):
        heard_during(lambda: COUNTER.count(text * 2), ended_by=InterruptedError("by the test"))
    thread.join()
    assert found == [answer]
