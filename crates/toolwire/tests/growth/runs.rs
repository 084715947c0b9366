//! A registry whose definitions come from several protocols in turn, and an
//! answer that calls all of them.

use toolwire::registry::Registry;
use toolwire::{Options, Protocol};
use toolwire_laws::growth::Growth;

#[test]
fn many_runs_of_definitions_and_many_calls() {
    let make = |size: usize| {
        let mut registry = Registry::default();
        let mut calls = Vec::new();
        for number in 0..size {
            let list = match number % 2 {
                0 => format!(r#"[{{"type":"custom","name":"c{number}"}}]"#),
                _odd => format!(r#"[{{"name":"m.{number}","input_schema":{{"type":"object"}}}}]"#),
            };
            registry.add_json(list.as_bytes()).unwrap();
            calls.push(format!(
                r#"{{"type":"tool_use","id":"i{number}","name":"c{number}","input":{{"input":"x"}}}}"#
            ));
        }
        let answer = format!(
            r#"{{"role":"assistant","stop_reason":"tool_use","content":[{}]}}"#,
            calls.join(",")
        );
        (registry, answer)
    };
    let growth = Growth::of(50, make, |(registry, answer)| {
        let calls = registry.calls(Protocol::Messages, answer.as_bytes(), &Options::new()).unwrap();
        assert_eq!(calls[0].freeform(), Some("x"));
    });
    println!("many runs and calls: {growth}");
    assert!(!growth.is_over(), "{growth}");
}
