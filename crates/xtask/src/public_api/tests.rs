use super::*;

#[test]
fn a_declaration_is_one_line() {
    let source = "pub fn request(\n    from: Protocol,\n    /// Why.\n    body: &[u8],\n) -> Error";
    assert_eq!(one_line(source), "pub fn request(from: Protocol, body: &[u8]) -> Error");
    assert_eq!(
        one_line("#[error(\"x\")]\nInvalid {\n    id: String,\n},"),
        "Invalid { id: String, }"
    );
}

#[test]
fn the_source_between_two_places() {
    let lines = ["one two".to_owned(), "three".to_owned(), "four".to_owned()];
    assert_eq!(between(&lines, (1, 5), (1, 7)), "two\n");
    assert_eq!(between(&lines, (1, 5), (3, 2)), "two\nthree\nfo\n");
}

#[test]
fn a_difference_names_what_came_and_what_went() {
    assert_eq!(difference("a\nb\n", "a\nb\n"), Vec::<String>::new());
    assert_eq!(difference("a\nb\n", "b\nc\n"), ["- a", "+ c"]);
}

#[test]
fn hidden_items_are_not_described_and_reexports_are() {
    let document = serde_json::json!({"root": 0, "paths": {}, "index": {
        "0": {"name": "toolwire", "attrs": [], "inner": {"module": {"items": [1, 3, 4]}}},
        "1": {"name": "model", "attrs": [{"other": "#[doc(hidden)]"}],
              "inner": {"module": {"items": [2]}}},
        "2": {"name": "Usage", "attrs": ["#[non_exhaustive]"], "span": {"filename": "usage.rs", "begin": [1, 1], "end": [3, 1]},
              "inner": {"struct": {"kind": {"plain": {"fields": []}}, "impls": [5]}}},
        "3": {"name": null, "attrs": [],
              "inner": {"use": {"source": "model::Usage", "name": "Usage", "id": 2}}},
        "4": {"name": null, "attrs": [{"other": "#[doc(hidden)]"}],
              "inner": {"use": {"source": "model::Usage", "name": "Secret", "id": 2}}},
        "5": {"name": null, "attrs": [], "inner": {"impl": {"for": {"resolved_path": {"id": 2}}, "trait": {"path": "Clone", "id": 9},
              "is_negative": false, "blanket_impl": null, "items": []}}},
    }});
    let mut api = Api { document, sources: Sources::default() };
    let source = ["pub struct Usage {", "    pub input: u64,", "}"].map(str::to_owned).to_vec();
    api.sources.files.insert("usage.rs".to_owned(), source);
    let expected = "toolwire::Usage: #[non_exhaustive] pub struct Usage\n\
                    toolwire::Usage: impl Clone\n";
    assert_eq!(api.describe().unwrap(), expected);
}
