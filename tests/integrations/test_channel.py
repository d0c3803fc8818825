"""The channel over real pipes, with methods that block, fail and answer out of order."""

import io
import json
import os
import threading
from pathlib import Path

import pytest

from armarius import channel as module
from armarius import deadline as calls
from armarius.channel import Channel
from armarius.errors import ContractError, UnknownDocument


def sent(message):
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def result(key, value):
    return {"jsonrpc": "2.0", "id": key, "result": value}


def code_of(answer):
    return answer["error"]["data"]["code"]


def run(methods, *messages, root=None):
    lines = b"".join(m if isinstance(m, bytes) else sent(m) + b"\n" for m in messages)
    output = io.BytesIO()
    Channel(methods, root=root).serve(io.BytesIO(lines), output)
    return [json.loads(line) for line in output.getvalue().splitlines()]


def fail(error):
    def method(params):
        raise error

    return method


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
        self.to.write(sent(message) + b"\n")
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
        result(7, 3)
    ]


def test_a_slow_request_does_not_hold_up_a_fast_one():
    gate = threading.Event()
    pipe = Pipe({"slow": lambda p: gate.wait(60), "fast": lambda p: "done"})
    pipe.say({"id": 1, "method": "slow"})
    pipe.say({"id": 2, "method": "fast"})
    assert pipe.hear() == result(2, "done")
    gate.set()
    assert pipe.hear() == result(1, True)
    pipe.close()


def test_a_cancelled_request_is_answered_once_and_only_as_cancelled():
    gate = threading.Event()
    pipe = Pipe({"slow": lambda p: gate.wait(60)})
    pipe.say({"id": "a", "method": "slow"})
    pipe.say({"method": "$/cancelRequest", "params": {"id": "a"}})
    assert code_of(pipe.hear()) == "CANCELLED"
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
    assert pipe.hear() == result(1, True)
    pipe.close()


def test_notifications_carry_no_id():
    pipe = Pipe({})
    pipe.say({"id": 1, "method": "nothing"})
    pipe.hear()
    pipe.channel.notify("$/progress", {"token": "index", "value": {"done": 1}})
    assert pipe.hear() == {"jsonrpc": "2.0", "method": "$/progress", "params": {"token": "index", "value": {"done": 1}}}
    pipe.close()


def test_what_happened_before_there_was_a_listener_is_told_first_and_once():
    channel, output = Channel({"ok": lambda p: 1}), io.BytesIO()
    for done in (1, 2, 3):
        channel.notify("$/progress", {"done": done, "total": 3})
    channel.serve(io.BytesIO(sent({"id": 1, "method": "ok"}) + b"\n"), output)
    channel.notify("$/progress", {"done": 4, "total": 3})
    assert [json.loads(line) for line in output.getvalue().splitlines()] == [
        {"jsonrpc": "2.0", "method": "$/progress", "params": {"done": 3, "total": 3}},
        result(1, 1),
    ]


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (b"not json\n", -32700, "INVALID_JSON"),
        (b"\xff\xfe\n", -32700, "INVALID_JSON"),
        (b"[" * 100_000 + b"\n", -32700, "INVALID_JSON"),
        (b"[1,2]\n", -32600, "INVALID_REQUEST"),
        (b'{"id":1,"method":"ok"}\n', -32600, "INVALID_REQUEST"),
        (b'{"jsonrpc":"1.0","id":1,"method":"ok"}\n', -32600, "INVALID_REQUEST"),
        (b'{"jsonrpc":"2.0","id":1}\n', -32600, "INVALID_REQUEST"),
        (b'{"jsonrpc":"2.0","id":{},"method":"x"}\n', -32600, "INVALID_REQUEST"),
        (b'{"jsonrpc":"2.0","id":true,"method":"x"}\n', -32600, "INVALID_REQUEST"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":[]}\n', -32600, "INVALID_REQUEST"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x"}\n', -32601, "UNKNOWN_METHOD"),
    ],
)
def test_a_broken_line_is_answered_and_the_next_one_still_works(line, number, code):
    answers = run({"ok": lambda p: 1}, line, {"id": 9, "method": "ok"})
    assert [(a["error"]["code"], code_of(a)) for a in answers if "error" in a] == [(number, code)]
    assert result(9, 1) in answers


@pytest.mark.parametrize(
    ("error", "number"),
    [(ContractError("params.limit"), -32602), (UnknownDocument("a.md"), -32000), (RuntimeError(), -32603)],
)
def test_an_error_of_a_method_has_the_number_of_json_rpc_or_ours(error, number):
    (answer,) = run({"m": fail(error)}, {"id": 1, "method": "m"})
    assert answer["error"]["code"] == number


def test_a_notification_is_carried_out_and_not_answered():
    asked = []
    answers = run({"ok": asked.append}, {"method": "ok", "params": {"n": 1}}, {"method": "x"}, {"method": "$/x"})
    assert (answers, asked) == ([], [{"n": 1}])


def framed(body, header=b"Content-Length: %d"):
    return header % len(body) + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    "header", [b"Content-Length: %d", b"content-length:%d", b"Content-Type: application/json\r\nContent-Length: %d"]
)
def test_messages_with_headers_are_answered_with_headers(header):
    output = io.BytesIO()
    lines = b"".join(framed(sent({"id": n, "method": "echo", "params": {"n": "\n字"}}), header) for n in (1, 2))
    channel = Channel({"echo": lambda p: p["n"]}, workers=1)
    channel.notify("$/progress", {})
    channel.serve(io.BytesIO(lines), output)
    parts = output.getvalue().split(b"Content-Length: ")[1:]
    bodies = [part.partition(b"\r\n\r\n") for part in parts]
    assert [int(length) for length, _, _ in bodies] == [len(body) for _, _, body in bodies]
    assert [json.loads(body) for _, _, body in bodies][1:] == [result(1, "\n字"), result(2, "\n字")]


@pytest.mark.parametrize(
    "header",
    [b"X-Note:".ljust(1000, b"x") + b" " * 1000, b" " * 2500, b"X-Note:".ljust(1000, b"x") + b"Content-Length: 1"],
)
def test_a_long_header_is_one_header_whatever_its_pieces_hold(header):
    messages = (framed(sent({"id": n, "method": "ok"}), b"Content-Length: %d\r\n" + header) for n in (1, 2))
    output = io.BytesIO()
    Channel({"ok": lambda p: 1}).serve(io.BytesIO(b"".join(messages)), output)
    bodies = [part.partition(b"\r\n\r\n")[2] for part in output.getvalue().split(b"Content-Length: ")[1:]]
    assert sorted(json.loads(body).get("id", 0) for body in bodies) == [1, 2]


def test_a_message_over_the_limit_is_skipped_and_one_without_length_ends_the_input(monkeypatch):
    monkeypatch.setattr(module, "MAX_MESSAGE_BYTES", 64)
    ok = framed(sent({"id": 9, "method": "ok"}))
    output = io.BytesIO()
    Channel({"ok": lambda p: 1}).serve(io.BytesIO(framed(b"x" * 1000) + ok + b"Content-Size: 3\r\n\r\n" + ok), output)
    answers = [json.loads(part.partition(b"\r\n\r\n")[2]) for part in output.getvalue().split(b"Content-Length: ")[1:]]
    assert sorted(code_of(one) for one in answers if "error" in one) == ["INVALID_JSON", "REQUEST_TOO_LARGE"]
    assert [one["id"] for one in answers if "result" in one] == [9]


@pytest.mark.parametrize(
    "broken",
    [{"method": 5}, {}, {"method": None}, {"method": "x", "params": []}, {"method": "ok", "timeoutMs": "1"}],
)
@pytest.mark.parametrize("key", [98, "a", 0, ""])
def test_a_broken_request_is_answered_under_its_id(key, broken):
    (answer,) = run({"ok": lambda p: 1}, {"id": key, **broken})
    assert (answer["id"], code_of(answer)) == (key, "INVALID_REQUEST")


@pytest.mark.parametrize(
    "line",
    [
        rb'{"jsonrpc":"2.0","id":"\ud800","method":5}',
        rb'{"jsonrpc":"2.0","id":"\ud800","method":"none"}',
        rb'{"jsonrpc":"2.0","id":"\ud800","method":"ok"}',
        rb'{"jsonrpc":"2.0","id":"\ud800","method":"$/cancelRequest"}',
        rb'{"jsonrpc":"2.0","id":"\ud800","method":"echo"}',
    ],
)
def test_an_id_with_a_lone_surrogate_is_answered_as_it_came_and_ends_nothing(line):
    answers = run({"ok": lambda p: 1, "echo": lambda p: "\udc80"}, line + b"\n", {"id": 9, "method": "ok"})
    assert sorted(str(a["id"]) for a in answers) == ["9", "\ud800"]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        (rb'{"text":"\ud83d"}', "INVALID_TEXT"),
        (rb'{"text":"\uDE00 rain"}', "INVALID_TEXT"),
        (b'{"text":"\xed\xa0\xbd"}', "INVALID_TEXT"),
        (rb'{"\ud83d":1}', "INVALID_TEXT"),
        (rb'{"texts":["rain",{"deep":"\ud83d"}]}', "INVALID_TEXT"),
        (rb'{"text":"\ud83d\ude00"}', None),
        (rb'{"text":"\\ud83d"}', None),
    ],
)
def test_params_with_a_lone_surrogate_are_refused_as_no_text(params, code):
    line = b'{"jsonrpc":"2.0","id":1,"method":"echo","params":%b}\n' % params
    (answer,) = run({"echo": lambda p: p}, line)
    assert answer.get("error", {"data": {"code": None}})["data"]["code"] == code


@pytest.mark.parametrize("text", [rb'"\ud83d\ude00"', rb'"\ud83d"'])
def test_params_that_are_nested_to_the_depth_of_the_parser_end_nothing(text):
    for depth in range(800, 1001):  # one of them is the last that Python reads, which depends on what calls
        deep = b'{"jsonrpc":"2.0","id":1,"method":"ok","params":{"a":%b%b%b}}\n' % (b"[" * depth, text, b"]" * depth)
        answers = run({"ok": lambda p: 1}, deep, {"id": 9, "method": "ok"})
        assert len(answers) == 2
        assert result(9, 1) in answers


def test_a_lone_surrogate_in_an_answer_is_made_unicode_and_names_itself_in_params():
    methods = {"bad": lambda p: {"name": "雨\udc80\ud83d"}, "fail": fail(ContractError("no \ud800"))}
    answers = run(methods, {"id": "\ud800", "method": "bad"}, {"id": 2, "method": "fail"})
    assert {one["id"]: one.get("result", one.get("error", {}).get("message")) for one in answers} == {
        "\ud800": {"name": "雨\ufffd\ufffd"},
        2: "no \ufffd",
    }
    (refused,) = run(methods, {"id": 1, "method": "bad", "params": {"a": "x", "query": ["\ud83d"]}})
    assert refused["error"]["message"].startswith("params.query: ")


def test_an_unknown_method_is_refused_with_the_near_one():
    (answer,) = run(dict.fromkeys(("pins:add", "pins:list", "index:wait")), {"id": 1, "method": "pins:ad"})
    assert answer["error"]["message"] == "no method 'pins:ad'; near it: pins:add, pins:list"


def test_a_method_that_writes_folders_is_refused_with_the_option_that_allows_it():
    (answer,) = run({"documents:list": lambda p: 1}, {"id": 1, "method": "documents:write"})
    assert answer["error"]["message"] == "no method 'documents:write' without --allow-write"


def test_a_method_that_is_no_text_is_named_in_brief_and_ends_nothing():
    asked = ({"id": 7, "method": name} for name in ("\ud800", "x" * 1_000_000))
    *refused, last = run({"ok": lambda p: 1}, *asked, {"id": 9, "method": "ok"})
    assert [code_of(one) for one in refused] == ["UNKNOWN_METHOD"] * 2
    assert all(len(one["error"]["message"]) < 200 for one in refused)
    assert last == result(9, 1)


def test_a_cancel_of_true_cancels_nobody():
    gate = threading.Event()
    pipe = Pipe({"slow": lambda p: gate.wait(60)})
    pipe.say({"id": 1, "method": "slow"})
    pipe.say({"method": "$/cancelRequest", "params": {"id": True}})
    gate.set()
    assert pipe.hear() == result(1, True)
    pipe.close()


def test_an_output_that_takes_no_more_does_not_end_the_reading():
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "No space left on device")

    asked = []
    lines = b"nonsense\n" + sent({"id": 1, "method": "ok"}) + b"\n"
    Channel({"ok": asked.append}).serve(io.BytesIO(lines), Full())
    assert asked == [{}]


@pytest.mark.parametrize("key", [None, True, 1.5, [1], {}])
def test_what_is_no_id_is_answered_under_none(key):
    (answer,) = run({"ok": lambda p: 1}, {"id": key, "method": 5})
    assert (answer["id"], code_of(answer)) == (None, "INVALID_REQUEST")


def test_a_line_over_the_limit_is_refused_and_skipped(monkeypatch):
    monkeypatch.setattr(module, "MAX_MESSAGE_BYTES", 64)
    answers = run({"ok": lambda p: 1}, b"x" * 1000 + b"\n", {"id": 9, "method": "ok"})
    assert ["error" in a for a in answers] == [True, False]


def test_an_id_under_way_is_not_taken_twice():
    gate = threading.Event()
    pipe = Pipe({"slow": lambda p: gate.wait(60)})
    pipe.say({"id": 1, "method": "slow"})
    pipe.say({"id": 1, "method": "slow"})
    assert "already under way" in pipe.hear()["error"]["message"]
    gate.set()
    assert pipe.hear()["result"] is True
    pipe.close()


def test_an_error_keeps_its_code_and_loses_the_project_path():
    root = Path("/srv/secret/novel")
    error = UnknownDocument(f"no document {root}/chapters/ch9.md in {root} (see /etc/passwd)")
    [answer] = run({"m": fail(error)}, {"id": 1, "method": "m"}, root=root)
    assert answer["error"] == {
        "code": -32000,
        "message": "no document chapters/ch9.md in . (see passwd)",
        "data": {"code": "UNKNOWN_DOCUMENT"},
    }


def test_an_unexpected_error_says_nothing_of_itself():
    [answer] = run({"m": fail(RuntimeError("SELECT secret FROM t at /srv/secret/x"))}, {"id": 1, "method": "m"})
    assert code_of(answer) == "INTERNAL"
    assert "SELECT" not in answer["error"]["message"]


def test_a_result_that_is_not_json_is_a_failure_not_a_silence():
    [answer] = run({"m": lambda p: object()}, {"id": 1, "method": "m"})
    assert "error" in answer


def test_the_work_of_a_cancelled_request_stops(tmp_path):
    began, went = threading.Event(), threading.Event()

    def waits(_):
        began.set()
        calls.wait_until(threading.Event().wait, 60)
        went.set()

    pipe = Pipe({"slow": waits, "next": lambda p: True})
    pipe.say({"id": 1, "method": "slow"})
    assert began.wait(10)
    pipe.say({"method": "$/cancelRequest", "params": {"id": 1}})
    assert code_of(pipe.hear()) == "CANCELLED"
    pipe.close()  # waits for the thread
    assert not went.is_set()


def test_an_id_that_was_cancelled_may_come_again_at_once():
    gates = [threading.Event(), threading.Event()]
    turn = iter(gates)
    pipe = Pipe({"slow": lambda p: next(turn).wait(60)})
    pipe.say({"id": 1, "method": "slow"})
    pipe.say({"method": "$/cancelRequest", "params": {"id": 1}})
    assert code_of(pipe.hear()) == "CANCELLED"
    pipe.say({"id": 1, "method": "slow"})
    gates[0].set()
    gates[1].set()
    assert pipe.hear() == result(1, True)
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
    assert code_of(answer) == "INVALID_REQUEST"
    assert "timeoutMs" in answer["error"]["message"]
