"""What the engine of a project asks of its shelf."""

from contextlib import AbstractContextManager
from typing import Protocol
from uuid import UUID

from armarius.shelves.counters import Counters
from armarius.shelves.hot_stored import HotStored
from armarius.store.postgres.pool import Pool
from armarius.store.postgres.session import Session
from armarius.store.postgres.transaction import Transaction

__all__ = ["Host"]


class Host(Protocol):
    """What a novel asks of its shelf."""

    pool: Pool
    counters: Counters

    @property
    def place(self) -> str:
        """Host and database."""
        ...

    def key(self, project_id: str, tenant: str) -> UUID:
        """The key of every row of a project."""
        ...

    def used(self, project_id: str, tenant: str) -> AbstractContextManager[HotStored]:
        """The engine of a project while somebody asks it."""
        ...

    def session_of(self, project_id: str, tenant: str) -> Session:
        """Transactions of a project."""
        ...

    def forget(self, project_id: str, tenant: str) -> None:
        """Let the engine of a project go from memory."""
        ...

    def check_quota(self, tx: Transaction, session: Session, given: object) -> None:
        """Refuse what would be too much."""
        ...
