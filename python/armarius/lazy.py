"""Names of a package that are loaded when they are first used (PEP 562)."""

TYPE_CHECKING = False  # not typing's: importing the package is to cost next to nothing
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy(package: str, table: "Mapping[str, str]") -> "tuple[Callable[[str], object], list[str]]":
    """The `__getattr__` and the `__all__` of a package.

    Args:
        package: Its `__name__`.
        table: Module of `armarius` to the names that are taken from it, parted by blanks. `scripts/write_reference.py`
            writes the stub `__init__.pyi` from it.

    Returns:
        A function that loads a name, or a submodule, on first use and raises AttributeError for any other; the names.
    """
    homes = {name: module for module, names in table.items() for name in names.split()}

    def __getattr__(name: str) -> object:  # noqa: N807
        from importlib import import_module

        if (home := homes.get(name)) is not None:
            value = getattr(import_module(f"armarius.{home}"), name)
            setattr(import_module(package), name, value)
            return value
        if not name.startswith("_"):
            try:
                return import_module(f"{package}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{package}.{name}":
                    raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return __getattr__, sorted(homes)
