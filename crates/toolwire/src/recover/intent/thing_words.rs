//! Nouns and small words. Only tables.

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

/// Words that are no value by themselves.
pub(super) const FILLERS: &[&str] = &[
    "the", "a", "an", "this", "that", "these", "those", "it", "its", "your", "my", "our", "their",
    "his", "her", "you", "me", "us", "them", "him", "i", "we", "he", "she", "they", "now", "first",
    "then", "next", "here", "there", "and", "or", "please", "again", "also", "just", "right",
    "away", "what", "what's", "which", "where", "who", "how", "is", "are", "all", "some", "any",
    "more", "new", "current", "latest", "same", "following", "set", "set to", "be", "was", "so",
    "too", "well", "one", "today", "background", "meantime", "moment", "have", "has", "up", "out",
    "down", "off", "not", "no", "yes", "there's", "it's", "as", "than", "every", "each", "both",
    "result", "results", "detail", "details", "full",
];

pub(super) const MONTHS: &[&str] = &[
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
];

pub(super) const WEEKDAYS: &[&str] =
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

pub(super) const NUMBER_WORDS: &[(&str, u32)] = &[
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("dozen", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("twenty-five", 25),
    ("thirty", 30),
    ("forty", 40),
    ("forty-five", 45),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("hundred", 100),
    ("thousand", 1000),
];

/// Choices of an enumeration that are ordinary words, too.
pub(super) const WEAK_CHOICES: &[&str] = &[
    "first", "last", "now", "all", "new", "any", "none", "default", "on", "off", "to", "in", "for",
    "a", "other", "main", "current", "next", "as", "is", "read", "text", "name", "date", "file",
    "both", "more", "less", "top", "best",
];

/// Optional parameters that a single word behind a preposition fills: "to origin".
pub(super) const NAMES: &[&str] = &[
    "remote", "registry", "branch", "base", "environment", "env", "namespace", "region", "host",
    "service", "server", "cluster", "database", "assignee", "username", "queue", "project", "team",
    "bucket", "workspace",
];

/// Parameters of free text, which plain words never fill.
pub(super) const PROSE: &[&str] = &[
    "text", "message", "body", "content", "comment", "note", "title", "subject", "prompt",
    "description", "summary", "reason", "caption", "name",
];

pub(super) const KINDS_OF_ROOMS: &[&str] = &[
    "living", "dining", "guest", "laundry", "meeting", "conference", "waiting", "play", "utility",
    "sun", "family", "board", "server", "storage", "rec", "tv", "music", "powder", "spare",
];

/// Words that name nothing.
pub(super) const VAGUE: &[&str] = &[
    "project", "home", "root", "whole", "entire", "main", "parent", "working", "temp",
    "information", "info", "details", "answers", "something", "anything", "clues", "results",
    "options", "local", "right", "given", "correct", "relevant", "appropriate", "specified",
    "requested", "other", "existing", "total", "next", "last", "previous",
];
