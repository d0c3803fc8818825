"""What a shelf tells about itself."""

from dataclasses import dataclass

from armarius.errors import ContextWarning

__all__ = ["Health", "ShelfStatus"]


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a load balancer should send requests here.

    Attributes:
        ok: The server answered; or the folder can be read.
        seconds: How long it has been away, 0 when it is there.
        why: What is wrong, "" for nothing.
    """

    ok: bool
    seconds: float
    why: str


@dataclass(frozen=True, slots=True)
class ShelfStatus:
    """What a shelf has in memory, and what was asked of it.

    Attributes:
        place: Host and database, without user and password; or the name of the folder.
        hot: Engines in memory.
        bytes: That they take, about; at most `limit`, when more than one is there.
        limit: Of memory.
        hits: Questions whose engine was there.
        misses: Questions whose engine had to be made.
        evicted: Engines that went to make room.
        asked: Questions.
        seconds: All of them together.
        writes: Calls of `write` that were committed.
        written: Bytes of them.
        stale: Questions that were answered from memory while the server was away.
        lag: Seconds. On a server: how old what is in memory may be, 0 while the server answers. In folders: from the
            last change of a file to the index that has it.
        warnings: Of the shelf as a whole: `WATCH_UNAVAILABLE`.
    """

    place: str
    hot: int
    bytes: int
    limit: int
    hits: int
    misses: int
    evicted: int
    asked: int
    seconds: float
    writes: int
    written: int
    stale: int
    lag: float = 0.0
    warnings: tuple[ContextWarning, ...] = ()
