__all__ = ["__version__", "optimised"]

__version__: str
optimised: bool
