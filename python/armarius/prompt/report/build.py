"""Makes the `Pack` of a fitted prompt: items, omissions, layers and warnings; the result of `inspect`."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from armarius.errors import ContextWarning
from armarius.positions import PositionEncoding, units
from armarius.prompt.admit import QUERY_SOURCE
from armarius.prompt.plan import FittedPrompt
from armarius.prompt.prefix import stable_hash
from armarius.prompt.profile import BudgetProfile
from armarius.prompt.report.items import UNKNOWN, KnownSources, PackItem, Texts, items_of
from armarius.prompt.report.pack import Pack
from armarius.prompt.sizes import layer_tokens
from armarius.requests import (
    AssembleRequest,
    AssembleResult,
    InspectMeta,
    InspectResult,
    InspectTotals,
    LayerDetail,
    LayerDetails,
    LayerResult,
    LayerResults,
    ShownPlace,
)
from armarius.types import LAYERS, LayerName
from armarius.warnings import (
    CONTEXT_CAPACITY_FORCE_TRIM,
    CONTEXT_CAPACITY_WARNING,
    CONTEXT_QUERY_TRUNCATED,
    CONTEXT_RULES_OVERBUDGET,
)

__all__ = ["account", "inspection"]


def _no_text(_path: str) -> None:
    return None


def account(
    request: AssembleRequest,
    fitted: FittedPrompt,
    *,
    stamps: Mapping[str, str],
    extra: Sequence[ContextWarning],
    unchanged: bool,
    again: Callable[[int], Pack],
    texts: Texts = _no_text,
    known: KnownSources = UNKNOWN,
    encoding: PositionEncoding = "code-point",
) -> Pack:
    """The pack of a fitted prompt.

    Args:
        request: As resolved.
        fitted: The prompt.
        stamps: Of the project's files.
        extra: Warnings of the request as a whole.
        unchanged: Whether the stable prefix is that of the request before.
        again: The same under another budget.
        texts: What the items were read from.
        known: What names mean there.
        encoding: Of the positions that travel.

    Cost: linear in what went in; nothing is counted but the layers. What stayed out is listed when it is asked for.
    """
    plan, available = fitted.plan, fitted.plan.available
    contents = fitted.rendered.contents
    placed = fitted.rendered.placed
    tokens = fitted.by_layer or layer_tokens(fitted.rendered, plan.measured)
    said: dict[LayerName, list[str]] = {layer: [] for layer in LAYERS}
    for layer, warning in plan.admitted.warnings:
        said[layer].append(str(warning))
    sources: dict[LayerName, list[str]] = {layer: [] for layer in LAYERS}
    for item in placed:
        sources[item.candidate.layer].append(item.candidate.source)
    if sources["rules"]:
        share = plan.profile.layers["rules"].ratio or 0
        if tokens["rules"] * 100 > share * available:
            over = CONTEXT_RULES_OVERBUDGET(tokens=tokens["rules"], share=share, available=available)
            said["rules"].append(str(over))
    shaped = [item for item in placed if item.form != "full"]
    cut = next((i for i in shaped if i.candidate.source == QUERY_SOURCE and i.form == "truncated"), None)
    if cut is not None and cut.part is not None:
        shortened = CONTEXT_QUERY_TRUNCATED(kept=cut.part[1] - cut.part[0], written=len(request.query))
        said["immediate"].append(str(shortened))
    everything = [str(warning) for warning in extra] + [text for layer in LAYERS for text in said[layer]]
    everything += _capacity(plan.profile, fitted, available, bool(fitted.omitted or shaped))
    trimmed = {item.candidate.layer for item in shaped} | {one.layer for one, _ in fitted.omitted}
    layers = {
        layer: LayerResult(
            layer=layer,
            source=tuple(sources[layer]),
            token_count=tokens[layer],
            truncated=layer in trimmed,
            warnings=tuple(said[layer]) or None,
            content=contents[layer] if request.include_content else None,
        )
        for layer in LAYERS
    }
    stable = contents["rules"] + contents["settings"]
    drawn_on = dict.fromkeys(path for item in placed for path in item.candidate.documents)
    tells_places = request.text is not None or request.selection is not None
    result = AssembleResult(
        prompt=fitted.rendered.prompt,
        token_count=fitted.token_count,
        stable_prefix_hash=stable_hash(stable),
        stable_prefix_unchanged=unchanged,
        warnings=tuple(dict.fromkeys(everything)),
        capacity_percent=round(100 * fitted.token_count / available, 1),
        layers=LayerResults(**layers),
        shown=_shown(items_of(fitted, texts), texts, encoding) if tells_places else None,
    )

    return Pack(
        result=result,
        request=request,
        counter=plan.measured.counter.name,
        counter_exact=plan.measured.counter.exact,
        budget=available + request.reserve_output,
        contents=contents,
        granted=fitted.granted,
        stamps={path: stamps[path] for path in drawn_on if path in stamps},
        _fitted=fitted,
        _again=again,
        _texts=texts,
        _known=known,
    )


def _shown(items: Sequence[PackItem], texts: Texts, encoding: PositionEncoding) -> tuple[ShownPlace, ...]:
    """Where what is shown stands, in the units of the request."""
    places = ((item.source, item.shows, texts(item.shows[0]) or "") for item in items if item.shows is not None)
    return tuple(
        ShownPlace(source=source, document=path, span=(units(text, start, encoding), units(text, end, encoding)))
        for source, (path, start, end), text in places
    )


def _capacity(profile: BudgetProfile, fitted: FittedPrompt, available: int, trimmed: bool) -> list[str]:
    said = []
    if fitted.required * 100 >= profile.warn_percent * available:
        percent = 100 * fitted.required / available
        said.append(CONTEXT_CAPACITY_WARNING(percent=percent, available=available))
    if trimmed and fitted.demanded * 100 >= profile.trim_percent * available:
        trim = {"demanded": fitted.demanded, "percent": profile.trim_percent, "available": available}
        said.append(CONTEXT_CAPACITY_FORCE_TRIM(**trim))
    return [str(warning) for warning in said]


def inspection(pack: Pack, *, debug_mode: bool, requested_by: str) -> InspectResult:
    """What `pack` would send, layer by layer; `requestedAt` is now, in UTC."""
    said = {layer: pack.layers[layer].model_dump(exclude={"content"}) for layer in LAYERS}
    details = {layer: LayerDetail(**said[layer], content=pack.contents[layer]) for layer in LAYERS}
    return InspectResult(
        layers_detail=LayerDetails(**details),
        totals=InspectTotals(token_count=pack.token_count, warnings_count=len(pack.warnings)),
        inspect_meta=InspectMeta(
            debug_mode=debug_mode,
            requested_by=requested_by,
            requested_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        ),
    )
