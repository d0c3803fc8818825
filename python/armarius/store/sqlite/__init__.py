"""The store of one file: SQLite, full text, vectors."""
