"""`@@name a,b`: the lines at the top of a text that are settings of its entry.

Source: Character Card Specification V3, "Decorators"; the lines are kept verbatim and never sent.
"""

from armarius.lorebooks.record import Decorator

__all__ = ["split", "with_text"]


def split(content: str) -> tuple[tuple[Decorator, ...], str]:
    """The decorators of a text, and what is sent of it: without them, and without the blank lines around them."""
    if not content.lstrip("\r\n \t").startswith("@@"):
        return (), content
    lines = content.lstrip("\r\n \t").split("\n")
    found = []
    at = 0
    for at, line in enumerate(lines):  # noqa: B007
        bare = line.strip()
        if bare.startswith("@@") and len(bare) > 2:
            found.append(_decorator(bare))
        elif bare:
            break
    else:
        return tuple(found), ""
    return tuple(found), "\n".join(lines[at:])


def with_text(content: str, text: str) -> str:
    """The content with another text under the same decorators, as they were written."""
    found, old = split(content)
    if not found:
        return text
    head = content[: len(content) - len(old)] if old else content.rstrip("\n") + "\n"
    return head + text


def _decorator(line: str) -> Decorator:
    fallback = line.startswith("@@@")
    name, _, rest = line.lstrip("@").partition(" ")
    return Decorator(name.strip(), tuple(part.strip() for part in rest.split(",")) if rest.strip() else (), fallback)
