"""Projects of a server: their cached engines; list, delete, rename and copy."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from armarius.engine.build import EngineParts
from armarius.errors import StoreConflict, UnknownId
from armarius.store.postgres.packing import check_name, project_key
from armarius.store.postgres.pool import Connection, Pool
from armarius.store.postgres.schema import copy_project, delete_project, has_project, list_projects
from armarius.store.postgres.session import Session
from armarius.workspace.cache import HotEngine

__all__ = ["HotStored", "Keeping", "ProjectEntry"]


class HotStored(HotEngine):
    """An engine of a stored project.

    Attributes:
        session: Transactions of its project.
        configured: Generation of the configuration that it was created with.
    """

    def __init__(self, parts: EngineParts, session: Session, configured: int) -> None:
        super().__init__(parts)
        self.session = session
        self.configured = configured

    @property
    def characters(self) -> int:
        """Characters of the documents, from the project row."""
        return self.session.latest.characters


@dataclass(frozen=True, slots=True)
class ProjectEntry:
    """A project of a shelf.

    Attributes:
        id: Id of the project.
        tenant: Tenant of the project.
        version: Its generation.
        characters: Characters of its documents.
        bytes: Bytes of its files.
        touched: Time of the last write.
    """

    id: str
    tenant: str
    version: int
    characters: int
    bytes: int
    touched: datetime


class Keeping:
    """Operations on whole projects; base class of `Shelf`."""

    pool: Pool
    schema: str

    def forget(self, project_id: str, tenant: str) -> None:
        """Remove the engine of a project from memory."""
        raise NotImplementedError

    def projects(self, *, tenant: str | None = "", limit: int = 1_000, after: str = "") -> list[ProjectEntry]:
        """The projects of a tenant, by name.

        Args:
            tenant: The tenant; None lists all tenants, for administration.
            limit: Maximum number.
            after: Last name of the previous page.
        """
        with self.pool.lent() as connection:
            return [ProjectEntry(*row) for row in list_projects(connection, self.schema, tenant, after, limit)]

    def delete(self, project_id: str, *, tenant: str = "") -> None:
        """Delete all rows of a project and its engine in memory; other processes notice at their next request.

        Raises:
            UnknownId: There is no such project.
        """
        key = project_key(tenant, project_id)
        with self._locked(key, project_id) as connection:
            delete_project(connection, self.schema, key)
        self.forget(project_id, tenant)

    def delete_tenant(self, tenant: str) -> int:
        """Delete all projects of a tenant, one transaction each. Returns their number."""
        check_name(tenant, "tenant")
        names = [entry.id for entry in self.projects(tenant=tenant, limit=1_000_000_000)]
        for name in names:
            self.delete(name, tenant=tenant)
        return len(names)

    def rename(self, project_id: str, name: str, *, tenant: str = "") -> None:
        """Rename a project.

        Raises:
            UnknownId: There is no project of the old name.
            StoreConflict: There is one of the new name.

        Cost: writes all its rows again.
        """
        old, new = project_key(tenant, project_id), project_key(tenant, check_name(name, "project id"))
        with self._locked(old, project_id) as connection:
            self._copied(connection, old, new, name)
            delete_project(connection, self.schema, old)
        self.forget(project_id, tenant)

    def copy(self, project_id: str, name: str, *, tenant: str = "") -> None:
        """Copy a project under another name. Errors and cost are those of `rename`."""
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
