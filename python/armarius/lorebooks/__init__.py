"""Lorebooks, cards, modules, vaults and manuscripts: import and export without loss, activation by program.

record.py (`Entry`, `UnsupportedField`, `Conflict`, edits)   book.py (`Book`: read, edit, export)
formats/ (detect, read, write)   active/ (activation rules of each profile)   activation.py (by profile, in a project)
project_books.py (books of a project, their files)   importing.py (files, manuscripts)
fetcher.py (active entries as candidates of a prompt)

Invariants: formats are detected from content, not from names; an unchanged book is exported byte for byte; every field
without effect is reported; equal input gives equal active entries; limits are checked before unpacking and parsing.
"""

from armarius.doors import lazy

TABLE = {
    "lorebooks.activation": "ProfileDifference activate profile_differences scan_of",
    "lorebooks.active.records": "Activation Active Effect Scan SkippedEntry State",
    "lorebooks.book": "Book Exported detect_book read_book",
    "lorebooks.importing": "ImportReport Importing Proposal",
    "lorebooks.project_books": "BookKeeping Books",
    "lorebooks.record": (
        "Change Condition Conflict Decorator Entry EntrySource Key Matching Place Priority Probability Range Recursion "
        "Scope Timing UnsupportedField"
    ),
}

__getattr__, __all__ = lazy(__name__, TABLE)
