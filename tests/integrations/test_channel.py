"""The JSON channel over real pipes, with methods that block, fail and answer out of order."""

import io
import json
import os
import threading
from pathlib import Path

import pytest

from armarius import deadline as calls
from armarius.channel import server as module
from armarius.channel.server import Channel
from armarius.errors import UnknownDocument


def run(methods, *messages, root=None):
    lines = b"".join(m if isinstance(m, bytes) else json.dumps(m).encode() + b"\n" for m in messages)
    output = io.BytesIO()
    Channel(methods, root=root).serve(io.BytesIO(lines), output)
    return [json.loads(line) for line in output.getvalue().splitlines()]


class Pipe:
    """A channel served in a thread over operating-system pipes."""

    def __init__(self, methods):
        receive, self._send = os.pipe()
        self._receive, send = os.pipe()
        self._in, self._out = os.fdopen(receive, "rb"), os.fdopen(send, "wb")
        self.to, self.answers = os.fdopen(self._send, "wb"), os.fdopen(self._receive, "rb")
        self.channel = Channel(methods)
        self.thread = threading.Thread(target=self.channel.serve, args=(self._in, self._out))
        self.thread.start()

    def say(self, message):
        self.to.write(json.dumps(message).encode() + b"\n")
        self.to.flush()

    def hear(self):
        return json.loads(self.answers.readline())

    def close(self):
        self.to.close()
        self.thread.join(10)
        assert not self.thread.is_alive()
        for stream in (self._in, self._out, self.answers):
            stream.close()


def test_a_request_is_answered_under_its_id():
    assert run({"add": lambda p: p["a"] + p["b"]}, {"id": 7, "method": "add", "params": {"a": 1, "b": 2}}) == [
        {"id": 7, "ok": True, "result": 3}
    ]


def test_a_slow_request_does_not_hold_up_a_fast_one():
    gate = threading.Event()
    pipe = Pipe({"slow": lambda p: gate.wait(60), "fast": lambda p: "done"})
    pipe.say({"id": 1, "method": "slow"})
    pipe.say({"id": 2, "method": "fast"})
    assert pipe.hear() == {"id": 2, "ok": True, "result": "done"}
    gate.set()
    assert pipe.hear() == {"id": 1, "ok": True, "result": True}
    pipe.close()


def test_a_cancelled_request_is_answered_once_and_only_as_cancelled():
    gate = threading.Event()
    pipe = Pipe({"slow": lambda p: gate.wait(60)})
    pipe.say({"id": "a", "method": "slow"})
    pipe.say({"method": "cancel", "params": {"id": "a"}})
    assert pipe.hear()["error"]["code"] == "CANCELLED"
    gate.set()
    pipe.say({"id": "b", "method": "slow"})
    assert pipe.hear()["id"] == "b"
    pipe.close()


def test_requests_under_way_are_answered_after_the_input_has_ended():
    gate = threading.Event()
    pipe = Pipe({"slow": lambda p: gate.wait(60)})
    pipe.say({"id": 1, "method": "slow"})
    pipe.to.close()
    gate.set()
    assert pipe.hear() == {"id": 1, "ok": True, "result": True}
    pipe.close()


def test_notifications_carry_no_id():
    pipe = Pipe({})
    pipe.say({"id": 1, "method": "nothing"})
    pipe.hear()
    pipe.channel.notify("index:progress", {"done": 1, "total": 2})
    assert pipe.hear() == {"method": "index:progress", "params": {"done": 1, "total": 2}}
    pipe.close()


def test_what_happened_before_there_was_a_listener_is_told_first_and_once():
    channel, output = Channel({"ok": lambda p: 1}), io.BytesIO()
    for done in (1, 2, 3):
        channel.notify("index:progress", {"done": done, "total": 3})
    channel.serve(io.BytesIO(b'{"id":1,"method":"ok"}\n'), output)
    channel.notify("index:progress", {"done": 4, "total": 3})
    assert [json.loads(line) for line in output.getvalue().splitlines()] == [
        {"method": "index:progress", "params": {"done": 3, "total": 3}},
        {"id": 1, "ok": True, "result": 1},
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"not json\n", "INVALID_JSON"),
        (b"\xff\xfe\n", "INVALID_JSON"),
        (b"[1,2]\n", "INVALID_REQUEST"),
        (b'{"id":1}\n', "INVALID_REQUEST"),
        (b'{"id":{},"method":"x"}\n', "INVALID_REQUEST"),
        (b'{"id":true,"method":"x"}\n', "INVALID_REQUEST"),
        (b'{"method":"x"}\n', "INVALID_REQUEST"),
        (b'{"id":1,"method":"x","params":[]}\n', "INVALID_REQUEST"),
        (b'{"id":1,"method":"x"}\n', "UNKNOWN_METHOD"),
        (b"[" * 100_000 + b"\n", "INVALID_JSON"),
    ],
)
def test_a_broken_line_is_answered_and_the_next_one_still_works(line, code):
    answers = run({"ok": lambda p: 1}, line, {"id": 9, "method": "ok"})
    assert [a.get("error", {}).get("code") for a in answers if not a["ok"]] == [code]
    assert {"id": 9, "ok": True, "result": 1} in answers


@pytest.mark.parametrize(
    "broken",
    [{"method": 5}, {}, {"method": None}, {"method": "x", "params": []}, {"method": "ok", "timeoutMs": "1"}],
)
@pytest.mark.parametrize("key", [98, "a", 0, ""])
def test_a_broken_request_is_answered_under_its_id(key, broken):
    (answer,) = run({"ok": lambda p: 1}, {"id": key, **broken})
    assert (answer["id"], answer["error"]["code"]) == (key, "INVALID_REQUEST")


@pytest.mark.parametrize(
    "line",
    [
        rb'{"id":"\ud800","method":5}',
        rb'{"id":"\ud800","method":"none"}',
        rb'{"id":"\ud800","method":"ok"}',
        rb'{"id":"\ud800","method":"cancel"}',
        rb'{"id":"\ud800","method":"echo"}',
    ],
)
def test_an_id_with_a_lone_surrogate_is_answered_as_it_came_and_ends_nothing(line):
    answers = run({"ok": lambda p: 1, "echo": lambda p: "\udc80"}, line + b"\n", {"id": 9, "method": "ok"})
    assert sorted(str(a["id"]) for a in answers) == ["9", "\ud800"]


def test_a_method_that_is_no_text_is_named_in_brief_and_ends_nothing():
    lines = rb'{"method":"\ud800"}', b'{"method":"' + b"x" * 1_000_000 + b'"}'
    *refused, last = run({"ok": lambda p: 1}, *(line + b"\n" for line in lines), {"id": 9, "method": "ok"})
    assert [one["error"]["code"] for one in refused] == ["INVALID_REQUEST"] * 2
    assert all(len(one["error"]["message"]) < 200 for one in refused)
    assert last == {"id": 9, "ok": True, "result": 1}


def test_a_cancel_of_true_cancels_nobody():
    gate = threading.Event()
    pipe = Pipe({"slow": lambda p: gate.wait(60)})
    pipe.say({"id": 1, "method": "slow"})
    pipe.say({"id": 2, "method": "cancel", "params": {"id": True}})
    assert pipe.hear() == {"id": 2, "ok": True, "result": None}
    gate.set()
    assert pipe.hear() == {"id": 1, "ok": True, "result": True}
    pipe.close()


def test_an_output_that_takes_no_more_does_not_end_the_reading():
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "No space left on device")

    asked = []
    lines = b'nonsense\n{"id":1,"method":"ok"}\n'
    Channel({"ok": asked.append}).serve(io.BytesIO(lines), Full())
    assert asked == [{}]


@pytest.mark.parametrize("key", [None, True, 1.5, [1], {}])
def test_what_is_no_id_is_answered_under_none(key):
    (answer,) = run({"ok": lambda p: 1}, {"id": key, "method": 5})
    assert (answer["id"], answer["error"]["code"]) == (None, "INVALID_REQUEST")


def test_a_line_over_the_limit_is_refused_and_skipped(monkeypatch):
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 64)
    answers = run({"ok": lambda p: 1}, b"x" * 1000 + b"\n", {"id": 9, "method": "ok"})
    assert [a["ok"] for a in answers] == [False, True]


def test_an_id_under_way_is_not_taken_twice():
    gate = threading.Event()
    pipe = Pipe({"slow": lambda p: gate.wait(60)})
    pipe.say({"id": 1, "method": "slow"})
    pipe.say({"id": 1, "method": "slow"})
    assert "already under way" in pipe.hear()["error"]["message"]
    gate.set()
    assert pipe.hear()["ok"] is True
    pipe.close()


def fail(error):
    def method(params):
        raise error

    return method


def test_an_error_keeps_its_code_and_loses_the_project_path():
    root = Path("/srv/secret/novel")
    error = UnknownDocument(f"no document {root}/chapters/ch9.md in {root} (see /etc/passwd)")
    [answer] = run({"m": fail(error)}, {"id": 1, "method": "m"}, root=root)
    assert answer["error"] == {
        "code": "UNKNOWN_DOCUMENT",
        "message": "no document chapters/ch9.md in . (see passwd)",
    }


def test_an_unexpected_error_says_nothing_of_itself():
    [answer] = run({"m": fail(RuntimeError("SELECT secret FROM t at /srv/secret/x"))}, {"id": 1, "method": "m"})
    assert answer["error"]["code"] == "INTERNAL"
    assert "SELECT" not in answer["error"]["message"]


def test_a_result_that_is_not_json_is_a_failure_not_a_silence():
    [answer] = run({"m": lambda p: object()}, {"id": 1, "method": "m"})
    assert answer["ok"] is False


def test_the_work_of_a_cancelled_request_stops(tmp_path):
    began, went = threading.Event(), threading.Event()

    def waits(_):
        began.set()
        calls.patiently(threading.Event().wait, 60)
        went.set()

    pipe = Pipe({"slow": waits, "next": lambda p: True})
    pipe.say({"id": 1, "method": "slow"})
    assert began.wait(10)
    pipe.say({"method": "cancel", "params": {"id": 1}})
    assert pipe.hear()["error"]["code"] == "CANCELLED"
    pipe.close()  # waits for the thread
    assert not went.is_set()


def test_an_id_that_was_cancelled_may_come_again_at_once():
    gates = [threading.Event(), threading.Event()]
    turn = iter(gates)
    pipe = Pipe({"slow": lambda p: next(turn).wait(60)})
    pipe.say({"id": 1, "method": "slow"})
    pipe.say({"method": "cancel", "params": {"id": 1}})
    assert pipe.hear()["error"]["code"] == "CANCELLED"
    pipe.say({"id": 1, "method": "slow"})
    gates[0].set()
    gates[1].set()
    assert pipe.hear() == {"id": 1, "ok": True, "result": True}
    pipe.close()


def test_a_request_may_say_how_long_it_waits_for_what_may_be_late():
    ask = {"id": 1, "method": "left", "timeoutMs": 250}
    (answer,) = run({"left": lambda p: calls.remaining(100)}, ask)
    assert 0 < answer["result"] <= 0.25
    (answer,) = run({"left": lambda p: calls.remaining(100)}, {**ask, "timeoutMs": None})
    assert answer["result"] == 100


@pytest.mark.parametrize("wrong", [0, -1, True, "1", [1], 1e12])
def test_a_time_that_is_none_is_refused(wrong):
    (answer,) = run({"left": lambda p: 1}, {"id": 1, "method": "left", "timeoutMs": wrong})
    assert answer["error"]["code"] == "INVALID_REQUEST"
    assert "timeoutMs" in answer["error"]["message"]
