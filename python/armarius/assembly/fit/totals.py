"""The tokens of a rendered prompt, from those of its pieces where counts add up: only new text is tokenised."""

import logging
import sys
from collections.abc import Mapping

from armarius.assembly.fit.cached_counter import CachedCounter
from armarius.assembly.render import Rendered
from armarius.records import LayerName

__all__ = ["layer_tokens", "prompt_tokens"]

logger = logging.getLogger("armarius")


def layer_tokens(rendered: Rendered, measured: CachedCounter) -> dict[LayerName, int]:
    """The tokens of each layer on its own.

    Cost: a look-up per piece; for counters whose counts do not add up, the prompt.
    """
    return {layer: measured.of_pieces(pieces) for layer, pieces in rendered.pieces().items()}


def prompt_tokens(rendered: Rendered, measured: CachedCounter) -> tuple[int, Mapping[LayerName, int] | None]:
    """The tokens of the prompt as it is sent, and of its layers where they add up to that.

    A layer begins with its tag, which no counter that adds up joins with what stands before it. In Python's development
    mode the prompt is counted as a whole, too; if the two differed, that would be logged and the whole would count.

    Cost: as `layer_tokens`.
    """
    if not measured.adds_up:
        return measured.count_uncached(rendered.prompt), None
    layers = layer_tokens(rendered, measured)
    total = sum(layers.values())
    if sys.flags.dev_mode and (whole := measured.count_uncached(rendered.prompt)) != total:
        logger.error("%s: pieces count %d, the prompt %d", measured.counter.name, total, whole)
        return whole, None
    return total, layers
