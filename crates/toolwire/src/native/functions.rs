//! Table only: the functions that stand for native tools, with the input that
//! each vendor publishes for its tool.

use crate::model::NativeKind;

/// A native tool as an ordinary function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// What it is for.
    pub description: &'static str,
    /// The schema of its arguments.
    pub schema: &'static str,
}

/// The function that stands for a native tool. `version` is the tool's type as
/// spelled (`text_editor_20250728`). The computer tools have none.
pub fn function(kind: NativeKind, version: &str) -> Option<Function> {
    match kind {
        NativeKind::LocalShell => Some(LOCAL_SHELL),
        NativeKind::Shell => Some(SHELL),
        NativeKind::ApplyPatch => Some(APPLY_PATCH),
        NativeKind::ToolSearch => Some(TOOL_SEARCH),
        NativeKind::Bash => Some(BASH),
        // The two oldest versions can take back an edit and insert `new_str`;
        // later ones cannot, and insert `insert_text`.
        NativeKind::TextEditor => match version {
            "text_editor_20241022" | "text_editor_20250124" => Some(TEXT_EDITOR_WITH_UNDO),
            _later => Some(TEXT_EDITOR),
        },
        NativeKind::Memory => Some(MEMORY),
        NativeKind::Computer => None,
    }
}

const LOCAL_SHELL: Function = Function {
    description: "Runs a command on the user's machine and returns its output.",
    schema: concat!(
        r#"{"type":"object","properties":{"#,
        r#""command":{"type":"array","items":{"type":"string"},"description":"The program and its arguments, one string each."},"#,
        r#""env":{"type":"object","additionalProperties":{"type":"string"},"description":"Environment variables to set for the command."},"#,
        r#""timeout_ms":{"type":"integer","description":"How long the command may take, in milliseconds."},"#,
        r#""user":{"type":"string","description":"The user to run the command as."},"#,
        r#""working_directory":{"type":"string","description":"The directory to run the command in."}"#,
        r#"},"required":["command"]}"#
    ),
};

const SHELL: Function = Function {
    description: "Runs shell commands in order and returns what each printed and its exit code.",
    schema: concat!(
        r#"{"type":"object","properties":{"#,
        r#""commands":{"type":"array","items":{"type":"string"},"description":"The shell commands to run, in order."},"#,
        r#""timeout_ms":{"type":"integer","description":"How long the commands may take, in milliseconds."},"#,
        r#""max_output_length":{"type":"integer","description":"How many characters of output to return at most."}"#,
        r#"},"required":["commands"]}"#
    ),
};

const APPLY_PATCH: Function = Function {
    description: "Creates, changes or deletes one file by a diff.",
    schema: concat!(
        r#"{"type":"object","properties":{"operation":{"type":"object","properties":{"#,
        r#""type":{"type":"string","enum":["create_file","update_file","delete_file"],"description":"What to do with the file."},"#,
        r#""path":{"type":"string","description":"The file, relative to the root of the workspace."},"#,
        r#""diff":{"type":"string","description":"The diff to apply. Required to create or update a file."}"#,
        r#"},"required":["type","path"]}},"required":["operation"]}"#
    ),
};

const TOOL_SEARCH: Function = Function {
    description: "Searches for tools that are not loaded yet. The tools it finds can be called afterwards.",
    schema: r#"{"type":"object","properties":{"query":{"type":"string","description":"What the tool should be able to do."}},"required":["query"]}"#,
};

const BASH: Function = Function {
    description: "Runs a command in a bash session that keeps its state between calls.",
    schema: concat!(
        r#"{"type":"object","properties":{"#,
        r#""command":{"type":"string","description":"The bash command to run. Required unless the session is restarted."},"#,
        r#""restart":{"type":"boolean","description":"Set to true to restart the bash session."}"#,
        r#"}}"#
    ),
};

const TEXT_EDITOR: Function = Function {
    description: "Views, creates and edits text files.",
    schema: concat!(
        r#"{"type":"object","properties":{"#,
        r#""command":{"type":"string","enum":["view","create","str_replace","insert"],"description":"The command to run."},"#,
        r#""path":{"type":"string","description":"The file or directory."},"#,
        r#""file_text":{"type":"string","description":"The content of the file. Required for create."},"#,
        r#""old_str":{"type":"string","description":"The text to replace, which must occur exactly once. Required for str_replace."},"#,
        r#""new_str":{"type":"string","description":"The text to put in its place. For str_replace."},"#,
        r#""insert_line":{"type":"integer","description":"The line behind which to insert, 0 for the start of the file. Required for insert."},"#,
        r#""insert_text":{"type":"string","description":"The text to insert. Required for insert."},"#,
        r#""view_range":{"type":"array","items":{"type":"integer"},"description":"The first and the last line to view, -1 for the end of the file. For view of a file."}"#,
        r#"},"required":["command","path"]}"#
    ),
};

const TEXT_EDITOR_WITH_UNDO: Function = Function {
    description: "Views, creates and edits text files, and takes back the last edit.",
    schema: concat!(
        r#"{"type":"object","properties":{"#,
        r#""command":{"type":"string","enum":["view","create","str_replace","insert","undo_edit"],"description":"The command to run."},"#,
        r#""path":{"type":"string","description":"The file or directory."},"#,
        r#""file_text":{"type":"string","description":"The content of the file. Required for create."},"#,
        r#""old_str":{"type":"string","description":"The text to replace, which must occur exactly once. Required for str_replace."},"#,
        r#""new_str":{"type":"string","description":"The text to put in its place for str_replace, or to insert. Required for insert."},"#,
        r#""insert_line":{"type":"integer","description":"The line behind which to insert, 0 for the start of the file. Required for insert."},"#,
        r#""view_range":{"type":"array","items":{"type":"integer"},"description":"The first and the last line to view, -1 for the end of the file. For view of a file."}"#,
        r#"},"required":["command","path"]}"#
    ),
};

const MEMORY: Function = Function {
    description: "Keeps notes in files under /memories that outlive the conversation.",
    schema: concat!(
        r#"{"type":"object","properties":{"#,
        r#""command":{"type":"string","enum":["view","create","str_replace","insert","delete","rename"],"description":"The command to run."},"#,
        r#""path":{"type":"string","description":"The file or directory. Required for every command but rename."},"#,
        r#""view_range":{"type":"array","items":{"type":"integer"},"description":"The first and the last line to view. For view of a file."},"#,
        r#""file_text":{"type":"string","description":"The content of the file. Required for create."},"#,
        r#""old_str":{"type":"string","description":"The text to replace. Required for str_replace."},"#,
        r#""new_str":{"type":"string","description":"The text to put in its place. Required for str_replace."},"#,
        r#""insert_line":{"type":"integer","description":"The line at which to insert. Required for insert."},"#,
        r#""insert_text":{"type":"string","description":"The text to insert. Required for insert."},"#,
        r#""old_path":{"type":"string","description":"The present path. Required for rename."},"#,
        r#""new_path":{"type":"string","description":"The path to move to. Required for rename."}"#,
        r#"},"required":["command"]}"#
    ),
};
