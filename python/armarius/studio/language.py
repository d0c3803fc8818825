"""What the studio says, in the reader's language: `texts.toml`."""

import tomllib
from functools import cache
from importlib.resources import files

__all__ = ["LANGUAGES", "chosen", "texts"]

LANGUAGES = ("en", "zh")


@cache
def texts(language: str) -> dict[str, str]:
    """Key to text; English for a language that is not there."""
    tables: dict[str, dict[str, str]] = tomllib.loads(
        files("armarius.studio").joinpath("texts.toml").read_text(encoding="utf-8")
    )
    return tables.get(language, tables["en"])


def chosen(asked: str | None, kept: str | None, accepted: str) -> str:
    """The language: what was asked for just now, else what was before, else the first that the browser accepts."""
    for one in (asked, kept, *(part.split(";")[0].strip()[:2].lower() for part in accepted.split(","))):
        if one in LANGUAGES:
            return str(one)
    return "en"
