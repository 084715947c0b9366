//! What comes before the first words of a stream.

use serde_json::json;
use toolwire::Protocol;

use crate::upstream::{Server, chunk, stream, stream_end, stream_head, whole};
use crate::{at, client, config, fixtures, start};

/// A stream of Messages that opens with what Chat has no place for, as long as `padding`.
fn with_search(padding: usize) -> Vec<String> {
    let named = |data: serde_json::Value| {
        format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
    };
    let mut events = fixtures::events(Protocol::Messages);
    let search = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use",
            "id": "srvtoolu_1", "name": "web_search", "input": {"query": "weather"}}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block":
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{
                "type": "web_search_result", "url": "https://example.com", "title": "Weather",
                "encrypted_content": "x".repeat(padding)}]}}),
        json!({"type": "content_block_stop", "index": 1}),
    ];
    for event in &mut events[1..] {
        *event = event.replace("\"index\":1", "\"index\":3").replace("\"index\":0", "\"index\":2");
    }
    events.splice(1..1, search.map(named));
    events
}

/// However long the opening is, and wherever a step ends in it, all that follows arrives.
#[tokio::test]
async fn a_long_opening_without_words_loses_nothing() {
    for padding in (7000..8600).step_by(40).chain([12_000, 60_000]) {
        let events = with_search(padding);
        let (first, rest) = events.split_at(events.len() - 3);
        let steps =
            vec![stream_head(""), chunk(first.concat()), chunk(rest.concat()), stream_end()];
        let server = Server::new(Protocol::Messages, steps).await;
        let gateway = start(config(vec![at(&server)])).await;
        for to in Protocol::ALL {
            let got = client::ask_for_stream(&gateway, to).await;
            assert_eq!(got.status, 200, "{to}, {padding}: {got:?}");
            for words in ["Let me look.", "get_weather", "Paris", fixtures::end_mark(to)] {
                assert!(got.body.contains(words), "{to}, {padding}: {words} is lost in {got:?}");
            }
        }
    }
}

/// Codex makes a conversation shorter if a stream tells it that the conversation is too long, and
/// gives up if the answer to its request does.
#[tokio::test]
async fn a_conversation_that_is_too_long_is_told_in_the_stream() {
    let speaks = Protocol::Responses;
    let failed = json!({"type": "response.failed", "sequence_number": 1, "response": {"id": "resp_1",
        "object": "response", "created_at": 1, "status": "failed", "model": "m-1", "output": [],
        "error": {"code": "context_length_exceeded", "message": "Too long."}}});
    let mut opening = fixtures::events(Protocol::Responses);
    opening.truncate(1);
    opening.push(format!("event: response.failed\ndata: {failed}\n\n"));
    let openai = json!({"error": {"message": "This model's maximum context length is 8 tokens.",
        "type": "invalid_request_error", "param": null, "code": "context_length_exceeded"}});
    let anthropic = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "prompt is too long: 9 tokens > 8 maximum"}});
    for (from, steps) in [
        (Protocol::Responses, stream(&opening)),
        (Protocol::Chat, whole(400, "", openai.to_string())),
        (Protocol::Messages, whole(400, "", anthropic.to_string())),
    ] {
        let server = Server::new(from, steps).await;
        let gateway = start(config(vec![at(&server)])).await;
        let question = fixtures::question(speaks, true);
        let codex = "originator: codex_exec";
        let path = fixtures::path(speaks);
        let got = client::post(gateway.address(), path, &[codex], &question).await;
        assert_eq!(got.status, 200, "{from}: {got:?}");
        assert_eq!(got.header("content-type"), Some("text/event-stream; charset=utf-8"), "{got:?}");
        let kinds: Vec<_> =
            got.body.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
        assert_eq!(kinds.first(), Some(&"response.created"), "{from}: {got:?}");
        assert_eq!(kinds.last(), Some(&"response.failed"), "{from}: {got:?}");
        assert!(got.body.contains("\"code\":\"context_length_exceeded\""), "{from}: {got:?}");
        // SDKs have an exception for the status.
        assert_eq!(client::ask_for_stream(&gateway, speaks).await.status, 400, "{from}");
        // Who did not ask for a stream gets an error like any other.
        if from != speaks {
            assert_eq!(client::ask(&gateway, speaks).await.status, 400, "{from}");
        }
    }
}
