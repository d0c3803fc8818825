"""The engine of one project.

    engine = armarius.open("path/to/novel")
    pack = engine.assemble("检查第3章的角色一致性", document="chapters/ch003.md", cursor=1200, budget=8000)

`ContextEngine` (`engine.py`) delegates each verb to one of its parts (`armarius.deadline`), which has signature and
docstring. Parts: `prompts.py` (assembly), `questions.py` (queries without a prompt, query variants, follow-ups),
`summaries.py` (document summaries), `maps.py` (what the files are), and what a model says of
the project: `asking.py`, `replies.py`. Verbs of one other room
(`similar`, `subgraph`) are methods of its objects. `build.py` creates and connects the parts, and packs a project in
memory; code that needs two rooms belongs there or in `project.py`, the views of a project. `pages.py` edits Markdown
pages in place.

Invariants: a verb reads one `ProjectView`, so that its result is consistent during concurrent changes; an engine is
thread-safe.
"""

from armarius.doors import lazy

TABLE = {
    "engine.engine": "ContextEngine open",
    "engine.summaries": "ProjectSummaries RefreshCost SummaryReply SummaryRequest",
    "engine.replies": "Proposal Proposals",
    "engine.maps": "UnderstandingRequest",
}

__getattr__, __all__ = lazy(__name__, TABLE)
