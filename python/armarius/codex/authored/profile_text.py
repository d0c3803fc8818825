"""The bytes of a budget profile as a mapping, wherever they are kept; what it must hold is the budget's to say."""

import json
from collections.abc import Mapping
from typing import Any

from armarius.errors import ConfigError

__all__ = ["profile_of_text"]


def profile_of_text(data: bytes, name: str) -> Mapping[str, Any]:
    """Read a budget profile.

    Args:
        data: JSON in UTF-8.
        name: What messages call it.

    Raises:
        ConfigError: It is no JSON object; the message says what was found.
    """
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: not a budget profile: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{name}: not a budget profile: {found!r:.80}")
    return found
