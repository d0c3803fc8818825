"""What cards, turns of a conversation and the story so far may take of a prompt; what is beyond it is omitted.

The newest turns of a conversation stand whole, oldest first, right before the query, within a share.

    ## 第3条：用户
    > where does she live?

Every line of what was said begins with a mark, so that no line of it can pose as another turn; the fence sees to the
rest. A turn that does not fit is left out with all before it, so that what stands there has no hole.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from armarius.headings import Reason, frame, heading
from armarius.prompt.admit import QUERY_SOURCE, Admitted, canonical
from armarius.prompt.counter import CachedCounter
from armarius.prompt.fetch import FetchOutcome
from armarius.prompt.profile import BudgetProfile, LayerBudget
from armarius.search.query.intents import shares
from armarius.types import LAYERS, STORY, Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission

MESSAGE: Final = "request:message:"
"""What the source of a turn begins with; its number among the messages follows, from 1."""


def spoken(request: FetchRequest) -> FetchOutcome:
    """The newest turns of a request as candidates, and the older ones as one omission; nothing where none is wanted.

    Cost: one pass over the text of those turns.
    """
    wanted = request.include_messages
    called, who = frame(request.language).turn, frame(request.language).speakers
    turns = [(number, turn) for number, turn in enumerate(request.messages, 1) if turn.is_spoken] if wanted else []
    newest, older = turns[-wanted:], turns[:-wanted]
    candidates = []
    for number, turn in newest:
        said = "\n".join(f"> {line}".rstrip() for line in turn.content.strip().splitlines())
        candidates.append(
            Candidate(
                id=f"{MESSAGE}{number}",
                layer="immediate",
                source=f"{MESSAGE}{number}",
                content=called.format(number=number, who=who[turn.role]) + f"\n{said}",
                score=-float(number),
                evidence=(Evidence("message", Reason("message", number=number, of=len(request.messages))),),
                group=heading("conversation", request.language),
                pinned=True,
                project_id=request.project_id,
            )
        )
    omitted: tuple[Omission, ...] = ()
    if older:
        source = f"{MESSAGE}1-{older[-1][0]}"
        detail = Reason("out.older", count=len(older), kept=len(newest))
        omitted = (Omission(source, "immediate", source, "excluded", detail),)
    return FetchOutcome("conversation", "immediate", Fetched(tuple(candidates), omitted))


def query_candidate(request: FetchRequest) -> FetchOutcome:
    """The user's words, which close the prompt; they are kept before anything else of their layer."""
    evidence = (Evidence("query", Reason("query")), *(Evidence("query", said) for said in request.carried))
    candidate = Candidate(
        id=QUERY_SOURCE,
        layer="immediate",
        source=QUERY_SOURCE,
        content=request.query,
        score=-1e308,
        evidence=evidence,
        group=heading("query", request.language),
        pinned=True,
        keep="head",
    )
    return FetchOutcome("query", "immediate", Fetched((candidate,) if request.query.strip() else ()))


TURNS_PERCENT: Final = 20
"""Of the prompt's limit: what the turns may take together (docs/decisions/0074)."""
_MOST_PER_TOKEN = 16  # characters: a text that has more fits no share, and need not be counted
_ENDING = f"{STORY}ending:"
_STATE = f"{STORY}state:"
_PLACE = f"{STORY}place:"
_STORY_SHARES: Final = shares("write")
"""Of what the story may take, in percent: kept for how the chapter before ends; at most for what holds now; what the
plan of the chapter and that state may have before the story is given more, up to as much again.
"""
_FRAME = 64  # tokens of fences and headings
_STYLE_BY_NAME: Final = "memory.style_named"
_LEAST = 40  # characters of an ending that are worth their heading


def limit_cards(admitted: Admitted, counter: CachedCounter, available: int) -> Admitted:
    """`admitted` with as many cards as their share of `available` tokens holds, short where they do not fit whole.

    Pinned ones stay, and are not counted.

    Cost: one count of each card, remembered; none where no offer has shares.
    """
    divided = next((offer.shares for offer in admitted.offers if offer.shares is not None), None)
    if divided is None:
        return admitted
    order = {id_: place for place, id_ in enumerate(divided.first)}
    cards = [one for one in admitted.candidates if one.layer == "retrieved" and one.id.startswith("entity:")]
    cards = sorted((one for one in cards if not one.pinned), key=lambda one: order.get(one.id, len(order)))
    share = room = available * divided.cards // 100
    kept: dict[str, Candidate] = {}
    for one in cards:
        for content in filter(None, (one.content, one.short)):
            if (tokens := counter.section(content)) <= room:
                room -= tokens
                kept[one.id] = one if content is one.content else replace(one, content=content, short=None)
                break
    why = Reason("out.share_cards", tokens=share, percent=divided.cards)
    gone = {one.id for one in cards if one.id not in kept}
    omitted = tuple(Omission(one.id, one.layer, one.source, "budget", why) for one in cards if one.id in gone)
    left = (
        kept.get(one.id, one) if one.layer == "retrieved" else one
        for one in admitted.candidates
        if one.layer != "retrieved" or one.id not in gone
    )
    return replace(admitted, candidates=tuple(sorted(left, key=canonical)), omitted=(*admitted.omitted, *omitted))


_SECTION: Final = re.compile(r"^(?=#{1,6}[ \t])", re.MULTILINE)


def limit_style(admitted: Admitted, counter: CachedCounter, profile: BudgetProfile, limit: int) -> Admitted:
    """`admitted` with the style guides that nobody declared held to the share of the settings layer.

    One that does not fit is left out, or, where the story so far is told for whoever writes on, comes by its first
    sections. What the words of a question choose of it is found as in any text.

    Cost: one count of each guide, remembered, and of its sections where it does not fit.
    """
    percent = int(profile.layers["settings"].ratio or 0)
    share = room = limit * percent // 100
    kept: dict[str, Candidate] = {}
    guides = [one for one in admitted.candidates if any(_is_style_by_name(why.detail) for why in one.evidence[:1])]
    for one in guides:
        fits: Candidate | None = one
        if counter.section(one.content) > room:
            fits = _first_sections(one, counter, room) if _story(admitted) else None
        if fits is not None:
            room -= counter.section(fits.content)
            kept[one.id] = fits
    gone = [one for one in guides if kept.get(one.id) is not one]
    if not gone:
        return admitted
    why = Reason("out.share_style", tokens=share, percent=percent)
    omitted = tuple(Omission(one.id, one.layer, one.source, "budget", why) for one in gone if one.id not in kept)
    left = {one.id for one in gone if one.id not in kept}
    candidates = tuple(kept.get(one.id, one) for one in admitted.candidates if one.id not in left)
    return replace(admitted, candidates=candidates, omitted=(*admitted.omitted, *omitted))


def _is_style_by_name(detail: str) -> bool:
    return isinstance(detail, Reason) and detail.code == _STYLE_BY_NAME


def _first_sections(one: Candidate, counter: CachedCounter, room: int) -> Candidate | None:
    """The candidate with its first sections that fit; None where not one does."""
    text = ""
    for section in _SECTION.split(one.content):
        if counter.section(text + section) > room:
            break
        text += section
    return replace(one, content=text.strip()) if text.strip() else None


def has_turns(admitted: Admitted) -> bool:
    """Whether turns compete."""
    return bool(_turns(admitted))


def limit_turns(admitted: Admitted, counter: CachedCounter, limit: int) -> Admitted:
    """`admitted` with as many of the newest turns as fit into their share of a prompt of `limit` tokens.

    Cost: one count of each turn that is short enough.
    """
    share = limit * TURNS_PERCENT // 100
    used, kept = 0, 0
    for turn in sorted(_turns(admitted), key=_number, reverse=True):
        if len(turn.content) > share * _MOST_PER_TOKEN:
            break
        used += counter.section(turn.content)
        if used > share:
            break
        kept += 1
    return _newest(admitted, kept, Reason("out.share_turns", tokens=share, percent=TURNS_PERCENT))


def drop_older_turns(admitted: Admitted) -> Admitted:
    """`admitted` with the newer half of its turns."""
    return _newest(admitted, len(_turns(admitted)) // 2, Reason("out.turns"))


def _newest(admitted: Admitted, count: int, why: Reason) -> Admitted:
    turns = sorted(_turns(admitted), key=_number)
    gone = turns[: len(turns) - count]
    if not gone:
        return admitted
    ids = {one.id for one in gone}
    candidates = tuple(one for one in admitted.candidates if not (one.layer == "immediate" and one.id in ids))
    omitted = tuple(Omission(one.id, one.layer, one.source, "budget", why) for one in gone)
    return replace(admitted, candidates=candidates, omitted=(*admitted.omitted, *omitted))


def _turns(admitted: Admitted) -> list[Candidate]:
    return [one for one in admitted.candidates if one.layer == "immediate" and one.source.startswith(MESSAGE)]


def _number(candidate: Candidate) -> float:
    return -candidate.score


def limit_story(admitted: Admitted, counter: CachedCounter, limit: int, percent: int) -> Admitted:
    """`admitted` with as much of the story as `percent` of a prompt of `limit` tokens holds (`story_percent`).

    Whole items, those of the outline first; of the plan of the chapter and of a state so many of the first lines as
    there is room for, of the end of a chapter so many of the last, and for those a third is kept.

    Cost: one count for each item, and for each halving of an ending that does not fit.
    """
    story = _story(admitted)
    if not story:
        return admitted
    story.sort(key=lambda one: (-one.score, one.source))
    room = limit * percent // 100
    endings = sum(counter.section(one.content) for one in story if one.source.startswith(_ENDING))
    reserved = min(endings, room * _STORY_SHARES["ending"] // 100)
    states = room if _alone(story) is not None else room * _STORY_SHARES["state"] // 100
    kept: dict[str, Candidate] = {}
    for one in story:
        share = room if one.source.startswith(_ENDING) else room - reserved
        is_state = one.source.startswith(_STATE)
        fits = _fitting(one, counter, min(share, states) if is_state else share)
        if fits is not None:
            tokens = counter.section(fits.content)
            room -= tokens
            states -= tokens * is_state
            kept[one.id] = fits
        if fits is not one and one.source.startswith(_PLACE):  # places stand in order: none behind the first gap
            room = 0
    why = Reason("out.share_story", tokens=limit * percent // 100, percent=percent)
    gone = tuple(
        Omission(one.id, one.layer, one.source, "budget", _left_off(one, kept.get(one.id), why))
        for one in story
        if one.id not in kept or (one.source.startswith(_PLACE) and kept[one.id] is not one)
    )
    candidates = tuple(kept.get(one.id, one) for one in admitted.candidates if not _is_story(one) or one.id in kept)
    return replace(admitted, candidates=candidates, omitted=(*admitted.omitted, *gone))


def _alone(story: Sequence[Candidate]) -> int | None:
    """The share of a part of the story, in percent, where it is told without others; None where it is not."""
    parts = {one.source.removeprefix(STORY).partition(":")[0] for one in story}
    if parts and parts <= {"count", "place"}:
        return shares("rename")["places"]
    return shares("state")["states"] if parts == {"state"} else None


def _left_off(one: Candidate, kept: Candidate | None, why: Reason) -> Reason:
    """`why`, behind how many places of a name are left out with an item."""
    if not one.source.startswith(_PLACE):
        return why
    lines = one.content.count("\n") - (0 if kept is None else kept.content.count("\n"))
    gone = one.evidence[0].detail if kept is None else Reason("out.last", count=lines)
    return Reason("omit.detail", reason=gone, detail=why)


def story_percent(admitted: Admitted, counter: CachedCounter, profile: BudgetProfile, available: int) -> int:
    """What the story may take of the prompt in percent: its share, up to as much again for a long plan or state.

    Where nothing but places of a name or a state is told, those have a share of their own.

    Cost: one count of each of those, remembered.
    """
    limit, percent = profile.limit(available), profile.story_percent
    if (alone := _alone(_story(admitted))) is not None:
        least = profile.rows(available, dict.fromkeys(LAYERS, 0))[LAYERS.index("immediate")].minimum
        fixed = _FRAME
        for one in admitted.candidates:  # what stands whatever the story takes
            if one.layer == "immediate" and one.keep == "around":
                fixed += min(least, len(one.content))
            elif one.layer == "rules" or one.source == QUERY_SOURCE:
                fixed += counter.section(one.content)
        return max(percent, min(alone, 98 - 100 * fixed // limit))
    room = limit * percent // 100
    long = sum(counter.section(one.content) for one in _story(admitted) if one.keep == "head")
    more = min(room, long - room * _STORY_SHARES["plan"] // 100)
    return percent + (-(-more * 100 // limit) if more > 0 else 0)


def story_layers(admitted: Admitted, profile: BudgetProfile, percent: int) -> Mapping[LayerName, LayerBudget]:
    """What the layers may take when there is a story to tell; nothing changed when there is none."""
    if not _story(admitted):
        return {}
    settings, around = (profile.layers[name].ratio or 0 for name in ("settings", "immediate"))
    more = min(percent, around)
    return {
        "settings": LayerBudget(ratio=min(100, settings + more)),
        "immediate": LayerBudget(ratio=around - more),
    }


def _fitting(one: Candidate, counter: CachedCounter, room: int) -> Candidate | None:
    """The candidate if it fits; of one that may be cut as many of its first or last lines as do; None for nothing."""
    if counter.section(one.content) <= room:
        return one
    if not (one.source.startswith(_ENDING) or one.keep == "head"):
        return None
    title, _, text = one.content.partition("\n")
    lines = text.split("\n")
    if one.keep == "head":
        lines.reverse()
    low, high = 1, len(lines)  # from which line on: the first that fits
    while low < high:
        middle = (low + high) // 2
        if counter.section(f"{title}\n{_from(lines, middle)}") <= room:
            high = middle
        else:
            low = middle + 1
    kept = _from(lines, low) if one.keep != "head" else "\n".join(reversed(lines[low:])).strip()
    return replace(one, content=f"{title}\n{kept}") if len(kept) >= _LEAST else None


def _from(lines: list[str], first: int) -> str:
    return "\n".join(lines[first:]).strip()


def _story(admitted: Admitted) -> list[Candidate]:
    return [one for one in admitted.candidates if one.layer == "settings" and one.source.startswith(STORY)]


def _is_story(candidate: Candidate) -> bool:
    return candidate.layer == "settings" and candidate.source.startswith(STORY)
