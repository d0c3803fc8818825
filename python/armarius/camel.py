"""The case of names on the wire."""

__all__ = ["camel"]


def camel(name: str) -> str:
    """A snake_case name in camelCase: `heading_path` is `headingPath`; one without underscores is itself."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)
