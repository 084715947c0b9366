-- Until the database has counted its rows, it takes an index of the tenant and the kind
-- alone for as good as the one that has the id, and would read everything that a tenant has
-- to find one response. So only the list of threads is found that way. What was added up
-- with the help of that index is in the other one.
CREATE UNIQUE INDEX toolwire_record_id ON toolwire_record (tenant, kind, id) INCLUDE (bytes);
ALTER TABLE toolwire_record DROP CONSTRAINT toolwire_record_tenant_kind_id_key;
DROP INDEX toolwire_record_list;
CREATE INDEX toolwire_record_list ON toolwire_record (tenant, kind, key) WHERE kind <> 'response';
