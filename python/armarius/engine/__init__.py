"""The engine: one project folder, opened; every method is a call into one room.

engine = armarius.open("path/to/novel")
pack = engine.assemble(query="检查第3章的角色一致性", document="chapters/ch003.md", cursor=1200, budget=8000)
"""

from armarius.engine.opened import ContextEngine, open  # noqa: A004 - armarius.open reads like gzip.open

__all__ = ["ContextEngine", "open"]
