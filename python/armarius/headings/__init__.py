"""Every heading, label and type name that a prompt can hold, in every language that it can be written in.

A room that offers something asks for its heading by key, and for labels by `frame(language)`; nobody spells one out.
The fence lets no text pose as any heading, in any language, whether or not the prompt at hand has that group or speaks
that language (`docs/decisions/0033`, `0048`). A language is one file here, with the same names, and a row of `FRAMES`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from armarius.errors import ContractError
from armarius.headings.en import EN
from armarius.headings.frame import Frame, HeadingKey, Language
from armarius.headings.zh import ZH
from armarius.validation import shown

__all__ = ["DEFAULT_LANGUAGE", "FRAMES", "HEADINGS", "Frame", "HeadingKey", "Language", "frame", "heading"]

DEFAULT_LANGUAGE: Final[Language] = "zh"

FRAMES: Final[Mapping[Language, Frame]] = MappingProxyType({"zh": ZH, "en": EN})
_LANGUAGES: Final = tuple(FRAMES)

HEADINGS: Final[Mapping[Language, Mapping[HeadingKey, str]]] = MappingProxyType(
    {language: one.headings for language, one in FRAMES.items()}
)


def frame(language: Language = DEFAULT_LANGUAGE) -> Frame:
    """The texts of one language.

    Raises:
        ContractError: There are none of that language.
    """
    if language not in _LANGUAGES:  # a tuple: what cannot be hashed is refused too
        raise ContractError(f"language must be one of {', '.join(FRAMES)}, got {shown(language)}")
    return FRAMES[language]


def heading(key: HeadingKey, language: Language = DEFAULT_LANGUAGE) -> str:
    """The heading of one group, on one line, brackets included.

    Args:
        key: What stands under it.
        language: Of the prompt.
    """
    return HEADINGS[language][key]
