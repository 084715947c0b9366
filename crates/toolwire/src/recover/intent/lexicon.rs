//! The English words that intent detection knows. Only tables.

/// What a speaker commits to an action with. The verb follows.
pub(super) const COMMITMENTS: &[&[&str]] = &[
    &["i'll"],
    &["i", "will"],
    &["i", "shall"],
    &["i'm", "going", "to"],
    &["i", "am", "going", "to"],
    &["i'm", "gonna"],
    &["i'm", "about", "to"],
    &["i", "am", "about", "to"],
    &["let", "me"],
    &["let's"],
    &["i", "need", "to"],
    &["i", "have", "to"],
    &["i", "must"],
    &["i've", "got", "to"],
    &["allow", "me", "to"],
    &["my", "next", "step", "is", "to"],
    &["my", "first", "step", "is", "to"],
];

/// "I'm reading": the verb follows in its progressive form.
pub(super) const PROGRESSIVES: &[&[&str]] = &[&["i'm"], &["i", "am"]];

/// Words that may stand between a commitment and its verb.
pub(super) const ADVERBS: &[&str] = &[
    "now", "just", "first", "also", "quickly", "then", "next", "simply", "actually", "immediately",
    "briefly", "gladly", "therefore", "right", "away", "directly", "finally", "instead", "currently",
    "carefully", "only", "still", "again", "please", "go", "ahead", "and",
];

/// Verbs before "to" that add nothing to the verb behind it.
pub(super) const LIGHT_BEFORE_TO: &[&str] =
    &["need", "have", "try", "attempt", "proceed", "start", "begin", "trying", "starting", "want"];

/// Words that may stand before a commitment in the same sentence.
pub(super) const LEAD_INS: &[&str] = &[
    "so", "and", "but", "then", "now", "first", "next", "okay", "ok", "sure", "also", "therefore",
    "thus", "finally", "here", "alright", "right", "well", "great", "yes", "hence", "instead", "again",
    "meanwhile", "perfect", "certainly", "absolutely", "understood", "currently", "good",
];

/// What makes a sentence something other than a commitment to act now.
pub(super) const NOT_A_COMMITMENT: &[&str] = &[
    "unless", "whenever", "otherwise", "provided", "supposing", "suppose", "maybe", "perhaps",
    "hopefully", "hypothetically", "later", "eventually", "someday", "afterwards", "soon", "pretend",
    "imagine", "possibly", "probably", "e.g", "ideally", "theoretically", "might", "together", "wish",
];

/// The same, of several words.
pub(super) const NOT_A_COMMITMENT_PHRASES: &[&[&str]] = &[
    &["as", "soon", "as"],
    &["in", "case"],
    &["should", "you"],
    &["should", "the"],
    &["should", "it"],
    &["should", "that"],
    &["only", "after"],
    &["at", "some", "point"],
    &["in", "the", "future"],
    &["next", "time"],
    &["for", "example"],
    &["for", "instance"],
    &["were", "to"],
    &["if", "so"],
    &["as", "long", "as"],
    &["if", "you"],
    &["with", "your", "permission"],
    &["with", "your", "approval"],
    &["on", "your", "word"],
    &["or", "not"],
    &["would", "have"],
    &["used", "to"],
];

/// Words that are about the time that an action waits for, unless a question
/// about them is the action: "I'll check when the train leaves".
pub(super) const CONDITIONS: &[&str] = &["if", "when", "once", "until", "till", "while"];

/// Verbs of questions, before `if` and `when`.
pub(super) const INQUIRIES: &[&str] = &[
    "check", "see", "know", "verify", "determine", "ask", "asked", "wonder", "wondering", "sure", "unsure",
    "out", "confirm", "tell", "test", "whether", "learn", "understand", "checking", "clear", "and",
];

/// Words that announce what somebody else says, or what could be said.
pub(super) const INTRODUCES_SPEECH: &[&str] = &[
    "said", "says", "say", "saying", "wrote", "writes", "write", "told", "tells", "promised", "promises",
    "replied", "replies", "reply", "response", "responds", "responded", "output", "example", "examples",
    "sample", "phrase", "phrases", "sentence", "prompt", "transcript", "assistant", "user", "model",
    "agent", "bot", "system", "human", "ai", "chatbot", "asked", "answered", "announced", "claimed",
    "like", "template", "quote", "quoted", "he", "she", "they", "message", "wording", "instance", "line",
];

pub(super) const PHRASES_OF_EXAMPLES: &[&[&str]] =
    &[&["such", "as"], &["for", "instance"], &["would", "look"], &["looks", "like"], &["you", "write"]];

/// Verbs that never call a tool, unless its name has them.
pub(super) const TALK: &[&str] = &[
    "know", "explain", "think", "summarize", "summarise", "rephrase", "clarify", "tell", "say", "remind",
    "describe", "guess", "assume", "imagine", "be", "wait", "skip", "avoid", "leave", "keep", "ignore",
    "hold", "stop", "refrain", "let", "ask", "walk", "recap", "repeat", "note", "mention", "point",
    "suggest", "recommend", "answer", "talk", "discuss", "cover", "remember", "trust", "believe", "need",
    "want", "like", "love", "prefer", "consider", "wonder", "hope", "expect", "apologize", "help", "admit",
    "illustrate", "outline", "demonstrate", "teach", "guide", "elaborate", "restate", "quote", "finish",
    "pretend", "reiterate", "stress", "emphasize", "warn", "promise", "never", "not", "spare", "offer",
    "refuse", "decline", "postpone", "delay", "defer", "forget", "stick", "stay", "have", "give",
];

/// Words between `get` and what is no object: "get back to you".
pub(super) const NOT_OBJECTS: &[&str] =
    &["through", "out", "off", "around", "across", "back", "started", "ready", "going", "rid", "along", "over", "better", "used", "by", "past"];

/// Verbs in the third person and the past, which make a progressive a subject:
/// "Deleting it is wrong".
pub(super) const FINITE: &[&str] = &[
    "is", "are", "was", "were", "would", "will", "can", "could", "may", "might", "should", "takes",
    "requires", "needs", "means", "fails", "gives", "lets", "makes", "returns", "prints", "shows", "works",
    "frees", "helps", "has", "have", "had", "does", "did", "isn't", "won't", "doesn't", "becomes", "seems",
    "causes", "involves", "failed", "worked", "took", "wasn't", "can't", "costs", "breaks", "must", "cannot",
];

/// Verbs that stand for each other, as far as a tool's name goes.
pub(super) const VERB_GROUPS: &[&[&str]] = &[
    &["read", "open", "view", "show", "inspect", "look at", "look in", "look into", "look inside", "look through", "examine", "cat", "print", "display", "load", "peek", "pull up", "bring up", "review", "check", "see", "go through", "parse", "study", "scan"],
    &["get", "fetch", "retrieve", "look up", "lookup", "check", "find", "pull", "obtain", "query", "see", "read", "pull up", "show", "find out", "look at", "look into", "grab", "request", "tell", "view", "look for", "determine", "describe", "load", "return", "access", "consult", "bring up", "collect", "check on", "check for"],
    &["search", "find", "look for", "look up", "lookup", "query", "grep", "locate", "hunt for", "browse", "seek", "google", "look through", "discover"],
    &["list", "show", "enumerate", "see", "look at", "look in", "look inside", "get", "browse", "check", "view", "find", "fetch", "display", "retrieve", "list out"],
    &["create", "add", "make", "open", "file", "schedule", "set up", "book", "generate", "put", "insert", "register", "build", "log", "draft", "raise", "start", "compose", "save", "plan", "set", "submit", "record", "enter", "establish", "put together", "put in", "write up"],
    &["add", "append", "put", "insert", "attach", "include", "place", "log", "record", "save", "enter", "store", "drop"],
    &["write", "save", "store", "put", "create", "dump", "export", "record", "jot down", "write down", "add"],
    &["delete", "remove", "erase", "drop", "clear", "discard", "trash", "wipe", "cancel", "get rid", "purge", "destroy", "clean up", "take out"],
    &["update", "change", "edit", "modify", "set", "adjust", "mark", "patch", "move", "rename", "switch", "revise", "correct", "amend", "advance", "alter"],
    &["set", "change", "adjust", "turn", "switch", "dim", "raise", "lower", "put", "control", "toggle", "update", "turn on", "turn off", "switch on", "switch off", "turn up", "turn down", "configure", "enable", "disable", "brighten", "increase", "decrease", "warm", "cool", "crank"],
    &["send", "email", "e-mail", "message", "post", "text", "notify", "forward", "share", "submit", "mail", "dm", "write", "deliver", "publish", "drop"],
    &["post", "send", "publish", "share", "write", "announce", "tweet"],
    &["run", "execute", "launch", "invoke", "trigger", "perform", "fire off", "kick off", "start", "issue"],
    &["start", "launch", "begin", "run", "kick off", "set", "spin up", "trigger", "boot", "fire up", "start up", "create", "activate"],
    &["restart", "reboot", "bounce", "reset", "cycle"],
    &["stop", "pause", "halt", "end", "kill", "terminate", "shut down", "turn off", "suspend", "switch off"],
    &["calculate", "compute", "evaluate", "work out", "figure out", "solve", "add up", "determine", "estimate", "get", "find", "check", "look up"],
    &["convert", "change", "transform", "turn", "exchange", "express"],
    &["translate", "render"],
    &["play", "put on", "queue", "stream", "start", "cue up", "queue up"],
    &["book", "reserve", "schedule", "order", "arrange", "make", "get"],
    &["buy", "order", "purchase", "get"],
    &["cancel", "delete", "call off", "revoke", "drop", "abort"],
    &["download", "fetch", "get", "grab", "save", "pull", "pull down"],
    &["upload", "push", "send", "put"],
    &["copy", "duplicate", "clone", "back up"],
    &["move", "rename", "relocate", "transfer"],
    &["resize", "scale", "shrink", "enlarge", "downscale", "upscale"],
    &["rotate", "turn", "spin", "flip"],
    &["compress", "zip", "pack", "archive", "zip up", "pack up", "bundle"],
    &["track", "find out", "look up", "check", "locate", "trace", "check on", "follow"],
    &["transfer", "send", "move", "wire", "pay"],
    &["assign", "give", "hand", "delegate", "set"],
    &["comment", "reply", "respond", "add", "post", "leave", "write"],
    &["shorten", "make", "create", "abbreviate"],
    &["summarize", "summarise", "condense", "digest"],
    &["detect", "identify", "determine", "check", "find out", "recognize", "recognise", "figure out"],
    &["lock", "secure", "close"],
    &["close", "shut", "resolve", "end"],
    &["validate", "verify", "check", "test", "lint", "confirm"],
    &["fetch", "request", "call", "hit", "open", "get", "load", "visit", "download", "access", "check", "query", "ping", "probe", "go to", "browse", "navigate"],
    &["ping", "probe", "check", "test"],
    &["run", "execute", "query", "issue"],
    &["request", "send", "issue", "make", "hit", "call", "fire off"],
    &["deploy", "release", "ship", "roll out", "push", "publish"],
    &["remind", "set"],
    &["subscribe", "sign up", "register", "enroll"],
    &["scale", "resize", "scale up", "scale down"],
    &["turn", "locate", "look up", "find", "geocode", "get"],
    &["invite", "add", "ask"],
    &["log", "record", "track", "note"],
    &["checkout", "check out", "switch", "switch to"],
    &["approve", "accept", "sign off"],
    &["refund", "reimburse", "return"],
    &["draw", "paint", "generate", "create", "make", "render", "plot"],
    &["plot", "chart", "graph", "draw"],
    &["measure", "check", "get"],
    &["monitor", "watch", "check"],
    &["archive", "store", "put away"],
    &["pay", "settle", "charge"],
    &["analyze", "analyse", "examine", "inspect", "check"],
    &["compare", "diff"],
    &["format", "reformat", "tidy"],
    &["unlock", "open"],
    &["mute", "silence"],
    &["apply", "use", "put"],
    &["crop", "trim", "cut"],
    &["extract", "pull", "get", "read"],
    &["record", "log", "save", "add"],
    &["show", "display", "view", "get"],
];

/// Particles that make another verb of a verb.
pub(super) const PARTICLES: &[&str] = &[
    "up", "for", "at", "into", "in", "out", "on", "off", "down", "through", "inside", "over", "to", "away", "together",
];

/// Verbs that say little about which tool is meant.
pub(super) const GENERIC: &[&str] = &[
    "get", "set", "create", "add", "make", "delete", "remove", "update", "list", "find", "open", "send",
    "check", "show", "run", "start", "read", "put", "new", "fetch", "look", "view", "change", "post", "write",
    "edit", "see", "pull", "query", "execute", "do", "use", "move", "drop", "load", "start", "stop", "request",
    "call", "retrieve", "save", "turn", "switch", "submit", "close", "book", "cancel", "save", "log", "generate",
];

/// Things that tools are for. A tool for one of them does nothing with another.
pub(super) const THINGS: &[&[&str]] = &[
    &["file", "document", "script", "config", "configuration"],
    &["directory", "folder"],
    &["branch"],
    &["email", "mail", "e-mail", "inbox"],
    &["event", "meeting", "appointment", "calendar", "entry"],
    &["ticket", "issue", "bug"],
    &["song", "track", "music", "album", "tune"],
    &["playlist"],
    &["web", "internet", "online"],
    &["page", "website", "url", "site", "link", "webpage", "address", "endpoint"],
    &["weather", "forecast", "temperature"],
    &["light", "lamp", "bulb", "lights", "lighting"],
    &["picture", "image", "photo", "photograph", "screenshot"],
    &["repo", "repository"],
    &["reminder"],
    &["alarm"],
    &["timer", "countdown"],
    &["note", "memo"],
    &["message", "text", "sms", "dm"],
    &["flight", "plane"],
    &["hotel", "room", "accommodation"],
    &["stock", "share", "ticker", "quote", "price"],
    &["table"],
    &["container", "pod"],
    &["invoice", "bill"],
    &["contact", "person", "crm"],
    &["customer", "client"],
    &["commit"],
    &["task", "todo", "to-do"],
    &["order", "purchase"],
    &["package", "parcel", "shipment", "delivery"],
    &["recipe"],
    &["restaurant", "place", "cafe"],
    &["door", "lock"],
    &["thermostat", "heating"],
    &["directions", "route"],
    &["spreadsheet", "sheet", "cell", "row"],
    &["channel", "slack"],
    &["pull request", "pr", "request"],
    &["user", "account", "profile"],
    &["payment", "money"],
    &["news", "article", "headline"],
    &["command", "shell", "terminal"],
    &["comment"],
    &["index"],
    &["cart", "basket"],
    &["ticket", "seat"],
    &["time", "clock"],
    &["movie", "film"],
    &["book", "novel"],
    &["train"],
    &["backup", "snapshot"],
];

/// Which parameters a preposition binds its object to, by words of their names.
pub(super) const PREPOSITIONS: &[(&str, &[&str])] = &[
    ("to", &["to", "recipient", "target", "destination", "dest", "language", "channel", "email", "value", "level", "state", "status", "stage", "assignee", "account", "into", "output", "new", "phone", "path", "end", "room", "environment", "folder", "sheet", "list", "playlist", "arrival", "temperature", "brightness", "volume", "ticket", "remote", "server", "host", "registry", "dropoff"]),
    ("into", &["to", "target", "language", "into", "format", "path", "file", "table", "output", "unit", "destination", "folder", "currency"]),
    ("from", &["from", "pickup", "year", "source", "origin", "src", "start", "url", "sender", "departure", "file", "path", "base", "spreadsheet", "database", "begin", "table", "branch", "since"]),
    ("in", &["path", "dir", "directory", "folder", "location", "city", "language", "unit", "currency", "format", "channel", "table", "timezone", "zone", "project", "repo", "repository", "room", "place", "database", "namespace", "region", "environment", "country", "mode", "warehouse", "file", "area", "document", "sheet", "workspace", "category", "district", "state", "color", "style", "where"]),
    ("inside", &["path", "dir", "directory", "folder", "room", "container"]),
    ("within", &["path", "dir", "directory", "folder", "radius", "project"]),
    ("under", &["path", "dir", "directory", "folder", "category", "project", "parent", "name"]),
    ("on", &["date", "day", "device", "branch", "channel", "platform", "host", "url", "server", "repo", "table", "topic", "database", "ticket", "issue", "machine", "path", "when", "website", "departure", "query", "document", "cluster"]),
    ("at", &["time", "url", "location", "address", "price", "rate", "start", "company", "restaurant", "place", "path", "store", "when", "host", "hour", "endpoint", "employer", "quality"]),
    ("for", &["query", "date", "duration", "city", "location", "name", "customer", "symbol", "user", "title", "reason", "days", "term", "topic", "keyword", "pattern", "sku", "product", "person", "search", "guests", "passengers", "size", "text", "time", "item", "address", "id", "number", "employee", "company", "account", "host", "region", "country", "pod", "domain", "ticker", "minutes", "seconds", "hours", "label"]),
    ("by", &["author", "artist", "by", "due", "deadline", "sort", "group", "degrees", "amount", "percent", "key", "performer", "mode", "order", "height", "composer", "singer", "user"]),
    ("about", &["topic", "query", "subject", "about", "keyword"]),
    ("of", &["of", "file", "path", "folder", "database", "spreadsheet", "text", "city", "pod", "address", "prompt", "symbol", "topic", "table", "sheet", "repo", "project", "quantity", "app", "name", "user", "directory", "product"]),
    ("as", &["format", "name", "status", "role", "type", "priority", "title", "label", "state", "as", "mode", "stage"]),
    ("with", &["new", "replacement", "title", "subject", "message", "body", "content", "text", "ingredient", "attendees", "participants", "comment", "name", "label", "with", "members", "people"]),
    ("using", &["encoding", "method", "format", "mode", "model", "voice", "carrier", "engine", "algorithm", "currency"]),
    ("via", &["method", "mode", "carrier", "channel", "via"]),
    ("called", &["title", "name", "label", "subject", "branch", "path", "file", "project", "summary"]),
    ("titled", &["title", "name", "subject", "summary", "label"]),
    ("named", &["name", "title", "file", "path", "branch", "label", "service"]),
    ("labeled", &["label", "labels", "title", "name"]),
    ("labelled", &["label", "labels", "title", "name"]),
    ("tagged", &["tag", "tags", "label", "labels"]),
    ("saying", &["message", "text", "body", "content", "comment", "note"]),
    ("says", &["message", "text", "body", "content", "comment", "note"]),
    ("reading", &["message", "text", "body", "content", "comment", "note"]),
    ("before", &["before", "until", "end", "deadline", "due", "to"]),
    ("after", &["after", "since", "start", "from"]),
    ("since", &["since", "start", "after", "from"]),
    ("until", &["until", "end", "before", "to", "checkout"]),
    ("against", &["database", "target", "base"]),
    ("per", &["per", "interval"]),
    ("over", &["min", "minimum", "over"]),
    ("near", &["location", "near", "place", "city", "address"]),
    ("around", &["location", "near", "time"]),
    ("than", &["max", "min", "maximum", "minimum", "limit"]),
];

/// Words that are no value by themselves.
pub(super) const FILLERS: &[&str] = &[
    "the", "a", "an", "this", "that", "these", "those", "it", "its", "your", "my", "our", "their", "his", "her",
    "you", "me", "us", "them", "him", "i", "we", "he", "she", "they", "now", "first", "then", "next", "here", "there", "and", "or",
    "please", "again", "also", "just", "right", "away", "what", "what's", "which", "where", "who", "how", "is",
    "are", "all", "some", "any", "more", "new", "current", "latest", "same", "following", "set", "set to",
    "be", "was", "so", "too", "well", "one", "today", "order", "case", "background", "meantime", "front", "moment",
    "have", "has", "up", "out", "down", "off", "not", "no", "yes", "there's", "it's", "as", "than", "every", "each", "both", "user", "result", "results", "detail", "details", "full",
];

pub(super) const MONTHS: &[&str] = &[
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
];

pub(super) const WEEKDAYS: &[&str] =
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

pub(super) const NUMBER_WORDS: &[&str] = &[
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// Choices of an enumeration that are ordinary words, too.
pub(super) const WEAK_CHOICES: &[&str] = &[
    "first", "last", "now", "all", "new", "any", "none", "default", "open", "on", "off", "to", "in", "for", "a",
    "other", "main", "current", "next", "as", "is", "read", "text", "name", "date", "file", "both", "more", "less", "top", "best",
];
