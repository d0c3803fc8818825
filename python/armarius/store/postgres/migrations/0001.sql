-- Every key begins with `project`; no sequence, trigger, function or foreign key; no value over 256 KiB (`pieces`).
-- version, here and below: the generation that wrote the row. generation: see `Store.generation`; born: differs for a
-- project that was deleted and made again; files, authored, configured: the generation that last
-- changed those; token: who wrote the last generation, for a commit whose answer was lost.
CREATE TABLE {schema}.projects (
    project uuid PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    born bigint NOT NULL,
    generation bigint NOT NULL,
    forgotten bigint NOT NULL DEFAULT 0,
    files bigint NOT NULL DEFAULT 0,
    authored bigint NOT NULL DEFAULT 0,
    configured bigint NOT NULL DEFAULT 0,
    vectors bigint NOT NULL DEFAULT 0,
    token bigint NOT NULL,
    characters bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    touched timestamptz NOT NULL,
    lease_owner text,
    lease_until timestamptz
) WITH (fillfactor = 50);
CREATE INDEX projects_by_name ON {schema}.projects (tenant, name);

-- What a host wrote: the user's data, and the only copy. Everything else can be made from it.
CREATE TABLE {schema}.files (
    project uuid NOT NULL,
    path text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    hash bytea NOT NULL,
    size bigint NOT NULL,
    PRIMARY KEY (project, path)
);
CREATE INDEX files_by_version ON {schema}.files (project, version);

-- head: zlib of JSON: title, encoding, front matter. hash: over everything but the stamp, checked by `verify`.
CREATE TABLE {schema}.documents (
    project uuid NOT NULL,
    path text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    kind text NOT NULL,
    chapter bigint,
    length bigint NOT NULL,
    paragraphs bigint NOT NULL,
    content_hash text NOT NULL,
    stamp text NOT NULL,
    head bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (project, path)
);
CREATE INDEX documents_by_version ON {schema}.documents (project, version);

-- Paths that were documents and are none; of what went before `projects.forgotten` there is no record any more.
CREATE TABLE {schema}.gone (
    project uuid NOT NULL,
    path text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (project, path)
);
CREATE INDEX gone_by_version ON {schema}.gone (project, version);

-- What was worked out from one document. hash: over the other columns and the data.
CREATE TABLE {schema}.learnt (
    project uuid NOT NULL,
    path text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    about text NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (project, path, kind)
);

CREATE TABLE {schema}.notes (
    project uuid NOT NULL,
    key text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (project, key)
);

-- Every large value, in pieces. area: file, text (of a document), learnt (kind: which), entities (their ids).
CREATE TABLE {schema}.pieces (
    project uuid NOT NULL,
    area text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    piece integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (project, area, path, kind, piece)
);
ALTER TABLE {schema}.pieces ALTER COLUMN data SET STORAGE EXTERNAL;

-- One set per embedder; state: serving or building. number: never used again within a project.
CREATE TABLE {schema}.vector_sets (
    project uuid NOT NULL,
    number bigint NOT NULL,
    state text NOT NULL,
    fingerprint text NOT NULL,
    PRIMARY KEY (project, number)
);

-- owner: a path and a paragraph, or an entity's id and -1. text: BLAKE2b-128 of what is embedded.
-- state: 0 embedded, 1 pending, 2 has no vector. checksum: CRC-32 of the vector as little-endian float32.
CREATE TABLE {schema}.vectors (
    project uuid NOT NULL,
    number bigint NOT NULL,
    path text COLLATE "C" NOT NULL,
    paragraph bigint NOT NULL,
    chapter bigint,
    text bytea NOT NULL,
    state smallint NOT NULL,
    checksum bigint,
    embedding {vector},
    PRIMARY KEY (project, number, path, paragraph)
) WITH (toast_tuple_target = 8160);
ALTER TABLE {schema}.vectors ALTER COLUMN embedding SET STORAGE EXTERNAL;
