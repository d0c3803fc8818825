"""Verbs and their stages as spans and metrics of OpenTelemetry.

    from armarius.frameworks.otel import instrument

    instrument(shelf)       # once for the process, after its tracer and meter providers were set

A verb is a span `armarius.assemble`, its stages are spans inside it; whatever a host's own fetcher, model or driver
does meanwhile in the same thread stands inside them. No text of a project or of a question is in any of it.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from armarius.deadline import Call, Cancelled, observe
from armarius.errors import ArmariusError, MissingExtra
from armarius.warnings import CODES

if TYPE_CHECKING:
    from armarius.workspace.project import ShelfStatus

try:
    from opentelemetry.metrics import CallbackOptions, Meter, MeterProvider, Observation, get_meter_provider
    from opentelemetry.trace import Status, StatusCode, Tracer, TracerProvider, get_tracer_provider
except ImportError:
    raise MissingExtra("armarius.frameworks.otel", "otel") from None

__all__ = ["HasStatus", "instrument", "uninstrument"]

_NAME = "armarius"
_GAUGES = (
    ("hot", "{engine}", "Engines in memory"),
    ("bytes", "By", "That they take, about"),
    ("lag", "s", "How old what is in memory may be, or how long the last change took to be indexed"),
)
_SUMS = (
    ("hits", "{question}", "Questions whose engine was in memory"),
    ("misses", "{question}", "Questions whose engine had to be made"),
    ("evicted", "{engine}", "Engines that went to make room"),
    ("stale", "{question}", "Questions answered from memory while the server was away"),
    ("writes", "{write}", "Writes that were committed"),
    ("written", "By", "Of files that were written"),
)


class HasStatus(Protocol):
    """A shelf, of a server or of folders."""

    def status(self) -> "ShelfStatus":
        """What it has in memory, and what was asked; no I/O."""
        ...


class _Telling:
    """The `Observer` that spans and metrics are made by."""

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
                span.set_status(Status(StatusCode.ERROR, outcome))  # its message may hold texts and paths
                raise
            finally:
                codes = sorted(_codes(getattr(call.answer, "warnings", ())))
                span.set_attribute("armarius.outcome", outcome)
                span.set_attribute("armarius.warnings", codes)
                for name in ("token_count", "budget"):
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
    """Tell OpenTelemetry of every verb of this process from now on; again replaces what was told to before.

    Args:
        shelves: Whose counters are metrics too.
        tracer_provider: None is the one of the process.
        meter_provider: None is the one of the process.

    Cost: about 20 µs a stage with the provider of the SDK, next to nothing while the process has none.
    """
    tracers, meters = tracer_provider or get_tracer_provider(), meter_provider or get_meter_provider()
    meter = meters.get_meter(_NAME)
    observe(_Telling(tracers.get_tracer(_NAME), meter))
    if not shelves:
        return
    for name, unit, about in _GAUGES:
        meter.create_observable_gauge(f"armarius.shelf.{name}", [_read(shelves, name)], unit, about)
    for name, unit, about in _SUMS:
        meter.create_observable_counter(f"armarius.shelf.{name}", [_read(shelves, name)], unit, about)


def uninstrument() -> None:
    """Tell it of nothing any longer; counters of shelves stay with their meter."""
    observe(None)


def _read(shelves: Iterable[HasStatus], name: str) -> Callable[[CallbackOptions], list[Observation]]:
    def read(_: CallbackOptions) -> list[Observation]:
        found = [shelf.status() for shelf in shelves]
        return [Observation(getattr(one, name), {"armarius.shelf": one.place}) for one in found]

    return read


def _codes(warnings: Any) -> set[str]:  # noqa: ANN401 - whatever an answer calls so
    """The codes of these, as far as they are codes: a host's fetcher may say anything."""
    said = {str(getattr(one, "code", "") or str(one).split(":", 1)[0]) for one in warnings or ()}
    return said & set(CODES)
