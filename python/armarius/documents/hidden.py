"""What of a folder is not read: folders with a dot before their name unless `[documents]` names them, other endings.

[documents]
".story/**" = "state"        # opens .story/
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePosixPath

import armarius._core as _core
from armarius.config import CONFIG_NAME, Config
from armarius.documents.classify import NOT_READ
from armarius.documents.kinds import glob

HIDDEN = "hidden folder"
"""The reason that a walk gives for a folder that it left out."""
_NEVER = frozenset({".armarius", ".git"})


def opened(config: Config) -> list[str]:
    """Gitignore patterns of the hidden folders and files that `[documents]` names."""
    return [f"/{one}" for one in _opened(config.kinds)]


@lru_cache(maxsize=64)
def _opened(kinds: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    found = (prefix for _, pattern in kinds for prefix in _hidden_prefixes(pattern.strip("/")))
    return tuple(dict.fromkeys(one for one in found if _NEVER.isdisjoint(one.split("/"))))


def is_hidden(path: str, config: Config) -> bool:
    """Whether a path lies in a hidden folder, or is a hidden file, that `[documents]` does not name."""
    return any(not any(glob(one).matches(prefix) for one in _opened(config.kinds)) for prefix in _hidden_prefixes(path))


def is_closed(pattern: str) -> bool:
    """Whether a pattern names files below a folder that stays closed: `.git`, `.armarius`."""
    return not _NEVER.isdisjoint(pattern.split("/"))


def has_files(root: Path, config: Config, pattern: str) -> bool:
    """Whether a line of `[documents]` with `pattern` would match a file, below a folder that it opens too.

    Cost: a walk.
    """
    named = replace(config, kinds=(("note", pattern), *config.kinds))
    found, _, _ = _core.walk(str(root), list(config.exclude), [], opened(named))
    return any(glob(pattern).matches(one.path.replace("\\", "/")) for one in found)


def unread_files(root: Path, config: Config, read: Container[str], why: Mapping[str, str]) -> dict[str, int]:
    """What below `root` is not read, to the number of files: hidden folders (`.story/`), endings (`*.xlsx`).

    A file that was refused for what it holds stands by itself (`ch5.md (status: cut)`). Not counted are ignored
    and excluded files, and what Git and Armarius keep for themselves.

    Args:
        root: The project folder.
        config: Its configuration.
        read: Paths of the documents, and of other files that say something.
        why: Path of what was refused as a document to the reason.

    Cost: a walk, and one of each hidden folder.
    """
    found, refused, _ = _core.walk(str(root), list(config.exclude), [], opened(config))
    counted: dict[str, int] = {}
    for folder in sorted(path.replace("\\", "/") for path, reason in refused if reason == HIDDEN):
        if folder.rpartition("/")[2] not in _NEVER:
            itself = "/" + "".join(f"\\{char}" if char in "*?[]{}!#\\ " else char for char in folder)
            inside, _, _ = _core.walk(str(root), list(config.exclude), [folder], [*opened(config), itself])
            counted |= {f"{folder}/": len(inside)} if inside else {}
    paths = (one.path.replace("\\", "/") for one in found)
    others = Counter(_ending(path, why.get(path, "")) for path in paths if path not in read and path != CONFIG_NAME)
    return counted | dict(others.most_common())


def _hidden_prefixes(path: str) -> Iterator[str]:
    """The path as far as each of its hidden parts, the part included."""
    if path.startswith(".") or "/." in path:
        parts = path.split("/")
        yield from ("/".join(parts[: at + 1]) for at, part in enumerate(parts) if part.startswith("."))


def _ending(path: str, why: str) -> str:
    name = PurePosixPath(path)
    if why and name.suffix.lower() not in NOT_READ:
        return f"{path} ({why})"
    return f"*{name.suffix.lower()}" if name.suffix else name.name
