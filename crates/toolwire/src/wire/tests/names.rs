use std::borrow::Cow;
use std::collections::BTreeMap;

use arbtest::arbtest;

use crate::wire::names::{NameRule, Names};

const RULES: [NameRule; 3] = [NameRule::CHAT, NameRule::MESSAGES, NameRule { max: 12 }];

fn any_name(u: &mut arbitrary::Unstructured<'_>) -> arbitrary::Result<String> {
    const PIECES: [&str; 12] =
        ["a", "b", "__", "_", ".", "/", "get", "é", "", "-", " ", "a_name_of_thirty_characters_ok"];
    let mut name = String::new();
    for _ in 0..u.int_in_range(0..=5)? {
        name.push_str(u.choose(&PIECES)?);
    }
    Ok(name)
}

type Tool = (Option<String>, String);

fn names(rule: NameRule, tools: &[Tool]) -> Names {
    let tools = tools.iter().map(|(namespace, name)| {
        (namespace.as_deref().map(Cow::Borrowed), Cow::Borrowed(name.as_str()))
    });
    Names::new(rule, tools)
}

#[test]
fn wire_names_are_legal_stable_and_apart() {
    arbtest(|u| {
        let mut tools: Vec<Tool> = Vec::new();
        for _ in 0..u.int_in_range(0..=12)? {
            let namespace = if u.arbitrary()? { Some(any_name(u)?) } else { None };
            tools.push((namespace, any_name(u)?));
        }
        for rule in RULES {
            // A tool may bear the very name that another would be given.
            let mut tools = tools.clone();
            if let Some((namespace, name)) = tools.first().cloned() {
                let given = names(rule, &tools).wire(namespace.as_deref(), &name).into_owned();
                tools.push((None, given));
            }
            let made = names(rule, &tools);
            let mut seen: BTreeMap<String, &Tool> = BTreeMap::new();
            for tool in &tools {
                let (namespace, name) = tool;
                let wire = made.wire(namespace.as_deref(), name);
                assert!(rule.accepts(&wire), "{tool:?} -> {wire}");
                if namespace.is_none() && rule.accepts(name) {
                    assert_eq!(wire, *name);
                }
                assert_eq!(wire, names(rule, &tools).wire(namespace.as_deref(), name));
                let earlier = seen.insert(wire.into_owned(), tool);
                assert!(earlier.is_none_or(|earlier| earlier == tool), "{earlier:?} and {tool:?}");
            }
            let gone = any_name(u)?;
            assert!(rule.accepts(&made.wire(None, &gone)), "{gone}");
        }
        Ok(())
    })
    .budget_ms(400);
}

#[test]
fn known_names() {
    let long = "n".repeat(100);
    let tools = [
        (None, "srv/tool.x".to_owned()),
        (None, "srv_tool_x".to_owned()),
        (Some("crm".to_owned()), "get".to_owned()),
        (None, long.clone()),
    ];
    let messages = names(NameRule::MESSAGES, &tools);
    assert_eq!(messages.wire(None, "srv_tool_x"), "srv_tool_x");
    assert_eq!(messages.wire(None, "srv/tool.x"), NameRule::MESSAGES.rename("srv/tool.x"));
    assert!(messages.wire(None, "srv/tool.x").starts_with("srv_tool_x_"));
    assert_eq!(messages.wire(Some("crm"), "get"), "crm__get");
    assert_eq!(messages.wire(None, &long), long);
    let chat = names(NameRule::CHAT, &tools);
    let cut = chat.wire(None, &long);
    assert_eq!((cut.len(), &cut[..56]), (64, format!("{}_", "n".repeat(55)).as_str()));
}
