# Written by scripts/write_reference.py from the table in doors.py.
from armarius.cli import main as main
from armarius.documents.manuscripts.extract import extract as extract
from armarius.embedders import configured as configured
from armarius.embedders.static_table import LexicalEmbedder as LexicalEmbedder
from armarius.graph.nervusdb import NervusDBGraph as NervusDBGraph
from armarius.search.thesaurus.cedict import chinese_alternatives as chinese_alternatives
from armarius.search.thesaurus.cedict import headwords as headwords
from armarius.workspace.server import Novel as Novel
from armarius.workspace.server import Shelf as Shelf
