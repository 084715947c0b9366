-- Every table and every index that a write changes is a page of the log more, so a
-- response is one row, found by one index. Its items are in the row (`packed`). A
-- lineage is made when a second response joins the first, and a record that is alone
-- expires by itself.
CREATE TABLE toolwire_record_3 (
    key INTEGER PRIMARY KEY,
    lineage INTEGER REFERENCES toolwire_lineage (key) ON DELETE CASCADE,
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
    packed BLOB,
    body BLOB NOT NULL
) STRICT;

INSERT INTO toolwire_record_3 SELECT r.key, r.lineage, r.tenant, r.kind, r.id, r.created, r.updated, r.expires,
    r.previous, r.conversation, r.status, r.model, r.next, r.items, r.bytes, r.context, r.owner, r.lease,
    r.internal, p.items, r.body
    FROM toolwire_record r LEFT JOIN toolwire_packed p ON p.record = r.key ORDER BY r.key;

DROP TABLE toolwire_packed;
DROP TABLE toolwire_record;
ALTER TABLE toolwire_record_3 RENAME TO toolwire_record;

-- It has the bytes too, because they are added up for each tenant. That an id comes
-- once is checked by whoever writes, and only one writes at a time.
CREATE INDEX toolwire_record_id ON toolwire_record (tenant, kind, id, bytes);
CREATE INDEX toolwire_record_list ON toolwire_record (tenant, kind, key) WHERE kind <> 'response';
CREATE INDEX toolwire_record_expires ON toolwire_record (expires) WHERE lineage IS NULL;
CREATE INDEX toolwire_record_lineage ON toolwire_record (lineage) WHERE lineage IS NOT NULL;
CREATE INDEX toolwire_record_owner ON toolwire_record (owner) WHERE owner IS NOT NULL;
CREATE INDEX toolwire_record_lease ON toolwire_record (lease) WHERE lease IS NOT NULL;
