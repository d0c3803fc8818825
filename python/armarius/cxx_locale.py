"""The default locale of C++, which extension modules of one process share, and which USearch must not set up.

A kind of text handling in a C++ locale has a number, one for all copies of the C++ library in a process. Whichever copy
is set up first gives them out. USearch's Linux wheels bring a copy of their own, of another version than the system's:
where it comes first, the system's finds its own under wrong numbers, and the next regular expression ends the process;
`import onnxruntime` has one. So the system's is set up before USearch is loaded. macOS and Windows are not concerned.
"""

import ctypes
import sys

__all__ = ["is_locale_usable", "set_up_locale"]

_LIBRARY = "libstdc++.so.6"
_CLASSIC = "_ZNSt6locale7classicEv"  # std::locale::classic(), which sets it up; shared by all, never freed
_HAS_COLLATE = "_ZSt9has_facetINSt7__cxx117collateIcEEEbRKSt6locale"  # what regular expressions ask for first


def set_up_locale() -> None:
    """Have the system's C++ library set up its default locale; once is enough. Call before USearch is imported.

    Cost: 1 ms the first time, when the library is loaded.
    """
    _classic()


def is_locale_usable() -> bool:
    """Whether the default locale finds what belongs to it; True where that cannot be asked."""
    found = _classic()
    if found is None:
        return True
    library, locale = found
    ask = getattr(library, _HAS_COLLATE, None)
    if ask is None:
        return True
    ask.restype, ask.argtypes = ctypes.c_bool, [ctypes.c_void_p]
    return bool(ask(locale))


def _classic() -> tuple[ctypes.CDLL, int] | None:
    """The library and its default locale; None where there is no such library."""
    if sys.platform != "linux":
        return None
    try:
        library = ctypes.CDLL(_LIBRARY)
        classic = getattr(library, _CLASSIC)
    except (OSError, AttributeError):
        return None
    classic.restype = ctypes.c_void_p
    return library, classic()
