//! Collects tool definitions of several sources and writes them for every
//! protocol.
//!
//! Run it with `cargo run -p toolwire --example registry`.

#![allow(clippy::print_stdout, reason = "an example prints")]

use toolwire::registry::{Definition, Registry};
use toolwire::{Options, Protocol};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = Registry::from_json(
        br#"[{"type": "function", "function": {"name": "get_weather"}}, {"type": "web_search"}]"#,
    )?;
    registry
        .add_mcp("crm", br#"{"tools": [{"name": "find", "inputSchema": {"type": "object"}}]}"#)?;
    registry.add(Definition::freeform("run_sql").description("Runs a query"))?;

    for protocol in Protocol::ALL {
        let tools = registry.render(protocol, &Options::new())?;
        println!("{protocol}: {}", String::from_utf8(tools.body)?);
        for entry in tools.ledger {
            println!("  {} ({}): {}", entry.path, entry.code, entry.detail);
        }
    }
    Ok(())
}
