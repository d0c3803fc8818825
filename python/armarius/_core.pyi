from os import PathLike

__all__ = ["__version__", "optimised", "scan", "walk"]

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
def walk(
    root: str, exclude: list[str], only: list[str]
) -> tuple[list[tuple[str, int, str, int]], list[tuple[str, str]]]: ...
