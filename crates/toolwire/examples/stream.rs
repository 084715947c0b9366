//! Translates a stream while it arrives, whatever the sizes of its pieces.
//!
//! Run it with `cargo run -p toolwire --example stream`.

#![allow(clippy::print_stdout, reason = "an example prints")]

use toolwire::{Options, Pipe, Protocol};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let upstream = concat!(
        r#"data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}]}"#,
        "\n\n",
        r#"data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"lo"}}]}"#,
        "\n\n",
        r#"data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        "\n\ndata: [DONE]\n\n",
    );

    let mut pipe = Pipe::new(Protocol::Chat, Protocol::Messages, &Options::new())?;
    let mut out = Vec::new();
    for piece in upstream.as_bytes().chunks(50) {
        pipe.push(piece, &mut out);
        // Send `out` to the client here.
        print!("{}", std::str::from_utf8(&out)?);
        out.clear();
    }
    // If the upstream had stopped early, this would write an error for the client.
    pipe.finish(&mut out);
    print!("{}", std::str::from_utf8(&out)?);

    println!("complete: {}", pipe.summary().complete);
    Ok(())
}
