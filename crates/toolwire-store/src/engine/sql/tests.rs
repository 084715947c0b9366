//! What the table promises about itself.

/// Proves that parameters first appear in order, which SQLite relies on.
#[test]
fn parameters_appear_in_order() {
    let source = include_str!("../sql.rs");
    let statements = source.split("pub(super) const").skip(1);
    let mut checked = 0;
    for statement in statements {
        let mut last = 0;
        for number in statement.split('$').skip(1) {
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            let Ok(number) = digits.parse::<u32>() else { continue };
            assert!(number <= last + 1, "{statement}");
            last = last.max(number);
            checked += 1;
        }
    }
    assert!(checked > 80, "{checked}");
}

/// Proves that SQLite stops reading lineages when it has found enough, instead of putting all
/// of them in order first.
#[test]
fn pruning_sorts_nothing() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    let tables = "CREATE TABLE toolwire_lineage (key INTEGER PRIMARY KEY, expires INTEGER NOT NULL); CREATE TABLE \
                  toolwire_record (key INTEGER PRIMARY KEY, lineage INTEGER REFERENCES toolwire_lineage (key))";
    connection.execute_batch(tables).unwrap();
    for statement in [super::PRUNED, super::PRUNE] {
        let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
        let steps = explain.query_map([1, 1], |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<_> = steps.map(Result::unwrap).collect();
        assert!(!steps.is_empty() && !steps.join(" ").contains("ORDER BY"), "{steps:?}");
    }
}
