//! What the model is told about its tools.

use super::Dialect;
use super::escape::escape_json;

/// What the client demands of the next answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    /// Nothing.
    Free,
    /// A call of any tool.
    AnyTool,
    /// A call of this tool.
    Tool(String),
}

/// The instructions for these tools, each definition as JSON.
pub(super) fn instructions(
    dialect: Dialect,
    definitions: &[&str],
    demand: &Demand,
    is_parallel: bool,
) -> String {
    let mut text = String::from(
        "# Tools\n\nYou can call these tools. Each line is the JSON definition of one tool:\n<tools>\n",
    );
    for definition in definitions {
        // A line end in JSON is between its values, where it means nothing.
        let lines = definition.lines().map(str::trim);
        text.extend(lines.map(escape_json));
        text.push('\n');
    }
    text.push_str(
        "</tools>\n\nTo call a tool, write exactly this, with the name of the tool and with arguments that fit its schema:\n",
    );
    text.push_str(&dialect.example());
    text.push_str("\n\n");
    text.push_str(match is_parallel {
        true => "- You can make several calls in one answer, one after the other.\n",
        false => "- Make no more than one call in an answer.\n",
    });
    text.push_str(
        "- End your answer after your calls. The next message has their results, each after ",
    );
    text.push_str(dialect.result_marker());
    text.push_str(
        ".\n- Never write a result yourself. Never call a tool that is not in the list.\n",
    );
    match demand {
        Demand::Free => text.push_str("- If you need no tool, answer in plain text."),
        Demand::AnyTool => text.push_str("- Your next answer must call at least one tool."),
        Demand::Tool(name) => {
            text.push_str(&format!("- Your next answer must call the tool {name}."));
        }
    }
    text
}
