"""The texts of all languages: a frame or a heading by language."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from armarius.errors import ContractError
from armarius.headings.en import EN
from armarius.headings.frame import Frame, HeadingKey, Language
from armarius.headings.zh import ZH
from armarius.validation import shown

DEFAULT_LANGUAGE: Final[Language] = "zh"

FRAMES: Final[Mapping[Language, Frame]] = MappingProxyType({"zh": ZH, "en": EN})
_LANGUAGES: Final = tuple(FRAMES)

HEADINGS: Final[Mapping[Language, Mapping[HeadingKey, str]]] = MappingProxyType(
    {language: one.headings for language, one in FRAMES.items()}
)


def frame(language: Language = DEFAULT_LANGUAGE) -> Frame:
    """The texts of one language.

    Raises:
        ContractError: The language is not supported.
    """
    if language not in _LANGUAGES:  # a tuple: what cannot be hashed is refused too
        raise ContractError(f"language must be one of {', '.join(FRAMES)}, got {shown(language)}")
    return FRAMES[language]


def heading(key: HeadingKey, language: Language = DEFAULT_LANGUAGE) -> str:
    """The heading of one group, on one line, brackets included.

    Args:
        key: The group under the heading.
        language: Of the prompt.
    """
    return HEADINGS[language][key]
