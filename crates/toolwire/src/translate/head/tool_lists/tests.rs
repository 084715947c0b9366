use super::*;
use crate::protocol::PathMatch;
use crate::translate::{Error, Options, PreparedRequest, RequestHead};

const TOOL: &str = r#"{"type":"function","function":{"name":"read","description":"Reads a \"file\", with the numbers of its lines.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}"#;

fn read(lists: &ToolLists, body: &str) -> Result<RequestHead, Error> {
    RequestHead::read_with(lists, Protocol::Chat, &PathMatch::default(), body.as_bytes())
}

/// Reads a body with these lists and without any.
fn compare(lists: &ToolLists, body: &str) {
    let without = RequestHead::read(Protocol::Chat, &PathMatch::default(), body.as_bytes());
    assert_eq!(read(lists, body), without, "{body}");
}

fn count(lists: &ToolLists) -> usize {
    lists.lock().len()
}

#[test]
fn a_list_that_comes_again_is_read_as_before() {
    let lists = ToolLists::with_room(1 << 20);
    let long = "Please read what is in this long line.";
    for text in ["short", long] {
        for rest in ["", r#","temperature":0.5"#, r#", "functions":[{"name":"other"}]"#] {
            for space in ["", "  ", "\n"] {
                compare(
                    &lists,
                    &format!(
                        r#"{{"messages":[{{"content":"{text}"}}],"tools":{space}[{TOOL}, {TOOL}]{rest}}}"#
                    ),
                );
            }
        }
    }
    assert_eq!(count(&lists), 2);
}

#[test]
fn a_longer_list_is_another_one() {
    let lists = ToolLists::with_room(1 << 20);
    for tools in [format!("[{TOOL}]"), format!("[{TOOL},{TOOL}]"), "[]".to_owned()] {
        for _ in 0..2 {
            compare(&lists, &format!(r#"{{"model":"m","tools":{tools}}}"#));
        }
    }
    assert_eq!(count(&lists), 3);
}

#[test]
fn what_is_wrong_behind_a_list_is_found() {
    let lists = ToolLists::with_room(1 << 20);
    read(&lists, &format!(r#"{{"tools":[{TOOL}]}}"#)).unwrap();
    for rest in ["", "]}", ",}", r#","tools":[]}"#, r#""}"#, "x}"] {
        let body = format!(r#"{{"tools":[{TOOL}]{rest}"#);
        compare(&lists, &body);
        assert!(read(&lists, &body).is_err(), "{body}");
    }
}

#[test]
fn a_list_that_is_refused_is_not_kept() {
    let lists = ToolLists::with_room(1 << 20);
    for tools in ["[{\"name\":1,\"name\":2}]", "[{]", "[", "[1,]", "[\"\\ud800\"]"] {
        for _ in 0..2 {
            assert!(read(&lists, &format!(r#"{{"tools":{tools}}}"#)).is_err());
        }
    }
    assert_eq!(count(&lists), 0);
}

/// What counts as a list of tools inside of another is up to the protocol.
#[test]
fn a_list_is_known_in_its_own_protocol_only() {
    let lists = ToolLists::with_room(1 << 20);
    let list = format!("[{TOOL}]");
    read(&lists, &format!(r#"{{"tools":{list}}}"#)).unwrap();
    for protocol in Protocol::ALL {
        assert_eq!(lists.find(protocol, &list).is_some(), protocol == Protocol::Chat);
    }
}

#[test]
fn the_oldest_make_room() {
    let lists = ToolLists::with_room(8 * TOOL.len());
    let body =
        |name: usize| format!(r#"{{"tools":[{}]}}"#, TOOL.replace("read", &name.to_string()));
    for name in 0..20 {
        read(&lists, &body(name)).unwrap();
        // One that is used stays.
        read(&lists, &body(0)).unwrap();
    }
    let kept = lists.lock();
    let bytes: usize = kept.iter().map(|list| list.text.len()).sum();
    assert!(kept.len() >= 6 && bytes <= 8 * TOOL.len(), "{} lists", kept.len());
    assert!(kept.iter().any(|list| list.text.contains(r#""name":"0""#)));
    drop(kept);

    let large = format!(r#"{{"tools":[{}1]}}"#, format!("{TOOL},").repeat(3));
    read(&lists, &large).unwrap();
    assert!(lists.lock().iter().all(|list| list.text.len() < 2 * TOOL.len()));

    let lists = ToolLists::with_room(1 << 20);
    (0..100).for_each(|name| drop(read(&lists, &body(name))));
    assert_eq!(count(&lists), MAX_LISTS);
}

/// How the list of the last request was written for upstreams.
fn written(lists: &ToolLists) -> Vec<Option<String>> {
    let recent = lists.lock();
    let written = recent[0].written.lock().unwrap();
    let text = |list: &WrittenTools| String::from_utf8(list.elements.to_vec()).unwrap();
    written.iter().map(|(_, list)| list.as_ref().map(text)).collect()
}

#[test]
fn a_plain_list_is_kept_as_upstreams_get_it() {
    let lists = ToolLists::with_room(1 << 20);
    let body = format!(r#"{{"model":"m","messages":[],"tools":[{TOOL}]}}"#);
    let translate = |to, model: &str| {
        let head = read(&lists, &body).unwrap();
        let prepared = PreparedRequest::with_head(Protocol::Chat, to, &head, body.as_bytes());
        let translated = prepared.unwrap().translate(&Options::new().model(model)).unwrap();
        String::from_utf8(translated.body).unwrap()
    };
    let first = translate(Protocol::Messages, "m");
    assert_eq!(written(&lists), []);
    for _ in 0..2 {
        assert_eq!(translate(Protocol::Messages, "m"), first);
        let [Some(list)] = &written(&lists)[..] else { panic!("one list") };
        assert!(first.contains(&format!("\"tools\":[{list}]")), "{list}");
    }
    // What two models get alike is kept once, and the oldest makes room.
    for model in ["claude-sonnet-4-5", "claude-3-5-haiku-latest", "claude-opus-4-1"] {
        translate(Protocol::Messages, model);
    }
    for model in ["m", "gpt-4.1-mini", "o3-mini"] {
        translate(Protocol::Responses, model);
    }
    let recent = lists.lock();
    let written = recent[0].written.lock().unwrap();
    assert_eq!(written.len(), MAX_WRITTEN);
    let [(_, Some(first)), .., (_, Some(before_last)), (_, Some(last))] = &written[..] else {
        panic!("all are plain");
    };
    let is_same = |one: &WrittenTools| Arc::ptr_eq(&one.elements, &last.elements);
    assert!(is_same(before_last) && !is_same(first));
}

/// Codex says of every tool that it is not strict, which some upstreams are not told.
#[test]
fn what_is_reported_of_strictness_is_kept_with_a_list() {
    for strict in ["true", "false"] {
        let lists = ToolLists::with_room(1 << 20);
        let spelled = format!("\"strict\":{strict},\"name\"");
        let strict = TOOL.replace("\"name\"", &spelled).replace("\"read\"", "\"read_it\"");
        let mut reported = Vec::new();
        // The list is in another place each time, behind something to report and before it.
        for seed in ["", "\"seed\":1,", "\"seed\":1234,"] {
            let body = format!(
                r#"{{"model":"m",{seed}"tools":[{TOOL},{strict}],"messages":[],"logit_bias":{{"1":2}}}}"#
            );
            let head = read(&lists, &body).unwrap();
            let (from, to) = (Protocol::Chat, Protocol::Messages);
            let prepared = PreparedRequest::with_head(from, to, &head, body.as_bytes());
            let translated = prepared.unwrap().translate(&Options::new()).unwrap();
            let mut afresh = PreparedRequest::new(from, to, body.as_bytes()).unwrap();
            assert_eq!(Ok(&translated), afresh.translate(&Options::new()).as_ref());
            let mut paths = translated.ledger.iter().map(|entry| entry.path.as_str());
            reported.push(paths.any(|path| path == "/tools/1/function/strict"));
        }
        assert_eq!(reported, [true; 3]);
        assert!(matches!(written(&lists)[..], [Some(_)]));
    }
}

#[test]
fn a_list_with_something_to_report_is_not() {
    for tools in [
        format!("[{TOOL},{TOOL}]"),
        format!("[{}]", TOOL.replace("\"read\"", "\"read.it\"")),
        format!("[{}]", TOOL.replace("\"name\"", "\"other\":1,\"name\"")),
        format!("[{}]", TOOL.replace("\"type\":\"object\"", "\"type\":\"array\"")),
        r#"[{"type":"custom","custom":{"name":"grep"}}]"#.to_owned(),
    ] {
        let lists = ToolLists::with_room(1 << 20);
        let body = format!(r#"{{"model":"m","messages":[],"tools":{tools}}}"#);
        for _ in 0..2 {
            let head = read(&lists, &body).unwrap();
            let (from, to) = (Protocol::Chat, Protocol::Messages);
            let prepared = PreparedRequest::with_head(from, to, &head, body.as_bytes());
            prepared.unwrap().translate(&Options::new()).unwrap();
        }
        assert_eq!(written(&lists), [None], "{tools}");
    }
}

/// What the answer to a Responses request with these tools repeats of it.
fn echo(lists: &ToolLists, tools: &str) -> (String, Arc<[u8]>) {
    let body = format!(r#"{{"model":"m","input":"Hi","tools":{tools},"tool_choice":"auto"}}"#);
    let (from, to) = (Protocol::Responses, Protocol::Chat);
    let head = RequestHead::read_with(lists, from, &PathMatch::default(), body.as_bytes()).unwrap();
    let prepared = PreparedRequest::with_head(from, to, &head, body.as_bytes()).unwrap();
    let echo = (codec(from).response_context)(prepared.request().unwrap()).echo;
    (String::from_utf8(echo.parts().concat()).unwrap(), echo.tools)
}

/// Two lists of as many tools in the same places, and one with tools of other kinds.
#[test]
fn a_list_is_kept_as_answers_repeat_it() {
    let lists = ToolLists::with_room(1 << 20);
    for tools in [
        r#"[{"type":"function","name":"a","parameters":{"type":"object"}},{"type":"function","name":"b"}]"#,
        r#"[{"type":"function","name":"a","parameters":{"type":"string"}},{"type":"function","name":"c"}]"#,
        "[ {\"type\" : \"custom\",\n\"name\":\"grep\"}, {\"type\":\"other\",\"x\":[1, 2.0]},\n{\"name\":\"d\"} ]",
        "[]",
    ] {
        let (afresh, _) = echo(&ToolLists::default(), tools);
        let (first, unkept) = echo(&lists, tools);
        let (second, kept) = echo(&lists, tools);
        let (third, again) = echo(&lists, tools);
        assert_eq!([&first, &second, &third], [&afresh; 3]);
        assert!(!afresh.contains('\n'), "{afresh}");
        if tools != "[]" {
            assert!(!Arc::ptr_eq(&unkept, &kept) && Arc::ptr_eq(&kept, &again), "{tools}");
        }
    }
}

/// A reference is found before and behind a list that came before, and what tools are called
/// is none.
#[test]
fn a_reference_beside_a_known_list_is_found() {
    let (lists, path) = (ToolLists::with_room(1 << 20), PathMatch::default());
    let reference = r#"[{"type":"item_reference","id":"x"}]"#;
    for (tools, input, rest, has_state) in [
        (r#"[{"name":"a"}]"#, "[]", "", false),
        (r#"[{"name":"a"}]"#, reference, "", true),
        (r#"[{"name":"a"}]"#, "[]", &*format!(r#","x":{reference}"#), true),
        (r#"[{"type":"item_reference","id":"x"}]"#, "[]", "", false),
    ] {
        let body = format!(r#"{{"input":{input},"tools":{tools}{rest}}}"#);
        let read = |lists: &ToolLists| {
            RequestHead::read_with(lists, Protocol::Responses, &path, body.as_bytes())
        };
        for _ in 0..3 {
            let head = read(&lists).unwrap();
            assert_eq!(head, read(&ToolLists::default()).unwrap(), "{body}");
            assert_eq!(head.has_state, has_state, "{body}");
        }
    }
}
