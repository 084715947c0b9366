use std::collections::BTreeMap;

use arbtest::arbtest;

use crate::wire::ids::{IdRule, is_own_reasoning, mint, reasoning};

const RULES: [IdRule; 6] = [
    IdRule::CHAT,
    IdRule::CHAT_COMPATIBLE,
    IdRule::RESPONSES,
    IdRule::MESSAGES,
    IdRule { max: 9, word: true, unique: true, exact: false },
    IdRule::MISTRAL,
];

fn any_id(u: &mut arbitrary::Unstructured<'_>) -> arbitrary::Result<String> {
    const PIECES: [&str; 12] =
        ["call_", "toolu_01", "a", "-", "Z9", "functions.x:", "0", " ", "é", "\n", "", "x"];
    let mut id = String::new();
    for _ in 0..u.int_in_range(0..=20)? {
        id.push_str(u.choose(&PIECES)?);
    }
    Ok(id)
}

#[test]
fn rendered_ids_are_legal_stable_and_apart() {
    arbtest(|u| {
        let ids: Vec<String> =
            (0..u.int_in_range(0..=12)?).map(|_| any_id(u)).collect::<Result<_, _>>()?;
        for rule in RULES {
            let mut seen: BTreeMap<String, (&str, usize)> = BTreeMap::new();
            for id in &ids {
                for occurrence in 0..3 {
                    let rendered = rule.render(id, occurrence);
                    assert!(rule.accepts(&rendered), "{id:?} -> {rendered:?}");
                    assert_eq!(rendered, rule.render(id, occurrence));
                    if rule.accepts(id) && (occurrence == 0 || !rule.unique) {
                        assert_eq!(rendered, *id);
                    }
                    if let Some(back) = rule.original(&rendered) {
                        assert_eq!(back, *id);
                    }
                    // A protocol that takes repeated ids gets the same each time.
                    let which = (id.as_str(), if rule.unique { occurrence } else { 0 });
                    let earlier = seen.insert(rendered.into_owned(), which);
                    assert!(earlier.is_none_or(|earlier| earlier == which), "{id:?}");
                }
            }
        }
        Ok(())
    })
    .budget_ms(300);
}

#[test]
fn known_ids() {
    let long = "fc_".to_owned() + &"a".repeat(50);
    for (rule, id, expected) in [
        (IdRule::CHAT, "toolu_01A09q90qw90lq917835lq9x", "toolu_01A09q90qw90lq917835lq9x"),
        (IdRule::MESSAGES, "functions.x:0", "tw_ZnVuY3Rpb25zLng6MA"),
        (IdRule::RESPONSES, "functions.x:0", "functions.x:0"),
        (IdRule::MESSAGES, long.as_str(), long.as_str()),
    ] {
        assert_eq!(rule.render(id, 0), expected);
    }
    let cut = IdRule::CHAT.render(&long, 0);
    assert!(cut.starts_with("call_") && cut.len() == 29, "{cut}");
    let rule = IdRule::MESSAGES;
    assert_eq!(rule.original("tw_ZnVuY3Rpb25zLng6MA").as_deref(), Some("functions.x:0"));
    // Responses takes that id as it is, so it has not been replaced for its clients.
    assert_eq!(IdRule::RESPONSES.original("tw_ZnVuY3Rpb25zLng6MA"), None);
    // `foo`, no base64, no text, and nothing at all.
    for own in ["tw_Zm9v", "tw_!", "tw__w", "tw_", "call_1"] {
        assert_eq!(rule.original(own), None, "{own}");
    }
}

#[test]
fn minted_ids_differ_by_scope_and_ordinal() {
    let minted = [mint("a", 0), mint("a", 1), mint("b", 0)];
    assert!(minted.iter().all(|id| RULES[..3].iter().all(|rule| rule.accepts(id))));
    assert!(minted[0] != minted[1] && minted[0] != minted[2]);
    assert_eq!(minted[0], mint("a", 0));
}

#[test]
fn reasoning_that_toolwire_wrote_is_known_by_its_id() {
    let made = reasoning(&[b"resp_1", b"0"]);
    let kept = format!("rs_{}_0", "0123456789abcdef".repeat(3));
    assert!(made.len() == 27 && is_own_reasoning(&made) && is_own_reasoning(&kept), "{made}");
    let other = made.replace(made.chars().nth(5).unwrap(), "-");
    let vendors = format!("rs_{}", "0123456789abcdef".repeat(3));
    for id in [other.as_str(), &vendors, "rs_", "rs_1_0", "rs_resp_123", "msg_1", ""] {
        assert!(!is_own_reasoning(id), "{id}");
    }
}
