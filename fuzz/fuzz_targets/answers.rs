//! Any bytes as an answer, an error or a list of tools come out readable, and as an answer where a
//! stream was asked for they are a stream with one ending.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolwire::Protocol;
use toolwire_laws as laws;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for from in Protocol::ALL {
        if let Err(what) = laws::answers_are_readable(from, text) {
            panic!("{from}: {what}");
        }
        if let Err(what) = laws::stream::a_whole_answer_ends_once(from, text) {
            panic!("{from}: {what}");
        }
    }
});
