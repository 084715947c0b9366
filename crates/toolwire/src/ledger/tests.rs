use super::{Action, Code, Entry, Level, MOST_MEMBERS, MOST_NOTES};
use crate::translate::{self, Error, Options};
use crate::{LossPolicy, Protocol};

/// A Chat request of so many unknown fields, with others behind them.
fn many_fields(count: usize, rest: &str) -> String {
    let fields: String = (0..count).map(|number| format!("\"x{number}\":1,")).collect();
    format!(
        "{{{fields}\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}]{rest}}}"
    )
}

fn translate(body: &str, policy: LossPolicy) -> Result<Vec<Entry>, Error> {
    let options = Options::new().on_loss(policy);
    let done = translate::request(Protocol::Chat, Protocol::Messages, body.as_bytes(), &options)?;
    Ok(done.ledger)
}

fn unlisted(entries: &[Entry]) -> usize {
    let count = |entry: &Entry| if let Code::More(count) = entry.code { count } else { 0 };
    entries.iter().map(count).sum()
}

#[test]
fn what_is_not_listed_is_counted() {
    let entries = translate(&many_fields(80_000, ""), LossPolicy::Report).unwrap();
    let places = entries.iter().filter(|entry| entry.path.starts_with("/x")).count();
    assert_eq!(places, MOST_MEMBERS);
    assert_eq!(places + unlisted(&entries), 80_000);
    let more = entries.last().unwrap();
    assert_eq!(more.code.to_string(), "more");
    assert!(more.is_loss());
}

#[test]
fn one_object_leaves_room_for_the_others() {
    let rest = ",\"seed\":2,\"logprobs\":true";
    let entries = translate(&many_fields(80_000, rest), LossPolicy::Report).unwrap();
    for path in ["/seed", "/logprobs"] {
        assert!(entries.iter().any(|entry| entry.path == path), "{path}");
    }
}

#[test]
fn many_objects_share_the_places() {
    let total = |messages: usize| {
        let message = "{\"role\":\"user\",\"content\":\"hi\",\"x\":1},".repeat(messages);
        let messages = message.trim_end_matches(',');
        let body = format!("{{\"model\":\"m\",\"messages\":[{messages}]}}");
        let entries = translate(&body, LossPolicy::Report).unwrap();
        assert!(entries.len() <= MOST_NOTES + 2, "{}", entries.len());
        let listed = entries.iter().filter(|entry| !matches!(entry.code, Code::More(_)));
        listed.count() + unlisted(&entries)
    };
    let each = total(100) - total(99);
    assert_eq!(total(50_000), total(100) + (50_000 - 100) * each);
}

#[test]
fn a_loss_beyond_the_list_is_refused_where_none_is_wanted() {
    // What is listed changes nothing that a caller relies on; the loss is not.
    let call = |extra: &str| {
        let call = "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}";
        format!(
            "{{\"role\":\"assistant\",\"tool_calls\":[{call}{extra}}}]}},{{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"1\"}},"
        )
    };
    let body = |last: &str| {
        let calls = call(",\"index\":0").repeat(2 * MOST_NOTES) + &call(last);
        let user = "{\"role\":\"user\",\"content\":\"hi\"}";
        format!("{{\"model\":\"m\",\"messages\":[{user},{calls}{user}]}}")
    };
    let entries = translate(&body(""), LossPolicy::Refuse).unwrap();
    assert!(entries.last().is_some_and(|more| unlisted(&entries) > 0 && !more.is_loss()));
    let refused = translate(&body(",\"y\":1"), LossPolicy::Refuse).unwrap_err();
    let Error::Refused { entries } = refused else { panic!("{refused}") };
    assert!(entries.iter().any(|entry| matches!(entry.code, Code::More(_))), "{entries:?}");
}

#[test]
fn a_refusal_is_named_however_much_was_lost_before() {
    let mut ledger = super::Ledger::default();
    for _ in 0..2 * MOST_NOTES {
        ledger.dropped(crate::wire::Pos::START, Code::Sampling);
    }
    ledger.refused(crate::wire::Pos::START, Code::Conversation);
    let entries = ledger.entries("{}");
    assert!(entries.iter().any(|entry| entry.code == Code::Conversation));
    assert_eq!(unlisted(&entries), MOST_NOTES);
}

#[test]
fn exact_emulations_are_counted_apart() {
    let mut ledger = super::Ledger::default();
    for _ in 0..MOST_NOTES + 5 {
        ledger.emulated(crate::wire::Pos::START, Code::IsError);
    }
    ledger.dropped(crate::wire::Pos::START, Code::Sampling).info();
    let more = |action, level, count| {
        let entry = Entry::new("", Code::More(count), action).level(level);
        entry.detail(format!("{count} more places are not listed."))
    };
    let entries = ledger.entries("{}");
    assert_eq!(
        entries.get(MOST_NOTES..).unwrap(),
        [more(Action::Dropped, Level::Info, 1), more(Action::Emulated, Level::Loss, 5)]
    );
}

#[test]
fn a_long_name_is_not_repeated() {
    let long = "k".repeat(1 << 20);
    let inner: String = (0..500).map(|number| format!("\"x{number}\":1,")).collect();
    let rest =
        format!(",\"{long}\":1,\"response_format\":{{{inner}\"type\":\"text\",\"{long}/\":1}}");
    let entries = translate(&many_fields(0, &rest), LossPolicy::Report).unwrap();
    for entry in &entries {
        let size = entry.path.len() + entry.code.to_string().len() + entry.detail.len();
        assert!(size < 4096, "{size}");
    }
    let twice = format!("{{\"{long}\":1,\"{long}\":2,\"messages\":[]}}");
    let error = translate(&twice, LossPolicy::Report).unwrap_err().to_string();
    assert!(error.len() < 4096, "{}", error.len());
}
