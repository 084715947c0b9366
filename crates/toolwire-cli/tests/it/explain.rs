//! `--explain`: the ledger as a table.
