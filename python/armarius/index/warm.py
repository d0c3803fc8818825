"""A search of an index that already equals its folder: one comparison, one question, and nothing else is loaded.

A process that only searches would take most of its time to import and read what a search does not need: codex, names
and matcher. So what the index holds of texts is asked as it is, and where anything differs, `ProjectIndex` sees to it.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

from armarius.arguments import OPEN, Chapters, Kind
from armarius.config import Config, load_config
from armarius.corpus.opened import OpenCorpus
from armarius.errors import StoreError
from armarius.index.folder_source import FolderSource
from armarius.index.search import search
from armarius.index.settings import place_of, reader_note
from armarius.store.sqlite.store import SqliteStore
from armarius.types import Hits

__all__ = ["warm_search"]


def warm_search(
    root: Path,
    text: str,
    *,
    limit: int,
    match: Literal["all", "any"],
    kinds: Sequence[Kind] = (),
    chapters: Chapters = OPEN,
    also: Sequence[str] = (),
    index_dir: str | PathLike[str] | None = None,
) -> Hits | None:
    """The hits of `search`, or None when there is no index, or one that does not equal the folder, or a damaged one.

    Raises:
        ConfigError: `armarius.toml` is wrong.
        ValueError: `limit` is below 1.
    """
    config = load_config(root)
    place, _ = place_of(root, config, index_dir)
    if not place.exists():
        return None
    try:
        store = SqliteStore.open(place, project_id=root.resolve().name)
        try:
            if not _equals(store, root, config):
                return None
            corpus = OpenCorpus().at(store)
            return search(store, corpus, text, limit=limit, match=match, kinds=kinds, chapters=chapters, also=also)
        finally:
            store.close()
    except StoreError:
        return None


def _equals(store: SqliteStore, root: Path, config: Config) -> bool:
    if store.note("reader") != reader_note(config):
        return False
    difference = FolderSource(root, lambda: config).compare(store.files())
    return not difference.to_read and not difference.removed
