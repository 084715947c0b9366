//! Any text, and any sequence of fragments of all dialects or of one family, reads the same however it
//! is cut, and calls only declared tools with whole arguments.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolwire_laws::recover::{self as laws, Reading};

fuzz_target!(|data: &[u8]| {
    let [size, family, data @ ..] = data else { return };
    let tools = laws::fragment_tools();
    let plain = std::str::from_utf8(data).map(str::to_owned).ok();
    let family = laws::FAMILIES.get(usize::from(*family) % laws::FAMILIES.len());
    let of_family = family.map(|family| laws::fragments_of(family, data));
    for text in plain.into_iter().chain([laws::fragments(data)]).chain(of_family) {
        let size = usize::from(*size) % 64 + 1;
        if let Err(what) = laws::any_pieces_read_the_same(&tools, &text, size) {
            panic!("{what}\n{text:?}");
        }
        let reading = Reading::of(&tools, &text);
        if let Err(what) = laws::calls_are_whole(&["f", "g"], &reading) {
            panic!("{what}\n{text:?}");
        }
    }
});
