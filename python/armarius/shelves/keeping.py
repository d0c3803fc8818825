"""Projects of a shelf as a whole: listed, deleted, renamed, copied."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from armarius.errors import StoreConflict, UnknownId
from armarius.store.postgres.keys import check_name, project_key
from armarius.store.postgres.pool import Connection, Pool
from armarius.store.postgres.tables import copy_project, delete_project, has_project, list_projects

__all__ = ["Keeping", "ProjectEntry"]


@dataclass(frozen=True, slots=True)
class ProjectEntry:
    """A project of a shelf.

    Attributes:
        id: What it is called.
        tenant: Whose it is.
        version: Its generation.
        characters: Of its documents.
        bytes: Of its files.
        touched: When it was written last.
    """

    id: str
    tenant: str
    version: int
    characters: int
    bytes: int
    touched: datetime


class Keeping:
    """Verbs over whole projects; the base of `Shelf`."""

    pool: Pool
    schema: str

    def forget(self, project_id: str, tenant: str) -> None:
        """Let the engine of a project go from memory."""
        raise NotImplementedError

    def projects(self, *, tenant: str | None = "", limit: int = 1_000, after: str = "") -> list[ProjectEntry]:
        """The projects of a tenant, by name.

        Args:
            tenant: Whose; None is everybody's, for who keeps the server.
            limit: At most so many.
            after: Those whose name comes after this one: the next page.
        """
        with self.pool.lent() as connection:
            return [ProjectEntry(*row) for row in list_projects(connection, self.schema, tenant, after, limit)]

    def delete(self, project_id: str, *, tenant: str = "") -> None:
        """Delete a project: every row, and its engine here; other processes notice at their next question.

        Raises:
            UnknownId: There is none.
        """
        key = project_key(tenant, project_id)
        with self._locked(key, project_id) as connection:
            delete_project(connection, self.schema, key)
        self.forget(project_id, tenant)

    def delete_tenant(self, tenant: str) -> int:
        """Delete every project of a tenant; how many there were. One transaction for each."""
        check_name(tenant, "tenant")
        names = [entry.id for entry in self.projects(tenant=tenant, limit=1_000_000_000)]
        for name in names:
            self.delete(name, tenant=tenant)
        return len(names)

    def rename(self, project_id: str, name: str, *, tenant: str = "") -> None:
        """Give a project another name, which no other has.

        Raises:
            UnknownId: There is none of the old name.
            StoreConflict: There is one of the new name.

        Cost: every row of it is written again.
        """
        old, new = project_key(tenant, project_id), project_key(tenant, check_name(name, "project id"))
        with self._locked(old, project_id) as connection:
            self._copied(connection, old, new, name)
            delete_project(connection, self.schema, old)
        self.forget(project_id, tenant)

    def copy(self, project_id: str, name: str, *, tenant: str = "") -> None:
        """Make a second project of the same contents, under another name; raises and costs what `rename` does."""
        old, new = project_key(tenant, project_id), project_key(tenant, check_name(name, "project id"))
        with self._locked(old, project_id) as connection:
            self._copied(connection, old, new, name)

    def _copied(self, connection: Connection, old: UUID, new: UUID, name: str) -> None:
        if has_project(connection, self.schema, new):
            raise StoreConflict(f"there is a project {name!r} already")
        copy_project(connection, self.schema, old, new, name)

    @contextmanager
    def _locked(self, key: UUID, project_id: str) -> Iterator[Connection]:
        with self.pool.lent() as connection, connection.transaction():
            if not has_project(connection, self.schema, key, lock=True):
                raise UnknownId(f"no project is called {project_id!r}")
            yield connection
