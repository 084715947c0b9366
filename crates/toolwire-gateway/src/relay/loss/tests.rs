use toolwire::Code;

use super::*;

fn entry(path: &str, action: Action) -> Entry {
    Entry::new(path, Code::CacheTtl, action).detail("")
}

fn header(request: &[Entry], response: &[Entry], limit: usize) -> String {
    let mut headers = HeaderMap::new();
    write_header(request, response, limit, &mut headers);
    headers.get(LOSS_HEADER).map_or(String::new(), |value| value.to_str().unwrap().to_owned())
}

#[test]
fn nothing_to_report() {
    assert_eq!(header(&[], &[], 2048), "");
    assert_eq!(header(&[entry("/a", Action::Emulated)], &[], 2048), "");
}

#[test]
fn members() {
    let mut info = entry("/b", Action::Moved);
    info.level = Level::Info;
    info.code = Code::Only("odd field".to_owned());
    assert_eq!(
        header(&[entry("/a", Action::Dropped), info], &[entry("/c", Action::Renamed)], 2048),
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
        header(&entries, &[], 2048),
        "\"/tools/*/x/0\";code=cache_ttl;action=dropped, \
         \"/tools/y/x/0\";code=cache_ttl;action=dropped"
    );
}

#[test]
fn entries_beyond_the_limit_are_counted() {
    let entries: Vec<Entry> =
        (0..300).map(|index| entry(&format!("/field{index}"), Action::Dropped)).collect();
    let text = header(&entries, &[], 2048);
    assert!(text.len() <= 2048, "{}", text.len());
    let written = text.matches("code=cache_ttl").count();
    assert!(written > 30);
    assert!(text.ends_with(&format!(", \"\";code=more;count={}", 300 - written)), "{text}");
    assert_eq!(header(&entries, &[], 10), "\"\";code=more;count=300");
}

#[test]
fn strings_are_ascii() {
    assert_eq!(
        header(&[entry("/a\"\\é\n", Action::Dropped)], &[], 2048),
        "\"/a\\\"\\\\%C3%A9%0A\";code=cache_ttl;action=dropped"
    );
}
