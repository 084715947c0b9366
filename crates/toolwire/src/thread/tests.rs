use std::collections::BTreeSet;

use arbitrary::{Result, Unstructured};
use arbtest::arbtest;

use super::ResultMatch::{Answers, Orphan, Superseded};
use super::*;
use crate::ledger::Action;
use crate::model::{Arguments, ResultKind, Text};
use crate::wire::{Pos, Str};

fn call(id: Option<&str>, name: &str) -> Item<'static> {
    Item::Call(Call {
        at: Pos::NONE,
        id: id.map(|id| Str::plain(id.to_owned())),
        name: Str::plain(name.to_owned()),
        namespace: None,
        arguments: Arguments::Text(Str::plain("{}")),
        caller: None,
        cache: None,
        extra: Vec::new(),
    })
}

fn result(id: Option<&str>, name: Option<&str>) -> Item<'static> {
    Item::Result(ToolResult {
        at: Pos::NONE,
        call_id: id.map(|id| Str::plain(id.to_owned())),
        name: name.map(|name| Str::plain(name.to_owned())),
        namespace: None,
        kind: ResultKind::Function,
        content: Vec::new(),
        is_error: None,
        cache: None,
        extra: Vec::new(),
    })
}

fn text() -> Item<'static> {
    Item::Text(Text::new(Str::plain("hello")))
}

fn turn(role: Role<'static>, items: Vec<Item<'static>>) -> Turn<'static> {
    Turn::new(Pos::NONE, role, items)
}

const RULES: [IdRule; 4] =
    [IdRule::CHAT, IdRule::CHAT_COMPATIBLE, IdRule::RESPONSES, IdRule::MESSAGES];

/// A conversation in which anything may go wrong: calls and results in the
/// turns of anybody, repeated ids, ids that look like those that toolwire makes.
fn conversation(u: &mut Unstructured<'_>) -> Result<Vec<Turn<'static>>> {
    const IDS: [&str; 7] = [
        "a",
        "b",
        "functions.x:0",
        "tw_ZnVuY3Rpb25zLng6MA",
        "",
        "get",
        "an id with spaces that is longer than sixty-four characters, all told",
    ];
    let mut turns = Vec::new();
    for _ in 0..u.int_in_range(0..=10)? {
        let role = match u.int_in_range(0..=9)? {
            0..=3 => Role::Assistant,
            4..=7 => Role::User,
            8 => Role::System,
            _other => Role::Developer,
        };
        let model = role == Role::Assistant;
        let mut items = Vec::new();
        for _ in 0..u.int_in_range(0..=3)? {
            // One in eight stands where it should not.
            let odd = u.ratio(1, 8)?;
            let id = if u.ratio(1, 6)? { None } else { Some(*u.choose(&IDS)?) };
            items.push(match u.int_in_range(0..=2)? {
                0 => text(),
                _some if model != odd => call(id, u.choose(&["get", "put"])?),
                _some => result(id, id.is_none().then_some("get")),
            });
        }
        turns.push(turn(role, items));
    }
    Ok(turns)
}

/// The laws that hold for any conversation.
fn check(turns: &[Turn<'_>], rule: IdRule) {
    let mut ledger = Ledger::default();
    let thread = Thread::new(turns, Protocol::Chat, rule, &mut ledger);
    let items = || turns.iter().flat_map(|turn| &turn.items);
    let calls: Vec<&Call<'_>> = items()
        .filter_map(|item| if let Item::Call(call) = item { Some(call) } else { None })
        .collect();
    let results: Vec<&ToolResult<'_>> = items()
        .filter_map(|item| if let Item::Result(result) = item { Some(result) } else { None })
        .collect();

    // Calls and results are those of the conversation, in order.
    assert_eq!(thread.calls.len(), calls.len());
    assert_eq!(thread.fates.len(), results.len());
    for (paired, call) in thread.calls.iter().zip(&calls) {
        assert!(std::ptr::eq(paired.call, *call));
        assert!(rule.accepts(&paired.id), "{:?}", paired.id);
    }
    let ids: BTreeSet<&str> = thread.calls.iter().map(|paired| paired.id.as_ref()).collect();
    assert!(!rule.unique || ids.len() == calls.len(), "{:?}", thread.calls);

    // A call is answered by the one result whose fate says so.
    let mut answered = BTreeSet::new();
    for (fate, result) in thread.fates.iter().zip(&results) {
        if let Answers(call) = fate {
            assert!(answered.insert(*call), "{call} is answered twice");
            assert!(std::ptr::eq(thread.calls[*call].result.unwrap(), *result));
        }
    }
    for (index, paired) in thread.calls.iter().enumerate() {
        assert_eq!(paired.result.is_some(), answered.contains(&index));
    }

    check_steps(turns, &thread);
}

fn check_steps(turns: &[Turn<'_>], thread: &Thread<'_, '_>) {
    let mut ledger = Ledger::default();
    let steps = thread.steps(turns, &mut ledger);
    let arrival = |call: usize| thread.fates.iter().position(|fate| *fate == Answers(call));
    let mut shown: Vec<&Turn<'_>> = Vec::new();
    let mut next_call = 0;
    let mut slots = BTreeSet::new();
    let mut fates: BTreeSet<usize> = BTreeSet::new();
    for (index, step) in steps.iter().enumerate() {
        match step {
            Step::Assistant { turns, calls } => {
                assert!(!turns.is_empty());
                assert_eq!(calls.start, next_call, "a call is lost");
                next_call = calls.end;
                let made = turns.iter().flat_map(|turn| &turn.items);
                let made: Vec<_> = made
                    .filter_map(|item| if let Item::Call(call) = item { Some(call) } else { None })
                    .collect();
                assert_eq!(made.len(), calls.len());
                for (call, paired) in made.iter().zip(&thread.calls[calls.clone()]) {
                    assert!(std::ptr::eq(*call, paired.call));
                }
                if calls.is_empty() {
                    assert!(!matches!(steps.get(index + 1), Some(Step::Results(_))));
                } else {
                    assert!(matches!(steps.get(index + 1), Some(Step::Results(_))));
                }
                shown.extend(turns);
            }
            Step::Results(order) => {
                let Some(Step::Assistant { calls, .. }) = steps.get(index - 1) else { panic!() };
                assert_eq!(order.len(), calls.len());
                for call in order {
                    assert!(calls.contains(call) && slots.insert(*call), "one slot per call");
                }
                let arrivals: Vec<_> =
                    order.iter().map(|call| arrival(*call).unwrap_or(usize::MAX)).collect();
                assert!(arrivals.is_sorted(), "{arrivals:?}");
            }
            Step::User { turn, fates: own } => {
                fates.extend(own.clone());
                let results = turn.items.iter().filter(|item| matches!(item, Item::Result(_)));
                assert_eq!(results.count(), own.len());
                shown.push(turn);
            }
            Step::System(turn) => shown.push(turn),
        }
    }
    assert_eq!((next_call, slots.len()), (thread.calls.len(), thread.calls.len()));

    // Every turn is shown once and in order, unless all it held was answers.
    let mut fate = 0;
    let mut shown = shown.into_iter().peekable();
    for turn in turns {
        let results = turn.items.iter().filter(|item| matches!(item, Item::Result(_))).count();
        let own = fate..fate + results;
        fate += results;
        let answers = own.clone().all(|fate| matches!(thread.fates[fate], Answers(_)));
        let only_results = results > 0 && results == turn.items.len();
        if shown.peek().is_some_and(|next| std::ptr::eq(*next, turn)) {
            shown.next();
        } else {
            assert!(only_results && answers, "a turn is lost: {turn:?}");
        }
        // What answers no call must be seen where it stands, except in a turn
        // that also calls.
        let calls = turn.items.iter().any(|item| matches!(item, Item::Call(_)));
        if !answers && !calls {
            assert!(own.clone().all(|fate| fates.contains(&fate)), "{turn:?}");
        }
    }
    assert!(shown.next().is_none());
}

#[test]
fn any_conversation() {
    arbtest(|u| {
        let turns = conversation(u)?;
        for rule in RULES {
            check(&turns, rule);
        }
        Ok(())
    })
    .budget_ms(600);
}

/// A conversation that a strict protocol would take as it is.
fn strict(u: &mut Unstructured<'_>) -> Result<Vec<Turn<'static>>> {
    let mut turns = vec![turn(Role::User, vec![text()])];
    let mut number = 0;
    for _ in 0..u.int_in_range(0..=6)? {
        let count = u.int_in_range(0..=3)?;
        let first = number;
        number += count;
        let ids: Vec<String> = (first..number).map(|number| format!("call_{number}")).collect();
        // One message, or one item for each call, as the protocol likes.
        let calls = ids.iter().map(|id| call(Some(id), "get"));
        let mut results: Vec<_> = ids.iter().map(|id| result(Some(id), None)).collect();
        if u.arbitrary()? {
            results.reverse();
        }
        if u.arbitrary()? {
            turns.push(turn(Role::Assistant, calls.chain([text()]).collect()));
        } else {
            turns.extend(calls.map(|call| turn(Role::Assistant, vec![call])));
            turns.push(turn(Role::Assistant, vec![text()]));
        }
        if u.arbitrary()? {
            turns.push(turn(Role::User, results.into_iter().chain([text()]).collect()));
        } else {
            turns.extend(results.into_iter().map(|result| turn(Role::User, vec![result])));
            turns.push(turn(Role::User, vec![text()]));
        }
    }
    Ok(turns)
}

#[test]
fn a_strict_conversation_is_not_touched() {
    arbtest(|u| {
        let turns = strict(u)?;
        for rule in RULES {
            check(&turns, rule);
            let mut ledger = Ledger::default();
            let thread = Thread::new(&turns, Protocol::Chat, rule, &mut ledger);
            thread.steps(&turns, &mut ledger);
            assert!(ledger.is_empty(), "{ledger:?}");
            assert!(
                thread.calls.iter().all(|paired| *paired.call.id.as_ref().unwrap() == *paired.id)
            );
        }
        Ok(())
    })
    .budget_ms(300);
}

#[track_caller]
fn check_fates(turns: &[Turn<'_>], fates: &[ResultMatch], lines: &[(&str, Action)]) {
    let mut ledger = Ledger::default();
    let thread = Thread::new(turns, Protocol::Chat, IdRule::MESSAGES, &mut ledger);
    thread.steps(turns, &mut ledger);
    assert_eq!(thread.fates, fates);
    let entries = ledger.entries("");
    let found: Vec<_> = entries.iter().map(|e| (e.code.to_string(), e.action)).collect();
    let lines: Vec<_> = lines.iter().map(|(code, action)| (code.to_string(), *action)).collect();
    assert_eq!(found, lines);
    check(turns, IdRule::MESSAGES);
}

#[test]
fn repeated_ids_pair_within_their_turn() {
    let again = |items: Vec<Item<'static>>| turn(Role::Assistant, items);
    let id = Some("functions.x:0");
    check_fates(
        &[
            again(vec![call(id, "x")]),
            turn(Role::User, vec![result(id, None)]),
            again(vec![call(id, "x")]),
            turn(Role::User, vec![result(id, None)]),
        ],
        &[Answers(0), Answers(1)],
        &[("call_id", Action::Renamed); 4],
    );
}

#[test]
fn repeated_ids_of_one_answer_pair_in_order() {
    let id = Some("a");
    let model = |item: Item<'static>| turn(Role::Assistant, vec![item]);
    check_fates(
        &[
            model(call(id, "x")),
            model(call(id, "y")),
            turn(Role::User, vec![result(id, None)]),
            turn(Role::User, vec![result(id, None)]),
        ],
        &[Answers(0), Answers(1)],
        &[("call_id", Action::Renamed); 2],
    );
}

#[test]
fn missing_orphan_and_duplicate_results() {
    check_fates(
        &[
            turn(Role::Assistant, vec![call(Some("a"), "x"), call(Some("b"), "y")]),
            turn(Role::User, vec![result(Some("a"), None)]),
            turn(Role::User, vec![result(Some("c"), None), result(Some("a"), None)]),
        ],
        &[Superseded, Orphan, Answers(0)],
        &[
            ("orphan_result", Action::Degraded),
            ("duplicate_result", Action::Dropped),
            ("missing_result", Action::Degraded),
            ("result_moved", Action::Moved),
        ],
    );
}

#[test]
fn results_without_ids_go_by_name() {
    check_fates(
        &[
            turn(Role::Assistant, vec![call(None, "get")]),
            turn(Role::User, vec![result(None, Some("get"))]),
            turn(Role::User, vec![result(None, None)]),
        ],
        &[Answers(0), Orphan],
        &[("orphan_result", Action::Degraded)],
    );
}

#[test]
fn a_late_result_is_moved() {
    check_fates(
        &[
            turn(Role::Assistant, vec![call(Some("a"), "x")]),
            turn(Role::User, vec![text()]),
            turn(Role::User, vec![result(Some("a"), None)]),
        ],
        &[Answers(0)],
        &[("result_moved", Action::Moved)],
    );
}

/// A model of Kimi reads the ids of its calls, and one that it did not make keeps it from
/// calling again. Messages took another, and Responses the id as it is.
#[test]
fn a_server_that_makes_up_ids_gets_its_own_back() {
    let held =
        [(Protocol::Messages, "tw_ZnVuY3Rpb25zLmY6MA"), (Protocol::Responses, "functions.f:0")];
    for (client, id) in held {
        let turns = [
            turn(Role::Assistant, vec![call(Some(id), "f")]),
            turn(Role::User, vec![result(Some(id), None)]),
        ];
        let sent = |rule| {
            let thread = Thread::new(&turns, client, rule, &mut Ledger::default());
            assert_eq!(thread.fates, [Answers(0)]);
            thread.calls[0].id.to_string()
        };
        assert_eq!(sent(IdRule::CHAT_COMPATIBLE), "functions.f:0", "{client}");
        assert_eq!(sent(IdRule::CHAT), "tw_ZnVuY3Rpb25zLmY6MA", "{client}");
    }
}
