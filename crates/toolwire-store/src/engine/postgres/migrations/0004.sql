-- Where a response's body lacks the output, which is among its items (`toolwire_packed`).
-- Bodies that are there stay whole.
ALTER TABLE toolwire_record ADD COLUMN output_at BIGINT;
