use hyper::header::HeaderName;
use toolwire::Protocol::{self, Chat, Messages, Responses};

use super::*;
use crate::config::Secret;

fn headers(lines: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        let name: HeaderName = name.parse().unwrap();
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

fn lines(headers: &HeaderMap) -> Vec<(&str, &str)> {
    let line = |(name, value)| {
        let (name, value): (&HeaderName, &HeaderValue) = (name, value);
        (name.as_str(), value.to_str().unwrap())
    };
    headers.iter().map(line).collect()
}

/// Headers that a client of any protocol may send.
const CLIENT_HEADERS: &[(&str, &str)] = &[
    ("anthropic-beta", "context-1m-2025-08-07, interleaved-thinking-2025-05-14"),
    ("anthropic-beta", "context-1m-2025-08-07,brand-new-2027-01-01"),
    ("openai-beta", "responses=experimental,unheard=v9"),
    ("openai-organization", "org-1"),
    ("openai-project", "proj-1"),
    ("anthropic-workspace-id", "wrkspc-1"),
    ("anthropic-user-profile-id", "profile-1"),
    ("cookie", "session=1"),
];

#[test]
fn each_header_is_sent_to_its_vendor_and_reported_otherwise() {
    let key = Credential::Key(Secret::new("key".to_owned()));
    let anthropic = [
        ("anthropic-beta: context-1m-2025-08-07", Level::Loss),
        ("anthropic-beta: interleaved-thinking-2025-05-14", Level::Info),
        ("anthropic-beta: brand-new-2027-01-01", Level::Loss),
    ];
    let openai = [
        ("openai-beta: responses=experimental", Level::Info),
        ("openai-beta: unheard=v9", Level::Loss),
    ];
    let at_anthropic =
        [("anthropic-user-profile-id", Level::Info), ("anthropic-workspace-id", Level::Info)];
    let at_openai = [("openai-organization", Level::Info), ("openai-project", Level::Info)];
    let of_anthropic = [&anthropic[..], &at_anthropic].concat();
    let of_openai = [&openai[..], &at_openai].concat();
    let accounts = |mut others: Vec<_>| {
        others.extend(at_openai);
        others
    };
    for (to, credential, carried, reported) in [
        (Messages, &key, &[0, 1][..], [&at_anthropic[..], &of_openai].concat()),
        (Messages, &Credential::None, &[0, 1], [&at_anthropic[..], &of_openai].concat()),
        (Messages, &Credential::Client, &[0, 1, 5, 6], of_openai.clone()),
        (Chat, &key, &[2], accounts(of_anthropic.clone())),
        (Responses, &key, &[2], accounts(of_anthropic.clone())),
        (Chat, &Credential::None, &[2], accounts(of_anthropic.clone())),
        (Chat, &Credential::Client, &[2, 3, 4], of_anthropic.clone()),
        (Responses, &Credential::Client, &[2, 3, 4], of_anthropic.clone()),
    ] {
        let client_headers = headers(CLIENT_HEADERS);
        let mut sent = HeaderMap::new();
        let names = VendorNames::of(to.describe().vendor);
        let is_copied = |name: &HeaderName| is_supported(name, &names, credential);
        crate::relay::headers::copy(&client_headers, is_copied, &mut sent);
        let want: Vec<_> = carried.iter().map(|index| CLIENT_HEADERS[*index]).collect();
        assert_eq!(lines(&sent), want, "{to} {credential:?}");
        let entries = lost(&client_headers, to.describe().vendor, credential);
        let got: Vec<_> = entries.iter().map(|entry| (entry.path.as_str(), entry.level)).collect();
        assert_eq!(got, reported, "{to} {credential:?}");
        assert!(entries.iter().all(|entry| entry.action == Action::Dropped));
    }
}

#[test]
fn headers_that_were_not_sent_are_not_reported() {
    for to in Protocol::ALL {
        assert_eq!(lost(&headers(&[("cookie", "x")]), to.describe().vendor, &Credential::None), []);
    }
}

#[test]
fn an_unreadable_header_is_reported_by_its_name() {
    let client_headers = headers(&[("anthropic-beta", "é")]);
    let entries = lost(&client_headers, Chat.describe().vendor, &Credential::None);
    let [entry] = &entries[..] else { panic!("one line") };
    assert_eq!((entry.path.as_str(), entry.level), ("anthropic-beta", Level::Loss));
    assert_eq!(entry.code.to_string(), "only:anthropic-beta");
}

#[test]
fn lists_are_merged() {
    for (before, more, after) in [
        (&[][..], "a,b", Some(&["a,b"][..])),
        (&["a"], "b", Some(&["a,b"])),
        (&["a, b"], "b", Some(&["a, b"])),
        (&["a", "b"], " b , c,,c", Some(&["a,b,c"])),
        (&["é"], "a", None),
    ] {
        let before: Vec<_> = before.iter().map(|value| ("anthropic-beta", *value)).collect();
        let mut merged = headers(&before);
        let done = append_to_list("anthropic-beta", more, &mut merged);
        assert_eq!(done.is_some(), after.is_some());
        if let Some(after) = after {
            let after: Vec<_> = after.iter().map(|value| ("anthropic-beta", *value)).collect();
            assert_eq!(lines(&merged), after);
        }
    }
    for name in ["openai-organization", "x-team"] {
        let mut other = HeaderMap::new();
        assert_eq!(append_to_list(name, "a", &mut other), None);
        assert!(other.is_empty());
    }
}

#[test]
fn betas_have_a_name_before_their_date() {
    for (beta, name) in [
        ("context-1m-2025-08-07", "context-1m"),
        ("claude-code-20250219", "claude-code"),
        ("mid-conversation-system-clear-at-2026-08-21", "mid-conversation-system-clear-at"),
        ("responses=v1", "responses"),
        ("2025", ""),
    ] {
        assert_eq!(without_date(beta), name);
    }
}

#[test]
fn many_features_are_counted() {
    let key = Credential::Key(Secret::new("key".to_owned()));
    let list: Vec<String> = (0..20_000).map(|number| format!("f{number}x")).collect();
    let twice = [list.join(","), list.join(",")];
    let sent = headers(&[("anthropic-beta", &twice[0]), ("anthropic-beta", &twice[1])]);
    let started = std::time::Instant::now();
    let lost = lost(&sent, Chat.describe().vendor, &key);
    // Comparing each with each takes more than a minute here.
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
    assert_eq!(lost.len(), MOST_LISTED + 1);
    let more = lost.last().unwrap();
    assert_eq!(more.code, Code::More(20_000 - MOST_LISTED));
    assert!(more.is_loss());
}

#[test]
fn a_long_feature_is_not_repeated() {
    let key = Credential::Key(Secret::new("key".to_owned()));
    let sent = headers(&[("anthropic-beta", &"x".repeat(60_000))]);
    let lost = lost(&sent, Chat.describe().vendor, &key);
    assert!(lost.iter().all(|entry| entry.path.len() < 200));
}
