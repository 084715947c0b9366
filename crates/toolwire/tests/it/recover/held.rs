//! How much text is held back.

use toolwire::recover::{Detector, Event};

use super::dialects::tools;

/// The most bytes that were held back while a text arrived byte by byte.
fn most_held(text: &str) -> usize {
    let (mut passed, mut arrived, mut most) = (0, 0, 0);
    let mut detector = Detector::new(tools());
    for c in text.chars() {
        arrived += c.len_utf8();
        detector.push(c.encode_utf8(&mut [0; 4]), &mut |event: Event<'_>| {
            if let Event::Text(piece) | Event::Reasoning(piece) = event {
                passed += piece.len();
            }
        });
        most = most.max(arrived - passed);
    }
    most
}

#[test]
fn at_most_40_bytes_of_text_are_held_back() {
    for text in [
        "If a < b and b <c, or x<y, then <d and nothing else is said about it at all, is it?",
        "See <a href=\"https://example.com/a/very/long/address/indeed\">the page</a> or <br/> this.",
        "<div class=\"a b c d e f\" id=\"of-some-element-on-a-page\">Text</div> with <!-- a comment -->.",
        "A list: [one], [two](https://example.com/a/very/long/address), [ ] open, [x] done, arr[i][j].",
        "[Links](https://example.com) at the start of a line, and what follows them on that line.\n[1] A note that goes on.",
        "[some words in brackets that go on for quite a while before they end] and more.",
        "Code `a`, ``b``, ```c```, `unclosed to the end of a long line, which is not very nice.\n",
        "```python\nprint('hello, world, this is a line of a program')\nfor x in y: pass\n```\nDone.\n",
        "```\nplain text in a code block which has no language at all\n```\n",
        "Action: we should talk about what to do next, and about who does it.\nAction items follow.\n",
        "function calls are nice; functools is a module of Python, functools.partial is in it.\n",
        "> A quotation that goes on for a while, and is not a call of any tool.\n>>> print('doctest, and so on')\n",
        "to=be or not to=be, that is a question that many people have asked themselves.\n",
        "Observation of the stars is nice. On the other hand, so is a book about them.\n",
        "| a | b |\n|---|---|\n| <x> | `y` |\n\n1. One\n2. Two\n   - Three\n\n***\n---\n~~~\ntext in tildes\n~~~\n",
        "Generics: Vec<Option<HashMap<String, Vec<u8>>>>, std::vector<int>, a << 2, b >> 3, <T: Clone>.",
        "日本語の文章 < 中国語 [注] `コード` — naïve “quotes” and 🎉 <émoji and so on, for a while longer.",
        "Mail <someone@example.com>, and see <https://example.com/some/path/to/a/page?with=query>.",
    ] {
        let held = most_held(text);
        assert!(held <= 40, "{held} bytes of {text:?}");
    }
}
