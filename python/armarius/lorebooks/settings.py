"""`[books]`: who the user is to a lorebook.

[books]
user = "阿宁"        # what {{user}} reads as: in armarius.toml for one project, in the user's config.toml for all
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from armarius.config import CONFIG_NAME, Config
from armarius.errors import ConfigError
from armarius.text.unicode import near, suggestion
from armarius.trust.user import read_user_config

__all__ = ["user_of"]

_KEYS = ("user",)
_LONGEST = 100


def user_of(config: Config, root: Path | None) -> str:
    """The name that stands for `{{user}}`: of the project, else of the user's configuration; "" when neither says one.

    Raises:
        ConfigError: A key that is unknown or a name that is none; names file and key.

    Cost: one small file.
    """
    mine = read_user_config(project=root)
    return _user(config.table("books"), CONFIG_NAME) or _user(mine.books, mine.name)


def _user(table: Mapping[str, Any], file: str) -> str:
    if unknown := sorted(table.keys() - set(_KEYS)):
        close = suggestion(near(unknown[0], _KEYS))
        raise ConfigError(f"{file}: unknown key books.{unknown[0]}; known: {', '.join(_KEYS)}{close}")
    user = table.get("user", "")
    if not isinstance(user, str) or len(user) > _LONGEST or not user.isprintable():
        raise ConfigError(
            f"{file}: books.user must be a name on one line of at most {_LONGEST} characters, got {user!r:.120}"
        )
    return user.strip()
