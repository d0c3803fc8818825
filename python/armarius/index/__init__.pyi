# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.index.freshness import IndexStatus as IndexStatus
from armarius.index.freshness import Progress as Progress
from armarius.index.graph import ProjectGraph as ProjectGraph
