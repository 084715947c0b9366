//! What sessions cost.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::HeaderMap;
use toolwire::protocol::PathMatch;
use toolwire::translate::{PreparedRequest, RequestHead};
use toolwire::{Protocol, codec};
use toolwire_laws::growth::Growth;
use toolwire_store::{Options, Store, Tenant};

use super::super::RunningJobs;
use super::super::conversation_lock::ConversationLocks;
use super::super::endpoints::Access;
use super::super::{AnswerRecorder, ResponseStore};
use super::{
    SessionLookup, SessionTurn, add_messages, create, delete, messages, requested_session,
    retrieve, with_session,
};
use crate::config::StoreConfig;
use crate::growth::{Row, run};
use crate::heavy_work::HeavyWork;
use crate::memory::MemoryBudget;

pub(crate) const ROWS: &[Row] = &[
    Row {
        names: TURN,
        shape: "many messages",
        measure: || {
            let message = |n| format!(r#"{{"role":"user","content":"hi {n}"}}"#);
            Growth::of(300, |size| list_of(size, message), |list: &String| take_turns(list))
        },
    },
    Row {
        names: TURN,
        shape: "many instructions",
        measure: || {
            let message = |n| format!(r#"{{"role":"system","content":"hi {n}"}}"#);
            Growth::of(300, |size| list_of(size, message), |list: &String| take_turns(list))
        },
    },
    Row {
        names: TURN,
        shape: "many answers",
        measure: || {
            let message = |n| format!(r#"{{"role":"assistant","content":"hi {n}"}}"#);
            Growth::of(300, |size| list_of(size, message), |list: &String| take_turns(list))
        },
    },
    Row {
        names: PATHS,
        shape: "many messages, and long ids",
        measure: || {
            let message = |n| format!(r#"{{"role":"user","content":"hi {n}"}}"#);
            Growth::of(
                300,
                |size| list_of(size, message),
                |list: &String| {
                    run(async {
                        let store = Store::open(Options::memory()).await.unwrap();
                        let query = "limit=100&order=asc";
                        let jobs = &RunningJobs::default();
                        let access =
                            Access { store: &store, tenant: Tenant::single(), query, jobs };
                        let client = client();
                        let body = format!(r#"{{"id":"s","messages":{list}}}"#);
                        create(&access, client, body.as_bytes()).await.unwrap();
                        let locks = ConversationLocks::default();
                        let added = add_messages(&access, &locks, client, "s", body.as_bytes());
                        added.await.unwrap();
                        super::endpoints::list(&access).await.unwrap();
                        for id in ["s", list] {
                            let _ = retrieve(&access, id).await;
                            let _ = messages(&access, id).await;
                            let _ = delete(&access, &locks, id).await;
                        }
                    });
                },
            )
        },
    },
];

const TURN: &[&str] = &[
    "stored/sessions/recall.rs::recall",
    "stored/sessions/recall.rs::requested_session",
    "stored/sessions/recall.rs::with_session",
    "stored/sessions/record.rs::record",
    "stored/sessions/kept.rs::read",
    "stored/sessions/kept.rs::read_tag",
    "stored/sessions/kept.rs::size_of",
    "stored/sessions/kept.rs::is_repeated_by",
    "stored/sessions/kept.rs::answer_to",
    "stored/sessions/kept.rs::change",
    "stored/sessions/kept.rs::in_front_of",
    "stored/sessions/kept.rs::writes",
    "stored/sessions/kept.rs::check",
    "stored/sessions/meaning.rs::meaning",
    "stored/sessions/said_again.rs::note",
    "stored/sessions/said_again.rs::is_behind",
    "stored/sessions/stats.rs::read",
    "stored/answer_recorder.rs::record",
];

const PATHS: &[&str] = &[
    "stored/sessions/endpoints.rs::create",
    "stored/sessions/endpoints.rs::retrieve",
    "stored/sessions/endpoints.rs::delete",
    "stored/sessions/endpoints.rs::list",
    "stored/sessions/endpoints.rs::messages",
    "stored/sessions/endpoints.rs::add_messages",
    "stored/sessions/sent.rs::read",
];

fn list_of(size: usize, message: impl Fn(usize) -> String) -> String {
    let messages: Vec<String> = (0..size).map(message).collect();
    format!("[{}]", messages.join(","))
}

/// A protocol that has sessions.
fn client() -> Protocol {
    Protocol::ALL.into_iter().find(|protocol| codec(*protocol).session.is_some()).unwrap()
}

/// A first turn, one that continues it, and one that an SDK delivers again.
fn take_turns(list: &str) {
    run(async {
        let memory = ResponseStore::open(&StoreConfig::On(Options::memory())).await.unwrap();
        let body = Bytes::from(format!(r#"{{"model":"m","session_id":"s","messages":{list}}}"#));
        let client = client();
        for is_retry in [false, false, true] {
            let head = RequestHead::read(client, &PathMatch::default(), &body).unwrap();
            let (work, headers) = (HeavyWork::default(), HeaderMap::new());
            let tenant = Tenant::single();
            let whole = with_session(&memory, &tenant, client, &headers, &head, &body).await;
            let id = requested_session(client, &headers, &head).ok().flatten().unwrap();
            let bodies = &Arc::new(MemoryBudget::default());
            let lookup = SessionLookup {
                memory: &memory,
                heavy_work: &work,
                bodies,
                bodies_total: usize::MAX,
                tenant,
                client,
                is_dry_run: false,
                is_retry,
            };
            let Ok(turn) = SessionTurn::recall(lookup, id, &body).await else {
                // The conversation is repeated, or its last turn.
                assert!(is_retry || whole.is_err());
                return;
            };
            assert!(whole.is_ok_and(|whole| whole.is_some()));
            let (whole, origins) = (&turn.whole, &turn.origins);
            let prepared =
                PreparedRequest::with_session(client, client, &head, whole, origins).unwrap();
            let answer = Bytes::from_static(
                br#"{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"}}]}"#,
            );
            let recorder = || {
                let mut recorder = AnswerRecorder::Session(Box::new(turn.recorder()));
                recorder.set_calls(prepared.session_calls().cloned());
                recorder
            };
            recorder().record(answer.clone(), None).await.unwrap();
            // Another turn has come in between, which is found out last.
            assert!(recorder().record(answer, None).await.is_err());
        }
    });
}
