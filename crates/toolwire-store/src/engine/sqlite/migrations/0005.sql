-- Where a response's body lacks the output, which is among its items (`packed`). Bodies that
-- are there stay whole.
ALTER TABLE toolwire_record ADD COLUMN output_at INTEGER;
