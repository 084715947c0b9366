-- A lineage is what expires together: a chain of responses, or one thread.
CREATE TABLE toolwire_lineage (
    key INTEGER PRIMARY KEY,
    expires INTEGER NOT NULL
) STRICT;

CREATE INDEX toolwire_lineage_expires ON toolwire_lineage (expires);

-- A response, a conversation or a session.
CREATE TABLE toolwire_record (
    key INTEGER PRIMARY KEY,
    lineage INTEGER NOT NULL REFERENCES toolwire_lineage (key) ON DELETE CASCADE,
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    previous TEXT,
    conversation TEXT,
    status TEXT NOT NULL,
    model TEXT NOT NULL,
    next INTEGER NOT NULL,
    items INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    context INTEGER NOT NULL,
    owner TEXT,
    lease INTEGER,
    internal BLOB NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (tenant, kind, id)
) STRICT;

CREATE INDEX toolwire_record_lineage ON toolwire_record (lineage);
CREATE INDEX toolwire_record_list ON toolwire_record (tenant, kind, key, bytes);
CREATE INDEX toolwire_record_owner ON toolwire_record (owner) WHERE owner IS NOT NULL;
CREATE INDEX toolwire_record_lease ON toolwire_record (lease) WHERE lease IS NOT NULL;

-- An item or an event of a record. The tenant is repeated, so that a search for
-- an item's id looks at nobody else's.
CREATE TABLE toolwire_item (
    record INTEGER NOT NULL REFERENCES toolwire_record (key) ON DELETE CASCADE,
    section INTEGER NOT NULL,
    position INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    tag TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (record, section, position)
) STRICT;

CREATE INDEX toolwire_item_id ON toolwire_item (tenant, id) WHERE id <> '';
