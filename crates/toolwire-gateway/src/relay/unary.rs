//! A whole answer, translated back.

use std::borrow::Cow;

use toolwire::model::{Item, Usage};
use toolwire::wire::Str;
use toolwire::{Protocol, codec, translate};

use super::{Back, Failure, Reply, Visit, failure, headers, loss};
use crate::upstream::Answer;

/// Reads an answer and translates it for the client.
pub(super) async fn finish(
    visit: &mut Visit<'_>,
    back: Back<'_>,
    way: &translate::Back,
    mut answer: Answer,
) -> Result<Reply, Failure> {
    let Back { upstream, renamed, losses } = back;
    let (from, to) = (upstream.config.protocol, visit.client);
    let body = visit.hear_out(upstream, &mut answer).await?;
    let error = |body| Failure::of_error(upstream, to, answer.status, &answer.headers, body);
    if !answer.status.is_success() {
        return Err(error(body));
    }
    let unreadable = |why: &str| Failure::of_answer(upstream, why);
    let text = std::str::from_utf8(&body).map_err(|_| unreadable("it is not UTF-8"))?;
    match failure::is_error(text) {
        Some(false) => {}
        Some(true) => return Err(error(body)),
        None => return Err(unreadable("it is not a JSON object")),
    }
    let about = About::read(from, text);
    visit.access.used(about.usage.as_ref(), about.calls);
    let mut headers = headers::inbound(from, to, &answer.headers);
    headers::identify(to, &visit.access.id, &mut headers);
    let limit = visit.live.config.limits.loss_header;
    if renamed {
        headers::renamed(about.model.as_deref(), &mut headers);
    } else if from == to {
        loss::report(&losses, &[], limit, &mut headers);
        upstream.succeeded();
        return Ok(Reply::Whole { headers, body });
    }
    let translated = way.translate(&body).map_err(|error| unreadable(&error.to_string()))?;
    visit.access.lost(&translated.ledger);
    loss::report(&losses, &translated.ledger, limit, &mut headers);
    upstream.succeeded();
    Ok(Reply::Whole { headers, body: translated.body.into() })
}

/// What there is to say of an answer besides the answer: which model gave it,
/// what it cost, and how many calls it made.
#[derive(Default)]
struct About<'t> {
    model: Option<Cow<'t, str>>,
    usage: Option<Usage<'t>>,
    calls: usize,
}

impl<'t> About<'t> {
    fn read(protocol: Protocol, text: &'t str) -> Self {
        let Ok(response) = codec(protocol).decode_response(text) else { return Self::default() };
        let turns = response.candidates.iter().flat_map(|candidate| &candidate.turns);
        let items = turns.flat_map(|turn| &turn.items);
        let calls = items.filter(|item| matches!(item, Item::Call(_))).count();
        let model = response.model.map(Str::into_decoded);
        Self { model, usage: response.usage, calls }
    }
}
