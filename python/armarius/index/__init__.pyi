# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.index.graph import ProjectGraph as ProjectGraph
from armarius.index.status import IndexStatus as IndexStatus
from armarius.index.status import Progress as Progress
