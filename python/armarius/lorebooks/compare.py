"""What another profile would do with a book: entry by entry, for the same text."""

from dataclasses import replace
from typing import NamedTuple

from armarius.lorebooks.activate import Activator
from armarius.lorebooks.active.scan import Scan
from armarius.lorebooks.book import Book
from armarius.lorebooks.formats.format import ProfileName
from armarius.lorebooks.record import Entry

__all__ = ["ProfileDifference", "profile_differences"]


class ProfileDifference(NamedTuple):
    """One entry that is active under one profile only.

    Attributes:
        entry: It.
        before: Why it is active under the book's own profile; "" when it is not.
        after: Why under the other; "" when it is not.
    """

    entry: Entry
    before: str
    after: str


def profile_differences(book: Book, profile: ProfileName, scan: Scan) -> tuple[ProfileDifference, ...]:
    """The entries whose activity differs, in the order of the book. Settings of `scan` are not used.

    Cost: two searches.
    """
    scan = replace(scan, settings={})
    activator = Activator()
    ours = {one.entry.id: one.reason for one in activator.search([book], scan)}
    theirs = {one.entry.id: one.reason for one in activator.search([replace(book, profile=profile)], scan)}
    return tuple(
        ProfileDifference(entry, ours.get(entry.id, ""), theirs.get(entry.id, ""))
        for entry in book.entries
        if (entry.id in ours) != (entry.id in theirs)
    )
