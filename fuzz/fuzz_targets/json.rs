//! The reader accepts what serde_json accepts, and nothing else.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolwire::wire::Raw;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let ours = Raw::parse(text);
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(_) => assert!(ours.is_ok(), "{ours:?}"),
        // A value of its own makes serde_json refuse half characters and
        // numbers out of range, which a value that is only copied may hold.
        Err(theirs) if theirs.to_string().contains("out of range") || text.contains("\\u") => {}
        Err(theirs) => assert!(ours.is_err(), "{theirs}"),
    }
});
