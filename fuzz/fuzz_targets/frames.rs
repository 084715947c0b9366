//! Any bytes, cut anywhere, are the same events.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolwire_laws as laws;

fuzz_target!(|data: &[u8]| {
    if let Err(what) = laws::stream::any_cut_frames_the_same(data) {
        panic!("{what}");
    }
});
