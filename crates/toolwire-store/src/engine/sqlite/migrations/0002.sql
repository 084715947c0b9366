-- The items of a response are one value; see packed.rs.
CREATE TABLE toolwire_packed (
    record INTEGER PRIMARY KEY REFERENCES toolwire_record (key) ON DELETE CASCADE,
    items BLOB NOT NULL
) STRICT;

-- Which records have items with these ids. Ids that tell it themselves are left
-- out.
CREATE TABLE toolwire_packed_id (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    record INTEGER NOT NULL REFERENCES toolwire_record (key) ON DELETE CASCADE,
    PRIMARY KEY (tenant, id, record)
) STRICT, WITHOUT ROWID;

CREATE INDEX toolwire_packed_id_record ON toolwire_packed_id (record);

-- Lineages are small and the oldest expire first, so pruning finds them without.
DROP INDEX toolwire_lineage_expires;
