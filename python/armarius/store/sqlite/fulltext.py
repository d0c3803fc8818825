"""Full text over SQLite's FTS5: user text in, paragraphs out; no user text is ever read as a query language."""

from typing import Final

import apsw

import armarius._core as _core
from armarius.store.rows import TextHit, TextQuery
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.packing import PARAGRAPH_BITS

__all__ = ["FULL_TEXT", "search"]

FULL_TEXT: Final = """
-- The core makes the tokens and parts them by spaces; `ascii` leaves everything beyond ASCII whole.
CREATE VIRTUAL TABLE full_text USING fts5(
    title, content, characters, tags, content='', contentless_delete=1, tokenize='ascii'
);
CREATE VIRTUAL TABLE full_text_terms USING fts5vocab(full_text, 'row');
-- FTS5 ranks while it scans, with weights that it keeps; a word in a heading says most.
INSERT INTO full_text (full_text, rank) VALUES ('rank', 'bm25(4.0, 1.0, 2.0, 2.0)');
"""
"""The tables of full text; their rowids are those of `paragraphs`."""


# A gram that stands in more than this share of the paragraphs says little and costs most.
_COMMON = 0.12
_RANKED = "SELECT d.path, full_text.rowid & ?, -full_text.rank FROM full_text"
_FOUND = "SELECT d.path, full_text.rowid & ?, 0.0 FROM full_text"  # ranking takes as long as finding


def search(connection: apsw.Connection, query: TextQuery) -> list[TextHit]:
    """Paragraphs that match; see `Store.search`.

    Cost: BM25 over the postings of the terms; any-match is bounded by dropping the commonest grams.
    """
    if query.limit is not None and query.limit < 1:
        return []
    expression = _all(query) if query.match == "all" else _any(connection, query)
    if not expression:
        return []
    sql = [
        _FOUND if query.limit is None else _RANKED,
        "JOIN documents d ON d.id = full_text.rowid >> ?",
    ]
    mask = (1 << PARAGRAPH_BITS) - 1
    where = ["full_text MATCH ?"]
    values: list[str | int] = [expression]
    low, high = query.chapters
    if low is not None or high is not None:
        sql.append("JOIN paragraphs p ON p.id = full_text.rowid")
        where.append("p.chapter BETWEEN ? AND ?")
        values += [-1 if low is None else low, 1 << 31 if high is None else high]
    if query.kinds:
        where.append(f"d.kind IN ({', '.join('?' * len(query.kinds))})")
        values += query.kinds
    sql.append(f"WHERE {' AND '.join(where)}")
    if query.limit is not None:
        sql.append("ORDER BY full_text.rank, d.path, full_text.rowid LIMIT ?")
        values.append(query.limit)
    rows = all_rows(connection, " ".join(sql), (mask, PARAGRAPH_BITS, *values))
    return [TextHit(*row) for row in (sorted(rows) if query.limit is None else rows)]


def _all(query: TextQuery) -> str:
    phrases = [_core.term_phrase(term) for term in query.terms]
    return " AND ".join(dict.fromkeys(phrase for phrase in phrases if phrase))


def _any(connection: apsw.Connection, query: TextQuery) -> str:
    grams = list(dict.fromkeys(gram for term in query.terms for gram in _core.text_grams(term)))
    if not grams:
        return ""
    total = first_row(connection, "SELECT count(*) FROM paragraphs")[0]
    counted = []
    for gram in grams[:512]:
        row = first_row(connection, "SELECT doc FROM full_text_terms WHERE term = ?", (gram,))
        if row:
            counted.append((row[0], gram))
    rare = [item for item in counted if item[0] <= max(20, _COMMON * total)]
    chosen = {gram for _, gram in sorted(rare or counted)[: query.grams]}
    return " OR ".join(f'"{gram}"' for gram in grams if gram in chosen)
