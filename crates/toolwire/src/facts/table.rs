//! What is published about models, a file for each family: tables only.
//!
//! A fact that documents disagree about is left out. So is a longest output that
//! is only the context window again, because then nobody has published one.

mod claude;
mod deepseek;
mod gemini;
mod glm;
mod grok;
mod kimi;
mod llama;
mod mistral;
mod openai;
mod qwen;

use super::{Efforts, Media, Protocols, Row, RowFacts};

/// The rows of every family.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().copied().flatten()
}

static FAMILIES: [&[Row]; 10] = [
    claude::ROWS,
    openai::ROWS,
    gemini::ROWS,
    deepseek::ROWS,
    qwen::ROWS,
    mistral::ROWS,
    llama::ROWS,
    kimi::ROWS,
    glm::ROWS,
    grok::ROWS,
];

const MESSAGES: Protocols = Protocols(&["messages"]);
const OPENAI_APIS: Protocols = Protocols(&["chat", "responses"]);
const CHAT: Protocols = Protocols(&["chat"]);
const CHAT_AND_MESSAGES: Protocols = Protocols(&["chat", "messages"]);
const NOTHING: RowFacts = RowFacts::NOTHING;
const LOW_TO_HIGH: Efforts = Efforts::LOW.and(Efforts::MEDIUM).and(Efforts::HIGH);
const LOW_TO_XHIGH: Efforts = LOW_TO_HIGH.and(Efforts::XHIGH);
const LOW_TO_MAX: Efforts = LOW_TO_XHIGH.and(Efforts::MAX);
const IMAGE: Media = Media::IMAGE;
const IMAGE_AND_DOCUMENT: Media = Media::IMAGE.and(Media::DOCUMENT);
const IMAGE_AND_VIDEO: Media = Media::IMAGE.and(Media::VIDEO);
const EVERYTHING: Media = IMAGE_AND_DOCUMENT.and(Media::AUDIO).and(Media::VIDEO);
