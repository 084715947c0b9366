use super::*;

#[test]
fn values_are_what_their_names_say() {
    let long = "x".repeat(5000);
    for (name, value, is_kept) in [
        ("retry-after", "17", true),
        ("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT", true),
        ("retry-after", "17 <script>", false),
        ("retry-after-ms", "1500", true),
        ("x-should-retry", "true", true),
        ("x-should-retry", "yes", false),
        ("x-ratelimit-reset-tokens", "6m0s", true),
        ("x-ratelimit-limit-requests", "{\"key\": 1}", false),
        ("anthropic-ratelimit-tokens-reset", "2026-11-15T13:05:28Z", true),
        ("anthropic-organization-id", "9f1c0c2e-8c9a-4a0e-8f6c-2b0b3f7d9a11", true),
        ("anthropic-organization-id", "a b", false),
        ("toolwire-upstream-request-id", "req_011CVABC", true),
        ("toolwire-upstream-request-id", "Bearer sk-1", false),
        ("openai-processing-ms", "12", true),
        ("x-codex-turn-state", "opaque==/+", true),
        ("x-codex-turn-state", &long, false),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        remove_invalid(&mut headers);
        assert_eq!(!headers.is_empty(), is_kept, "{name}: {value}");
    }
}

#[test]
fn a_flood_of_headers_ends() {
    let mut headers = HeaderMap::new();
    for number in 0..1000 {
        let name = HeaderName::try_from(format!("x-ratelimit-{number}")).unwrap();
        headers.insert(name, HeaderValue::from_static("1"));
    }
    remove_invalid(&mut headers);
    assert_eq!(headers.len(), MAX_HEADERS);
}
