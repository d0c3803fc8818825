"""Doors: the rooms that the core does not know, each loaded when a project has what it reads or when a host asks.

The core imports none of them (`lint-imports`, contract "doors"), so a folder of prose loads none. What the core takes
from a door it takes from this module, by a name of `TABLE`, which is loaded on first use (PEP 562); nothing else names
a door. `doors.pyi` is written from the table.
"""

TYPE_CHECKING = False  # not typing's: importing the package is to cost next to nothing
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy(package: str, table: "Mapping[str, str]") -> "tuple[Callable[[str], object], list[str]]":
    """The `__getattr__` and the `__all__` of a package.

    Args:
        package: Its `__name__`.
        table: Module of `armarius` to the names that are taken from it, parted by blanks. `scripts/write_reference.py`
            writes the stub `__init__.pyi` from it.

    Returns:
        A function that loads a name, or a submodule, on first use and raises AttributeError for any other; the names.
    """
    homes = {name: module for module, names in table.items() for name in names.split()}

    def __getattr__(name: str) -> object:  # noqa: N807
        from importlib import import_module

        if (home := homes.get(name)) is not None:
            value = getattr(import_module(f"armarius.{home}"), name)
            setattr(import_module(package), name, value)
            return value
        if not name.startswith("_"):
            try:
                return import_module(f"{package}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{package}.{name}":
                    raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return __getattr__, sorted(homes)


TABLE = {
    "cli.entry": "main",
    "code.fetcher": "SubgraphFetcher",
    "code.index": "CodeIndex read_options",
    "code.subgraph": "Subgraph TextMatches matches tree",
    "embedders.loaders": "LexicalEmbedder configured",
    "documents.manuscripts": "extract",
    "graph.nervusdb": "NervusDBGraph",
    "lorebooks.activation": "BookSearch",
    "lorebooks.active.records": "Activation State",
    "lorebooks.book": "read_book",
    "lorebooks.fetcher": "LoreFetcher LoreSearch",
    "lorebooks.importing": "Importing",
    "lorebooks.project_books": "BookKeeping Books user_of",
    "lorebooks.record": "Entry Key",
    "rewording": "MOST_NAMES Model Reworder RewordingRequest",
    "search.thesaurus": "chinese_alternatives headwords",
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
