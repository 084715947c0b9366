//! What it costs to remember.

use std::sync::Arc;

use bytes::Bytes;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::protocol::PathMatch;
use toolwire::translate::RequestHead;
use toolwire_laws::growth::Growth;
use toolwire_store::{Item, ItemPage, NewThread, Options, Store, Tenant, ThreadKind, Write};

use super::list::item_protocol;
use super::{
    ConversationLocks, RecallMemory, Recalled, ResponseStore, RunningJobs, StateLookup,
    StoredEndpoint, Turn, background, conversations, labels, list, look_up, responses,
};
use crate::config::StoreConfig;
use crate::growth::{Row, run};
use crate::memory::MemoryBudget;
use crate::route::{SealedReasoning, UpstreamMemory};
use crate::stored::endpoints::Access;

pub(crate) const ROWS: &[Row] = &[
    Row {
        names: TURN,
        shape: "many items",
        measure: || {
            let item = |n| format!(r#"{{"id":"m{n}","role":"user","content":"hi"}}"#);
            Growth::of(
                300,
                |size| turn(list_of(size, item)),
                |body: &String| take_turns(body, CHAIN),
            )
        },
    },
    Row {
        names: TURN,
        shape: "a long text, and many members",
        measure: || {
            let body = |size: usize| {
                let members: String = (0..size).map(|n| format!(r#""x{n}":1,"#)).collect();
                format!(r#"{{"model":"m",{members}"input":"{}"}}"#, "a".repeat(size * 10))
            };
            Growth::of(300, body, |body: &String| take_turns(body, CHAIN))
        },
    },
    Row {
        names: TURN,
        shape: "many items, in a conversation",
        measure: || {
            let item = |n| format!(r#"{{"id":"m{n}","role":"user","content":"hi"}}"#);
            let body = |size| turn(list_of(size, item));
            Growth::of(100, body, |body: &String| take_turns(body, IN_CONVERSATION))
        },
    },
    Row {
        names: JOB,
        shape: "many items, and an answer with many",
        measure: || {
            let item = |n| format!(r#"{{"id":"m{n}","role":"user","content":"hi"}}"#);
            Growth::of(100, |size| list_of(size, item), |items: &String| work(items))
        },
    },
    Row {
        names: ITEMS,
        shape: "items with many parts",
        measure: || {
            let items = |size| {
                let part = |_| r#"{"type":"output_text","text":"hi"}"#.to_owned();
                let parts = list_of(size, part);
                let item = |n| format!(r#"{{"id":"m{n}","role":"assistant","content":{parts}}}"#);
                list_of(10, item)
            };
            Growth::of(300, items, |items| {
                let body = format!(r#"{{"items":{items},"metadata":{{"a":"b"}}}}"#);
                run(async {
                    let store = Store::open(Options::memory()).await.unwrap();
                    let query = "limit=100&order=asc";
                    let jobs = &RunningJobs::default();
                    let locks = &ConversationLocks::default();
                    let access = Access { store: &store, tenant: Tenant::single(), query, jobs };
                    let made = conversations::create(&access, body.as_bytes()).await.unwrap();
                    let made = String::from_utf8(made).unwrap();
                    let id = made.split('"').nth(3).unwrap();
                    conversations::add_items(&access, locks, id, body.as_bytes()).await.unwrap();
                    conversations::items(&access, id).await.unwrap();
                    let _ = conversations::item(&access, id, "m1").await;
                    let _ = conversations::delete_item(&access, locks, id, "m1").await;
                    conversations::retrieve(&access, id).await.unwrap();
                    let labels = br#"{"metadata":{}}"#;
                    conversations::update(&access, locks, id, labels).await.unwrap();
                    conversations::delete(&access, locks, id).await.unwrap();
                });
            })
        },
    },
    Row {
        names: TEXTS,
        shape: "long ids and queries",
        measure: || {
            let text = |size| "a%5F&after=b+".repeat(size);
            Growth::of(300, text, |text: &String| {
                run(async {
                    let _ = StoredEndpoint::find(&format!("/v1/responses/{text}/cancel"));
                    let _ = list::read_page(text);
                    let _ = labels::check(&serde_json::json!({"a": text}).to_string());
                    let _ = background::is_asked_for(text);
                    let body = serde_json::json!({"role": "user", "content": text}).to_string();
                    let items = vec![Item::new(text.as_str(), body)];
                    drop(list::write_page(&ItemPage { items, more: false }));
                    let store = Store::open(Options::memory()).await.unwrap();
                    let (jobs, query) = (&RunningJobs::default(), text);
                    let access = Access { store: &store, tenant: Tenant::single(), query, jobs };
                    let _ = responses::retrieve(&access, text).await;
                    let _ = responses::cancel(&access, text).await;
                    let _ = responses::input_items(&access, text).await;
                    let _ = responses::delete(&access, text).await;
                });
            })
        },
    },
];

const TURN: &[&str] = &[
    "stored/earlier.rs::find",
    "stored/recall.rs::recall",
    "stored/recall.rs::look_up",
    "stored/recall.rs::plan",
    "stored/recall.rs::new_id",
    "stored/record.rs::record",
    "stored/record.rs::record_failed",
];

const JOB: &[&str] = &[
    "stored/background/begin.rs::begin_job",
    "stored/background/job.rs::append",
    "stored/background/job.rs::ending",
    "stored/background/job.rs::complete",
    "stored/background/job.rs::fail",
];

const ITEMS: &[&str] = &[
    "stored/conversations.rs::create",
    "stored/conversations.rs::retrieve",
    "stored/conversations.rs::update",
    "stored/conversations.rs::delete",
    "stored/conversations.rs::items",
    "stored/conversations.rs::add_items",
    "stored/conversations.rs::item",
    "stored/conversations.rs::delete_item",
];

const TEXTS: &[&str] = &[
    "stored/endpoints.rs::find",
    "stored/background/replay.rs::is_asked_for",
    "stored/list.rs::read_page",
    "stored/list.rs::parameters",
    "stored/list.rs::percent_decoded",
    "stored/labels.rs::check",
    "stored/responses.rs::retrieve",
    "stored/responses.rs::delete",
    "stored/responses.rs::cancel",
    "stored/responses.rs::input_items",
];

fn list_of(size: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..size).map(item).collect();
    format!("[{}]", items.join(","))
}

fn turn(input: String) -> String {
    format!(r#"{{"model":"m","input":{input}}}"#)
}

/// A first turn, and one that continues it.
const CHAIN: &[(&str, &str)] = &[("resp_1", ""), ("resp_2", r#","previous_response_id":"resp_1""#)];

/// Two turns of a conversation, and one that continues the second.
const IN_CONVERSATION: &[(&str, &str)] = &[
    ("resp_1", r#","conversation":"conv_1""#),
    ("resp_2", r#","conversation":"conv_1""#),
    ("resp_3", r#","previous_response_id":"resp_2""#),
];

/// Turns with what each of them refers to, whole and streamed.
fn take_turns(body: &str, turns: &[(&str, &str)]) {
    run(async {
        let memory = ResponseStore::open(&StoreConfig::On(Options::memory())).await.unwrap();
        let bodies = Arc::default();
        let answer = |id: &str| {
            let output = r#"[{"id":"o","type":"message","role":"assistant","content":[]}]"#;
            Bytes::from(format!(r#"{{"id":"{id}","status":"completed","output":{output}}}"#))
        };
        let conversation = NewThread {
            kind: ThreadKind::Conversation,
            id: "conv_1".to_owned(),
            metadata: Bytes::from_static(b"{}"),
            items: Vec::new(),
        };
        let store = memory.store.as_ref().unwrap();
        store.write(&Tenant::single(), vec![Write::Thread(conversation)]).await.unwrap();
        for (id, refers) in turns {
            let body = body.strip_suffix('}').unwrap();
            let body = Bytes::from(format!("{body}{refers}}}"));
            let head = RequestHead::read(item_protocol(), &PathMatch::default(), &body).unwrap();
            let looked_up = look_up(lookup(&memory, &bodies, &head, &body)).await;
            assert_eq!(matches!(looked_up, Ok(Recalled::Found(_))), !refers.is_empty());
            let lookup = lookup(&memory, &bodies, &head, &body);
            let turn = Turn::recall(lookup, UpstreamMemory::None, SealedReasoning::Possible).await;
            let turn = turn.ok().flatten().unwrap();
            let plan = || turn.plan(false, "m", &head).ok().unwrap().recorder.unwrap();
            Box::new(plan()).record(answer(id), None).await.ok().unwrap();
            let failed = str::from_utf8(&answer(id)).unwrap().replace("completed", "failed");
            let ending = format!("event: x\ndata: {{\"response\":{failed}}}\n\n");
            Box::new(plan()).record_failed(ending.as_bytes()).unwrap().await;
            // The id is taken, which is found out last.
            assert!(Box::new(plan()).record(answer(id), None).await.is_err());
        }
    });
}

fn lookup<'l>(
    memory: &'l ResponseStore,
    bodies: &'l Arc<MemoryBudget>,
    head: &'l RequestHead,
    body: &'l Bytes,
) -> StateLookup<'l> {
    let room = RecallMemory::new(bodies, usize::MAX);
    let (tenant, client) = (Tenant::single(), item_protocol());
    StateLookup { memory, room, tenant, client, head, body }
}

/// An answer in the background that comes in events, and one that fails.
fn work(items: &str) {
    run(async {
        let memory = ResponseStore::open(&StoreConfig::On(Options::memory())).await.unwrap();
        let bodies = Arc::default();
        let body = format!(r#"{{"model":"m","background":true,"stream":true,"input":{items}}}"#);
        let body = Bytes::from(body);
        let head = RequestHead::read(item_protocol(), &PathMatch::default(), &body).unwrap();
        for fails in [false, true] {
            let lookup = lookup(&memory, &bodies, &head, &body);
            let turn = Turn::recall(lookup, UpstreamMemory::None, SealedReasoning::Possible).await;
            let mut turn = turn.ok().flatten().unwrap();
            let job = turn.begin_job(&memory, &body, "m", &head).await.ok().unwrap();
            let id = job.kept().id.clone().unwrap();
            let answer = format!(r#"{{"id":"{id}","status":"completed","output":{items}}}"#);
            let event = format!(r#"{{"type":"response.completed","response":{answer}}}"#);
            let events: Vec<Bytes> = items.split('}').map(|item| item.to_owned().into()).collect();
            assert!(job.append(events).await.is_ok());
            let answer = job.ending(&event).unwrap();
            if fails {
                job.fail(&ApiError::new(ErrorKind::Server, items)).await;
            } else {
                assert!(job.complete(answer, vec![event.into()]).await.is_ok());
            }
        }
    });
}
