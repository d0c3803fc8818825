"""The newest turns of a conversation in the prompt: whole, oldest first, right before the query, within a share.

    ## 第3条：用户
    > where does she live?

Every line of what was said begins with a mark, so that no line of it can pose as another turn; the fence sees to the
rest. A turn that does not fit is left out with all before it, so that what stands there has no hole.
"""

from dataclasses import replace
from typing import Final

from armarius.assembly.admit import Admitted
from armarius.assembly.fetch import FetchOutcome
from armarius.assembly.fit.cached_counter import CachedCounter
from armarius.headings import frame, heading
from armarius.records import Candidate, Evidence, Fetched, FetchRequest, Omission

__all__ = ["MESSAGE", "TURNS_PERCENT", "has_turns", "spoken", "within_share", "without_older"]

MESSAGE: Final = "request:message:"
"""What the source of a turn begins with; its number among the messages follows, from 1."""
TURNS_PERCENT: Final = 20
"""Of the prompt's limit: what the turns may take together (docs/decisions/0074)."""
_MOST_PER_TOKEN = 16  # characters: a text that has more fits no share, and need not be counted


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
                evidence=(Evidence("message", f"{turn.role}, message {number} of {len(request.messages)}"),),
                group=heading("conversation", request.language),
                pinned=True,
                project_id=request.project_id,
            )
        )
    omitted: tuple[Omission, ...] = ()
    if older:
        source = f"{MESSAGE}1-{older[-1][0]}"
        detail = f"{len(older):,} turns before the newest {len(newest)}"
        omitted = (Omission(source, "immediate", source, "excluded", detail),)
    return FetchOutcome("conversation", "immediate", Fetched(tuple(candidates), omitted))


def has_turns(admitted: Admitted) -> bool:
    """Whether turns compete."""
    return bool(_turns(admitted))


def within_share(admitted: Admitted, counter: CachedCounter, limit: int) -> Admitted:
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
    return _newest(admitted, kept, f"beyond {share} tokens, {TURNS_PERCENT} % of the prompt, that turns may take")


def without_older(admitted: Admitted) -> Admitted:
    """`admitted` with the newer half of its turns."""
    return _newest(admitted, len(_turns(admitted)) // 2, "no room beside what must be in the prompt")


def _newest(admitted: Admitted, count: int, why: str) -> Admitted:
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
