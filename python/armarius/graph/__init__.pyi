# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.graph.nervusdb import NervusDBGraph as NervusDBGraph
from armarius.graph.nervusdb import from_bytes as from_bytes
from armarius.graph.nervusdb import to_bytes as to_bytes
from armarius.graph.protocol import Graph as Graph
from armarius.graph.protocol import GraphStore as GraphStore
from armarius.graph.protocol import MAX_DEPTH as MAX_DEPTH
from armarius.graph.protocol import checked_entity as checked_entity
from armarius.graph.protocol import checked_relation as checked_relation
from armarius.graph.protocol import walk as walk
