"""One request to one prompt: fetch, admit, allocate, pack, render, report; each entered once.

request.py       a request to a task: document read, cursor in code points, counter and profile chosen
assembler.py     the steps in their order, and nothing else
fetch.py         every fetcher asked, in parallel, with a timeout; pins and mutes applied
admit.py         checked, escaped, without duplicates, in one order
pack.py          the fit, without texts written or sources asked: shares.py limits cards, turns and story,
                 continuation.py holds what the previous prompt had, allocate.py chooses what is demanded
                 (profile.py), then paragraphs fill what is left
render.py        four fenced layers; the one place that writes a prompt; where a quote of it stands
counter.py       tokens, the stable prefix, the window, marks of cursor and selection
fetchers/        the sources of candidates
report/          the account of it

A budget rule is `allocate.py` and, for how a budget is divided, `rust/budget`; a heading is `armarius.headings`; a new
source is a fetcher, not a line here. What must hold: `token_count` is that of the prompt as sent and within the
budget, for every input; the same request of the same moment is the same bytes; what is left out is listed with its
reason; nothing fetched can close a fence or equal a heading; a fetcher never knows the budget. The order of these
files is a contract of `lint-imports` (pyproject.toml).
"""

import armarius.doors as doors

TABLE = {
    "prompt.fetchers.detected": "RetrievedFetcher",
    "prompt.fetchers.entities": "EntitySource",
    "prompt.fetchers.layers": "ConstraintSource ImmediateFetcher MemorySource RulesFetcher SettingsFetcher StyleSource",
    "prompt.fetchers.passages": "PassageFetcher",
    "prompt.counter": "PrefixReport",
    "prompt.render": "Difference PromptPlace",
} | doors.PUBLIC["prompt"]

__getattr__, __all__ = doors.lazy(__name__, TABLE)
