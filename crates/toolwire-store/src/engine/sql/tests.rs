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
