"""The share of the cards where an offer says how a prompt is divided (`records.Shares`)."""

from dataclasses import replace

from armarius.prompt.admit import Admitted, canonical
from armarius.prompt.counter import CachedCounter
from armarius.types import Candidate, Omission

__all__ = ["cards_within"]


def cards_within(admitted: Admitted, counter: CachedCounter, available: int) -> Admitted:
    """`admitted` with as many cards as their share of `available` tokens holds, short where they do not fit whole.

    Pinned ones stay, and are not counted.

    Cost: one count of each card, remembered; none where no offer has shares.
    """
    shares = next((offer.shares for offer in admitted.offers if offer.shares is not None), None)
    if shares is None:
        return admitted
    order = {id_: place for place, id_ in enumerate(shares.first)}
    cards = [one for one in admitted.candidates if one.layer == "retrieved" and one.id.startswith("entity:")]
    cards = sorted((one for one in cards if not one.pinned), key=lambda one: order.get(one.id, len(order)))
    share = room = available * shares.cards // 100
    kept: dict[str, Candidate] = {}
    for one in cards:
        for content in filter(None, (one.content, one.short)):
            if (tokens := counter.section(content)) <= room:
                room -= tokens
                kept[one.id] = one if content is one.content else replace(one, content=content, short=None)
                break
    why = f"beyond {share} tokens, {shares.cards} % of the prompt, that cards may take"
    gone = {one.id for one in cards if one.id not in kept}
    omitted = tuple(Omission(one.id, one.layer, one.source, "budget", why) for one in cards if one.id in gone)
    left = (
        kept.get(one.id, one) if one.layer == "retrieved" else one
        for one in admitted.candidates
        if one.layer != "retrieved" or one.id not in gone
    )
    return replace(admitted, candidates=tuple(sorted(left, key=canonical)), omitted=(*admitted.omitted, *omitted))
