"""Lorebooks, cards, modules, vaults and manuscripts: brought in whole, active as authored, given back whole.

record.py (an entry) book.py (a book, with the file it came in) losses.py limits.py slashes.py
formats/ (told, read, written) opening.py (a file to a book) export.py
active/ (what is searched, and how) profiles/ (whose rules) activate.py (books by profile, replay of earlier turns)
shelf.py (the books of a project) card.py (one of them, as files) keeping.py (where those are)
edits.py importing.py compare.py asking.py manuscripts.py

What must hold: nothing is decided by a name; an unchanged book is given back byte for byte; every field without
effect has a row; the same input gives the same active entries; what exceeds a limit is refused before it is unpacked
or parsed.
"""

from armarius.lazy import lazy

TABLE = {
    "lorebooks.activate": "activate scan_of",
    "lorebooks.active.result": "Activation Active Left",
    "lorebooks.active.scan": "Scan",
    "lorebooks.active.state": "Effect State",
    "lorebooks.book": "Book",
    "lorebooks.changes": "Change",
    "lorebooks.compare": "ProfileDifference profile_differences",
    "lorebooks.export": "Exported",
    "lorebooks.importing": "ImportReport Importing Proposal",
    "lorebooks.keeping": "BookKeeping",
    "lorebooks.losses": "Conflict Loss",
    "lorebooks.opening": "detect_book read_book",
    "lorebooks.record": (
        "Chance Condition Decorator Entry EntrySource Key Matching Place Range Scope Share Timing Wake"
    ),
    "lorebooks.shelf": "Books",
}

__getattr__, __all__ = lazy(__name__, TABLE)
