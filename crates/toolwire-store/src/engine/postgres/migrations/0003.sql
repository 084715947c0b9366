-- Answers repeat their request, and an agent's requests repeat its tools. A part of a
-- body that comes again is kept once (`shared`), and cut out of those bodies at
-- `shared_at`.
CREATE TABLE toolwire_shared (
    key BIGINT PRIMARY KEY,
    bytes BYTEA NOT NULL
);

-- Several gateways write and prune at a time, so the database itself sees to it that a
-- record never has a part that is gone. Columns without a value leave the rows as they
-- are.
ALTER TABLE toolwire_record
    ADD COLUMN shared BIGINT CONSTRAINT toolwire_record_part REFERENCES toolwire_shared (key),
    ADD COLUMN shared_at BIGINT;

-- It finds whether a part is still needed.
CREATE INDEX toolwire_record_shared ON toolwire_record (shared) WHERE shared IS NOT NULL;
