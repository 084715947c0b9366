//! The markers that dialects put around calls.
//!
//! Most are tags: `<tool_call>`, `<|tool_call|>`, `<｜tool▁calls▁begin｜>`. Families
//! vary them from one model to the next, so a tag is known by the words in it and
//! not by its spelling. The exact ones name the dialect.

use super::text::{beginning, from, may_become, upto};

/// What a tag at the beginning of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// It marks calls, or a part of one, and says nothing else. Its length.
    Marker(usize),
    /// It begins a call, whose name is in it.
    Call,
    /// It begins or ends reasoning. Its length, and what ends the reasoning.
    Think(usize, &'static str),
    /// It says who speaks to whom (Harmony).
    Channel,
    /// It encloses ordinary text. Its length.
    Frame(usize),
    /// It marks a call or, where none is, encloses ordinary text. Its length.
    Edge(usize),
    /// It is something else.
    Other,
    /// More text is needed to tell.
    More,
}

/// What the text begins with, if that is a tag or another marker.
pub(super) fn tag(text: &str, end: bool) -> Tag {
    match text.as_bytes().first() {
        Some(b'<') => angle(text, end),
        Some(b'[') => square(text, end),
        Some(b']') => lead(text, end),
        _ => Tag::Other,
    }
}

/// The name of the dialect that begins with a marker.
pub(super) fn dialect(text: &str) -> &'static str {
    let found = DIALECTS.iter().find(|(marker, _)| text.starts_with(marker));
    found.map_or("tagged", |(_, name)| name)
}

/// The name of a dialect whose block holds calls that begin with a tag, or with a
/// bare name and tags behind it. Several families wrap calls like Hermes.
pub(super) fn dialect_with(dialect: &'static str, tag: &str) -> &'static str {
    match (dialect, tag) {
        ("hermes", "function") => "qwen3_coder",
        ("hermes", "") => "glm45",
        (dialect, _) => dialect,
    }
}

fn angle(text: &str, end: bool) -> Tag {
    let inside = from(text, 1);
    let begins = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'|' | 0x80..);
    if !inside.as_bytes().first().is_none_or(begins) {
        return Tag::Other;
    }
    let limit = inside.len().min(LONGEST_TAG);
    let bytes = inside.as_bytes().get(..limit).unwrap_or_default();
    // Harmony's quote mark and Kimi's attributes hold quotes; no tag holds a line
    // break or the beginning of another.
    let stop = bytes.iter().position(|byte| matches!(byte, b'>' | b'\n' | b'<' | b'{'));
    let Some(stop) = stop else {
        let more = inside.len() < LONGEST_TAG && !end && may_be_tag(inside);
        return if more { Tag::More } else { Tag::Other };
    };
    if bytes.get(stop) != Some(&b'>') {
        return Tag::Other;
    }
    let length = stop + 2;
    let name = upto(inside, stop);
    if !may_be_tag(name) {
        return Tag::Other;
    }
    // Gemma's reasoning. Its bars are at the outer sides only.
    match name {
        "|channel" => return Tag::Think(length, "<channel|>"),
        "channel|" => return Tag::Frame(length),
        _ => {}
    }
    let bare = name.strip_prefix('/').unwrap_or(name);
    let bare = bare.trim_matches(|c| matches!(c, '|' | '｜' | '‖'));
    let opens = !name.starts_with('/');
    match bare {
        "channel" | "start" => return if opens { Tag::Channel } else { Tag::Other },
        "open" | "close" => return kimi(text, end),
        _ => {}
    }
    if let Some((_, close)) = THOUGHTS.iter().find(|(open, _)| *open == bare && opens) {
        return Tag::Think(length, close);
    }
    if FRAMES.contains(&bare) {
        return Tag::Frame(length);
    }
    if EDGES.contains(&bare) {
        return Tag::Edge(length);
    }
    if begins_call(name) {
        return Tag::Call;
    }
    if is_marker(bare) { Tag::Marker(length) } else { Tag::Other }
}

/// Whether the text behind `<` can be the beginning of a tag of ours: a short word,
/// and attributes only if it begins a call.
fn may_be_tag(inside: &str) -> bool {
    let word = inside.trim_start_matches(['/', '|', '｜', '‖']);
    let is_word =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '▁' | ':' | '-' | '|' | '｜' | '‖');
    let length = word.find(|c: char| !is_word(c)).unwrap_or(word.len());
    if length == word.len() {
        return length <= LONGEST_WORD;
    }
    // Gemma's quote mark.
    if word.starts_with('"') {
        return inside.len() < 4;
    }
    let word = local_name(upto(word, length)).split('Ġ').next().unwrap_or_default();
    ["invoke", "function", "invokename", "functionname"].contains(&word)
}

/// Whether a tag is the first of a call: `function=NAME`, `invoke name="NAME"`.
/// Some tokenizers lose the space, or write it as `Ġ`.
fn begins_call(name: &str) -> bool {
    let word = local_name(name);
    ["invoke", "function"].iter().any(|call| {
        word.strip_prefix(call).is_some_and(|rest| {
            let attributes = rest.starts_with([' ', 'Ġ']) && rest.contains("name=");
            attributes || rest.starts_with('=') || rest.starts_with("name=")
        })
    })
}

/// A tag's name without the prefix of its dialect.
fn local_name(name: &str) -> &str {
    let bare = name.trim_start_matches(['｜', '‖', '|']);
    let bare =
        bare.strip_prefix("DSML").map_or(bare, |rest| rest.trim_start_matches(['｜', '‖', '|']));
    ["antml:", "atem:", "steptml:"]
        .iter()
        .find_map(|prefix| bare.strip_prefix(prefix))
        .unwrap_or(bare)
}

/// Whether a tag only marks calls or parts of them.
fn is_marker(bare: &str) -> bool {
    let bare = without_suffix(bare);
    if MARKERS.contains(&bare) || MARKERS.contains(&local_name(bare)) {
        return true;
    }
    if bare.contains([' ', '"']) {
        return false;
    }
    let word = local_name(bare);
    let is = |c: char| c.is_alphanumeric() || matches!(c, '_' | '▁' | ':' | '-');
    let calls = ["tool_call", "tool▁call", "function_call", "toolcall", "tool_use"];
    let lower = word.to_lowercase();
    word.chars().all(is) && calls.iter().any(|known| lower.contains(known))
}

/// A tag without what Hunyuan's checkpoints add to each: `tool_sep:6124c78e`.
fn without_suffix(bare: &str) -> &str {
    match bare.rsplit_once(':') {
        Some((word, suffix)) if suffix.bytes().all(|byte| byte.is_ascii_hexdigit()) => word,
        Some(_) | None => bare,
    }
}

/// `[TOOL_CALLS]` and the like.
fn square(text: &str, end: bool) -> Tag {
    if text.as_bytes().get(1).is_some_and(|byte| !matches!(byte, b'T' | b'E' | b'B' | b'/')) {
        return Tag::Other;
    }
    for (marker, tag) in SQUARE {
        if text.starts_with(marker) {
            return tag(marker.len());
        }
        if !end && may_become(text, marker) {
            return Tag::More;
        }
    }
    Tag::Other
}

/// MiniMax's mark before every tag.
fn lead(text: &str, end: bool) -> Tag {
    if !text.starts_with(LEAD) {
        return if !end && may_become(text, LEAD) { Tag::More } else { Tag::Other };
    }
    match angle(from(text, LEAD.len()), end) {
        Tag::Marker(length) | Tag::Frame(length) | Tag::Edge(length) => {
            Tag::Marker(LEAD.len() + length)
        }
        Tag::Call => Tag::Call,
        Tag::More => Tag::More,
        Tag::Think(..) | Tag::Channel | Tag::Other => {
            if end || text.len() > LEAD.len() {
                Tag::Other
            } else {
                Tag::More
            }
        }
    }
}

/// Kimi's tags: `<|open|>call tool="NAME"<|sep|>`.
fn kimi(text: &str, end: bool) -> Tag {
    let (opens, inside) = match text.strip_prefix("<|open|>") {
        Some(inside) => (true, inside),
        None => match text.strip_prefix("<|close|>") {
            Some(inside) => (false, inside),
            None => return Tag::Other,
        },
    };
    let Some(stop) = beginning(inside, LONGEST_TAG).find(KIMI_END) else {
        let more = !end && inside.len() < LONGEST_TAG;
        return if more { Tag::More } else { Tag::Other };
    };
    let length = text.len() - inside.len() + stop + KIMI_END.len();
    let content = upto(inside, stop).trim();
    match content.split(' ').next().unwrap_or_default() {
        "call" if opens => Tag::Call,
        "think" if opens => Tag::Think(length, "<|close|>think<|sep|>"),
        "think" | "response" | "message" => Tag::Frame(length),
        "tools" if opens => Tag::Marker(length),
        _ if opens => Tag::Marker(length),
        _ => Tag::Edge(length),
    }
}

/// Whether a marker only ends something.
pub(super) fn is_closing(marker: &str) -> bool {
    let marker = marker.strip_prefix(LEAD).unwrap_or(marker);
    let outer_bar = marker.ends_with("|>") && !marker.starts_with("<|");
    let words = ["end", "END", "suffix", "eom", "eot", "/"];
    marker.starts_with("<|close|>")
        || marker == "<|call|>"
        || outer_bar
        || words.iter().any(|word| marker.contains(word))
}

/// MiniMax writes it before every tag.
pub(super) const LEAD: &str = "]<]minimax[>[";

const KIMI_END: &str = "<|sep|>";

type MakeTag = fn(usize) -> Tag;

const SQUARE: [(&str, MakeTag); 8] = [
    ("[THINK]", |length| Tag::Think(length, "[/THINK]")),
    ("[/THINK]", Tag::Frame),
    ("[BEGIN FINAL RESPONSE]", Tag::Frame),
    ("[END FINAL RESPONSE]", Tag::Frame),
    ("[TOOL_CALLS]", Tag::Marker),
    ("[TOOL_REQUEST]", Tag::Marker),
    ("[END_TOOL_REQUEST]", Tag::Marker),
    ("[/TOOL_CALLS]", Tag::Marker),
];

/// Tags around reasoning, and what closes them.
const THOUGHTS: [(&str, &str); 5] = [
    ("think", "</think>"),
    ("thinking", "</thinking>"),
    ("mm:think", "</mm:think>"),
    ("seed:think", "</seed:think>"),
    ("START_THINKING", "<|END_THINKING|>"),
];

/// Tags around ordinary text, and the ends of reasoning whose beginning is in the
/// prompt.
const FRAMES: [&str; 15] = [
    "think", "thinking", "mm:think", "seed:think", "END_THINKING", "START_RESPONSE",
    "END_RESPONSE", "START_TEXT", "END_TEXT", "return", "end", "END_OF_TURN_TOKEN", "content_text",
    "eom", "eot",
];

/// Tags that mark calls where there is one, and enclose ordinary text elsewhere.
const EDGES: [&str; 8] = [
    "message_model",
    "end_message",
    "message_sep",
    "tool_response",
    "tool▁outputs▁begin",
    "tool▁outputs▁end",
    "tool▁output▁begin",
    "tool▁output▁end",
];

/// Tags that mark calls although no word in them says so.
const MARKERS: [&str; 26] = [
    "python_tag",
    "python_start",
    "python_end",
    "START_ACTION",
    "END_ACTION",
    "action_start",
    "action_end",
    "plugin",
    "tools_prefix",
    "tools_suffix",
    "TOOLCALL",
    "content_invoke_tool_json",
    "call",
    "tool_sep",
    "tool▁sep",
    "tool_request",
    "tool_code",
    "role_sep",
    "eom_id",
    "eot_id",
    "im_end",
    "end_of_turn",
    "function",
    "/function",
    "invoke",
    "end▁of▁sentence",
];

/// The names of the dialects, by how they begin. Longer markers first.
const DIALECTS: [(&str, &str); 32] = [
    ("<tool_call>", "hermes"),
    ("<tool_calls>", "tool_calls"),
    ("<longcat_tool_call>", "longcat"),
    ("<TOOLCALL>", "nemotron"),
    ("<|tool_call|>", "granite"),
    ("<function_call>", "granite_20b_fc"),
    ("<|python_tag|>", "llama3_python_tag"),
    ("<|python_start|>", "llama4_pythonic"),
    ("<function=", "llama31_function_tag"),
    ("<function name=", "minicpm5"),
    ("[TOOL_CALLS]", "mistral"),
    ("[TOOL_REQUEST]", "lmstudio"),
    ("<|START_ACTION|>", "cohere_command"),
    ("<|action_start|>", "internlm"),
    ("<｜tool▁call", "deepseek"),
    ("<｜tool_call", "step3"),
    ("<｜DSML｜", "deepseek_v32"),
    ("<|tool_calls_section_begin|>", "kimi_k2"),
    ("<|tool_call_section_begin|>", "kimi_k2"),
    ("<|tool_call_begin|>", "kimi_k2"),
    ("<|open|>", "kimi_k3"),
    ("<|function_call|>", "gigachat3"),
    ("<|tools_prefix|>", "apertus"),
    ("<|message_model|>", "inkling"),
    ("<minimax:tool_call>", "minimax_m2"),
    ("]<]minimax[>[", "minimax_m3"),
    ("<seed:tool_call>", "seed_oss"),
    ("<dots_function_call>", "dots"),
    ("<function_calls>", "claude_xml"),
    ("<|tool_call_start|>", "lfm2"),
    ("<start_function_call>", "functiongemma"),
    ("<|tool_call>", "gemma4"),
];

const LONGEST_TAG: usize = 96;
const LONGEST_WORD: usize = 36;
