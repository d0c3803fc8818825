"""What the user wrote beside the documents, through the API or by hand.

protocol.py (`Authored`: where it comes from)   record_file.py protocol.py (a book of records as a TOML file)
codex.py (entities and relations)   collection.py (memories, constraints)   collection.py   collection.py

What must hold: it is the user's and cannot be made again, so nothing is half written and no hand edit is lost; a
mistake costs the record it is in, with its line.
"""
