//! Verbs, and how they stand for each other. Only tables.

/// Verbs that never call a tool, unless its name has them.
pub(super) const TALK: &[&str] = &[
    "know", "explain", "think", "summarize", "summarise", "rephrase", "clarify", "tell", "say",
    "remind", "describe", "guess", "assume", "imagine", "be", "wait", "skip", "avoid", "leave",
    "keep", "ignore", "hold", "stop", "refrain", "let", "ask", "walk", "recap", "repeat", "note",
    "mention", "point", "suggest", "recommend", "answer", "talk", "discuss", "cover", "remember",
    "trust", "believe", "need", "want", "like", "love", "prefer", "consider", "wonder", "hope",
    "expect", "apologize", "help", "admit", "illustrate", "outline", "demonstrate", "teach",
    "guide", "elaborate", "restate", "quote", "finish", "pretend", "reiterate", "stress",
    "emphasize", "warn", "promise", "never", "not", "spare", "offer", "refuse", "decline",
    "postpone", "delay", "defer", "forget", "stick", "stay", "have", "give",
];

/// Words between `get` and what is no object: "get back to you".
pub(super) const NOT_OBJECTS: &[&str] = &[
    "sure", "certain", "sense", "through", "out", "off", "around", "across", "back", "started",
    "ready", "going", "rid", "along", "over", "better", "used", "by", "past",
];

/// Verbs in the third person and the past, which make a progressive a subject:
/// "Deleting it is wrong".
pub(super) const FINITE: &[&str] = &[
    "is", "are", "was", "were", "would", "will", "can", "could", "may", "might", "should", "takes",
    "requires", "needs", "means", "fails", "gives", "lets", "makes", "returns", "prints", "shows",
    "works", "frees", "helps", "has", "have", "had", "does", "did", "isn't", "won't", "doesn't",
    "becomes", "seems", "causes", "involves", "failed", "worked", "took", "wasn't", "can't",
    "costs", "breaks", "must", "cannot",
];

/// Verbs that stand for each other, as far as a tool's name goes.
pub(super) const VERB_GROUPS: &[&[&str]] = &[
    &[
        "read", "open", "view", "show", "inspect", "look at", "look in", "look into",
        "look inside", "look through", "examine", "cat", "print", "display", "load", "peek",
        "pull up", "bring up", "review", "check", "see", "go through", "parse", "study", "scan",
    ],
    &[
        "get", "fetch", "retrieve", "look up", "lookup", "check", "find", "pull", "obtain",
        "query", "see", "read", "pull up", "show", "find out", "look at", "look into", "grab",
        "request", "tell", "view", "look for", "determine", "describe", "load", "return", "access",
        "consult", "bring up", "collect", "check on", "check for",
    ],
    &[
        "search", "find", "look for", "look up", "lookup", "query", "grep", "locate", "hunt for",
        "browse", "seek", "google", "look through", "discover",
    ],
    &[
        "list", "show", "enumerate", "see", "look at", "look in", "look inside", "get", "browse",
        "check", "view", "find", "fetch", "display", "retrieve", "list out", "pull up", "bring up",
        "pull",
    ],
    &[
        "create", "add", "make", "open", "file", "schedule", "set up", "book", "generate", "put",
        "insert", "register", "build", "log", "draft", "raise", "start", "compose", "save", "plan",
        "set", "submit", "record", "enter", "establish", "put together", "put in", "write up",
    ],
    &[
        "add", "append", "put", "insert", "attach", "include", "place", "log", "record", "save",
        "enter", "store", "drop",
    ],
    &[
        "write", "save", "store", "put", "create", "dump", "export", "record", "jot down",
        "write down", "add",
    ],
    &[
        "delete", "remove", "erase", "drop", "clear", "discard", "trash", "wipe", "cancel",
        "get rid", "purge", "destroy", "clean up", "take out",
    ],
    &[
        "update", "change", "edit", "modify", "set", "adjust", "mark", "patch", "move", "rename",
        "switch", "revise", "correct", "amend", "advance", "alter",
    ],
    &[
        "set", "change", "adjust", "turn", "switch", "dim", "raise", "lower", "put", "control",
        "toggle", "update", "turn on", "turn off", "switch on", "switch off", "turn up",
        "turn down", "configure", "enable", "disable", "brighten", "increase", "decrease", "warm",
        "cool", "crank",
    ],
    &[
        "send", "email", "e-mail", "message", "post", "text", "notify", "forward", "share",
        "submit", "mail", "dm", "write", "deliver", "publish", "drop",
    ],
    &["post", "send", "publish", "share", "write", "announce", "tweet"],
    &[
        "run", "execute", "launch", "invoke", "trigger", "perform", "fire off", "kick off",
        "start", "issue",
    ],
    &[
        "start", "launch", "begin", "run", "kick off", "set", "spin up", "trigger", "boot",
        "fire up", "start up", "create", "activate",
    ],
    &["restart", "reboot", "bounce", "reset", "cycle"],
    &[
        "stop", "pause", "halt", "end", "kill", "terminate", "shut down", "turn off", "suspend",
        "switch off",
    ],
    &[
        "calculate", "compute", "evaluate", "work out", "figure out", "solve", "add up",
        "determine", "estimate", "get", "find", "check", "look up",
    ],
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
    &[
        "detect", "identify", "determine", "check", "find out", "recognize", "recognise",
        "figure out",
    ],
    &["lock", "secure", "close"],
    &["close", "shut", "resolve", "end"],
    &["validate", "verify", "check", "test", "lint", "confirm"],
    &[
        "fetch", "request", "call", "hit", "open", "get", "load", "visit", "download", "access",
        "check", "query", "ping", "probe", "go to", "browse", "navigate",
    ],
    &["ping", "probe", "check", "test"],
    &["run", "execute", "query", "issue"],
    &["request", "send", "issue", "hit", "call", "fire off"],
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
    &["speak", "say", "read out", "read aloud", "narrate", "pronounce", "voice"],
    &["define", "look up", "explain"],
    &["install", "add", "set up", "upgrade", "get"],
    &["uninstall", "remove", "delete"],
    &["retry", "rerun", "re-run", "restart", "repeat"],
    &["mute", "silence", "snooze", "suppress"],
    &["complete", "finish", "mark", "close", "check off", "tick off"],
    &["click", "press", "tap", "hit", "select"],
    &["type", "enter", "fill in", "fill", "input", "put", "write"],
    &["capture", "take", "grab", "snap", "make"],
    &["charge", "start"],
    &["enable", "turn on", "switch on", "activate", "toggle"],
    &["disable", "turn off", "switch off", "deactivate", "toggle"],
    &["increase", "raise", "turn up", "bump", "set", "scale"],
    &["decrease", "lower", "turn down", "reduce", "set", "scale"],
    &["transcribe", "write down", "convert"],
    &["encode", "transcode", "convert"],
    &["roll back", "revert", "rollback", "undo", "restore", "go back"],
    &["restore", "recover"],
    &["append", "add", "put", "write"],
    &["redeem", "apply", "use"],
    &["lint", "check", "run"],
];

/// Particles that make another verb of a verb.
pub(super) const PARTICLES: &[&str] = &[
    "up", "for", "at", "into", "in", "out", "on", "off", "down", "through", "inside", "over", "to",
    "away", "together", "rid", "aloud", "back",
];

/// Verbs that say little about which tool is meant.
pub(super) const GENERIC: &[&str] = &[
    "get", "set", "create", "add", "make", "delete", "remove", "update", "list", "find", "open",
    "send", "check", "show", "run", "start", "read", "put", "new", "fetch", "look", "view",
    "change", "post", "write", "edit", "see", "pull", "query", "execute", "do", "use", "move",
    "drop", "load", "start", "stop", "request", "call", "retrieve", "save", "turn", "switch",
    "submit", "close", "book", "cancel", "save", "log", "generate",
];
