from os import PathLike

__all__ = ["__version__", "optimised", "scan"]

__version__: str
optimised: bool

def scan(
    root: str | PathLike[str],
    pattern: str,
    *,
    regex: bool,
    case_sensitive: bool,
    globs: list[str],
    limit: int | None,
) -> tuple[list[tuple[str, int, int, int, str]], list[str], bool]: ...
