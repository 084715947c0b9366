//! Ten times the text takes ten times as long, whatever the text.

use toolwire_laws::growth::Growth;

use crate::Tokenizer;

#[test]
fn counting_is_linear() {
    for model in ["gpt-5", "gpt-4"] {
        let tokenizer = Tokenizer::for_model(model);
        tokenizer.count("unpack the vocabulary first");
        for unit in ["a", "A", "=", " ", "\n ", "漢", "Aa", "λA", "\u{301}", "12", "'s", "! \n/"]
        {
            let growth = Growth::of(
                6_000,
                |size| unit.repeat(size / unit.len()),
                |text| {
                    tokenizer.count(text);
                },
            );
            assert!(!growth.is_over(), "{model}, {unit:?}: {growth}");
        }
    }
}
