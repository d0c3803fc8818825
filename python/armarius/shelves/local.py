"""`armarius.shelf`: hundreds of project folders in one process."""

from os import PathLike
from typing import TYPE_CHECKING

from armarius.embedders.protocol import AnyEmbedder
from armarius.retrieval.rerank import Reranker, Reranking
from armarius.rewording.reworder import Model, Reworder

if TYPE_CHECKING:
    from armarius.shelves.local_shelf import LocalShelf

__all__ = ["shelf"]


def shelf(
    root: str | PathLike[str],
    *,
    memory: str | int = "1 GiB",
    most: int = 64,
    watch: bool = True,
    wait: bool = True,
    index_dir: str | PathLike[str] | None = None,
    embedder: AnyEmbedder | None = None,
    rerank: Reranker | Reranking | None = None,
    reword: Model | Reworder | None = None,
    trusted: bool | None = None,
) -> "LocalShelf":
    """The projects that lie side by side in a folder. One shelf for a process; threads share it.

    A project is opened when it is first asked; those asked longest ago are closed when others need the room, and opened
    again when they are asked. One thread follows the files of all.

    Args:
        root: A folder of project folders.
        memory: For engines of projects that were asked lately, such as "2 GiB".
        most: So many are open at most: each takes about six descriptors.
        watch: Whether changes are followed as they happen; without, every request looks first. Where the system has no
            more events to give, folders are compared instead, and `status()` says `WATCH_UNAVAILABLE`.
        wait: Whether the first question of a project waits for its index, as for `armarius.open`.
        index_dir: In which each project has a folder for its index; the user's cache directory when not given.
        embedder: For every project; see `armarius.open`.
        rerank: Likewise.
        reword: Likewise.
        trusted: Likewise.

    Raises:
        ProjectError: `root` is no folder.
        ContractError: `memory` is no size, `most` no number.

    Cost: none; a project is opened when it is asked.
    """
    from armarius.shelves.local_shelf import LocalShelf

    return LocalShelf(
        root, memory=memory, most=most, watch=watch, wait=wait, index_dir=index_dir, embedder=embedder, rerank=rerank,
        reword=reword, trusted=trusted,
    )  # fmt: skip
