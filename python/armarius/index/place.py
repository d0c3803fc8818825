"""Where the index of a project lives: where the caller says, else where the project may say, else in the cache."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from armarius.config import Config
from armarius.errors import ProjectError
from armarius.io.folder import no_path
from armarius.store.sqlite.location import Place, place_for

if TYPE_CHECKING:
    from armarius.trust.settings import Permissions

__all__ = ["place_of"]


def place_of(
    root: Path,
    config: Config,
    index_dir: str | PathLike[str] | None = None,
    *,
    permissions: "Permissions | None" = None,
    besides: Sequence[Path] = (),
) -> Place:
    """The place of the index of the project at `root`.

    Args:
        root: The project folder.
        config: What the project says; it may name a folder inside it, or one that the user allows.
        index_dir: The caller's choice, before all others.
        permissions: What the project may say; None asks the user's configuration.
        besides: Other folders that the index holds: an index apart from the project's own.

    Raises:
        ProjectError: `index_dir` is no path.
        ConfigError: The configured folder leads where only the user may lead.
    """
    if index_dir is not None and (problem := no_path(index_dir)):
        raise ProjectError(f"index_dir: {problem}")
    if index_dir is not None or config.index_dir is None:
        return place_for(root, index_dir, besides=besides)
    if permissions is None:
        from armarius.trust.settings import Permissions

        permissions = Permissions.of(root)
    found = permissions.index(config.index_dir)
    return place_for(root, found.folder, shared=found.shared, besides=besides)
