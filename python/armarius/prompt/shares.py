"""What cards, turns of a conversation and the story so far may take of a prompt; what is beyond it is omitted.

The newest turns of a conversation stand whole, oldest first, right before the query, within a share.

    ## 第3条：用户
    > where does she live?

Every line of what was said begins with a mark, so that no line of it can pose as another turn; the fence sees to the
rest. A turn that does not fit is left out with all before it, so that what stands there has no hole.
"""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, repeat
from operator import attrgetter
from typing import Final

from armarius._core import terms
from armarius.headings import HEADINGS, Reason, frame
from armarius.prompt.admit import QUERY_SOURCE, Admitted
from armarius.prompt.counter import CachedCounter
from armarius.prompt.fetch import FetchOutcome
from armarius.prompt.profile import BudgetProfile, LayerBudget
from armarius.search.query.recipe import story_shares
from armarius.types import LAYERS, STORY, Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission, Recipe
from armarius.warnings import CONTEXT_SHARE_TRIMMED

MESSAGE: Final = "request:message:"
"""What the source of a turn begins with; its number among the messages follows, from 1."""


def recent_turns(request: FetchRequest) -> FetchOutcome:
    """The newest turns of a request as candidates, and the older ones as one omission; nothing where none is wanted.

    Cost: one pass over the text of those turns.
    """
    wanted = request.include_messages
    called, who = frame(request.language).turn, frame(request.language).speakers
    turns = [(number, turn) for number, turn in enumerate(request.messages, 1) if turn.is_spoken] if wanted else []
    newest, older = turns[-wanted:], turns[:-wanted]
    candidates = []
    for number, turn in newest:
        quote = "\n".join(f"> {line}".rstrip() for line in turn.content.strip().splitlines())
        candidates.append(
            Candidate(
                id=f"{MESSAGE}{number}",
                layer="immediate",
                source=f"{MESSAGE}{number}",
                content=called.format(number=number, who=who[turn.role]) + f"\n{quote}",
                score=-float(number),
                evidence=(Evidence("message", Reason("message", number=number, of=len(request.messages))),),
                group=HEADINGS[request.language]["conversation"],
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
    reasons = [Reason("query"), *request.carried]
    if request.skill and not request.recipe.stated:
        reasons.append(Reason("query.skill", skill=request.skill))
    candidate = Candidate(
        id=QUERY_SOURCE,
        layer="immediate",
        source=QUERY_SOURCE,
        content=request.query,
        score=-1e308,
        evidence=tuple(map(Evidence, repeat("query"), reasons)),
        group=HEADINGS[request.language]["query"],
        pinned=True,
        keep="head",
    )
    return FetchOutcome("query", "immediate", Fetched((candidate,) if request.query.strip() else ()))


TURNS_PERCENT: Final = 20
"""Of the prompt's limit: what the turns may take together (docs/decisions/0074)."""
NAMED_PERCENT: Final = 20
"""Of the budget: what cards of whom a request names may take together."""
# Of a line of a card: to the end of a sentence or of an attribute, no less than 40 characters where there are as many.
_PIECE: Final = re.compile(r".{40,}?(?:[。！？!?；;]+|\.\s+|,\s(?=[^=,]{1,40}=)|$)|.+")
_MOST_PER_TOKEN = 16  # characters: a text that has more fits no share, and need not be counted
_ENDING = f"{STORY}ending:"
_STATE = f"{STORY}state:"
_PLACE = f"{STORY}place:"
_FRAME = 64  # tokens of fences and headings
_STYLE_BY_NAME: Final = "memory.style_named"
_LEAST = 40  # characters of an ending that are worth their heading


Limited = tuple[Candidate, Candidate | None, Reason | None]
"""A candidate, what of it may be in the prompt, and why the rest, or all of it, is omitted."""


def limit_shares(
    admitted: Admitted, counter: CachedCounter, profile: BudgetProfile, available: int, recipe: Recipe
) -> tuple[Admitted, BudgetProfile]:
    """`admitted` with what fits into the shares of its parts, and the profile with the room that its story takes.

    Args:
        admitted: The candidates of a request.
        counter: Counts tokens.
        profile: How the budget is divided.
        available: The budget less the reserve.
        recipe: What the request asks for.

    Cost: one count of each card, style guide, turn and item of the story, remembered; more of what is cut.
    """
    story = [item for item in admitted.candidates if item.layer == "settings" and item.source.startswith(STORY)]
    most = profile.limit(available)
    alone = recipe.shares.get("alone")
    percent = _story_percent(story, admitted, counter, profile, available, alone)
    profile = profile.with_layers(_story_layers(profile, percent) if story else {})
    guessed = [
        *_limit_cards(admitted, counter, available, recipe.query),
        *_limit_style(admitted, counter, profile, most, writes_on="ending" in recipe.parts),
    ]
    changes = [
        *_limit_turns(admitted, counter, most),
        *_limit_story(story, counter, most, percent, alone=alone is not None),
    ]
    if cut := [item.source for item, fits, _ in guessed if fits is not None and fits.content != item.short]:
        warning = CONTEXT_SHARE_TRIMMED(cut=", ".join(cut))
        admitted = replace(admitted, warnings=(*admitted.warnings, ("retrieved", warning)))
    return _apply_limits(admitted, [*guessed, *changes]), profile


def _apply_limits(admitted: Admitted, changes: Sequence[Limited]) -> Admitted:
    """`admitted` with what of some candidates may be in the prompt."""
    changed = {(item.layer, item.id): fits for item, fits, _ in changes if fits is not item}
    if not changed:
        return admitted
    omitted = [Omission(item.id, item.layer, item.source, "budget", why) for item, _, why in changes if why is not None]
    fitting = [changed.get((item.layer, item.id), item) for item in admitted.candidates]
    candidates = tuple([item for item in fitting if item is not None])
    return replace(admitted, candidates=candidates, omitted=(*admitted.omitted, *omitted))


def _limit_cards(admitted: Admitted, counter: CachedCounter, available: int, query: str) -> Iterator[Limited]:
    """As many cards as their share of `available` tokens holds, short where they do not fit whole.

    Pinned ones stay, and are not counted; where no offer has shares, all stay, and share a fifth.
    """
    cards = [
        item
        for item in admitted.candidates
        if item.layer == "retrieved" and item.id.startswith("entity:") and not item.pinned
    ]
    divided = next((offer.shares for offer in admitted.offers if offer.shares is not None), None)
    if divided is None:
        yield from _limit_named(cards, counter, available * NAMED_PERCENT // 100, query)
        return
    order = {id_: place for place, id_ in enumerate(divided.first)}
    share = room = available * divided.cards // 100
    why = Reason("out.share_cards", tokens=share, percent=divided.cards)
    for item in sorted(cards, key=lambda item: order.get(item.id, len(order))):
        whole = counter.section(item.content)
        if whole <= room:
            room -= whole
        elif item.short and (short := counter.section(item.short)) <= room:
            room -= short
            yield item, replace(item, content=item.short, short=None), None
        else:
            yield item, None, why


def _limit_named(cards: Sequence[Candidate], counter: CachedCounter, room: int, query: str) -> Iterator[Limited]:
    """Cards with the lines that the query needs first, `room` tokens in all; small ones whole.

    Cost: one count of each card; of those that do not fit the terms of each piece.
    """
    sizes = counter.sections([item.content for item in cards])
    if sum(sizes) <= room:
        return
    wanted = frozenset(terms(query))
    for place, (size, item) in enumerate(sorted(zip(sizes, cards, strict=True), key=lambda row: (row[0], row[1].id))):
        most = room // (len(cards) - place)
        if size > most:
            content = _trim_card(item.content, wanted, counter, most)
            size = counter.section(content)
            yield item, _cut(item, content), None
        room -= size


def _trim_card(card: str, wanted: frozenset[str], counter: CachedCounter, most: int) -> str:
    """The name of a card, and of its lines the pieces that hold rare words of a query, then the first, in their order.

    What stands beside such a piece counts a third as much. Holds at most `most` tokens, or the name alone.
    """
    name, *lines = card.split("\n")
    pieces = [(at, piece) for at, line in enumerate(lines) for piece in _PIECE.findall(line)]
    matches = [wanted.intersection(terms(text)) for _, text in pieces]
    often = Counter(chain.from_iterable(matches))
    own = [sum(math.log(1 + len(pieces) / often[term]) for term in words) for words in matches]
    worth = [weight + max(own[max(0, at - 1) : at + 2]) / 3 for at, weight in enumerate(own)]
    costs = counter.counts([f"…{text}" for _, text in pieces])
    room, chosen = most - counter.section(name), list[int]()
    for at in sorted(range(len(pieces)), key=lambda at: (-worth[at], at)):
        if costs[at] < room:
            chosen.append(at)
            room -= costs[at] + 1
    texts, before = [name], (-1, -1)
    for at in sorted(chosen):
        line, text = pieces[at]
        begins = at == 0 or pieces[at - 1][0] != line
        text = text if begins or before[0] == at - 1 else f"…{text}"
        if before[1] == line:
            texts[-1] += text
        else:
            texts.append(text)
        before = at, line
    return "\n".join(texts)


_SECTION: Final = re.compile(r"^(?=#{1,6}[ \t])", re.MULTILINE)


def _limit_style(
    admitted: Admitted, counter: CachedCounter, profile: BudgetProfile, limit: int, *, writes_on: bool
) -> Iterator[Limited]:
    """The style guides that nobody declared, held to the share of the settings layer.

    One that does not fit is left out, or, where the prompt `writes_on`, comes by its first sections. What the words of
    a question choose of it is found as in any text.
    """
    percent = int(profile.layers["settings"].ratio or 0)
    share = room = limit * percent // 100
    for item in admitted.candidates:
        detail = item.evidence[0].detail if item.evidence else ""
        if not isinstance(detail, Reason) or detail.code != _STYLE_BY_NAME:
            continue
        fits: Candidate | None = item
        if counter.section(item.content) > room:
            fits = _first_sections(item, counter, room) if writes_on else None
        if fits is None:
            yield item, None, Reason("out.share_style", tokens=share, percent=percent)
            continue
        room -= counter.section(fits.content)
        if fits is not item:
            yield item, fits, None


def _cut(item: Candidate, content: str) -> Candidate:
    """What of a candidate fits into its share; its reason says so."""
    return replace(item, content=content, evidence=(*item.evidence, Evidence("share", Reason("in.share"))))


def _first_sections(item: Candidate, counter: CachedCounter, room: int) -> Candidate | None:
    """The candidate with its first sections that fit; None where not one does."""
    text = ""
    for section in _SECTION.split(item.content):
        if counter.section(text + section) > room:
            break
        text += section
    return _cut(item, text.strip()) if text.strip() else None


def drop_older_turns(admitted: Admitted) -> Admitted:
    """`admitted` with the newer half of its turns."""
    turns = turns_of(admitted)
    return _apply_limits(admitted, [(turn, None, Reason("out.turns")) for turn in turns[len(turns) // 2 :]])


def _limit_turns(admitted: Admitted, counter: CachedCounter, limit: int) -> Iterator[Limited]:
    """As many of the newest turns as fit into their share of a prompt of `limit` tokens."""
    share = room = limit * TURNS_PERCENT // 100
    for turn in turns_of(admitted):
        if room >= 0:
            room = -1 if len(turn.content) > share * _MOST_PER_TOKEN else room - counter.section(turn.content)
        if room < 0:  # and none behind it, so that what stands has no hole
            yield turn, None, Reason("out.share_turns", tokens=share, percent=TURNS_PERCENT)


def turns_of(admitted: Admitted) -> list[Candidate]:
    """The turns that compete, newest first."""
    turns = [turn for turn in admitted.candidates if turn.layer == "immediate" and turn.source.startswith(MESSAGE)]
    return sorted(turns, key=attrgetter("score"))


def _limit_story(
    story: list[Candidate], counter: CachedCounter, limit: int, percent: int, *, alone: bool
) -> Iterator[Limited]:
    """As much of the story as `percent` of a prompt of `limit` tokens holds.

    Whole items, those of the outline first; of the plan of the chapter and of a state so many of the first lines as
    there is room for, of the end of a chapter so many of the last, and for those a share is kept; a state has all of it
    where it is told `alone`.

    Cost: one count for each item, and for each halving of an ending that does not fit.
    """
    if not story:
        return
    room = limit * percent // 100
    endings = sum([counter.section(item.content) for item in story if item.source.startswith(_ENDING)])
    reserved = min(endings, room * story_shares()["ending"] // 100)
    states = room if alone else room * story_shares()["state"] // 100
    why = Reason("out.share_story", tokens=room, percent=percent)
    for item in sorted(story, key=lambda item: (-item.score, item.source)):
        share = room if item.source.startswith(_ENDING) else room - reserved
        is_state, is_place = item.source.startswith(_STATE), item.source.startswith(_PLACE)
        fits = _fit_candidate(item, counter, min(share, states) if is_state else share)
        if fits is not None:
            tokens = counter.section(fits.content)
            room -= tokens
            states -= tokens * is_state
        if fits is item:
            continue
        if is_place:  # places stand in order: none behind the first gap
            room = 0
            lines = item.content.count("\n") - (0 if fits is None else fits.content.count("\n"))
            gone = item.evidence[0].detail if fits is None else Reason("out.last", count=lines)
            yield item, fits, Reason("omit.detail", reason=gone, detail=why)
        else:
            yield item, fits and _cut(item, fits.content), None if fits is not None else why


def _story_percent(
    story: Sequence[Candidate],
    admitted: Admitted,
    counter: CachedCounter,
    profile: BudgetProfile,
    available: int,
    alone: int | None,
) -> int:
    """What the story may take of the prompt in percent: its share, up to as much again for a long plan or state.

    Where places of a name or a state are told `alone`, those have a share of their own.

    Cost: one count of each of those, remembered.
    """
    limit, percent = profile.limit(available), profile.story_percent
    if alone is not None:
        least = profile.rows(available, dict.fromkeys(LAYERS, 0))[LAYERS.index("immediate")].minimum
        fixed = _FRAME
        for item in admitted.candidates:  # what stands whatever the story takes
            if item.layer == "immediate" and item.keep == "around":
                fixed += min(least, len(item.content))
            elif item.layer == "rules" or item.source == QUERY_SOURCE:
                fixed += counter.section(item.content)
        return max(percent, min(alone, 98 - 100 * fixed // limit))
    room = limit * percent // 100
    long = sum([counter.section(item.content) for item in story if item.keep == "head"])
    more = min(room, long - room * story_shares()["plan"] // 100)
    return percent + (-(-more * 100 // limit) if more > 0 else 0)


def _story_layers(profile: BudgetProfile, percent: int) -> dict[LayerName, LayerBudget]:
    """What the layers may take when there is a story to tell."""
    settings, around = (profile.layers[name].ratio or 0 for name in ("settings", "immediate"))
    more = min(percent, around)
    return {"settings": LayerBudget(ratio=min(100, settings + more)), "immediate": LayerBudget(ratio=around - more)}


def _fit_candidate(item: Candidate, counter: CachedCounter, room: int) -> Candidate | None:
    """The candidate if it fits; of one that may be cut as many of its first or last lines as do; None for nothing."""
    if counter.section(item.content) <= room:
        return item
    if not (item.source.startswith(_ENDING) or item.keep == "head"):
        return None
    title, _, text = item.content.partition("\n")
    lines = text.split("\n")
    if item.keep == "head":
        lines.reverse()
    at = bisect_left(range(len(lines)), True, 1, key=lambda n: counter.section(f"{title}\n{_tail(lines, n)}") <= room)
    kept = _tail(lines, at) if item.keep != "head" else "\n".join(reversed(lines[at:])).strip()
    return replace(item, content=f"{title}\n{kept}") if len(kept) >= _LEAST else None


def _tail(lines: list[str], first: int) -> str:
    return "\n".join(lines[first:]).strip()
