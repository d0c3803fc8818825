"""Mini-Cypher as NervusDB 0.0.8 documents it: labelled nodes, one equality, no parameters needed.

Escaping inside a string literal differs between versions of the program (its lexer keeps the backslash of an escape),
so none is used: text is written in an alphabet without quotes, backslashes, line breaks and other signs that could
end a literal, `%` and two hexadecimal digits for each byte of theirs. What is left of a name in any script is as the
user wrote it, and stays readable in the database.
"""

import re
from collections.abc import Mapping

__all__ = ["create", "decode", "delete", "encode", "literal", "match", "update"]

_UNSAFE = re.compile("[\x00-\x1f\"$%'/;\\\\`\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff0-\uffff]")
_CODED = re.compile("(?:%[0-9A-F]{2})+")


def encode(text: str) -> str:
    """`text` in an alphabet that ends no literal, begins no comment and shows every character."""
    return _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text)


def decode(text: str) -> str:
    """What `encode` was given; a `%` of another's making stays."""
    return _CODED.sub(_decoded, text)


def _decoded(found: re.Match[str]) -> str:
    try:
        return bytes.fromhex(found[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return found[0]


def literal(text: str) -> str:
    """A string literal whose value is `encode(text)`."""
    return f"'{encode(text)}'"


def match(variable: str, label: str, key: str, value: str) -> str:
    """The nodes with a label and a property of this value, which NervusDB finds in its index."""
    return f"MATCH ({variable}:{label}) WHERE {variable}.{key} = {literal(value)}"


def create(variable: str, label: str, properties: Mapping[str, str]) -> str:
    """A new node, as it stands in a CREATE."""
    stated = ", ".join(f"{key}: {literal(value)}" for key, value in properties.items())
    return f"({variable}:{label} {{{stated}}})"


def update(variable: str, properties: Mapping[str, str]) -> str:
    """The end of a MATCH that gives its nodes other values."""
    return f"SET {', '.join(f'{variable}.{key} = {literal(value)}' for key, value in properties.items())}"


def delete(variable: str) -> str:
    """The end of a MATCH that removes its nodes with their edges."""
    return f"DETACH DELETE {variable}"
