"""Which of the names there are was probably meant: for errors about an id, a path or a keyword that nothing has.

>>> near("e12", ["e1", "e22", "memory"])
('e1', 'e22')
>>> suggestion(("e1", "e2"))
'; near it: e1, e2'
"""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import PurePosixPath

__all__ = ["near", "near_paths", "suggestion"]

_LONGEST = 300  # code points of what was asked for that are compared; the comparison is quadratic
_MOST = 3
_ALIKE = 0.6  # share of characters in common, as difflib counts them


def near(wanted: object, names: Iterable[str]) -> tuple[str, ...]:
    """At most three of `names`, best first: the same in another case, those that hold it, those spelt alike.

    Of a name with colons the last part is compared too: `c_clock` is near `constraint:user:c-clock`. Nothing is near
    what is no text.

    Cost: one comparison per name, about 10 µs each.
    """
    if not isinstance(wanted, str) or not wanted.strip():
        return ()
    names = dict.fromkeys(names)
    folded = wanted.strip()[:_LONGEST].casefold()
    spelt = {name: name.casefold() for name in names}
    same = [name for name in names if spelt[name] == folded]
    holding = sorted((name for name in names if folded in spelt[name]), key=lambda name: (len(name), name))
    written: dict[str, str] = {}
    for name, lower in spelt.items():
        written.setdefault(lower, name)
        written.setdefault(lower.rpartition(":")[2], name)
    alike = [written[form] for form in get_close_matches(folded, written, n=_MOST, cutoff=_ALIKE)]
    return tuple(dict.fromkeys((*same, *holding, *alike)))[:_MOST]


def near_paths(wanted: str, paths: Iterable[str]) -> tuple[str, ...]:
    """At most three of `paths`, best first: those of the file name, with or without its ending, else those alike."""
    paths = tuple(paths)
    name = PurePosixPath(wanted.replace("\\", "/")).name.casefold()
    files = {path: PurePosixPath(path.casefold()) for path in paths}
    same = [path for path, file in files.items() if name and file.name == name]
    stem = [path for path, file in files.items() if name and file.stem in (name, PurePosixPath(name).stem)]
    ends = {file.stem: path for path, file in files.items()}
    alike = [
        ends[stem] for stem in get_close_matches(PurePosixPath(name).stem[:_LONGEST], ends, n=_MOST, cutoff=_ALIKE)
    ]
    return (tuple(dict.fromkeys((*same, *stem))) or tuple(dict.fromkeys((*near(wanted, paths), *alike))))[:_MOST]


def suggestion(names: Iterable[str]) -> str:
    """The end of an error's sentence; "" for no names."""
    listed = ", ".join(names)
    return f"; near it: {listed}" if listed else ""
