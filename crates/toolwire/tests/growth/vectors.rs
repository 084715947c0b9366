//! The inputs of the vectors.

use std::fs;
use std::path::Path;

use serde_json::Value;
use toolwire::Protocol;

/// One input.
pub(crate) struct Vector {
    /// The folder's name.
    pub(crate) name: String,
    pub(crate) protocol: Protocol,
    pub(crate) bytes: Vec<u8>,
}

/// The inputs of a kind, in the order of their names.
pub(crate) fn all(kind: &str) -> Vec<Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(kind);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        for protocol in Protocol::ALL {
            for end in ["json", "sse"] {
                if let Ok(bytes) = fs::read(folder.join(format!("in.{protocol}.{end}"))) {
                    found.push(Vector { name: name.clone(), protocol, bytes });
                }
            }
        }
    }
    found.sort_by(|a, b| (&a.name, a.protocol.as_str()).cmp(&(&b.name, b.protocol.as_str())));
    found
}

/// The events of a stream, each with its name and its data.
pub(crate) fn events(bytes: &[u8]) -> Vec<(Option<String>, Data)> {
    let text = std::str::from_utf8(bytes).unwrap_or_default().replace("\r\n", "\n");
    let event = |block: &str| {
        let field = |name: &str| {
            let lines = block.lines().filter_map(|line| line.strip_prefix(name));
            let values = lines.map(|value| value.strip_prefix(' ').unwrap_or(value));
            values.collect::<Vec<_>>().join("\n")
        };
        let name = Some(field("event:")).filter(|name| !name.is_empty());
        let data = field("data:");
        let data = serde_json::from_str(&data).map_or(Data::Text(data), Data::Json);
        (name, data)
    };
    text.split("\n\n").filter(|block| block.contains("data:")).map(event).collect()
}

/// What an event says.
#[derive(Clone)]
pub(crate) enum Data {
    Json(Value),
    Text(String),
}

/// Writes an event.
pub(crate) fn write_event(name: Option<&str>, data: &Data, out: &mut Vec<u8>) {
    if let Some(name) = name {
        out.extend_from_slice(format!("event: {name}\n").as_bytes());
    }
    out.extend_from_slice(b"data: ");
    match data {
        Data::Json(value) => serde_json::to_writer(&mut *out, value).unwrap(),
        Data::Text(text) => out.extend_from_slice(text.as_bytes()),
    }
    out.extend_from_slice(b"\n\n");
}
