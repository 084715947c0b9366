//! What a client wants to see of an item beyond what OpenAI shows anyway. Items are kept
//! whole and shown whole, so a word that means something is only checked.

use hyper::Method;

use super::endpoints::StoredEndpoint;
use super::failure::invalid;
use super::list::parameters;
use crate::relay::Failure;

/// Refuses words that mean nothing, where OpenAI takes words at all.
pub(super) fn check(
    endpoint: &StoredEndpoint,
    method: &Method,
    query: &str,
) -> Result<(), Failure> {
    let takes_words = match endpoint {
        StoredEndpoint::Response { .. } | StoredEndpoint::ConversationItem { .. } => {
            method == Method::GET
        }
        StoredEndpoint::InputItems { .. } | StoredEndpoint::ConversationItems { .. } => true,
        StoredEndpoint::Cancel { .. }
        | StoredEndpoint::Conversations
        | StoredEndpoint::Conversation { .. }
        | StoredEndpoint::Sessions
        | StoredEndpoint::Session { .. }
        | StoredEndpoint::SessionMessages { .. } => false,
    };
    let is_unknown = |(name, word): &(String, String)| {
        // Clients number the words, or put brackets behind the name, or do neither.
        let name = name.split('[').next().unwrap_or_default();
        name == "include" && !WORDS.contains(&word.as_str())
    };
    if takes_words && parameters(query).any(|parameter| is_unknown(&parameter)) {
        let message = format!("`include` takes these words: {}.", WORDS.join(", "));
        return Err(invalid("include", message));
    }
    Ok(())
}

/// The words of OpenAI's published types (`ResponseIncludable`).
const WORDS: [&str; 8] = [
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
];
