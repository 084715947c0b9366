use super::*;
use crate::stateful;

fn read(body: &str) -> Result<RequestHead, Error> {
    RequestHead::read(Protocol::Chat, &PathMatch::default(), body.as_bytes())
}

#[test]
fn the_model_and_where_the_body_names_it() {
    for (body, name, literal) in [
        (r#"{"model":"m"}"#, "m", r#""m""#),
        (r#"{"stream":true, "model" : "a\/b" , "tools":[]}"#, "a/b", r#""a\/b""#),
        (r#"{"messages":[{"model":"no"}],"model":"é","x":{"model":1}}"#, "é", r#""é""#),
        (r#"{"mo\u0064el":"m"}"#, "m", r#""m""#),
    ] {
        let head = read(body).unwrap();
        assert_eq!(head.model.as_deref(), Some(name), "{body}");
        assert_eq!(body.get(head.model_span.unwrap()), Some(literal), "{body}");
    }
}

#[test]
fn no_model() {
    for body in ["{}", r#"{"model":1}"#, r#"{"model":null}"#] {
        assert_eq!(read(body).unwrap().model, None, "{body}");
    }
}

#[test]
fn two_models() {
    for body in [
        r#"{"model":"a","model":"b"}"#,
        r#"{"model":1,"model":"b"}"#,
        r#"{"model":"a","mo\u0064el":"b"}"#,
    ] {
        let Err(Error::Invalid { message, .. }) = read(body) else { panic!("{body} is read") };
        assert!(message.contains("model"), "{message}");
    }
}

#[test]
fn streams_and_tools() {
    let head = read(r#"{"stream":true,"tools":[{"a":1},{}],"functions":[[]]}"#).unwrap();
    assert!(head.stream);
    assert_eq!((head.tools, head.tool_bytes), (3, 11));
    assert!(!read(r#"{"stream":"yes"}"#).unwrap().stream);
}

#[test]
fn envelopes() {
    assert!(read(r#"{"messages":[{"signature":"tw1.e30"}]}"#).unwrap().has_envelope);
    assert!(!read(r#"{"messages":["the prefix is tw1."]}"#).unwrap().has_envelope);
}

#[test]
fn tools_inside_namespaces_and_turns_count() {
    let read = |body: &str| {
        RequestHead::read(Protocol::Responses, &PathMatch::default(), body.as_bytes()).unwrap()
    };
    let tools = "{},{},{}";
    let namespace = format!(r#"{{"type":"namespace","name":"n","tools":[{tools}]}}"#);
    let empty = r#"{"type":"namespace","name":"e","tools":[]}"#;
    let head = read(&format!(r#"{{"tools":[{namespace}, {empty},{{}}]}}"#));
    assert_eq!((head.tools, head.tool_bytes), (5, namespace.len() + empty.len() + 2));
    let found = format!(r#"{{"type":"tool_search_output","tools":[{namespace}]}}"#);
    let head = read(&format!(r#"{{"input":[{found},{found}],"tools":[{{}}]}}"#));
    assert_eq!((head.tools, head.tool_bytes), (7, 2 * namespace.len() + 2));
}

#[test]
fn a_member_that_comes_twice_is_refused_by_name() {
    for (body, pointer) in [
        (r#"{"max_tokens":1,"max_tokens":2}"#, "/max_tokens"),
        (r#"{"temperature":1,"temperatur\u0065":2}"#, "/temperature"),
        (r#"{"\u0061":1,"b":2,"b":3}"#, "/b"),
        (r#"{"\u0061b":1,"ab":2}"#, "/ab"),
        (r#"{"axb":1,"ayb":2,"azb":3,"ayb":4}"#, "/ayb"),
        (r#"{"":1,"":2}"#, "/"),
        (r#"{"messages":[{"role":"user"},{"role":"user","role":"system"}]}"#, "/messages/1/role"),
        (r#"{"tools":[{"type":"function","type":"custom"}]}"#, "/tools/0/type"),
        (r#"{"tools":[{"tools":[{"name":"a","name":"b"}]}]}"#, "/tools/0/tools/0/name"),
    ] {
        let Err(Error::Invalid { pointer: found, message, .. }) = read(body) else {
            panic!("{body} is read")
        };
        let name = pointer.rsplit('/').next().unwrap();
        assert!(message.contains(name), "{message}");
        assert_eq!(found, pointer, "{body}");
    }
    assert!(read(r#"{"axb":1,"ayb":2,"\u0061zb":3,"":4,"a":5}"#).is_ok());
    let many = |last: &str| {
        let fields: String = (0..1000).map(|number| format!(r#""x{number}":0,"#)).collect();
        read(&format!(r#"{{{fields}"{last}":1}}"#))
    };
    assert!(many("y").is_ok());
    assert!(many("x3").is_err());
    assert!(many("x999").is_err());
}

fn responses(body: &str) -> RequestHead {
    RequestHead::read(Protocol::Responses, &PathMatch::default(), body.as_bytes()).unwrap()
}

/// What is looked up is what whoever looks takes for a reference, in any order of members.
#[test]
fn references_are_those_that_are_looked_up() {
    let mut found = 0;
    let ids = ["", r#""id":"x""#, r#""id":null"#, r#""i\u0064":"x""#];
    let kinds = [
        "",
        r#""type":"item_reference""#,
        r#""type" : "item\u005freference""#,
        r#""type":"item_references""#,
        r#""type":"message""#,
        r#""type":null"#,
        r#""type":7"#,
    ];
    let roles = ["", r#""role":"user""#, r#""role":null"#];
    let contents = ["", r#""content":"item_reference""#];
    for (id, kind) in ids.iter().flat_map(|id| kinds.iter().map(move |kind| (*id, *kind))) {
        for (role, content) in
            roles.iter().flat_map(|role| contents.iter().map(move |content| (*role, *content)))
        {
            for members in [[id, kind, role, content], [content, role, kind, id]] {
                let members: Vec<_> =
                    members.into_iter().filter(|member| !member.is_empty()).collect();
                let body = format!(r#"{{"input":[[], {{{}}}]}}"#, members.join(","));
                let head = responses(&body);
                let request = stateful::read_request(Protocol::Responses, &head, body.as_bytes());
                let is_reference = request.unwrap().unwrap().input[1].is_reference;
                // Without an id there is nothing to look up.
                assert_eq!(head.has_state, is_reference && !id.is_empty(), "{body}");
                found += usize::from(head.has_state);
            }
        }
    }
    assert!(found > 80, "{found}");
    // Nobody else refers to anything.
    assert!(!read(r#"{"messages":[{"id":"x"}]}"#).unwrap().has_state);
}

/// What only looks like a reference is none, wherever its words are.
#[test]
fn what_is_no_reference_is_not_looked_up() {
    let text = "item_reference ".repeat(10);
    for input in [
        format!(r#""{text}""#),
        r#"["item_reference",{"type":"message","role":"user","content":"item_reference"}]"#.into(),
        format!(r#"[{{"content":[{{"id":"x","text":"{text}"}}],"id":"x","type":"message"}}]"#),
        format!(r#"[{{"role":"user","name":"id","content":"{text}"}}]"#),
    ] {
        assert!(!responses(&format!(r#"{{"input":{input}}}"#)).has_state, "{input}");
    }
    let late = format!(r#"{{"input":[{{"x":["{text}",{{"id":"y"}}],"id":"x","role":null}}]}}"#);
    assert!(responses(&late).has_state);
}
