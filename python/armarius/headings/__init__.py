"""The headings, labels and type names of prompts, in each supported language.

zh.py, en.py  the texts of one language
frame.py      `Frame`: the type of these texts
reasons.toml  the sentences of an account by code, in each language; reasons.py makes them

Other rooms get headings by key and labels by `frame(language)`; they never contain the texts. Project text that equals
a heading of any language is escaped in every prompt (`docs/decisions/0033`, `0048`). A new language is a file here and
a row of `FRAMES`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from armarius.errors import ContractError
from armarius.headings.en import EN
from armarius.headings.frame import Frame, HeadingKey, Language
from armarius.headings.reasons import Reason, kind_name, say, sentence
from armarius.headings.zh import ZH
from armarius.validation import shown

__all__ = [
    "DEFAULT_LANGUAGE",
    "FRAMES",
    "HEADINGS",
    "Frame",
    "HeadingKey",
    "Language",
    "Reason",
    "frame",
    "heading",
    "kind_name",
    "say",
    "sentence",
]

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
