//! What can go wrong, whose fault it is, and whether to try again.

/// Why a call did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is nothing with this id, or nothing that this tenant may see.
    #[error("there is nothing with this id")]
    NotFound,
    /// Somebody else was faster: the thread has grown, the response has ended
    /// or belongs to another gateway, or the id is taken. Nothing was written.
    #[error("somebody else has changed it in the meantime")]
    Conflict,
    /// The item that a page begins after is not in the list.
    #[error("the item that the page begins after is not in the list")]
    Cursor,
    /// A limit does not allow it. Nothing was written.
    #[error("{cap} would be over its limit of {limit} bytes")]
    TooLarge {
        /// Which limit.
        cap: Cap,
        /// The limit, in bytes.
        limit: u64,
    },
    /// An id, a model's name or a tag is too long or has a null character.
    #[error("{0} is too long or has a null character")]
    Invalid(&'static str),
    /// The disk is full. Nothing was written, and writing works again as soon
    /// as there is room.
    #[error("the disk of the store is full: {0}")]
    Full(String),
    /// The store cannot be reached or has failed.
    #[error("the store is not available: {reason}")]
    Unavailable {
        /// What has happened. It has no content and no password in it.
        reason: String,
        /// Whether the same call may work later without anybody's help.
        retry: bool,
    },
}

/// What a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap {
    /// One item, or one response object.
    Value,
    /// The items of a chain or thread that are read at once.
    Read,
    /// Everything that one tenant has stored.
    Tenant,
    /// Everything that is stored.
    Total,
}

impl std::fmt::Display for Cap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Value => "the value",
            Self::Read => "the conversation",
            Self::Tenant => "what this client has stored",
            Self::Total => "the store",
        })
    }
}

/// Why a store cannot be used until somebody does something about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// A newer toolwire has written it.
    #[error(
        "the store has version {found}, and this toolwire knows versions up to {known}; use the \
         toolwire that wrote it, or a newer one"
    )]
    Newer {
        /// The version of the store.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The address of the database is malformed.
    #[error("the address of the database is malformed: {0}")]
    Address(String),
    /// The file cannot be opened, or is not a store.
    #[error("{0}")]
    Failed(String),
}
