-- How far each append log has moved into the tables: the number of its last entry that has.
CREATE TABLE toolwire_append_log (
    name TEXT PRIMARY KEY,
    applied INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
