//! Any bytes as a request of any protocol keep every law of requests.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolwire::Protocol;
use toolwire_laws as laws;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for from in Protocol::ALL {
        for law in [
            laws::nothing_is_lost_in_silence,
            laws::only_foreign_reasoning_is_cut,
            laws::the_same_bytes_every_time,
        ] {
            if let Err(what) = law(from, text) {
                panic!("{from}: {what}");
            }
        }
    }
});
