use std::fs;
use std::path::Path;

use toolwire::codec::codec;
use toolwire::model::Protocol;

use super::{estimate, quick_estimate, tokens};

fn exact(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
}

/// The estimate is at least the count of a real tokenizer, and not far above.
fn check(text: &str, most: f64) {
    let (estimate, exact) = (tokens(text), exact(text));
    let ratio = estimate as f64 / exact as f64;
    assert!(estimate >= exact, "{estimate} for {exact}: {}", start(text));
    assert!(ratio <= most, "{ratio:.2} times {exact}: {}", start(text));
}

fn start(text: &str) -> String {
    text.chars().take(60).collect()
}

const PROSE: &str = "It was a bright cold day in April, and the clocks were striking thirteen. \
The hallway smelt of boiled cabbage and old rag mats. At one end of it a coloured poster, too \
large for indoor display, had been tacked to the wall. Please summarise the following email, then \
list the three most important questions it raises; don't invent anything that isn't in the text.";

#[test]
fn prose_is_at_most_doubled() {
    check(PROSE, 2.0);
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        check(&fs::read_to_string(root.join(page)).unwrap(), 2.0);
    }
}

#[test]
fn other_languages() {
    for text in LANGUAGES {
        check(text, 3.0);
    }
}

const LANGUAGES: &[&str] = &[
    "Der Vertrag über die Nutzung der Grundstücksentwässerungsanlage gilt auf unbestimmte Zeit und kann von beiden Seiten schriftlich gekündigt werden.",
    "Les élèves qui n'ont pas encore reçu leur relevé de notes sont priés de s'adresser au secrétariat avant la fin de la semaine.",
    "El perro de San Roque no tiene rabo porque Ramón Ramírez se lo ha cortado; mañana volveremos a preguntárselo.",
    "Zażółć gęślą jaźń, a potem przeczytaj uważnie całą umowę i powiedz mi, które punkty są niejasne.",
    "Пожалуйста, переведи следующий текст на английский язык и объясни, какие слова были самыми трудными.",
    "Παρακαλώ γράψε μια σύντομη περίληψη του κειμένου και απάντησε στις ερωτήσεις που ακολουθούν.",
    "请把下面的文章翻译成英文，然后用三句话总结它的主要内容。不要添加原文中没有的信息。",
    "次の文章を英語に翻訳し、その主な内容を三つの文でまとめてください。",
    "다음 글을 영어로 번역하고 주요 내용을 세 문장으로 요약해 주세요.",
    "يرجى ترجمة النص التالي إلى اللغة الإنجليزية ثم تلخيص محتواه الرئيسي في ثلاث جمل.",
    "אנא תרגם את הטקסט הבא לאנגלית וסכם את עיקריו בשלושה משפטים.",
    "कृपया निम्नलिखित पाठ का अंग्रेज़ी में अनुवाद करें और उसका सारांश लिखें।",
    "กรุณาแปลข้อความต่อไปนี้เป็นภาษาอังกฤษแล้วสรุปสาระสำคัญเป็นสามประโยค",
    "Hãy dịch đoạn văn sau sang tiếng Anh rồi tóm tắt nội dung chính bằng ba câu.",
];

#[test]
fn code_and_data() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["src/count.rs", "src/config/file.rs", "src/config/file/tests.rs", "Cargo.toml"] {
        check(&fs::read_to_string(here.join(file)).unwrap(), 2.2);
    }
    check(&fs::read_to_string(here.join("../../Cargo.lock")).unwrap(), 2.2);
}

#[test]
fn what_is_in_no_vocabulary() {
    for text in [
        "😀🎉👩‍👩‍👧‍👦🏳️‍🌈 ✓ → … “quoted” — dash",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "aGVsbG8gd29ybGQsIHRoaXMgaXMgYSBiYXNlNjQgdGV4dCBvZiBzb21lIGxlbmd0aA==",
        "toolu_01A09q90qw90lq917835lq9 call_Xk29dLqPz7bWmTnRvYcHsJgF",
        "550e8400-e29b-41d4-a716-446655440000",
        "xkqjzvwpfh qwrtplkjhg",
        "SELECT * FROM T WHERE ID='ABCDEFGH';",
        "\n\n\n\n    \t\t\t    x\r\n\r\n",
        "𓀀𓂀 ༄༅། ꙮ \u{1F9FF}",
    ] {
        check(text, 9.0);
    }
}

#[test]
fn random_letters_and_digits() {
    let mut state = 7u64;
    let mut text = String::new();
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for _ in 0..4000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        text.push(char::from(alphabet[(state >> 58) as usize]));
    }
    check(&text, 2.0);
}

/// The estimate covers everything in a request.
#[test]
fn every_vector_is_covered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/requests");
    let mut seen = 0;
    for vector in fs::read_dir(folder).unwrap() {
        for file in fs::read_dir(vector.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let parts: Vec<_> = name.split('.').collect();
            let [_, protocol, "json"] = parts[..] else { continue };
            let body = fs::read_to_string(&path).unwrap();
            let Ok(request) = codec(Protocol::parse(protocol).unwrap()).decode_request(&body)
            else {
                continue;
            };
            seen += 1;
            let (estimate, exact) = (estimate(&request), exact(&content(&body)));
            assert!(estimate >= exact, "{}: {estimate} for {exact}", path.display());
            let quick = quick_estimate(&request);
            let near = estimate / 2..=estimate * 3 / 2;
            assert!(near.contains(&quick), "{}: {quick} for {estimate}", path.display());
        }
    }
    assert!(seen > 200, "{seen} vectors");
}

/// What a model reads of a request, as one text: tools as JSON, and every text of
/// the conversation, without media and without the protocol's field names.
fn content(body: &str) -> String {
    let document: serde_json::Value = serde_json::from_str(body).unwrap();
    let mut text = String::new();
    for key in ["tools", "functions"] {
        let tools = document.get(key).map(ToString::to_string);
        text.push_str(&tools.unwrap_or_default());
    }
    for key in ["system", "instructions", "messages", "input"] {
        if let Some(value) = document.get(key) {
            leaves(value, &mut text);
        }
    }
    text
}

fn leaves(value: &serde_json::Value, text: &mut String) {
    match value {
        serde_json::Value::String(leaf) if !leaf.starts_with("data:") => {
            text.push_str(leaf);
            text.push('\n');
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| leaves(value, text)),
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                if !PLUMBING.contains(&key.as_str()) {
                    leaves(value, text);
                }
            }
        }
        serde_json::Value::String(_) | serde_json::Value::Null => {}
        serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            text.push_str(&value.to_string());
        }
    }
}

const PLUMBING: &[&str] = &[
    "type",
    "role",
    "cache_control",
    "prompt_cache_breakpoint",
    "status",
    "data",
    "file_data",
    "encrypted_content",
    "signature",
    "media_type",
    "logprobs",
];

#[test]
fn media_count_by_their_size() {
    let image = |source: &str| {
        let body = format!(
            r#"{{"model":"m","max_tokens":1,"messages":[{{"role":"user","content":[{{"type":"image","source":{source}}}]}}]}}"#
        );
        estimate(&codec(Protocol::Messages).decode_request(&body).unwrap()) - 16
    };
    let base64 = |data: &str| {
        image(&format!(r#"{{"type":"base64","media_type":"image/png","data":"{data}"}}"#))
    };
    // PNG of 1000 by 750, GIF of 300 by 250, JPEG of 1500 by 1000 behind a
    // comment, WebP of 750 by 1000.
    assert_eq!(base64("iVBORw0KGgoAAAANSUhEUgAAA+gAAALu"), 1000);
    assert_eq!(base64("R0lGODlhLAH6AA=="), 100);
    assert_eq!(base64("/9j//gAEAAD/wAARCAPoBdwDASIA"), 2000);
    // The same JPEG behind three kilobytes of comment.
    assert_eq!(base64(&format!("/9j//gv/{}/8AAEQgD6AXcAwEi", "A".repeat(4092))), 2000);
    assert_eq!(base64("UklGRgAAAABXRUJQVlA4WAoAAAAAAAAA7QIA5wMA"), 1000);
    assert_eq!(base64("bm8gaW1hZ2U="), 4800);
    assert_eq!(image(r#"{"type":"url","url":"https://x.example/a.png"}"#), 4800);
}

/// Counts that Anthropic shows in its guide to token counting, for
/// `claude-opus-4-6`: platform.claude.com/docs/en/build-with-claude/token-counting.
#[test]
fn counts_that_a_vendor_publishes() {
    for (body, published) in [
        (
            r#"{"model":"m","max_tokens":1,"system":"You are a scientist",
                "messages":[{"role":"user","content":"Hello, Claude"}]}"#,
            14,
        ),
        (
            r#"{"model":"m","max_tokens":1,"tools":[{"name":"get_weather",
                "description":"Get the current weather in a given location",
                "input_schema":{"type":"object","properties":{"location":{"type":"string",
                    "description":"The city and state, e.g. San Francisco, CA"}},
                    "required":["location"]}}],
                "messages":[{"role":"user","content":"What's the weather like in San Francisco?"}]}"#,
            403,
        ),
    ] {
        let estimate = estimate(&codec(Protocol::Messages).decode_request(body).unwrap());
        assert!(estimate >= published, "{estimate} for {published}");
        assert!(estimate <= 3 * published, "{estimate} for {published}");
    }
}
