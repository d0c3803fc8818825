"""Lorebooks, cards, modules, vaults and manuscripts: brought in whole, active as authored, given back whole.

record.py (an entry; what could not be carried over) book.py (a book, read from a file and given back as one)
edits.py js_regex.py
formats/ (detected, read, written) active/ (which entries are active, by the rules of a profile)
activation.py (books by profile, replay of earlier turns) book_search.py (the books of a project searched)
project_books.py (the books of a project) storage.py (their files) importing.py entities.py manuscripts.py

What must hold: nothing is decided by a name; an unchanged book is given back byte for byte; every field without
effect has a row; the same input gives the same active entries; what exceeds a limit is refused before it is unpacked
or parsed.
"""

from armarius.lazy import lazy

TABLE = {
    "lorebooks.activation": "ProfileDifference activate profile_differences scan_of",
    "lorebooks.active.result": "Activation Active Effect SkippedEntry State",
    "lorebooks.active.scan": "Scan",
    "lorebooks.book": "Book Exported detect_book read_book",
    "lorebooks.edits": "Change",
    "lorebooks.importing": "ImportReport Importing Proposal",
    "lorebooks.project_books": "Books",
    "lorebooks.record": (
        "Condition Conflict Decorator Entry EntrySource Key Matching Place Priority Probability Range Recursion Scope "
        "Timing UnsupportedField"
    ),
    "lorebooks.storage": "BookKeeping",
}

__getattr__, __all__ = lazy(__name__, TABLE)
