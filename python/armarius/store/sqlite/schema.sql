-- One file per project. Nothing here is the only copy of anything, so an index of an earlier schema is made again.
-- meta: what this engine keeps for itself: project_id, generation, forgotten (see `gone`), the last vector set.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- version, here and below: the generation that wrote the row.
CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL, version INTEGER NOT NULL) WITHOUT ROWID;

-- text: zlib of UTF-8.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    chapter INTEGER,
    length INTEGER NOT NULL,
    paragraphs INTEGER NOT NULL,
    encoding TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    front_matter TEXT NOT NULL,
    stamp TEXT NOT NULL,
    text BLOB NOT NULL
);
CREATE INDEX documents_by_version ON documents (version);

-- Paths that were documents and are none; of what went before meta's `forgotten` there is no record any more.
CREATE TABLE gone (path TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX gone_by_version ON gone (version);

-- What was worked out from one document.
CREATE TABLE learnt (
    document INTEGER NOT NULL,
    kind TEXT NOT NULL,
    about TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (document, kind)
);

-- id of a paragraph: document * 2^24 + index; the rowid of its full text, and the owner of its vector.
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

-- Documents whose full text is still to be written; a search does that first.
CREATE TABLE full_text_due (document INTEGER PRIMARY KEY);

-- ref: minus it is the owner of an entity's vector.
CREATE TABLE entities (ref INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);

-- One set per embedder. state: 'serving' answers, 'building' is being filled by a re-embedding.
-- ann: JSON of the saved approximate index, or NULL. The vectors themselves are in vec0 tables vectors_<id>.
CREATE TABLE vector_sets (
    id INTEGER PRIMARY KEY,
    state TEXT NOT NULL UNIQUE CHECK (state IN ('serving', 'building')),
    fingerprint TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    ann TEXT
);

-- owner: a paragraph's id, or minus an entity's ref. text: BLAKE2b-128 of what is embedded.
-- state: 0 embedded, 1 pending, 2 has no vector, 3 gone. checksum: CRC-32 of `text` and the vector.
CREATE TABLE vectors (
    vector_set INTEGER NOT NULL,
    owner INTEGER NOT NULL,
    text BLOB NOT NULL,
    slot INTEGER,
    checksum INTEGER,
    state INTEGER NOT NULL,
    change INTEGER NOT NULL,
    PRIMARY KEY (vector_set, owner)
) WITHOUT ROWID;
CREATE INDEX vectors_by_slot ON vectors (vector_set, slot) WHERE slot IS NOT NULL;
CREATE INDEX vectors_by_change ON vectors (vector_set, change);
CREATE INDEX vectors_pending ON vectors (vector_set, owner) WHERE state = 1;

-- Slots of the vec0 tables that hold nothing and wait for the next vector.
CREATE TABLE vector_slots (vector_set INTEGER NOT NULL, slot INTEGER NOT NULL, PRIMARY KEY (vector_set, slot)) WITHOUT ROWID;

-- Vectors of an index that was built again, by the hash of their text, until such a text comes or all are embedded.
CREATE TABLE vectors_saved (
    vector_set INTEGER NOT NULL,
    text BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (vector_set, text)
);
