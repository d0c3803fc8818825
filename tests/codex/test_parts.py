"""A path taken apart is what `PurePosixPath` makes of it."""

import itertools
from pathlib import PurePosixPath

from armarius.documents.segments import parts_of

_NAMES = ["", ".", "..", "a", "a.md", ".md", "a.", "..md", "a..", "a.b.c", "题.md", " ", ".a.b", "...", "a...b"]


def test_a_path_is_taken_apart_as_the_standard_library_does():
    for names in itertools.chain.from_iterable(itertools.product(_NAMES, repeat=count) for count in (1, 2, 3)):
        path = "/".join(names)
        pure, found = PurePosixPath(path), parts_of(path)
        assert found == (pure.parts, pure.parent.parts, pure.stem, pure.suffix), path
