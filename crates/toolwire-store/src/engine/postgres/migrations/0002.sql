-- The items of a response are one value; see packed.rs.
CREATE TABLE toolwire_packed (
    record BIGINT PRIMARY KEY REFERENCES toolwire_record (key) ON DELETE CASCADE,
    items BYTEA NOT NULL
);

-- Which records have items with these ids. Ids that tell it themselves are left
-- out.
CREATE TABLE toolwire_packed_id (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    record BIGINT NOT NULL REFERENCES toolwire_record (key) ON DELETE CASCADE,
    PRIMARY KEY (tenant, id, record)
);

CREATE INDEX toolwire_packed_id_record ON toolwire_packed_id (record);
