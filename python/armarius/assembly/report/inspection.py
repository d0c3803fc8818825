"""A pack laid open: the layers with their content, never the prompt."""

from datetime import UTC, datetime

from armarius.assembly.report.pack import Pack
from armarius.contract import InspectMeta, InspectResult, InspectTotals, LayerDetail, LayerDetails
from armarius.records import LAYERS

__all__ = ["inspection"]


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
