//! Server-sent events, read independently of the library.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: Option<String>,
    pub(super) data: String,
}

/// Whether a body is server-sent events.
pub(super) fn is_stream(body: &[u8]) -> bool {
    let starts = ["data:", "event:", ":", "id:", "retry:"];
    let body = body.trim_ascii_start();
    starts.iter().any(|start| body.starts_with(start.as_bytes()))
}

/// The events of a stream that have data. One that is not ended by an empty line is kept too:
/// recorders trim.
pub(super) fn events(body: &[u8]) -> Vec<Event> {
    let text = str::from_utf8(body).unwrap_or_default();
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut found = Vec::new();
    for block in text.split("\n\n") {
        let mut event = Event::default();
        let mut data = Vec::new();
        for line in block.lines() {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => event.name = Some(value.to_owned()),
                "data" => data.push(value),
                _ => {}
            }
        }
        if !data.is_empty() {
            event.data = data.join("\n");
            found.push(event);
        }
    }
    found
}
