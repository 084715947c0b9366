use super::*;

/// Checks that a file is shown as `shown`.
fn check(source: &str, shown: &str) {
    let masked = MaskedSource::new(source);
    assert_eq!(masked.text, shown);
    assert_eq!(masked.text.len(), source.len(), "a place has moved");
}

#[test]
fn a_key_where_only_a_reference_is_allowed() {
    check("key = \"hunter2-hunter2\"\n", "key = \"***************\"\n");
    check("key = 'hunter2-hunter2' # mine\n", "key = '***************' # mine\n");
    check("key = hunter2\nname = \"x\"\n", "key = *******\nname = \"x\"\n");
    check("key = \"hunter2\nname = \"x\"\n", "key = \"*******\nname = \"x\"\n");
    check(
        "keys = [\"hunter2\",\n  \"other pass\"]\nlog = \"text\"",
        "keys = [\"*******\",\n  \"**********\"]\nlog = \"text\"",
    );
    check("key = \"\"\"\nhunter2\n\"\"\"\nlog = 1", "key = \"\"\"\n*******\n\"\"\"\nlog = 1");
    check("key = \"a\\\"b2\"\nlog = \"text\"", "key = \"*****\"\nlog = \"text\"");
}

#[test]
fn the_mistake_is_elsewhere_on_the_line() {
    check(
        "upstream = [{ nmae = \"a\", key = \"hunter2\", models = [\"*\"] }]",
        "upstream = [{ nmae = \"a\", key = \"*******\", models = [\"*\"] }]",
    );
    check("key = { env = \"hunter2\" }", "key = { env = \"*******\" }");
    check("key = { evn = \"hunter2\" }", "key = { evn = \"*******\" }");
    check("key = { env = \"OPENAI_API_KEY\" }", "key = { env = \"OPENAI_API_KEY\" }");
    check("key = { file = \"secrets/openai\" }", "key = { file = \"secrets/openai\" }");
    check("headers = { x-team = \"Red 5\" }", "headers = { x-team = \"*****\" }");
    check(
        "[upstream.headers]\nx = \"Red 5\"\n[alias]\na = \"b\"",
        "[upstream.headers]\nx = \"*****\"\n[alias]\na = \"b\"",
    );
}

#[test]
fn a_key_in_the_wrong_place() {
    check("name = \"sk-abc\"", "name = \"******\"");
    check(
        "base_url = \"https://user:pa55/x@host/v1\"",
        "base_url = \"https://***********@host/v1\"",
    );
    check("base_url = \"https://host/v1?key=abc\"", "base_url = \"https://host/v1?*******\"");
    check("base_url = \"user:pw@host\"", "base_url = \"*******@host\"");
    check("sk-ant-x = 1", "******** = 1");
    check("# key = \"hunter2\"", "# key = \"*******\"");
    check("credential = \"hunter2\"", "credential = \"*******\"");
    check(
        "models = [\"0123456789abcdef0123456789abcdef\"]",
        "models = [\"********************************\"]",
    );
    check("listen = \"AKdd8f9sd8f7SDF87sdf98\"", "listen = \"**********************\"");
}

#[test]
fn ordinary_settings_are_shown() {
    for line in [
        "listen = \"127.0.0.1:8787\"",
        "base_url = \"https://api.anthropic.com/v1beta/openai\"",
        "models = [\"claude-sonnet-5-20260101\", \"gpt-5-2025-08-07\", \"llama-3.3-70b-instruct*\"]",
        "credential = \"client\"",
        "profile = { default_max_tokens = 64_000, legacy_max_tokens = true }",
        "\"gpt-*\" = \"anthropic/claude-sonnet-5\"",
        "timeouts = { total = \"2h\" }",
        "ca = \"/etc/ssl/certs/company-root-certificate-authority.pem\"",
    ] {
        check(line, line);
    }
}

#[test]
fn messages_are_masked_too() {
    let masked = MaskedSource::new("base_url = \"user:hunter2@host\"");
    assert_eq!(
        masked.mask_message("write \"https://user:hunter2@host\"", &(11..30)),
        "write \"https://***@host\""
    );
}

#[test]
fn nothing_is_too_malformed() {
    for source in
        ["", "[", "]]", "{{{", "key=", "key='", "\"\"\"", "\"\\", "# é\nkey = é", "[a.\n=", "=é\"é"]
    {
        assert_eq!(MaskedSource::new(source).text.len(), source.len());
    }
}

#[test]
fn a_long_file_takes_no_longer_than_its_length() {
    let took = |lines: usize| {
        let source = "key = \"hunter2\" # sk-x\n".repeat(lines);
        let runs = (0..5).map(|_| {
            let began = std::time::Instant::now();
            assert!(!MaskedSource::new(&source).text.contains("hunter2"));
            began.elapsed()
        });
        runs.min().unwrap()
    };
    // A cost that grows with the square would be a hundred times as much.
    let (short, long) = (took(2000), took(20_000));
    assert!(long < short * 60, "{short:?} {long:?}");
}

#[test]
fn a_comment_of_many_hashes_needs_no_stack() {
    let source = format!("{} key = \"hunter2\"", "#".repeat(200_000));
    let masked = MaskedSource::new(&source);
    assert!(masked.text.ends_with("# key = \"*******\""));
}

#[test]
fn what_is_nested_too_deep_is_hidden() {
    let source = format!("key = {}{}\n\"hunter2\"", "[".repeat(1000), "]".repeat(500));
    assert!(!MaskedSource::new(&source).text.contains("hunter2"));
}
