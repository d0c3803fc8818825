"""Doors: the rooms that the core does not know, each loaded when a project has what it reads or when a host asks.

The core imports none of them (`lint-imports`, contract "doors"), so a folder of prose loads none. What the core takes
from a door it takes from this module, by a name of `TABLE`, which is loaded on first use; nothing else names a door.
`doors.pyi` is written from the table.
"""

from armarius.lazy import lazy

TABLE = {
    "cli.entry": "main",
    "code.fetcher": "SubgraphFetcher",
    "code.index": "CodeIndex read_options",
    "code.subgraph": "Subgraph TextMatches matches tree",
    "embedders.loaders": "configured",
    "embedders.static_table": "LexicalEmbedder",
    "documents.manuscripts.extract": "extract",
    "graph.nervusdb": "NervusDBGraph",
    "lorebooks.activation": "BookSearch",
    "lorebooks.active.records": "Activation State",
    "lorebooks.book": "read_book",
    "lorebooks.fetcher": "LoreFetcher LoreSearch",
    "lorebooks.importing": "Importing",
    "lorebooks.project_books": "BookKeeping Books user_of",
    "lorebooks.record": "Entry Key",
    "rewording": "MOST_NAMES Model Reworder",
    "search.thesaurus.cedict": "chinese_alternatives headwords",
    "vectors.embedder": "AnyEmbedder Embedder as_embedder",
    "vectors.recall": "ProjectRecall",
    "workspace.server": "Novel Shelf",
}
"""Module to the names that the core takes from it."""

PUBLIC = {
    "": {
        "evaluation": "evaluate",
        "lorebooks.activation": "activate",
        "rewording": "Reworder",
        "vectors.embedder": "Embedder",
    },
    "graph": {"graph.nervusdb": "NervusDBGraph from_bytes to_bytes"},
    "prompt": {"code.fetcher": "SubgraphFetcher", "lorebooks.fetcher": "LoreFetcher"},
}
"""Room, "" for the root, to the public names that it has of doors, by module."""

MODULES = ("code", "embedders", "lorebooks", "rewording", "testing")
"""Doors that are public modules of the root."""

__getattr__, __all__ = lazy(__name__, TABLE)
