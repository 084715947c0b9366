//! How fast tokens are counted: `cargo bench -p toolwire-tokens`.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use toolwire_tokens::Tokenizer;

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn main() {
    for (name, model) in [("o200k_base", "gpt-5"), ("cl100k_base", "gpt-4")] {
        let first = cost(|| Tokenizer::for_model(model).count("x"));
        println!("{name} is unpacked in {:.1} ms", first.as_secs_f64() * 1e3);
    }
    println!("{:<28} {:>12} {:>12} {:>12}", "text", "KB", "o200k MB/s", "cl100k MB/s");
    for (name, text) in texts() {
        let speed = |model| megabytes_per_second(&text, Tokenizer::for_model(model));
        let (o200k, cl100k) = (speed("gpt-5"), speed("gpt-4"));
        println!("{name:<28} {:>12} {o200k:>12.1} {cl100k:>12.1}", text.len() / 1000);
    }
}

fn texts() -> Vec<(&'static str, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let prose = read("ARCHITECTURE.md") + &read("CONTRIBUTING.md") + &read("docs/gateway.md");
    let code = read("crates/toolwire/src/translate.rs") + &read("crates/toolwire/src/pipe.rs");
    let mut digits = String::new();
    let mut state = 7u64;
    while digits.len() < 100_000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        digits.push_str(&format!("{state:x}"));
    }
    let letters = digits.bytes().cycle().zip(0u64..400_000).map(|(byte, place)| {
        char::from(b'a' + (u64::from(byte).wrapping_mul(31).wrapping_add(place * place) % 26) as u8)
    });
    let letters = letters.collect();
    vec![
        ("prose: documents", prose.repeat(8)),
        ("code: Rust", code.repeat(16)),
        ("data: Cargo.lock", read("Cargo.lock").repeat(8)),
        ("Chinese", "请把下面的文章翻译成英文，然后用三句话总结它的主要内容。".repeat(4_000)),
        ("Russian", "Пожалуйста, переведи следующий текст на английский язык. ".repeat(4_000)),
        ("hexadecimal digits", digits),
        ("letters at random", letters),
        ("one letter", "a".repeat(400_000)),
        ("spaces", " ".repeat(400_000)),
    ]
}

fn megabytes_per_second(text: &str, tokenizer: Tokenizer) -> f64 {
    let mut fastest = Duration::MAX;
    for _ in 0..5 {
        fastest = fastest.min(cost(|| tokenizer.count(black_box(text))));
    }
    text.len() as f64 / 1e6 / fastest.as_secs_f64()
}

/// The time that this thread has spent on the processor for `run`.
fn cost(run: impl FnOnce() -> u64) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let before = now();
    black_box(run());
    now() - before
}
