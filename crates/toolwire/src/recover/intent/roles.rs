//! Words in the names of parameters, by what such parameters take. Only tables.

pub(super) const DAYS: &[&str] = &["date", "day", "deadline", "due", "birthday", "when"];

pub(super) const PATHS: &[&str] =
    &["path", "file", "filename", "filepath", "folder", "directory", "dir", "filepaths"];

pub(super) const LINKS: &[&str] = &["url", "uri", "link", "endpoint", "website", "webpage", "href"];

pub(super) const EMAILS: &[&str] =
    &["email", "mail", "recipient", "attendee", "cc", "bcc", "invitee"];

pub(super) const CODE: &[&str] = &[
    "command", "cmd", "sql", "statement", "query", "expression", "code", "script", "formula",
    "regex", "pattern", "snippet", "equation",
];

pub(super) const QUERIES: &[&str] = &[
    "query", "q", "search", "keyword", "term", "topic", "question", "phrase", "pattern", "needle",
];

pub(super) const TEXT: &[&str] = &[
    "text", "message", "body", "content", "comment", "note", "title", "subject", "name", "label",
    "prompt", "description", "summary", "caption", "reason", "tag", "headline",
];

pub(super) const PLACES: &[&str] = &[
    "city", "location", "place", "origin", "destination", "country", "region", "from", "to",
    "room", "area", "district", "warehouse", "station", "airport", "town", "venue", "restaurant",
    "hotel", "store", "state", "near",
];

pub(super) const PEOPLE: &[&str] = &[
    "name", "artist", "author", "assignee", "person", "user", "contact", "customer", "performer",
    "owner", "recipient", "employee", "member", "guest", "reviewer", "account", "to",
    "participant", "composer", "actor", "player", "client", "patient", "singer", "username",
];

pub(super) const PROPER: &[&str] = &[
    "language", "company", "team", "brand", "cuisine", "currency", "organization", "employer",
    "artist", "album", "title", "movie", "film", "book", "game", "product", "model", "airline",
    "nationality", "school", "timezone",
];

pub(super) const IDS: &[&str] = &[
    "id", "key", "number", "code", "sku", "ticket", "issue", "order", "symbol", "ticker",
    "tracking", "account", "iban", "version", "branch", "host", "pod", "service", "table", "index",
    "range", "cell", "flight", "invoice", "ref", "reference", "task", "currency", "isbn", "serial",
    "vin", "project", "sha", "commit", "hash", "deployment", "channel", "container", "instance",
    "unit", "coin", "pair", "case", "barcode", "identifier", "employer", "company",
];

pub(super) const HOSTS: &[&str] = &[
    "branch", "host", "hostname", "domain", "repo", "repository", "image", "server", "ref",
    "timezone", "zone", "model", "package", "key", "script", "module", "ip", "document", "picture",
    "source", "destination", "video", "audio", "photo", "log",
];

pub(super) const CURRENCIES: &[&str] = &[
    "usd", "eur", "gbp", "jpy", "chf", "cad", "aud", "nzd", "cny", "inr", "sek", "nok", "dkk",
    "pln", "czk", "huf", "brl", "mxn", "krw", "sgd", "hkd", "zar", "try", "thb", "ils", "btc",
    "eth", "dollar", "dollars", "euro", "euros", "pound", "pounds", "yen", "franc", "francs",
    "rupee", "rupees", "peso", "pesos", "yuan", "won", "krona", "kroner", "zloty", "bitcoin",
];

pub(super) const LANGUAGE_ENDINGS: &[&str] =
    &["ish", "ese", "ian", "ean", "man", "ench", "ukrainian", "abic", "andic", "aelic", "uguese"];

/// Languages that end otherwise.
pub(super) const LANGUAGES: &[&str] = &[
    "greek", "czech", "dutch", "thai", "hindi", "urdu", "bengali", "swahili", "slovak", "hebrew",
    "latin", "farsi", "tamil", "telugu", "malay", "tagalog", "welsh", "french", "arabic", "basque",
    "catalan", "slovene", "pashto", "punjabi", "gujarati", "marathi", "mandarin", "cantonese",
    "rust", "python", "javascript", "typescript", "java", "go", "ruby", "kotlin", "swift", "c",
    "c++", "c#", "php", "scala", "haskell", "sql", "bash", "perl", "lua", "dart", "zulu", "yoruba",
    "esperanto", "afrikaans", "lao", "khmer", "nepali", "irish", "maltese", "uzbek", "kazakh",
];

/// What the names of companies end in.
pub(super) const COMPANY_FORMS: &[&str] = &[
    "AG", "AS", "AB", "BV", "GmbH", "Inc", "KG", "LLC", "LLP", "Ltd", "NV", "Oy", "PLC", "SA",
    "SAS", "SE", "SL", "SRL", "SpA", "Co", "Corp", "JSC",
];

/// Things that one word without an article names: "add milk".
pub(super) const ITEMS: &[&str] = &[
    "item", "product", "food", "ingredient", "dish", "drink", "topic", "coin", "team", "genre",
    "package", "crate", "module", "plant", "activity", "sport", "medication", "drug", "animal",
    "component", "library", "extension", "plugin",
];

/// What currencies are called, and their codes.
pub(super) const CURRENCY_CODES: &[(&[&str], &str)] = &[
    (&["dollar", "dollars", "us dollars", "bucks"], "USD"),
    (&["euro", "euros"], "EUR"),
    (&["pound", "pounds", "sterling"], "GBP"),
    (&["yen"], "JPY"),
    (&["franc", "francs"], "CHF"),
    (&["rupee", "rupees"], "INR"),
    (&["yuan", "renminbi"], "CNY"),
    (&["won"], "KRW"),
    (&["zloty"], "PLN"),
    (&["bitcoin", "bitcoins"], "BTC"),
];
