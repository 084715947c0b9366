//! Who may go on with a conversation when a job in it has ended.

use std::sync::Arc;

use bytes::Bytes;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::protocol::PathMatch;
use toolwire::translate::RequestHead;
use toolwire_store::{Item, NewThread, Options, Store, Tenant, ThreadKind, Write};

use super::Job;
use crate::config::StoreConfig;
use crate::route::{SealedReasoning, UpstreamMemory};
use crate::stored::endpoints::Access;
use crate::stored::list::item_protocol;
use crate::stored::{RecallMemory, ResponseStore, StateLookup, Turn, responses};

const CONVERSATION: &str = "conv_1";

/// A job in a conversation, with the request that has begun it, as a gateway has both until
/// the work is done.
struct Work {
    memory: ResponseStore,
    turn: Turn,
    job: Option<Job>,
}

impl Work {
    async fn begin() -> Self {
        let memory = ResponseStore::open(&StoreConfig::On(Options::memory())).await.unwrap();
        let thread = NewThread {
            kind: ThreadKind::Conversation,
            id: CONVERSATION.to_owned(),
            metadata: Bytes::from_static(b"{}"),
            items: Vec::new(),
        };
        let store = memory.store.as_ref().unwrap();
        store.write(&Tenant::single(), vec![Write::Thread(thread)]).await.unwrap();
        let body = format!(
            r#"{{"model":"m","background":true,"conversation":"{CONVERSATION}","input":"Hi"}}"#
        );
        let body = Bytes::from(body);
        let (protocol, upstreams) = (item_protocol(), UpstreamMemory::None);
        let sealed = SealedReasoning::Possible;
        let head = RequestHead::read(protocol, &PathMatch::default(), &body).unwrap();
        let bodies = Arc::default();
        let lookup = StateLookup {
            memory: &memory,
            room: RecallMemory::new(&bodies, usize::MAX),
            tenant: Tenant::single(),
            client: protocol,
            head: &head,
            body: &body,
        };
        let turn = Turn::recall(lookup, upstreams, sealed).await;
        let mut turn = turn.ok().flatten().unwrap();
        let job = turn.begin_job(&memory, &body, "m", &head).await.ok().unwrap();
        let work = Self { memory, turn, job: Some(job) };
        assert!(!work.is_free());
        work
    }

    fn job(&self) -> &Job {
        self.job.as_ref().unwrap()
    }

    fn id(&self) -> &str {
        self.job().kept().id.as_deref().unwrap()
    }

    fn access(&self) -> Access<'_> {
        let (store, jobs): (&Store, _) = (self.memory.store.as_ref().unwrap(), &self.memory.jobs);
        Access { store, tenant: Tenant::single(), query: "", jobs }
    }

    /// Whether another turn can begin in the conversation.
    fn is_free(&self) -> bool {
        self.memory.conversations.take(&Tenant::single(), CONVERSATION).is_some()
    }
}

#[tokio::test]
async fn a_job_that_is_complete() {
    let work = Work::begin().await;
    let answer = format!(r#"{{"id":"{}","status":"completed","output":[]}}"#, work.id());
    assert!(work.job().complete(answer.into(), Vec::new()).await.is_ok());
    assert!(work.is_free());
}

#[tokio::test]
async fn a_job_that_fails() {
    let work = Work::begin().await;
    work.job().fail(&ApiError::new(ErrorKind::Server, "No.")).await;
    assert!(work.is_free());
}

#[tokio::test]
async fn a_job_that_is_cancelled() {
    let work = Work::begin().await;
    assert!(responses::cancel(&work.access(), work.id()).await.is_ok());
    assert!(work.is_free());
}

#[tokio::test]
async fn a_job_that_is_deleted() {
    let work = Work::begin().await;
    assert!(responses::delete(&work.access(), work.id()).await.is_ok());
    assert!(work.is_free());
}

/// The request that has begun it may live longer.
#[tokio::test]
async fn a_job_that_is_given_up() {
    let mut work = Work::begin().await;
    drop(work.job.take());
    assert!(work.turn.is_background());
    assert!(work.is_free());
}

/// What a job writes when another turn has the conversation is not added: its response has
/// ended, or is gone.
#[tokio::test]
async fn a_job_that_goes_on_after_it_was_stopped() {
    for deletes in [false, true] {
        let work = Work::begin().await;
        let (access, id) = (work.access(), work.id());
        let stopped = match deletes {
            false => responses::cancel(&access, id).await,
            true => responses::delete(&access, id).await,
        };
        assert!(stopped.is_ok());
        let other = Write::Append {
            kind: ThreadKind::Conversation,
            id: CONVERSATION.to_owned(),
            expected: None,
            items: vec![Item::new("item_1", "{}")],
        };
        access.store.write(&access.tenant, vec![other]).await.unwrap();
        let answer = format!(r#"{{"id":"{id}","status":"completed","output":[]}}"#);
        assert!(work.job().complete(answer.into(), Vec::new()).await.is_err());
        let thread = access.store.thread(&access.tenant, ThreadKind::Conversation, CONVERSATION);
        assert_eq!(thread.await.unwrap().unwrap().items, 1, "deleted: {deletes}");
    }
}
