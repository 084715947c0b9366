//! Calls written as JSON: an object with a name and arguments, a list of such
//! objects, or one of the shapes around them that APIs use.

use super::arguments::Arguments;
use super::call::{Call, Ending, Output, Verdict};
use super::escape::push_escaped;
use super::lexer::{Lexed, Lexer, Token};
use super::schema::Schema;
use super::text::from;
use super::value::{Progress, ValueWriter};
use super::{Step, align};

/// Reads calls from JSON.
#[derive(Clone, Debug)]
pub(super) struct JsonItem {
    lexer: Lexer,
    /// Whether a token had to be repaired.
    is_repaired: bool,
    /// The lists and objects around what is read.
    levels: Vec<Level>,
    call: Call,
    arguments: Option<Arguments>,
    /// Whether the arguments have ended.
    has_arguments: bool,
    /// Whether the arguments are something else than an object.
    is_unreadable: bool,
    /// Arguments that came before the name.
    early: Option<String>,
    text: String,
    writer: ValueWriter,
    state: JsonState,
    /// Whether text that is not a call is read to its end.
    given_up: bool,
    is_unnamed: bool,
    is_definition: bool,
    found: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// A list of calls.
    List,
    /// An object that is a call, or has one in a member.
    Object,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonState {
    /// A call or a list of calls.
    Item,
    /// Another call in a list, or its end.
    NextItem,
    /// A key of a call, or its end.
    Key,
    KeyText,
    Colon(Member),
    Value(Member),
    /// Inside a text: the name, or arguments as text.
    Text(Member),
    Arguments,
    /// Arguments that come before the name.
    Early,
    /// A value that is not needed.
    Other,
    /// Behind a member of a call.
    Comma,
    /// Text that is no call, to its end.
    GivenUp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    Name,
    Arguments,
    /// A call, or the name of a tool.
    Function,
    /// A list of calls.
    Calls,
    /// A tool's own name, with its arguments as value.
    Tool,
    Other,
}

impl JsonItem {
    pub(super) fn new() -> Self {
        Self {
            lexer: Lexer::default(),
            is_repaired: false,
            levels: Vec::new(),
            call: Call::default(),
            arguments: None,
            has_arguments: false,
            is_unreadable: false,
            early: None,
            text: String::new(),
            writer: ValueWriter::default(),
            state: JsonState::Item,
            given_up: false,
            is_unnamed: false,
            is_definition: false,
            found: 0,
        }
    }

    /// Arguments of a call whose tool is not named. They tell which is meant.
    pub(super) fn unnamed() -> Self {
        let levels = vec![Level::Object];
        let early = Some(String::new());
        Self { levels, early, state: JsonState::Early, is_unnamed: true, ..Self::new() }
    }

    /// Reads on. How many bytes were taken, and how it stands.
    pub(super) fn step(&mut self, text: &str, end: bool, out: &mut Output<'_>) -> (usize, Step) {
        let mut lexer = std::mem::take(&mut self.lexer);
        let (at, step) = lexer.feed(text, end, |token, repaired| {
            self.is_repaired |= repaired;
            self.token(token, out)
        });
        self.lexer = lexer;
        self.call.flush(out);
        (at, step)
    }

    /// How many bytes the text begins with that are arguments as they are.
    pub(super) fn strict_run(&self, text: &str) -> usize {
        let passes = self.state == JsonState::Arguments
            && self.call.passes()
            && self.arguments.as_ref().is_some_and(Arguments::passes);
        if passes { self.lexer.strict_run(text) } else { 0 }
    }

    /// The text has ended, or goes on with something that is not JSON. Whether
    /// any call was found.
    pub(super) fn finish(mut self, out: &mut Output<'_>) -> bool {
        if self.levels.contains(&Level::Object) && !self.given_up {
            let ending = self.ending(out);
            self.end_call(ending, out);
        }
        self.found > 0
    }

    /// Whether it is an object of another kind that is passed over.
    pub(super) fn has_given_up(&self) -> bool {
        self.given_up
    }

    /// How the call that has not been closed ends here.
    fn ending(&mut self, out: &mut Output<'_>) -> Ending {
        if self.lexer.is_cut() {
            return Ending::Cut;
        }
        let complete = self.has_arguments
            || match self.state {
                JsonState::Arguments => {
                    let schema = self.call.schema(out.tools);
                    let both = self.arguments.as_mut().zip(schema);
                    both.is_some_and(|(arguments, schema)| {
                        arguments.complete(schema, &mut self.call.pending)
                    })
                }
                JsonState::Early => {
                    self.early.as_mut().is_some_and(|early| self.writer.complete(early))
                }
                JsonState::Item
                | JsonState::NextItem
                | JsonState::Key
                | JsonState::KeyText
                | JsonState::Colon(_)
                | JsonState::Value(_)
                | JsonState::Text(_)
                | JsonState::Other
                | JsonState::Comma
                | JsonState::GivenUp => false,
            };
        if complete { Ending::Open } else { Ending::Cut }
    }

    fn token(&mut self, token: Token<'_>, out: &mut Output<'_>) -> Progress {
        match (self.state, token) {
            (JsonState::Item | JsonState::NextItem, Token::Open(b'['))
                if self.levels.len() < DEEPEST =>
            {
                self.levels.push(Level::List);
                self.goto(JsonState::NextItem)
            }
            (JsonState::Item | JsonState::NextItem, Token::Open(b'{'))
                if self.levels.len() < DEEPEST =>
            {
                self.levels.push(Level::Object);
                self.goto(JsonState::Key)
            }
            (JsonState::NextItem, Token::Comma) => Progress::More,
            (JsonState::NextItem, Token::Close(b']')) => self.close(out),
            (JsonState::Key | JsonState::Comma, Token::Close(b'}')) => self.close(out),
            (JsonState::Key, Token::StringStart) => {
                self.text.clear();
                self.goto(JsonState::KeyText)
            }
            (JsonState::Comma, Token::StringStart) => {
                self.call.repaired = true;
                self.text.clear();
                self.goto(JsonState::KeyText)
            }
            (JsonState::KeyText | JsonState::Text(_), Token::StringPart(part)) => {
                self.text.push_str(part);
                Progress::More
            }
            (JsonState::KeyText | JsonState::Text(_), Token::StringChar(c)) => {
                push_escaped(c, &mut self.text);
                Progress::More
            }
            (JsonState::KeyText, Token::StringEnd) => self.key(out),
            (JsonState::Key, Token::Word(word)) => {
                self.text.clear();
                self.text.push_str(word);
                self.call.repaired = true;
                self.key(out)
            }
            (JsonState::Colon(member), Token::Colon) => self.goto(JsonState::Value(member)),
            (JsonState::Value(member), token) => self.value(member, token, out),
            (JsonState::Text(member), Token::StringEnd) => self.text_ended(member, out),
            (JsonState::Arguments, token) => self.argument(token, out),
            (JsonState::Early, token) => {
                let mut early = self.early.take().unwrap_or_default();
                let progress = self.writer.token(token, &mut early);
                self.early = Some(early);
                match progress {
                    Progress::Done if self.is_unnamed => self.end_unnamed(out),
                    Progress::Done => {
                        self.has_arguments = true;
                        self.goto(JsonState::Comma)
                    }
                    other @ (Progress::More | Progress::Bad) => other,
                }
            }
            (JsonState::Other, token) => {
                self.text.clear();
                match self.writer.token(token, &mut self.text) {
                    Progress::Done => self.goto(JsonState::Comma),
                    other @ (Progress::More | Progress::Bad) => other,
                }
            }
            (JsonState::GivenUp, token) => {
                self.text.clear();
                self.writer.token(token, &mut self.text)
            }
            (JsonState::Comma, Token::Comma) => self.goto(JsonState::Key),
            (_, _) => Progress::Bad,
        }
    }

    fn goto(&mut self, state: JsonState) -> Progress {
        self.state = state;
        Progress::More
    }

    fn key(&mut self, out: &mut Output<'_>) -> Progress {
        let member = match &*self.text {
            "name" | "tool_name" | "function_name" | "tool" | "action" | "recipient_name" => {
                Member::Name
            }
            "arguments" | "parameters" | "args" | "input" | "action_input" | "tool_input"
            | "params" | "kwargs" | "input_schema" => Member::Arguments,
            "function" | "function_call" | "tool_call" => Member::Function,
            "tool_calls" | "calls" | "tools" | "tool_uses" | "actions" => Member::Calls,
            name if !out.soft && !self.call.has_name() && out.tools.find(name).is_some() => {
                Member::Tool
            }
            "description" => {
                self.is_definition = true;
                Member::Other
            }
            "type" | "id" | "role" | "content" | "index" | "tool_call_id" | "call_id"
            | "status" | "thought" | "thoughts" | "reasoning" | "plan" => Member::Other,
            _ if out.soft && self.levels.len() == 1 && self.first_key() => return self.give_up(),
            _ => Member::Other,
        };
        if member == Member::Tool {
            self.call.set_name(&self.text, out);
        }
        self.goto(JsonState::Colon(member))
    }

    /// Whether nothing of the object has been read but this key.
    fn first_key(&self) -> bool {
        !self.call.has_name() && self.arguments.is_none() && self.early.is_none()
    }

    /// It is JSON of another kind. It is read to its end, so that nothing in it
    /// is taken for a call.
    fn give_up(&mut self) -> Progress {
        *self = Self {
            given_up: true,
            state: JsonState::GivenUp,
            lexer: self.lexer.clone(),
            levels: std::mem::take(&mut self.levels),
            ..Self::new()
        };
        let mut ignored = String::new();
        for level in std::mem::take(&mut self.levels) {
            let open = if level == Level::List { b'[' } else { b'{' };
            self.writer.token(Token::Open(open), &mut ignored);
        }
        self.writer.token(Token::StringStart, &mut ignored);
        self.writer.token(Token::StringEnd, &mut ignored);
        Progress::More
    }

    fn value(&mut self, member: Member, token: Token<'_>, out: &mut Output<'_>) -> Progress {
        match (member, token) {
            (Member::Name | Member::Function | Member::Arguments, Token::StringStart) => {
                self.text.clear();
                self.goto(JsonState::Text(member))
            }
            (Member::Name, Token::Word(word)) => {
                self.text.clear();
                self.text.push_str(word);
                self.call.repaired = true;
                self.text_ended(Member::Name, out)
            }
            (Member::Function, Token::Open(b'{')) => {
                self.levels.push(Level::Object);
                self.goto(JsonState::Key)
            }
            (Member::Calls, Token::Open(b'[')) => {
                self.levels.push(Level::List);
                self.goto(JsonState::NextItem)
            }
            (Member::Arguments | Member::Tool, Token::Open(b'{')) => {
                if self.has_arguments || self.arguments.is_some() {
                    return self.other(token);
                }
                if self.call.is_known() {
                    self.arguments = Some(Arguments::default());
                    self.state = JsonState::Arguments;
                    return self.argument(token, out);
                }
                self.writer = ValueWriter::default();
                self.early = Some(String::new());
                self.state = JsonState::Early;
                self.token(token, out)
            }
            (Member::Arguments | Member::Tool, Token::Word(word)) => {
                let is_null = matches!(word, "null" | "None" | "nil");
                self.has_arguments |= is_null;
                self.is_unreadable |= !is_null;
                self.other(token)
            }
            (Member::Arguments | Member::Tool, Token::Open(_)) => {
                self.is_unreadable = true;
                self.other(token)
            }
            (_, _) => self.other(token),
        }
    }

    fn other(&mut self, token: Token<'_>) -> Progress {
        self.writer = ValueWriter::default();
        self.text.clear();
        self.state = JsonState::Other;
        match self.writer.token(token, &mut self.text) {
            Progress::Done => self.goto(JsonState::Comma),
            other @ (Progress::More | Progress::Bad) => other,
        }
    }

    fn argument(&mut self, token: Token<'_>, out: &mut Output<'_>) -> Progress {
        let schema = self.call.schema(out.tools);
        let (Some(arguments), Some(schema)) = (&mut self.arguments, schema) else {
            return Progress::Bad;
        };
        match arguments.token(token, schema, &mut self.call.pending) {
            Progress::Done => {
                self.has_arguments = true;
                self.goto(JsonState::Comma)
            }
            other @ (Progress::More | Progress::Bad) => other,
        }
    }

    fn text_ended(&mut self, member: Member, out: &mut Output<'_>) -> Progress {
        let literal = format!("\"{}\"", self.text);
        let decoded = crate::wire::Reader::new(&literal).string();
        let decoded = decoded.map(|text| text.decode().into_owned()).unwrap_or_default();
        self.text.clear();
        match member {
            Member::Name | Member::Function => {
                let known = self.call.set_name(&decoded, out);
                if !known && (out.soft || *out.verdict == Verdict::Open) {
                    *out.verdict = Verdict::Text;
                }
            }
            // Arguments as text that holds JSON.
            Member::Arguments if !self.has_arguments => {
                if decoded.trim().is_empty() {
                    self.has_arguments = true;
                } else if let Some(json) = align::lenient(decoded.trim())
                    && json.starts_with('{')
                {
                    self.early = Some(json);
                    self.has_arguments = true;
                } else {
                    self.is_unreadable = true;
                }
            }
            Member::Arguments | Member::Calls | Member::Tool | Member::Other => {}
        }
        self.goto(JsonState::Comma)
    }

    fn close(&mut self, out: &mut Output<'_>) -> Progress {
        let closed = self.levels.pop();
        match (closed, self.levels.last()) {
            // The end of a call. One inside another object is a member of it.
            (Some(Level::Object), None | Some(Level::List)) => {
                self.end_call(Ending::Closed, out);
                self.state = JsonState::NextItem;
            }
            (Some(Level::Object | Level::List), Some(_)) => self.state = JsonState::Comma,
            (_, _) => {}
        }
        if closed == Some(Level::List) && self.levels.last() == Some(&Level::List) {
            self.state = JsonState::NextItem;
        }
        if self.levels.is_empty() { Progress::Done } else { Progress::More }
    }

    fn end_unnamed(&mut self, out: &mut Output<'_>) -> Progress {
        let members = self.early.as_deref().and_then(align::members).unwrap_or_default();
        let tools = out.tools;
        if let Some(name) = tools.only_one_for(&members) {
            self.call.repaired = true;
            self.call.set_name(name, out);
            self.has_arguments = true;
        }
        self.end_call(Ending::Closed, out);
        self.levels.clear();
        Progress::Done
    }

    fn end_call(&mut self, ending: Ending, out: &mut Output<'_>) {
        let mut call = std::mem::take(&mut self.call);
        call.repaired |= self.is_repaired || self.lexer.repaired;
        let mut arguments = self.arguments.take();
        let early = self.early.take();
        let has_arguments = std::mem::take(&mut self.has_arguments);
        let is_definition = std::mem::take(&mut self.is_definition) && out.soft;
        let is_unreadable = std::mem::take(&mut self.is_unreadable) && !has_arguments;
        if !call.has_name() || is_definition {
            return;
        }
        if arguments.is_none()
            && let (Some(json), Some(schema)) = (&early, call.schema(out.tools))
        {
            arguments = Some(whole_arguments(json, schema, &mut call.pending));
        }
        if arguments.is_none() && !has_arguments {
            // A name alone is not a call where nothing else marks one.
            if out.soft {
                return;
            }
            let needs_more =
                call.schema(out.tools).is_some_and(|schema| !schema.required.is_empty());
            if is_unreadable || needs_more {
                call.end(None, Ending::Cut, out);
                return;
            }
        }
        if call.end(arguments, ending, out) {
            self.found += 1;
        }
    }
}

/// Arguments that are there as a whole, as strict JSON.
fn whole_arguments(json: &str, schema: &Schema, out: &mut String) -> Arguments {
    let mut arguments = Arguments::default();
    let mut lexer = Lexer::default();
    let mut rest = json;
    while let (length, Lexed::Token(token)) = lexer.next(rest, true) {
        rest = from(rest, length);
        if arguments.token(token, schema, out) != Progress::More {
            break;
        }
    }
    arguments
}

const DEEPEST: usize = 8;
