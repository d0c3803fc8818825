"""`armarius.connect`: the projects of a server. Loads psycopg only when called, so that its absence names the extra."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from armarius.embedders.protocol import AnyEmbedder
from armarius.errors import MissingExtra
from armarius.rewording import Model, Reworder
from armarius.search.rerank import Reranker, Reranking

if TYPE_CHECKING:
    from armarius.workspace.cache import Quota
    from armarius.workspace.workspace import Shelf


def connect(
    dsn: str,
    *,
    memory: str | int = "1 GiB",
    connections: int = 4,
    schema: str = "armarius",
    wait_s: float = 5.0,
    stale_s: float = 300.0,
    quota: "Quota | None" = None,
    embedder: AnyEmbedder | None = None,
    rerank: Reranker | Reranking | None = None,
    reword: Model | Reworder | None = None,
) -> "Shelf":
    """The projects of a PostgreSQL server. One shelf for a process; threads share it. Needs `armarius[postgres]`.

    Args:
        dsn: A connection string of PostgreSQL. With several hosts it should say `target_session_attrs=read-write`. A
            pooler in transaction mode may stand between.
        memory: For engines of projects that were asked lately, such as "2 GiB"; the least lately asked go first.
        connections: At most so many.
        schema: Of the tables, made by `armarius server migrate`; one for each tenant, for instance.
        wait_s: How long a caller waits for a connection.
        stale_s: How long projects in memory answer, with `INDEX_STALE`, while the server is away.
        quota: What a project may hold.
        embedder: For every project; see `armarius.open`.
        rerank: Likewise.
        reword: Likewise.

    Raises:
        MissingExtra: psycopg is not installed.
        ContractError: Something here is no DSN, size or name.

    Cost: none; the server is asked when a project is.
    """
    if find_spec("psycopg") is None:
        raise MissingExtra("a shelf on a server", "postgres")
    from armarius.workspace.workspace import Shelf

    return Shelf(
        dsn, memory=memory, connections=connections, schema=schema, wait_s=wait_s, stale_s=stale_s, quota=quota,
        embedder=embedder, rerank=rerank, reword=reword,
    )  # fmt: skip
