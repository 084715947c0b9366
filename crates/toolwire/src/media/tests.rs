use super::name_with_ending;
use crate::wire::Str;

#[test]
fn names_get_the_ending_of_their_type() {
    for (name, media, expected) in [
        ("Q3 report", "application/pdf", Some("Q3 report.pdf")),
        ("Report v1.2", "application/pdf", Some("Report v1.2.pdf")),
        ("Dr. Who", "text/plain", Some("Dr. Who.txt")),
        ("Q3.pdf", "application/pdf", None),
        ("Q3.PDF", "application/pdf", None),
        ("notes.txt", "application/pdf", None),
        ("a.mp4", "application/pdf", None),
        ("", "application/pdf", None),
        ("Report", "application/x-unknown", None),
    ] {
        let found = name_with_ending(&Str::plain(name), &Str::plain(media));
        assert_eq!(found.as_deref(), expected, "{name}");
    }
}
