"""The engine: one project folder, opened.

    engine = armarius.open("path/to/novel")
    pack = engine.assemble("检查第3章的角色一致性", document="chapters/ch003.md", cursor=1200, budget=8000)

`ContextEngine` (`engine.py`) holds parts and has their verbs, one line each (`armarius.deadline`): signature and
docstring stand where the verb is done. What needs project and assembly is `prompts.py`, what needs the project alone
`questions.py`; a verb of one part (`similar`, `subgraph`) is that part's. `build.py` makes the parts and joins them:
what knows of two rooms at once belongs there or in `armarius.project`. `opening.py` is `armarius.open`, `summary.py`
what an engine says of itself. What must hold: a verb takes one `ProjectView` and answers from it alone, so that
even if something changes meanwhile, an answer is of one moment; threads may share an engine.
"""

from armarius.lazy import lazy

TABLE = {
    "engine.engine": "ContextEngine",
    "engine.opening": "open",
    "engine.summaries": "ProjectSummaries",
}

__getattr__, __all__ = lazy(__name__, TABLE)
