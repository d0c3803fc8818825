"""The newest turns of a conversation in the prompt: whole, oldest first, right before the query, within a share.

    ## 第3条：用户
    > where does she live?

Every line of what was said begins with a mark, so that no line of it can pose as another turn; the fence sees to the
rest. A turn that does not fit is left out with all before it, so that what stands there has no hole.
"""

from typing import Final

from armarius.headings import frame, heading
from armarius.prompt.admit import QUERY_SOURCE
from armarius.prompt.fetch import FetchOutcome
from armarius.types import Candidate, Evidence, Fetched, FetchRequest, Omission

__all__ = ["MESSAGE", "query_candidate", "spoken"]

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


def query_candidate(request: FetchRequest) -> FetchOutcome:
    """The user's words, which close the prompt; they are kept before anything else of their layer."""
    evidence = (Evidence("query", "the user's words"), *(Evidence("query", said) for said in request.carried))
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
