"""Short forms of names in scripts with capitals and spaces: Bob and Finch for "Bob Finch"."""

import re
from collections.abc import Iterator
from typing import Final

from armarius.names.lexicon import words
from armarius.names.people import Form, Person

__all__ = ["bare", "latin_forms", "title_gender", "untitled"]

_QUOTED: Final = re.compile(r"\s*[\"“”‘]([^\"“”’]{2,20})[\"“”’]\s*")
_BRACKETS: Final = re.compile(r"\s*[(（][^)）]*[)）]")
_NAMED: Final = r"[\"“‘']?([A-Z][\w’'-]*(?:\s[A-Z][\w’'-]*)?)"
# Of the person the profile is about: "her parrot is called Admiral" is not.
_CALLED: Final = re.compile(
    r"(?:\b(?:nicknamed|goes by|answers to|a\.k\.a\.|aka|known (?:to [\w ]{1,30} )?as|calls? (?:him|her|them))"
    r"|(?:^|[.,;] )[Cc]alled)\s+(?:the name\s+)?" + _NAMED
)


def latin_forms(person: Person) -> Iterator[Form]:
    """What a person may be called by parts of a name of several words, all but particles capitalised."""
    for match in _CALLED.finditer(person.said):
        yield Form(match[1], "byname", person.names[0], person)
    if person.names[0][:1].isupper():  # in a Chinese novel a name in Latin letters is a gloss
        for name in person.names:
            yield from _forms(name, person)


def bare(word: str) -> str:
    """A title as the vocabulary has it: "Mr." is mr."""
    return word.rstrip(".").lower()


def title_gender(word: str) -> str | None:
    """The gender that a title tells, "" when it tells none, None for any other word."""
    title = bare(word)
    if title in words("latin", "male"):
        return "m"
    if title in words("latin", "female"):
        return "f"
    return "" if title in words("latin", "titles") else None


def untitled(name: str) -> list[str]:
    """The words of a name but titles and suffixes."""
    return [
        word for word in name.split() if title_gender(word) is None and bare(word) not in words("latin", "suffixes")
    ]


def _forms(name: str, person: Person) -> Iterator[Form]:
    for match in _QUOTED.finditer(name):
        if match[1][0].isupper():
            yield Form(match[1], "given name", name, person)
    parts = _BRACKETS.sub("", _QUOTED.sub(" ", name)).replace(",", " ").split()
    if not parts or any(not any(char.isalpha() for char in part) for part in parts):
        return
    title = ""
    while len(parts) > 1 and title_gender(parts[0]) is not None:
        title = bare(parts.pop(0))
    while len(parts) > 1 and bare(parts[-1]) in words("latin", "suffixes"):
        parts.pop()
    full = " ".join(parts)
    parts = [part for part in parts if len(part.rstrip(".")) > 1]
    if not parts or not _is_name(parts):
        return
    if len(parts) == 1:
        if title and title not in words("latin", "by_marriage"):
            yield Form(parts[0], "part of the name", name, person)
        return
    if full != name:
        yield Form(full, "part of the name", name, person)
    yield Form(parts[0], "given name", name, person)
    small = [at for at, part in enumerate(parts) if bare(part) in words("latin", "particles") and at]
    family = " ".join(parts[small[0] :]) if small else parts[-1]
    if "of" in parts:
        return  # Joan of Arc: a place, no family
    yield Form(family, "family name", name, person)
    if small and len(parts) - small[0] > 1:
        yield Form(parts[-1], "family name", name, person)
    elif len(parts) > 2:
        yield Form(f"{parts[0]} {parts[-1]}", "part of the name", name, person)
        yield Form(" ".join(parts[:-1]), "given name", name, person)
        yield Form(" ".join(parts[1:]), "family name", name, person)


def _is_name(parts: list[str]) -> bool:
    """Every word has a capital, but for particles between them; no article in front."""
    if parts[0].lower() in ("the", "a", "an") or not parts[0][0].isupper() or not parts[-1][0].isupper():
        return False
    between = words("latin", "particles") | {"of"}
    return all(part[0].isupper() or part.lower() in between for part in parts)
