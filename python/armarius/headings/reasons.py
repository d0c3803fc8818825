"""The sentences of an account: why something is in a prompt, or is not, by code and in each language.

reasons.toml has them, a line for each code with a text for each language. A new sentence is a line there.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final, Self

_MOST = 8  # values of a list that are said


class Reason(str):
    """A sentence with its code. As a text it is English; `in_language` says it in the language of a prompt.

    Args:
        code: A row of reasons.toml.
        parts: What stands in its braces: texts, numbers, other reasons, or several of them, of which eight are said.

    Attributes:
        code: For programs, stable: `mention.cursor`.
        parts: As given.

    Raises:
        KeyError: No such row, or a part of it is missing.
    """

    __slots__ = ("code", "parts")
    code: str
    parts: Mapping[str, Any]

    def __new__(cls, code: str, /, **parts: Any) -> Self:  # noqa: ANN401 - texts, numbers, reasons
        """The sentence in English."""
        made = super().__new__(cls, _said(code, parts, "en"))
        made.code, made.parts = code, parts
        return made

    def in_language(self, language: str) -> str:
        """The sentence in one of the languages of prompts."""
        return _said(self.code, self.parts, language)

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        """For copies."""
        return (self.code,), dict(self.parts)


class _Kept:
    """For a field of a type that is a text: pydantic leaves a `Reason` what it is."""

    def __get_pydantic_core_schema__(self, _source: object, _handler: object) -> dict[str, Any]:
        text = {"type": "is-instance", "cls": str}
        return {"type": "json-or-python", "json_schema": {"type": "str"}, "python_schema": text}


KEPT: Final = _Kept()


@cache
def reasons_table() -> Mapping[str, Mapping[str, str]]:
    """The text of each sentence by code and language."""
    return tomllib.loads(resources.files("armarius.headings").joinpath("reasons.toml").read_text("utf-8"))


def kind_name(kind: str) -> str:
    """What a kind of documents, or an edition of the story, is called; any other word as it is."""
    code = next((code for code in (f"kind.{kind}", f"edition.{kind}") if code in reasons_table()), None)
    return kind if code is None else Reason(code)


_JOINED: Final = {"zh": "、", "en": ", "}


def say(said: str, language: str) -> str:
    """A reason in `language`; any other text as it is."""
    return said.in_language(language) if isinstance(said, Reason) else said


def sentence(said: Iterable[str], language: str, most: int = 3) -> str:
    """The first `most` different ones of several, in `language`, as one sentence."""
    return ("；" if language == "zh" else "; ").join(list(dict.fromkeys(say(one, language) for one in said))[:most])


def _said(code: str, parts: Mapping[str, Any], language: str) -> str:
    said = dict(parts)
    for name, part in parts.items():
        if isinstance(part, Reason):
            said[name] = part.in_language(language)
        elif isinstance(part, tuple | list):
            said[name] = _JOINED[language].join(
                [say(str(one) if not isinstance(one, str) else one, language) for one in part[:_MOST]]
            )
    return reasons_table()[code][language].format(**said)
