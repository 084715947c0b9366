use super::*;

fn entry(path: &str, action: Action) -> Entry {
    Entry::new(path, Code::CacheTtl, action).detail("")
}

fn list(request: &[Entry], response: &[Entry], limit: usize) -> String {
    loss_list(request, response, limit).unwrap_or_default()
}

#[test]
fn nothing_to_report() {
    assert_eq!(list(&[], &[], 2048), "");
    assert_eq!(list(&[entry("/a", Action::Emulated)], &[], 2048), "");
}

#[test]
fn members() {
    let mut info = entry("/b", Action::Moved);
    info.level = Level::Info;
    info.code = Code::Only("odd field".to_owned());
    assert_eq!(
        list(&[entry("/a", Action::Dropped), info], &[entry("/c", Action::Renamed)], 2048),
        "\"/a\";code=cache_ttl;action=dropped, \
         \"/b\";code=\"only:odd field\";action=moved;level=info, \
         \"/c\";code=cache_ttl;action=renamed;side=response"
    );
}

#[test]
fn indexes_become_a_star() {
    let entries: Vec<Entry> = (0..50)
        .map(|index| entry(&format!("/tools/{index}/x/0"), Action::Dropped))
        .chain([entry("/tools/y/x/0", Action::Dropped)])
        .collect();
    assert_eq!(
        list(&entries, &[], 2048),
        "\"/tools/*/x/0\";code=cache_ttl;action=dropped, \
         \"/tools/y/x/0\";code=cache_ttl;action=dropped"
    );
}

#[test]
fn entries_beyond_the_limit_are_counted() {
    let entries: Vec<Entry> =
        (0..300).map(|index| entry(&format!("/field{index}"), Action::Dropped)).collect();
    let text = list(&entries, &[], 2048);
    assert!(text.len() <= 2048, "{}", text.len());
    let written = text.matches("code=cache_ttl").count();
    assert!(written > 30);
    assert!(text.ends_with(&format!(", \"\";code=more;count={}", 300 - written)), "{text}");
    assert_eq!(list(&entries, &[], 10), "\"\";code=more;count=300");
}

#[test]
fn strings_are_ascii() {
    assert_eq!(
        list(&[entry("/a\"\\é\n", Action::Dropped)], &[], 2048),
        "\"/a\\\"\\\\%C3%A9%0A\";code=cache_ttl;action=dropped"
    );
}

#[test]
fn what_has_no_entry_is_counted_too() {
    let more = Entry::new("", Code::More(7), Action::Dropped);
    assert_eq!(list(&[], std::slice::from_ref(&more), 2048), "\"\";code=more;count=7");
    assert_eq!(
        list(&[entry("/a", Action::Dropped)], &[more], 2048),
        "\"/a\";code=cache_ttl;action=dropped, \"\";code=more;count=7"
    );
}

/// Many entries that cannot be folded are a document's, so the time must not
/// grow with their square.
#[test]
fn very_many_entries_are_quick() {
    let entries: Vec<Entry> =
        (0..50_000).map(|index| entry(&format!("/a{index}"), Action::Dropped)).collect();
    let started = std::time::Instant::now();
    assert!(list(&entries, &[], 2048).contains("code=more"));
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
}
