-- One index instead of two, because every index that a write changes is a page of the
-- log more. It finds whether a part is still needed, and among the records of each part
-- (and of none) those that are alone and have expired.
DROP INDEX toolwire_record_expires;
DROP INDEX toolwire_record_shared;
CREATE INDEX toolwire_record_shared ON toolwire_record (shared, lineage, expires);
