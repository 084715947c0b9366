//! What a stream says of itself is the same whether its bytes pass or are
//! translated.

use toolwire::Protocol;

use super::{pipe, recorded};

#[test]
fn a_stream_that_passes_is_summed_up_like_one_that_is_translated() {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for stream in recorded() {
        let told = stream.folder.display();
        let summary = |to| {
            let mut pipe = pipe(stream.from, to, None);
            let mut out = Vec::new();
            pipe.push(&stream.bytes, &mut out);
            pipe.finish(&mut out);
            let summary = pipe.summary();
            let usage = summary.usage.as_ref().map(|usage| (usage.input, usage.output));
            summary.complete.then_some((summary.stop, summary.calls, usage, summary.has_content))
        };
        let passed = summary(stream.from);
        for to in Protocol::ALL.into_iter().filter(|to| *to != stream.from) {
            let translated = summary(to);
            if let (Some(passed), Some(translated)) = (passed, translated) {
                compared += 1;
                if passed != translated || passed.0.is_none() {
                    wrong.push(format!("{told} to {to}: {passed:?} {translated:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 100, "{compared}");
}
