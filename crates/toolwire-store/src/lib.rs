//! What the gateway remembers: stored responses, conversations and sessions.
//!
//! [`Store`] is one interface over three engines: SQLite, Postgres (feature
//! `postgres`) and memory.
//!
//! - A **response** is one answer with the input items it was asked with.
//!   Responses form chains: [`Store::chain`] reads a whole chain at once.
//! - A **thread** is a list of items that grows: a conversation of the
//!   Responses API, or a session of any other client. Whoever appends can say
//!   what length they have seen, so that two turns never interleave.
//! - A **running** response belongs to a gateway that renews its lease. If the
//!   gateway dies, another one finds the response and ends it.
//!
//! Every call about content takes a [`Tenant`]. An id that belongs to somebody
//! else, has expired, was deleted or never existed is the same to its caller:
//! there is nothing.
//!
//! Contents are bytes and come back as they went in. A write is whole or
//! absent, and once [`Store::write`] has returned, it survives the end of the
//! process and is seen by the next read, also through another gateway.
//!
//! ```
//! use toolwire_store::{Item, NewResponse, Options, Status, Store, Tenant, Write, random_id};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let store = Store::open(Options::memory()).await?;
//! let tenant = Tenant::of_key("a client's key");
//! let id = random_id("resp_")?;
//! let response = NewResponse {
//!     input: vec![Item::new("msg_1", r#"{"role":"user","content":"Hi"}"#)],
//!     ..NewResponse::new(&id, Status::Completed, r#"{"object":"response"}"#)
//! };
//! store.write(&tenant, vec![Write::Response(response)]).await?;
//!
//! let chain = store.chain(&tenant, &id).await?.ok_or("the response is stored")?;
//! assert_eq!(chain[0].input[0].body, r#"{"role":"user","content":"Hi"}"#);
//! assert_eq!(store.chain(&Tenant::of_key("another key"), &id).await?, None);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod change;
mod engine;
mod error;
mod id;
mod model;
mod options;
mod packed;
mod plan;
mod record;
mod store;
mod transfer;
mod usage;
mod write;

pub use error::{Cap, OpenError, StoreError};
pub use id::{Tenant, is_possible_id, item_id, random_id};
pub use model::{
    Abandoned, ChainLink, Events, Item, ItemPage, Order, Page, Response, Stats, Status, Thread,
    ThreadKind, ThreadPage, Timestamp, Usage,
};
pub use options::{Clock, EngineOptions, Limits, Options, PostgresOptions, SqliteOptions, Sync};
pub use store::Store;
pub use transfer::{Imported, TransferError};
pub use write::{Lease, NewResponse, NewThread, Update, Write};
