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
-- state: 0 embedded, 1 pending, 2 has no vector, 3 gone. checksum: CRC-32 of the vector.
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
