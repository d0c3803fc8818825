"""Spans and metrics, told to providers that write down what they are told."""

import asyncio
from contextlib import contextmanager

import pytest

pytest.importorskip("opentelemetry.trace")

from opentelemetry import trace
from opentelemetry.metrics import NoOpMeter, NoOpMeterProvider
from opentelemetry.trace import NonRecordingSpan, NoOpTracer, TracerProvider
from opentelemetry.trace.span import INVALID_SPAN_CONTEXT

import armarius
from armarius.deadline import request_id
from armarius.frameworks.otel import instrument, uninstrument
from armarius.testing import FakeFetcher


class Span(NonRecordingSpan):
    def __init__(self, name, parent):
        super().__init__(INVALID_SPAN_CONTEXT)
        self.name, self.parent, self.attributes, self.status = name, parent, {}, None

    def set_attribute(self, key, value):
        self.attributes[key] = value

    def set_status(self, status, description=None):
        self.status = status


class Recording(TracerProvider, NoOpTracer):
    def __init__(self):
        self.spans = []

    def get_tracer(self, *_, **__):
        return self

    @contextmanager
    def start_as_current_span(self, name, **_):
        span = Span(name, getattr(trace.get_current_span(), "name", None))
        self.spans.append(span)
        with trace.use_span(span, record_exception=False, set_status_on_exception=False):
            yield span


class Meters(NoOpMeterProvider, NoOpMeter):
    def __init__(self):
        NoOpMeter.__init__(self, "meters")
        self.recorded, self.read = [], {}

    def get_meter(self, *_, **__):
        return self

    def create_histogram(self, name, *_, **__):
        return self._of(name)

    def create_counter(self, name, *_, **__):
        return self._of(name)

    def create_observable_gauge(self, name, callbacks, *_, **__):
        self.read[name] = callbacks[0]

    create_observable_counter = create_observable_gauge

    def _of(self, name):
        return Instrument(name, self.recorded)


class Instrument:
    def __init__(self, name, recorded):
        self.name, self.recorded = name, recorded

    def record(self, value, attributes):
        self.recorded.append((self.name, value, attributes))

    add = record


@pytest.fixture
def told():
    spans, meters = Recording(), Meters()
    instrument(tracer_provider=spans, meter_provider=meters)
    yield spans.spans, meters.recorded
    uninstrument()


@pytest.fixture
def novel(tmp_path):
    (tmp_path / "novel").mkdir()
    (tmp_path / "novel" / "a.md").write_text("# 第一章\n\n林默走进钟楼，暗号是七。\n", encoding="utf-8")
    return tmp_path / "novel"


def test_a_verb_is_a_span_with_its_stages_inside_and_a_duration(novel, told):
    spans, recorded = told
    with armarius.open(novel, watch=False) as engine:
        pack = engine.assemble("林默", document="a.md")
    verb = next(one for one in spans if one.name == "armarius.assemble")
    stages = {one.name for one in spans if one.parent == "armarius.assemble"}
    wanted = {"look", "understand", "fetch", "fit", "render", "account"}
    assert {f"armarius.{stage}" for stage in wanted} <= stages
    assert verb.attributes["armarius.token_count"] == pack.token_count
    assert verb.attributes["armarius.item_count"] == len(pack.items)
    assert verb.attributes["armarius.outcome"] == "ok"
    durations = [value for name, value, about in recorded if name == "armarius.verb.duration"]
    inside = sum(value for name, value, _ in recorded if name == "armarius.stage.duration")
    assert len(durations) == 1
    assert inside <= durations[0]


def test_no_text_of_the_project_or_the_question_is_told(novel, told):
    spans, recorded = told
    with armarius.open(novel, watch=False) as engine:
        engine.retrieve("钟楼的暗号")
        with pytest.raises(armarius.UnknownDocument):
            engine.assemble("暗号", document="暗号.md")
    everything = repr([(one.name, one.attributes, getattr(one.status, "description", "")) for one in spans])
    for secret in ("暗号", "钟楼", str(novel)):
        assert secret not in everything + repr(recorded)
    assert spans[-1].name != "armarius.assemble" or spans[-1].attributes
    failed = [one for one in spans if one.attributes.get("armarius.outcome") == "UNKNOWN_DOCUMENT"]
    assert [one.name for one in failed] == ["armarius.assemble"]
    assert not failed[0].status.is_ok


def test_warnings_are_counted_by_code(novel, told):
    _, recorded = told
    broken = FakeFetcher(name="broken", layer="retrieved", error=OSError("secret"))
    with armarius.ContextEngine(novel, watch=False, more_fetchers=[broken]) as engine:
        engine.assemble("林默", document="a.md")
    counted = [about["armarius.code"] for name, _, about in recorded if name == "armarius.warnings"]
    assert counted == ["RAG_UNAVAILABLE"]


async def test_what_a_coroutine_began_is_the_parent_and_its_cancelling_is_told(novel, told):
    spans, _ = told
    with armarius.open(novel, watch=False) as engine, trace.use_span(Span("request", None)):
        await engine.asearch("钟楼")
    assert next(one.parent for one in spans if one.name == "armarius.search") == "request"
    await asyncio.sleep(0)


async def test_spans_and_records_of_the_log_have_the_id_of_the_request_of_the_host(novel, told, caplog):
    spans, _ = told
    caplog.set_level("DEBUG", "armarius")
    token = request_id.set("8f2c")
    try:
        with armarius.shelf(novel.parent) as shelf:
            await shelf.project("novel").asearch("钟楼")
    finally:
        request_id.reset(token)
    assert next(one for one in spans if one.name == "armarius.search").attributes["armarius.request_id"] == "8f2c"
    assert ("opened novel", "8f2c") in [(one.getMessage(), one.request_id) for one in caplog.records]


@pytest.mark.parametrize(("header", "said"), [({"X-Request-ID": "8f2c"}, "8f2c"), ({}, "7")])
def test_spans_of_a_tool_have_the_id_of_the_request_over_http_or_of_the_message(engine, told, header, said):
    from starlette.testclient import TestClient

    from armarius.mcp import build_server

    spans, _ = told
    before = request_id.get()
    app = build_server(engine).streamable_http_app(stateless_http=True, json_response=True)
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call"}
    body["params"] = {"name": "find", "arguments": {"query": "钟楼"}}
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        sent = {"Accept": "application/json, text/event-stream", **header}
        assert client.post("/mcp", json=body, headers=sent).status_code == 200
    assert next(one for one in spans if one.name == "armarius.find").attributes["armarius.request_id"] == said
    assert request_id.get() == before


def test_the_counters_of_a_shelf_are_metrics(novel):
    meters = Meters()
    with armarius.shelf(novel.parent) as shelf:
        instrument(shelf, tracer_provider=Recording(), meter_provider=meters)
        try:
            shelf.project("novel").search("钟楼")
            read = {name: callback(None)[0] for name, callback in meters.read.items()}
        finally:
            uninstrument()
    assert (read["armarius.shelf.hot"].value, read["armarius.shelf.misses"].value) == (1, 1)
    assert read["armarius.shelf.hot"].attributes == {"armarius.shelf": novel.parent.name}
    assert set(read) == {
        f"armarius.shelf.{name}"
        for name in ("hot", "bytes", "lag", "hits", "misses", "evicted", "stale", "refused", "writes", "written")
    }


def test_nothing_is_told_any_longer_after_uninstrument(novel):
    spans = Recording()
    instrument(tracer_provider=spans, meter_provider=Meters())
    uninstrument()
    with armarius.open(novel, watch=False) as engine:
        engine.search("钟楼")
    assert spans.spans == []
