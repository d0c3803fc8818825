"""One request to one prompt: fetch, admit, fit, render, report; a task passes each file once.

request.py (a request to a task: document read, cursor, counter, profile)   assembler.py (the line, and nothing else)
fetch.py (who is asked, in parallel, with a timeout)   admit.py (checked, escaped, deduplicated, in one order)
escape.py (text that would pose as part of the prompt)   fit/ (who gets in, in which form)
render.py (four fenced layers; the one place that writes a prompt)   report/ (the account of it)
assembler.py (what `armarius.toml` says of all this)   assembler.py (alike requests at once)

A budget rule is `fit/` and, for how a budget is divided, `rust/budget`; a heading is `armarius.headings`; a new
source is a fetcher, not a line here. What must hold: `token_count` is that of the prompt as sent and within the
budget, for every input; the same request of the same moment is the same bytes; what is left out is listed with its
reason; nothing fetched can close a fence or pose as a heading; a fetcher never knows the budget. The order of these
files is a contract of `lint-imports` (pyproject.toml).
"""

from armarius.lazy import lazy

TABLE = {
    "prompt.fetchers.code": "SubgraphFetcher",
    "prompt.fetchers.detected": "RetrievedFetcher",
    "prompt.fetchers.entities": "EntitySource",
    "prompt.fetchers.immediate": "ImmediateFetcher",
    "prompt.fetchers.lore": "LoreFetcher",
    "prompt.fetchers.passages": "PassageFetcher",
    "prompt.fetchers.rules": "ConstraintSource RulesFetcher",
    "prompt.fetchers.settings": "MemorySource SettingsFetcher StyleSource",
    "prompt.prefix": "PrefixReport",
    "prompt.report.items": "Difference",
}

__getattr__, __all__ = lazy(__name__, TABLE)
