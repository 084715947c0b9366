use std::time::Duration;

use arbtest::arbtest;

use super::*;
use crate::calls::Input;

fn call(id: &str) -> ToolCall {
    ToolCall::new(id, "f", Input::Arguments("{}".to_owned()))
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn states(tracker: &Tracker) -> Vec<CallState> {
    tracker.calls().iter().map(|call| call.state).collect()
}

#[test]
fn parallel_calls_are_answered_in_any_order() {
    let mut tracker = Tracker::new();
    for id in ["a", "b", "c"] {
        tracker.call(&call(id), at(0));
    }
    assert_eq!(tracker.result(&ToolOutput::text("c", "3"), at(1)), ResultMatch::Answers(2));
    assert_eq!(tracker.result(&ToolOutput::error("a", "no"), at(2)), ResultMatch::Answers(0));
    assert_eq!(states(&tracker), [CallState::Failed, CallState::Pending, CallState::Completed]);
    assert_eq!(tracker.end_turn(), 1);
    assert_eq!(states(&tracker), [CallState::Failed, CallState::Missing, CallState::Completed]);
}

#[test]
fn sequential_calls_may_share_an_id() {
    let mut tracker = Tracker::new();
    for turn in 0..3 {
        assert_eq!(tracker.call(&call("call_0"), at(turn)), turn as usize);
        let matched = tracker.result(&ToolOutput::text("call_0", "1"), at(turn));
        assert_eq!(matched, ResultMatch::Answers(turn as usize));
        assert_eq!(tracker.end_turn(), 0);
    }
    let turns: Vec<usize> = tracker.calls().iter().map(|call| call.turn).collect();
    assert_eq!(turns, [0, 1, 2]);
}

#[test]
fn a_call_times_out_at_its_deadline_and_not_before() {
    let mut tracker = Tracker::new().timeout(at(10));
    tracker.call(&call("a"), at(5));
    assert_eq!(tracker.next_deadline(), Some(at(15)));
    assert_eq!(tracker.expire(at(14)), 0);
    assert_eq!(tracker.expire(at(15)), 1);
    assert_eq!(tracker.expire(at(16)), 0);
    assert_eq!((states(&tracker), tracker.next_deadline()), (vec![CallState::TimedOut], None));
}

#[test]
fn a_late_result_still_counts() {
    let mut tracker = Tracker::new().timeout(at(1));
    tracker.call(&call("a"), at(0));
    tracker.expire(at(2));
    tracker.end_turn();
    assert_eq!(states(&tracker), [CallState::Missing]);
    assert_eq!(tracker.result(&ToolOutput::text("a", "1"), at(3)), ResultMatch::Answers(0));
    assert_eq!(states(&tracker), [CallState::Completed]);
    assert!(tracker.calls()[0].is_late());
}

#[test]
fn the_last_of_several_results_counts() {
    let mut tracker = Tracker::new();
    tracker.call(&call("a"), at(0));
    tracker.result(&ToolOutput::text("a", "1"), at(1));
    let again = tracker.result(&ToolOutput::error("a", "2"), at(2));
    assert_eq!(again, ResultMatch::Duplicates(0));
    assert_eq!(states(&tracker), [CallState::Failed]);
    assert_eq!(tracker.duplicated().count(), 1);
}

#[test]
fn a_result_before_its_call_is_an_orphan() {
    let mut tracker = Tracker::new();
    assert_eq!(tracker.result(&ToolOutput::text("a", "1"), at(7)), ResultMatch::Orphan);
    tracker.call(&call("a"), at(8));
    assert_eq!(tracker.orphans(), [OrphanResult { id: Some("a".to_owned()), came: at(7) }]);
    assert_eq!(tracker.pending().count(), 1);
}

/// Whatever arrives, every call gets exactly one output, and no output vanishes.
#[test]
fn any_outputs() {
    arbtest(|u| {
        let ids = ["a", "b", "c", "d"];
        let mut calls = Vec::new();
        for _ in 0..u.int_in_range(0..=6)? {
            calls.push(call(u.choose(&ids)?));
        }
        let mut outputs = Vec::new();
        for n in 0..u.int_in_range(0..=9)? {
            outputs.push(ToolOutput::text(*u.choose(&ids)?, n.to_string()));
        }
        let came = outputs.len();
        let answered = answer_all(&calls, outputs);
        let made: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        let given: Vec<&str> = answered.outputs.iter().map(|output| output.id.as_str()).collect();
        assert_eq!(made, given);
        let kept = answered.outputs.len() - answered.missing.len();
        assert_eq!(came, kept + answered.orphaned.len() + answered.duplicated.len());
        Ok(())
    });
}
