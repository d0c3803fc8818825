"""OpenTelemetry spans and metrics of verbs and their stages.

    from armarius.frameworks.otel import instrument

    instrument(shelf)       # once for the process, after its tracer and meter providers were set

A verb is a span such as `armarius.assemble`; its stages are child spans, and so are spans that a host's fetcher, model
or driver starts in the same thread. No text of a project or a query is recorded.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from armarius.deadline import Call, Cancelled, observe, request_id
from armarius.errors import ArmariusError, MissingExtra
from armarius.warnings import CODES

if TYPE_CHECKING:
    from armarius.workspace.engines import ShelfStatus

try:
    from opentelemetry.metrics import CallbackOptions, Meter, MeterProvider, Observation, get_meter_provider
    from opentelemetry.trace import Status, StatusCode, Tracer, TracerProvider, get_tracer_provider
except ImportError:
    raise MissingExtra("armarius.frameworks.otel", "otel") from None

_NAME = "armarius"
_GAUGES = (
    ("hot", "{engine}", "Engines in memory"),
    ("bytes", "By", "That they take, about"),
    ("lag", "s", "How old what is in memory may be, or how long the last change took to be indexed"),
)
_SUMS = (
    ("hits", "{question}", "Questions answered by an engine in memory"),
    ("misses", "{question}", "Questions for which an engine had to be made"),
    ("evicted", "{engine}", "Engines that went to make room"),
    ("stale", "{question}", "Questions answered from memory while the server was away"),
    ("refused", "{question}", "Questions refused, as too many ran or waited"),
    ("writes", "{write}", "Writes that were committed"),
    ("written", "By", "Of files that were written"),
)


class HasStatus(Protocol):
    """A collection of projects, as `armarius.connect` and `armarius.shelf` return."""

    def status(self) -> "ShelfStatus":
        """Engines in memory, and counters; no I/O."""


class _SpanObserver:
    """The `Observer` that records spans and metrics."""

    def __init__(self, tracer: Tracer, meter: Meter) -> None:
        self._tracer = tracer
        self._verbs = meter.create_histogram("armarius.verb.duration", "s", "What a verb took")
        self._stages = meter.create_histogram("armarius.stage.duration", "s", "Of that, a stage without those in it")
        self._warnings = meter.create_counter("armarius.warnings", "{warning}", "Of answers, by code")

    @contextmanager
    def verb(self, call: Call) -> Iterator[None]:
        """See `Observer`."""
        outcome = "ok"
        with self._tracer.start_as_current_span(
            f"{_NAME}.{call.verb}", record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            except Cancelled:
                outcome = "cancelled"
                raise
            except Exception as error:
                outcome = error.code if isinstance(error, ArmariusError) and error.code else type(error).__name__
                span.set_status(Status(StatusCode.ERROR, outcome))  # no message: it may contain texts and paths
                raise
            finally:
                codes = sorted(_codes(getattr(call.answer, "warnings", ())))
                span.set_attribute("armarius.outcome", outcome)
                if request_id.get():
                    span.set_attribute("armarius.request_id", request_id.get())
                span.set_attribute("armarius.warnings", codes)
                for name in ("token_count", "budget", "item_count", "omitted_count"):
                    if isinstance(number := getattr(call.answer, name, None), int):
                        span.set_attribute(f"armarius.{name}", number)
                about = {"armarius.verb": call.verb}
                self._verbs.record(call.seconds, {**about, "armarius.outcome": outcome})
                for stage, milliseconds in call.stages.items():
                    self._stages.record(milliseconds / 1000, {**about, "armarius.stage": stage})
                for code in codes:
                    self._warnings.add(1, {**about, "armarius.code": code})

    def stage(self, name: str) -> AbstractContextManager[object]:
        """See `Observer`."""
        return self._tracer.start_as_current_span(
            f"{_NAME}.{name}", record_exception=False, set_status_on_exception=False
        )


def instrument(
    *shelves: HasStatus, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
) -> None:
    """Record every verb of this process from now on. Another call replaces the providers.

    Args:
        shelves: Collections of projects; their counters are exported as metrics too.
        tracer_provider: None uses the global one.
        meter_provider: None uses the global one.

    Cost: about 20 µs per stage with the SDK's provider, almost none without a provider.
    """
    tracers, meters = tracer_provider or get_tracer_provider(), meter_provider or get_meter_provider()
    meter = meters.get_meter(_NAME)
    observe(_SpanObserver(tracers.get_tracer(_NAME), meter))
    if not shelves:
        return
    for name, unit, about in _GAUGES:
        meter.create_observable_gauge(f"armarius.shelf.{name}", [_read(shelves, name)], unit, about)
    for name, unit, about in _SUMS:
        meter.create_observable_counter(f"armarius.shelf.{name}", [_read(shelves, name)], unit, about)


def uninstrument() -> None:
    """Stop recording. Counters of shelves stay registered with their meter."""
    observe(None)


def _read(shelves: Iterable[HasStatus], name: str) -> Callable[[CallbackOptions], list[Observation]]:
    def read(_: CallbackOptions) -> list[Observation]:
        states = [shelf.status() for shelf in shelves]
        return [Observation(getattr(state, name), {"armarius.shelf": state.place}) for state in states]

    return read


def _codes(warnings: Any) -> set[str]:  # noqa: ANN401 - answers of several types have warnings
    """The codes of an answer's warnings; other values, which a host's fetcher may have added, are ignored."""
    codes = {str(getattr(warning, "code", "") or str(warning).split(":", 1)[0]) for warning in warnings or ()}
    return codes & CODES
