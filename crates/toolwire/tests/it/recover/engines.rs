//! What the parsers of other engines are tested with, told with tools of our own.
//! Each case is named after what went wrong.

use serde_json::json;

use super::shapes::{booking, check, hermes};

const BOOKED: &str = r#"{"name": "book_table", "arguments": {"restaurant": "Roma", "guests": 2}}"#;

fn note(title: &str) -> serde_json::Value {
    json!([["write_note", {"title": title}]])
}

#[test]
fn undeclared_tool_before_a_declared_one_took_it_along() {
    let unknown = r#"<tool_call>{"name": "fly", "arguments": {"to": "Oslo"}}</tool_call>"#;
    check(
        &format!("{unknown}\n{}", hermes(r#"{"restaurant": "Roma", "guests": 2}"#)),
        booking(),
        unknown,
    );
    check(&format!("{{\"name\": \"fly\"}}\n{BOOKED}"), booking(), "{\"name\": \"fly\"}");
    check(
        &format!("{{\"name\": \"fly\"}} {BOOKED}"),
        json!([]),
        &format!("{{\"name\": \"fly\"}} {BOOKED}"),
    );
}

#[test]
fn undeclared_tool_behind_a_declared_one_vanished() {
    let unknown = r#"<tool_call>{"name": "fly", "arguments": {}}</tool_call>"#;
    check(&format!("<tool_call>{BOOKED}</tool_call>\n{unknown}"), booking(), unknown);
    check(
        &format!("{BOOKED}\n{{\"name\": \"fly\"}}"),
        json!([]),
        &format!("{BOOKED}\n{{\"name\": \"fly\"}}"),
    );
}

#[test]
fn a_call_that_cannot_be_read_leaked_its_end() {
    check(&format!("Wait. {} Sorry.", hermes("{restaurant is Roma}")), json!([]), "Wait.  Sorry.");
    check(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>book_table<｜tool▁sep｜>{not at all}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        json!([]),
        "",
    );
    check(
        &format!("<tool_call>{BOOKED} as you wish </tool_call> Done."),
        booking(),
        "as you wish  Done.",
    );
}

#[test]
fn arguments_that_are_no_object_became_none() {
    check(&hermes("\"a table for two\""), json!([]), "");
    check(&hermes("[1, 2]"), json!([]), "");
    check("<tool_call>{\"name\": \"book_table\"}</tool_call>", json!([]), "");
    check("<tool_call>{\"name\": \"ping_server\"}</tool_call>", json!([["ping_server", {}]]), "");
}

#[test]
fn parameter_without_a_name_leaked() {
    check("<function name=\"write_note\"><param>milk</param></function>", note("milk"), "");
    check("<function name=\"book_table\"><param>Roma</param></function> Done.", json!([]), "Done.");
}

#[test]
fn tag_without_its_space_was_text() {
    check(
        "<functionname=\"write_note\"><paramname=\"title\">milk</param></function>",
        note("milk"),
        "",
    );
    check(
        "<functionĠname=\"write_note\"><paramĠname=\"title\">milk</param></function>",
        note("milk"),
        "",
    );
}

#[test]
fn tag_that_closes_itself_swallowed_the_next_call() {
    let text = "<invoke name=\"ping_server\"/>\n<invoke name=\"write_note\"><parameter name=\"title\">x</parameter></invoke>";
    check(text, json!([["ping_server", {}], ["write_note", {"title": "x"}]]), "");
}

#[test]
fn raw_xml_text_kept_its_marks() {
    let text = "<function name=\"write_note\"><param name=\"title\"><![CDATA[<b>1</b> </param> ]] ]]></param></function>";
    check(text, note("<b>1</b> </param> ]] "), "");
}

#[test]
fn arguments_in_a_wrapper_were_one_argument() {
    let inner = r#"{"restaurant": "Roma", "guests": "2"}"#;
    for wrapper in ["arguments", "input", "parameters", "properties"] {
        let text = format!(
            "<｜DSML｜function_calls><｜DSML｜invoke name=\"book_table\"><｜DSML｜parameter name=\"{wrapper}\" string=\"false\">{inner}</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>"
        );
        check(&text, booking(), "");
    }
    check(&hermes(&format!("{{\"arguments\": {inner}}}")), booking(), "");
}

#[test]
fn key_without_a_value_lost_the_call() {
    let text = "<tool_call>write_note\n<arg_key>body</arg_key><arg_key>title</arg_key><arg_value>x</arg_value></tool_call>";
    check(text, note("x"), "");
    let text = "<tool_call>write_note<arg_key>title</arg_key><arg_value>x</arg_value><arg_key>body</arg_key></tool_call>";
    check(text, note("x"), "");
}

#[test]
fn value_escaped_once_too_often_was_a_text() {
    let text = r#"<tool_call>write_note\n<arg_key>title</arg_key>\n<arg_value>x</arg_value>\n<arg_key>tags</arg_key>\n<arg_value>[\"a\", \"b\"]</arg_value>\n</tool_call>"#;
    check(text, json!([["write_note", {"title": "x", "tags": ["a", "b"]}]]), "");
}

#[test]
fn line_break_of_an_inline_value_was_cut() {
    let text = "<seed:tool_call>\n<function=write_note>\n<parameter=title>one\ntwo\n</parameter>\n</function>\n</seed:tool_call>";
    check(text, note("one\ntwo\n"), "");
    let text = "<tool_call>\n<function=write_note>\n<parameter=title>\none\ntwo\n\n</parameter>\n</function>\n</tool_call>";
    check(text, note("one\ntwo\n"), "");
}

#[test]
fn frames_of_kimi_leaked() {
    let text = "<|open|>think<|sep|>Two of us.<|close|>think<|sep|><|open|>response<|sep|>On it.<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool=\"book_table\" index=\"1\"<|sep|><|open|>argument key=\"restaurant\" type=\"string\"<|sep|>Roma<|close|>argument<|sep|><|open|>argument key=\"guests\" type=\"number\"<|sep|>2<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>";
    check(text, booking(), "On it.");
    check("<|open|> response <|sep|>Hello.<|close|> response <|sep|>", json!([]), "Hello.");
}

#[test]
fn headers_of_muse_leaked() {
    let text = " to=self<|message|>Two of us.<|eom|><|start|>assistant to=write_note.write_note<|message|><atem:function_calls>\n<atem:invoke name=\"write_note.write_note\">\n<atem:parameter name=\"title\">milk</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|><|start|>assistant to=user<|message|>Noted.<|eot|>";
    check(text, note("milk"), "Noted.");
    check("to=be, or not to=be", json!([]), "to=be, or not to=be");
}

#[test]
fn recipient_before_the_channel_leaked() {
    let text = " to=functions.write_note<|channel|>commentary <|constrain|>json<|message|>{\"title\": \"milk\"}<|call|>";
    check(text, note("milk"), "");
}

#[test]
fn thoughts_of_gemma_and_minimax_were_text() {
    check("<|channel>thought\nHm.<channel|>Hello.", json!([]), "Hello.");
    check("<mm:think>Hm.</mm:think>Hello.", json!([]), "Hello.");
    check("</mm:think>Hello.", json!([]), "Hello.");
    check("<|END_THINKING|><|START_RESPONSE|>Hello.<|END_RESPONSE|>", json!([]), "Hello.");
}

#[test]
fn author_of_inkling_that_is_no_tool_leaked() {
    let text = format!(
        "<|message_model|>planner<|content_invoke_tool_json|>{BOOKED}<|end_message|><|message_model|><|content_text|>Done.<|end_message|>"
    );
    check(&text, booking(), "Done.");
}

#[test]
fn separator_of_gigachat_leaked() {
    check(
        &format!("Sure.<|message_sep|>\n\nfunction call<|role_sep|>\n{BOOKED}"),
        booking(),
        "Sure.",
    );
}

#[test]
fn call_right_behind_a_frame_was_text() {
    check(&format!("</think>{BOOKED}"), booking(), "");
    check(&format!("[/THINK]{BOOKED}"), booking(), "");
}

#[test]
fn counter_in_the_place_of_a_name_was_text() {
    let call = |id: &str, arguments: &str| {
        format!(
            "<|tool_calls_section_begin|><|tool_call_begin|>{id}<|tool_call_argument_begin|>{arguments}<|tool_call_end|><|tool_calls_section_end|>"
        )
    };
    check(&call("0", r#"{"restaurant": "Roma", "guests": 2}"#), booking(), "");
    check(&call("call_7f", r#"{"restaurant": "Roma", "guests": 2}"#), booking(), "");
    // Two tools may be meant, or none.
    check(&call("0", "{}"), json!([]), &call("0", "{}"));
    check(&call("0", "{\"color\": 1}"), json!([]), &call("0", "{\"color\": 1}"));
}

#[test]
fn line_break_of_windows_was_cut_in_half() {
    let text = "<tool_call>\r\n<function=write_note>\r\n<parameter=title>\r\none\r\ntwo\r\n</parameter>\r\n</function>\r\n</tool_call>";
    check(text, note("one\r\ntwo"), "");
}

#[test]
fn tag_of_another_argument_that_broke_off_was_forgotten() {
    let begun = [
        "<tool_call>\n<function=write_note>\n<parameter=title>\nmilk\n</parameter>\n<param",
        "<tool_call>write_note\n<arg_key>title</arg_key>\n<arg_value>milk</arg_value>\n<arg_key>bo",
        "<invoke name=\"write_note\"><parameter name=\"title\">milk</parameter><parameter name=\"bo",
    ];
    for text in begun {
        check(text, json!([]), "");
    }
    // What closes the call may be missing.
    check(
        "<invoke name=\"write_note\"><parameter name=\"title\">milk</parameter></inv",
        note("milk"),
        "",
    );
}

#[test]
fn tag_that_closes_a_call_with_an_object_leaked() {
    let call = |town: &str| {
        format!(
            "<｜DSML｜invoke name=\"write_note\">\n{{\"title\": \"{town}\"}}\n</｜DSML｜invoke>\n"
        )
    };
    let text = format!(
        "<｜DSML｜function_calls>\n{}{}</｜DSML｜function_calls>",
        call("Ulm"),
        call("Bern")
    );
    check(&text, json!([["write_note", {"title": "Ulm"}], ["write_note", {"title": "Bern"}]]), "");
}

#[test]
fn token_at_the_end_of_the_message_leaked() {
    check(&format!("<tool_call>{BOOKED}</tool_call></s>"), booking(), "");
    check(&format!("<|function_call|>{BOOKED}</s>"), booking(), "");
    check("It was <s>ten</s> nine.", json!([]), "It was <s>ten</s> nine.");
}

#[test]
fn quote_that_was_not_escaped_cut_the_argument() {
    let text = "<|tool_call_start|>[write_note(title='say('hi')')]<|tool_call_end|>";
    check(text, json!([]), "");
    let text = "<|tool_call_start|>[write_note(title='f(x)'), ping_server()]<|tool_call_end|>";
    check(text, json!([["write_note", {"title": "f(x)"}], ["ping_server", {}]]), "");
}

#[test]
fn sets_of_python_were_no_lists() {
    let text = "<|tool_call_start|>[write_note(title='x', tags={'a', 'b'})]<|tool_call_end|>";
    check(text, json!([["write_note", {"title": "x", "tags": ["a", "b"]}]]), "");
    let text = "<|tool_call_start|>[store_record(record={'a': {'b'}, 'c': {}})]<|tool_call_end|>";
    check(
        &text.replace("store_record", "store-record"),
        json!([["store-record", {"record": {"a": ["b"], "c": {}}}]]),
        "",
    );
}

#[test]
fn zeros_before_a_number_lost_the_call() {
    let text = "[book_table(restaurant=\"Roma\", guests=02)]";
    check(text, booking(), "");
    check(&hermes(r#"{"restaurant": "Roma", "guests": 002}"#), booking(), "");
    check("[write_note(title=0042)]", note("0042"), "");
}

#[test]
fn heading_over_an_example_was_overlooked() {
    for heading in ["Example:", "**Example 2:**", "A short example:", "Examples:"] {
        let text = format!("{heading}\n<tool_call>{BOOKED}</tool_call>");
        check(&text, json!([]), &text);
    }
}
