//! The English words that intent detection knows. Only tables.

pub(super) use super::prepositions::PREPOSITIONS;
pub(super) use super::thing_words::{
    FILLERS, KINDS_OF_ROOMS, MONTHS, NAMES, NUMBER_WORDS, PROSE, THINGS, VAGUE, WEAK_CHOICES,
    WEEKDAYS,
};
pub(super) use super::verb_words::{FINITE, GENERIC, NOT_OBJECTS, PARTICLES, TALK, VERB_GROUPS};

/// What a speaker commits to an action with. The verb follows.
pub(super) const COMMITMENTS: &[&[&str]] = &[
    &["i'll"],
    &["i", "will"],
    &["i", "shall"],
    &["i'm", "going", "to"],
    &["i", "am", "going", "to"],
    &["i'm", "gonna"],
    &["i'm", "about", "to"],
    &["i", "am", "about", "to"],
    &["let", "me"],
    &["let's"],
    &["i", "need", "to"],
    &["i", "have", "to"],
    &["i", "must"],
    &["i've", "got", "to"],
    &["allow", "me", "to"],
    &["my", "next", "step", "is", "to"],
    &["my", "first", "step", "is", "to"],
    &["the", "first", "thing", "i'll", "do", "is"],
    &["the", "next", "thing", "i'll", "do", "is"],
    &["what", "i'll", "do", "is"],
    &["what", "i'll", "do", "now", "is"],
];

/// Requests for patience, before "while I" and a verb.
pub(super) const PAUSES: &[&[&str]] = &[
    &["one", "moment"],
    &["one", "second"],
    &["one", "sec"],
    &["just", "a", "moment"],
    &["just", "a", "second"],
    &["just", "a", "sec"],
    &["hold", "on"],
    &["hang", "on"],
    &["please", "hold"],
    &["please", "wait"],
    &["bear", "with", "me"],
    &["give", "me", "a", "moment"],
    &["give", "me", "a", "second"],
    &["give", "me", "a", "sec"],
    &["give", "me", "a", "minute"],
    &["give", "me", "one"],
];

/// "I'm reading": the verb follows in its progressive form.
pub(super) const PROGRESSIVES: &[&[&str]] = &[&["i'm"], &["i", "am"]];

/// Words that may stand between a commitment and its verb.
pub(super) const ADVERBS: &[&str] = &[
    "now", "just", "first", "also", "quickly", "then", "next", "simply", "actually", "immediately",
    "briefly", "gladly", "therefore", "right", "away", "directly", "finally", "instead",
    "currently", "carefully", "only", "still", "again", "please", "go", "ahead", "and",
];

/// Verbs before "to" that add nothing to the verb behind it.
pub(super) const LIGHT_BEFORE_TO: &[&str] =
    &["need", "have", "try", "attempt", "proceed", "start", "begin", "trying", "starting", "want"];

/// Words that may stand before a commitment in the same sentence.
pub(super) const LEAD_INS: &[&str] = &[
    "so", "and", "but", "then", "now", "first", "next", "okay", "ok", "sure", "also", "therefore",
    "thus", "finally", "here", "alright", "right", "well", "great", "yes", "hence", "instead",
    "again", "meanwhile", "perfect", "certainly", "absolutely", "understood", "currently", "good",
];

/// What makes a sentence something other than a commitment to act now.
pub(super) const NOT_A_COMMITMENT: &[&str] = &[
    "unless", "whenever", "otherwise", "provided", "supposing", "suppose", "maybe", "perhaps",
    "hopefully", "hypothetically", "later", "eventually", "someday", "afterwards", "soon",
    "pretend", "imagine", "possibly", "probably", "e.g", "ideally", "theoretically", "might",
    "together", "wish", "assuming", "depending", "pending", "awaiting", "presumably",
    "potentially", "whichever", "hereafter", "sometimes", "usually", "often", "always", "normally",
    "typically", "generally", "occasionally", "rarely",
];

/// The same, of several words.
pub(super) const NOT_A_COMMITMENT_PHRASES: &[&[&str]] = &[
    &["as", "soon", "as"],
    &["in", "case"],
    &["should", "you"],
    &["should", "the"],
    &["should", "it"],
    &["should", "that"],
    &["only", "after"],
    &["at", "some", "point"],
    &["in", "the", "future"],
    &["next", "time"],
    &["for", "example"],
    &["for", "instance"],
    &["were", "to"],
    &["if", "so"],
    &["as", "long", "as"],
    &["if", "you"],
    &["with", "your", "permission"],
    &["with", "your", "approval"],
    &["with", "your", "consent"],
    &["with", "your", "okay"],
    &["with", "your", "ok"],
    &["with", "your", "blessing"],
    &["with", "your", "go-ahead"],
    &["at", "your", "signal"],
    &["on", "your", "word"],
    &["on", "your", "signal"],
    &["on", "your", "approval"],
    &["on", "your", "command"],
    &["upon", "your"],
    &["the", "moment", "you"],
    &["the", "moment", "the"],
    &["the", "moment", "it"],
    &["the", "minute", "you"],
    &["the", "second", "you"],
    &["any", "time", "you"],
    &["in", "the", "event"],
    &["subject", "to", "your"],
    &["subject", "to", "approval"],
    &["given", "the", "chance"],
    &["one", "option"],
    &["another", "option"],
    &["waiting", "for", "your"],
    &["every", "time"],
    &["as", "a", "rule"],
    &["in", "theory"],
    &["another", "angle"],
    &["my", "dead", "body"],
    &["not", "yet"],
    &["some", "day"],
    &["one", "day"],
    &["by", "mistake"],
    &["by", "accident"],
    &["different", "angle"],
    &["or", "not"],
    &["would", "have"],
    &["used", "to"],
];

/// Words that are about the time that an action waits for, unless a question
/// about them is the action: "I'll check when the train leaves".
pub(super) const CONDITIONS: &[&str] = &["if", "when", "once", "until", "till", "while"];

/// Verbs of questions, before `if` and `when`.
pub(super) const INQUIRIES: &[&str] = &[
    "check", "see", "know", "verify", "determine", "ask", "asked", "wonder", "wondering", "sure",
    "unsure", "out", "confirm", "tell", "test", "whether", "learn", "understand", "checking",
    "clear", "and",
];

/// Words that announce what somebody else says, or what could be said.
pub(super) const INTRODUCES_SPEECH: &[&str] = &[
    "said", "says", "say", "saying", "wrote", "writes", "write", "told", "tells", "promised",
    "promises", "replied", "replies", "reply", "response", "responds", "responded", "output",
    "example", "examples", "sample", "phrase", "phrases", "sentence", "prompt", "transcript",
    "assistant", "user", "model", "agent", "bot", "system", "human", "ai", "chatbot", "asked",
    "answered", "announced", "claimed", "like", "template", "quote", "quoted", "he", "she", "they",
    "message", "wording", "answer", "answers", "statement", "utterance", "dialogue", "snippet",
    "instance", "line",
];

pub(super) const PHRASES_OF_EXAMPLES: &[&[&str]] = &[
    &["such", "as"],
    &["for", "instance"],
    &["would", "look"],
    &["looks", "like"],
    &["you", "write"],
];
