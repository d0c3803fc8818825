"""An engine of a project on a server, in memory."""

from armarius.engine.build import Parts
from armarius.shelves.hot import HotEngine
from armarius.store.postgres.session import Session

__all__ = ["HotStored"]


class HotStored(HotEngine):
    """An engine of a stored project.

    Attributes:
        session: Transactions of its project.
        configured: The generation whose configuration it was made with.
    """

    def __init__(self, parts: Parts, session: Session, configured: int) -> None:
        super().__init__(parts)
        self.session = session
        self.configured = configured

    @property
    def characters(self) -> int:
        """Of the documents, as the row of the project counts them."""
        return self.session.latest.characters
