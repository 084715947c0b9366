//! Prepositions, and which parameters they lead to. Only tables.

/// Which parameters a preposition binds its object to, by words of their names.
pub(super) const PREPOSITIONS: &[(&str, &[&str])] = &[
    (
        "to",
        &[
            "max", "maximum", "user", "username", "person", "member", "group", "team", "contact",
            "to", "recipient", "target", "destination", "dest", "language", "channel", "email",
            "value", "level", "state", "status", "stage", "assignee", "account", "into", "output",
            "new", "phone", "path", "end", "room", "environment", "folder", "sheet", "list",
            "playlist", "arrival", "temperature", "brightness", "volume", "ticket", "remote",
            "server", "host", "registry", "dropoff",
        ],
    ),
    (
        "into",
        &[
            "to", "target", "language", "into", "format", "path", "file", "table", "output",
            "unit", "destination", "folder", "currency",
        ],
    ),
    (
        "from",
        &[
            "min", "minimum", "from", "pickup", "year", "source", "origin", "src", "start", "url",
            "sender", "departure", "file", "path", "base", "spreadsheet", "database", "begin",
            "table", "branch", "since",
        ],
    ),
    (
        "in",
        &[
            "path", "dir", "directory", "folder", "location", "city", "language", "unit",
            "currency", "format", "channel", "table", "timezone", "zone", "project", "repo",
            "repository", "room", "place", "database", "namespace", "region", "environment",
            "country", "mode", "warehouse", "file", "area", "document", "sheet", "workspace",
            "category", "district", "state", "color", "style", "where",
        ],
    ),
    ("inside", &["path", "dir", "directory", "folder", "room", "container"]),
    ("within", &["path", "dir", "directory", "folder", "radius", "project"]),
    (
        "under",
        &[
            "max", "maximum", "path", "dir", "directory", "folder", "category", "project",
            "parent", "name",
        ],
    ),
    (
        "on",
        &[
            "date", "day", "device", "branch", "channel", "platform", "host", "url", "server",
            "repo", "table", "topic", "database", "ticket", "issue", "machine", "path", "when",
            "website", "departure", "query", "document", "cluster",
        ],
    ),
    (
        "at",
        &[
            "time", "url", "location", "address", "price", "rate", "start", "company",
            "restaurant", "place", "path", "store", "when", "host", "hour", "endpoint", "employer",
            "quality",
        ],
    ),
    (
        "for",
        &[
            "query", "date", "duration", "city", "location", "name", "customer", "symbol", "user",
            "title", "reason", "days", "term", "topic", "keyword", "pattern", "sku", "product",
            "person", "search", "guests", "passengers", "size", "text", "time", "item", "address",
            "id", "number", "employee", "company", "account", "host", "region", "country", "pod",
            "domain", "ticker", "minutes", "seconds", "hours", "label",
        ],
    ),
    (
        "by",
        &[
            "author", "artist", "by", "due", "deadline", "sort", "group", "degrees", "amount",
            "percent", "key", "performer", "mode", "order", "height", "composer", "singer", "user",
        ],
    ),
    ("about", &["topic", "query", "subject", "about", "keyword"]),
    (
        "of",
        &[
            "customer", "food", "item", "word", "term", "package", "crate", "domain", "host",
            "service", "team", "account", "company", "country", "database", "ticker", "username",
            "coin", "place", "location", "player", "sign", "author", "artist", "of", "file",
            "path", "folder", "database", "spreadsheet", "text", "city", "pod", "address",
            "prompt", "symbol", "topic", "table", "sheet", "repo", "project", "quantity", "app",
            "name", "user", "directory", "product",
        ],
    ),
    (
        "as",
        &[
            "format", "name", "status", "role", "type", "priority", "title", "label", "state",
            "as", "mode", "stage",
        ],
    ),
    (
        "with",
        &[
            "new", "replacement", "title", "subject", "message", "body", "content", "text",
            "ingredient", "attendees", "participants", "comment", "name", "label", "with",
            "members", "people",
        ],
    ),
    (
        "using",
        &[
            "encoding", "method", "format", "mode", "model", "voice", "carrier", "engine",
            "algorithm", "currency",
        ],
    ),
    ("via", &["method", "mode", "carrier", "channel", "via"]),
    (
        "called",
        &["title", "name", "label", "subject", "branch", "path", "file", "project", "summary"],
    ),
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
    ("against", &["database", "target", "base", "ref", "branch", "commit", "revision", "version"]),
    ("per", &["per", "interval"]),
    ("over", &["min", "minimum", "over"]),
    ("near", &["location", "near", "place", "city", "address"]),
    ("around", &["location", "near", "time"]),
    ("than", &["max", "min", "maximum", "minimum", "limit"]),
];
