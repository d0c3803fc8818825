"""The engine: one project folder, opened.

    engine = armarius.open("path/to/novel")
    pack = engine.assemble("检查第3章的角色一致性", document="chapters/ch003.md", cursor=1200, budget=8000)

`ContextEngine` (`engine.py`) holds parts and has the verbs that need several of them; a verb of one part is that
part's, and here one line. `build.py` makes the parts and joins them: what knows of two rooms at once belongs there or
in `armarius.project`. `keywords.py` is what all verbs have in common. What must hold: a verb takes one `ProjectView`
and answers from it alone, so that whatever changes meanwhile, an answer is of one moment; threads may share an engine.
"""

from armarius.engine.engine import ContextEngine
from armarius.engine.opening import open  # noqa: A004 - armarius.open reads like gzip.open

__all__ = ["ContextEngine", "open"]
