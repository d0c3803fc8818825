-- One file per project. Nothing here is the only copy of anything.
CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- text: zlib of UTF-8. hash: over every other column and the paragraphs, checked by `verify`.
-- mentions: zlib of int32 quadruples (entity ref, paragraph, start, end), sorted.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    chapter INTEGER,
    length INTEGER NOT NULL,
    paragraphs INTEGER NOT NULL,
    encoding TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    front_matter TEXT NOT NULL,
    stamp TEXT NOT NULL,
    text BLOB NOT NULL,
    mentions BLOB NOT NULL,
    hash BLOB NOT NULL
);

-- id of a paragraph: document * 2^24 + index; the rowid of its full text, its mention counts and its vector.
CREATE TABLE paragraphs (
    id INTEGER PRIMARY KEY,
    chapter INTEGER,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    role INTEGER NOT NULL,
    heading INTEGER NOT NULL
);

-- id: document * 2^24 + first paragraph under it; path: JSON list of titles.
CREATE TABLE headings (id INTEGER PRIMARY KEY, path TEXT NOT NULL);

-- The core makes the tokens and parts them by spaces; `ascii` leaves everything beyond ASCII whole, in any Unicode version.
CREATE VIRTUAL TABLE full_text USING fts5(
    title, content, characters, tags, content='', contentless_delete=1, tokenize='ascii'
);
CREATE VIRTUAL TABLE full_text_terms USING fts5vocab(full_text, 'row');

CREATE TABLE entities (
    ref INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    level TEXT NOT NULL,
    payload TEXT NOT NULL
);

CREATE TABLE mention_counts (
    entity INTEGER NOT NULL,
    paragraph INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (entity, paragraph)
) WITHOUT ROWID;

CREATE TABLE relations (
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    type TEXT NOT NULL,
    since INTEGER,
    until INTEGER
);
CREATE INDEX relations_by_source ON relations (source, target, type);
CREATE INDEX relations_by_target ON relations (target, source, type);

CREATE TABLE records (
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (collection, id)
) WITHOUT ROWID;
