//! Unique texts in every secret and in all content, over every fault, in every
//! place where they must not turn up (R-8, T-23).

use std::fmt::Write;

use toolwire::Protocol;
use toolwire_gateway::config::{Credential, LogFormat, Secret};

use crate::log::logging;
use crate::upstream::{Server, Step, chunk, stream, stream_end, stream_head, whole};
use crate::{at, client, config, fixtures, pairs};

/// Numbered texts that occur nowhere else.
#[derive(Default)]
struct Canaries {
    secrets: Vec<String>,
    content: Vec<String>,
}

impl Canaries {
    fn secret(&mut self) -> String {
        let text = format!("Zsecret{:03}-kx9q2", self.secrets.len());
        self.secrets.push(text.clone());
        text
    }

    fn content(&mut self) -> String {
        let text = format!("Zcontent{:03}wv7j4", self.content.len());
        self.content.push(text.clone());
        text
    }
}

/// A request that has content wherever its protocol has room for it.
fn question(protocol: Protocol, streams: bool, canaries: &mut Canaries) -> String {
    let mut template = match protocol {
        Protocol::Chat => r#"{"model":"m","stream":STREAM,"user":"@","metadata":{"k":"@"},"stop":["@"],"safety_identifier":"@","prompt_cache_key":"@",
            "response_format":{"type":"json_schema","json_schema":{"name":"@","schema":{"type":"object","description":"@"}}},
            "messages":[{"role":"system","content":"@"},{"role":"developer","content":"@"},
            {"role":"user","name":"@","content":[{"type":"text","text":"@"},{"type":"image_url","image_url":{"url":"https://example.com/@.png"}},
            {"type":"file","file":{"filename":"@.pdf","file_data":"data:application/pdf;base64,@"}},{"type":"input_audio","input_audio":{"data":"@","format":"wav"}}]},
            {"role":"assistant","content":"@","refusal":"@","tool_calls":[{"id":"@","type":"function","function":{"name":"@","arguments":"{\"x\":\"@\"}"}}]},
            {"role":"tool","tool_call_id":"unknown-@","content":"@"},{"role":"function","name":"@","content":"@"},{"role":"user","content":"@"}],
            "tools":[{"type":"function","function":{"name":"@","description":"@","parameters":{"type":"object","properties":{"p":{"type":"string","description":"@","enum":["@"]}}}}}],
            "tool_choice":{"type":"function","function":{"name":"@"}},"prediction":{"type":"content","content":"@"},"unknown_field":{"deep":"@"}}"#,
        Protocol::Responses => r#"{"model":"m","stream":STREAM,"instructions":"@","user":"@","metadata":{"k":"@"},"safety_identifier":"@","prompt_cache_key":"@","previous_response_id":"@",
            "text":{"format":{"type":"json_schema","name":"@","schema":{"type":"object","description":"@"}}},
            "input":[{"role":"developer","content":"@"},{"role":"user","content":[{"type":"input_text","text":"@"},{"type":"input_image","image_url":"https://example.com/@.png"},
            {"type":"input_file","filename":"@.pdf","file_data":"data:application/pdf;base64,@"}]},
            {"type":"message","role":"assistant","id":"@","status":"completed","content":[{"type":"output_text","text":"@","annotations":[]}]},
            {"type":"reasoning","id":"@","summary":[{"type":"summary_text","text":"@"}],"encrypted_content":"@"},
            {"type":"function_call","id":"@","call_id":"@","name":"@","arguments":"{\"x\":\"@\"}"},{"type":"function_call_output","call_id":"other-@","output":"@"},
            {"type":"web_search_call","id":"@","status":"completed","action":{"type":"search","query":"@"}},{"type":"unknown_item","text":"@"},{"role":"user","content":"@"}],
            "tools":[{"type":"function","name":"@","description":"@","strict":false,"parameters":{"type":"object","properties":{"p":{"type":"string","description":"@"}}}},
            {"type":"mcp","server_label":"@","server_url":"https://example.com/@","authorization":"@"}],"unknown_field":{"deep":"@"}}"#,
        Protocol::Messages => r#"{"model":"m","stream":STREAM,"max_tokens":100,"system":[{"type":"text","text":"@"}],"metadata":{"user_id":"@"},"stop_sequences":["@"],"container":"@",
            "messages":[{"role":"user","content":[{"type":"text","text":"@"},{"type":"image","source":{"type":"url","url":"https://example.com/@.png"}},
            {"type":"document","title":"@","context":"@","source":{"type":"text","media_type":"text/plain","data":"@"}}]},
            {"role":"assistant","content":[{"type":"thinking","thinking":"@","signature":"@"},{"type":"redacted_thinking","data":"@"},{"type":"text","text":"@"},{"type":"tool_use","id":"@","name":"@","input":{"x":"@"}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"other-@","content":[{"type":"text","text":"@"}],"is_error":true},{"type":"text","text":"@"}]}],
            "mcp_servers":[{"type":"url","url":"https://example.com/@","name":"@","authorization_token":"@"}],
            "tools":[{"name":"@","description":"@","input_examples":[{"p":"@"}],"input_schema":{"type":"object","properties":{"p":{"type":"string","description":"@"}}}}],"unknown_field":{"deep":"@"}}"#,
        other => panic!("not a built-in protocol: {other:?}"),
    }
    .replace("STREAM", if streams { "true" } else { "false" });
    while template.contains('@') {
        template = template.replacen('@', &canaries.content(), 1);
    }
    template
}

/// What an upstream does: it answers, or fails in one of many ways, and quotes
/// what it was sent.
fn fault(number: usize, from: Protocol, quoted: &str, said: &str) -> Vec<Step> {
    let error = |message: &str| fixtures::error(from, "server_error", message);
    let headers = format!("x-request-id: {quoted}\r\nserver: {quoted}\r\nx-debug: {said}\r\n");
    let quote = format!("{said}: key {quoted} is wrong");
    let events: Vec<String> = fixtures::events(from)
        .iter()
        .map(|event| event.replace("Let me look.", said).replace("Paris", said))
        .collect();
    let cut = |events: &[String], last: Step| {
        let mut steps = vec![stream_head(&headers)];
        steps.extend(events.iter().map(chunk));
        steps.extend([last, Step::Close]);
        steps
    };
    match number {
        0 => whole(200, &headers, fixtures::answer(from).replace("Let me look.", said)),
        1 => stream(&events),
        2 => whole(400, &headers, error(&quote)),
        3 => whole(401, &headers, error(&quote)),
        4 => whole(500, &headers, quote),
        5 => whole(200, &headers, error(&quote)),
        6 => whole(200, &headers, format!("{{\"{quote}\":")),
        7 => cut(&events[..events.len() / 2], stream_end()),
        8 => cut(&events[..events.len() / 2], Step::Close),
        9 => cut(&events[..3], chunk(format!("data: {{\"{quote}\n\n"))),
        10 => cut(&events[..3], chunk(format!("data: {}\n\n", error(&quote)))),
        11 => cut(&[], chunk(format!("data: {}\n\n", error(&quote)))),
        12 => vec![
            Step::Send(format!("HTTP/1.1 200 {quoted}\r\nx: {said}").into_bytes()),
            Step::Close,
        ],
        _none => vec![Step::Close],
    }
}

const FAULTS: usize = 14;

/// Proves that no secret and no content is in a log of either format, in the
/// metrics or in a header, and that no secret is in an error, whatever a client
/// sends and however an upstream fails.
#[tokio::test]
async fn nothing_leaks() {
    for format in [LogFormat::Text, LogFormat::Json] {
        for (to, from) in pairs() {
            let mut canaries = Canaries::default();
            let [client_key, admin_key, upstream_key, header] =
                std::array::from_fn(|_| canaries.secret());
            let said = canaries.content();
            let (quoted, answer) = (upstream_key.clone(), said.clone());
            let server = Server::scripted(from, move |number, _| {
                fault(number / 2 % FAULTS, from, &quoted, &answer)
            })
            .await;
            let mut upstream = at(&server);
            upstream.credential = Credential::Key(Secret::new(upstream_key));
            upstream.headers = vec![("x-team-token".to_owned(), Secret::new(header))];
            let mut config = config(vec![upstream]);
            config.keys = vec![Secret::new(client_key.clone())];
            config.admin_key = Some(Secret::new(admin_key.clone()));
            config.retry.eject_after = u32::MAX;
            config.limits.event = 100_000;
            let (gateway, lines) = logging(config, format).await;
            let address = gateway.address();
            let key = format!("x-api-key: {client_key}");
            let mut more = Vec::new();
            for name in ["authorization: Bearer", "cookie: a=", "idempotency-key:", "x-codex-turn:"]
            {
                more.push(format!("{name} {}", canaries.secret()));
            }
            for name in ["user-agent:", "x-forwarded-for:", "referer: https://", "x-title:"] {
                more.push(format!("{name}{}", canaries.content()));
            }
            let mut headers: Vec<&str> = vec![&key];
            headers.extend(more.iter().map(String::as_str));
            let mut seen = String::new();
            for number in 0..2 * FAULTS {
                let body = question(to, number % 2 == 1, &mut canaries);
                let path = format!("{}?key={}", fixtures::path(to), canaries.secret());
                let got = client::post(address, &path, &headers, &body).await;
                let _ = writeln!(seen, "{}", got.head);
                if got.status >= 400 {
                    let _ = writeln!(seen, "{}", got.body);
                }
                for secret in &canaries.secrets {
                    assert!(!got.body.contains(secret), "{secret} {got:?}");
                }
            }
            for (path, header) in [
                (format!("/v1/{}", canaries.content()), key.clone()),
                (format!("/v1/models/{}", canaries.content()), key.clone()),
                ("/v1/models".to_owned(), format!("x-api-key: {}", canaries.secret())),
                ("/v1/models".to_owned(), format!("authorization: Basic {}", canaries.secret())),
                ("/metrics".to_owned(), key.clone()),
                ("/admin/reload".to_owned(), format!("x-api-key: {admin_key}")),
            ] {
                let got = client::get(address, &path, &[&header]).await;
                if !path.starts_with("/v1/models/") {
                    let _ = writeln!(seen, "{} {}", got.head, got.body);
                }
            }
            drop(gateway);
            for _ in 0..100 {
                tokio::time::sleep(crate::ms(20)).await;
                if lines.text().lines().count() >= 2 * FAULTS {
                    break;
                }
            }
            let log = lines.text();
            assert!(log.lines().count() >= 2 * FAULTS, "{log}");
            assert!(canaries.secrets.len() + canaries.content.len() >= 40);
            for canary in canaries.secrets.iter().chain(&canaries.content) {
                assert!(!log.contains(canary.as_str()), "{to} {from} {canary} in {log}");
            }
            for secret in &canaries.secrets {
                assert!(!seen.contains(secret.as_str()), "{to} {from} {secret} in {seen}");
            }
        }
    }
}
