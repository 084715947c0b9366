//! Any bytes as the stream of an upstream, to every client: the same however they are cut, one
//! ending, and a stream that the client's own protocol reads.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolwire::Protocol;
use toolwire_laws as laws;

fuzz_target!(|data: &[u8]| {
    for from in Protocol::ALL {
        for to in Protocol::ALL {
            if let Err(what) = laws::stream::one_ending(from, to, data) {
                panic!("{from} to {to}: {what}");
            }
        }
    }
});
