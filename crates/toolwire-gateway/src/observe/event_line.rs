//! A line about the gateway itself.

use toolwire::wire::Object;

use super::figures::write_time;
use super::request_log::seconds_now;
use super::{Log, line};
use crate::config::LogFormat;

/// Writes what has happened: the word for it in a line of JSON, and the sentence in any.
pub(crate) fn write_event(log: &Log, format: LogFormat, event: &str, message: &str) {
    let message = line::clip(message, MESSAGE_LIMIT);
    let written = match format {
        LogFormat::Off => return,
        LogFormat::Text => {
            let mut text = String::with_capacity(128);
            write_time(seconds_now(), &mut text);
            text.push(' ');
            line::write_sentence(&message, &mut text);
            line::end_text(text)
        }
        LogFormat::Json => {
            let mut json = Vec::with_capacity(192);
            let mut object = Object::new(&mut json);
            object.put("time", &seconds_now());
            object.put("event", event);
            object.put("message", &message);
            drop(object);
            let mut json = line::escape_json(json);
            json.push('\n');
            json.into_bytes()
        }
    };
    log.write_line(&written, format);
}

/// The longest sentence, in characters.
const MESSAGE_LIMIT: usize = 500;
