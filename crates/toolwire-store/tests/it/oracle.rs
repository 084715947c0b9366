//! Random operations, done by every engine and compared.

use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use toolwire_store::{
    Item, Lease, NewResponse, NewThread, Order, Page, Status, Store, StoreError, Tenant,
    ThreadKind, Update, Write,
};

use crate::engines::{Subject, TTL, prune_all, run, subjects};

/// Proves that engines cannot be told apart by what they answer, whatever is
/// asked in whatever order. The memory is what the others are compared with.
#[test]
fn engines_cannot_be_told_apart() {
    run(async {
        for seed in 0..SEEDS {
            let subjects = subjects().await;
            let mut random = Random { state: seed + 1, fresh: Vec::new() };
            for step in 0..STEPS {
                let operation = Operation::random(&mut random);
                let mut answers = Vec::new();
                for Subject { store, clock, .. } in &subjects {
                    if let Operation::Wait(time) = operation {
                        clock.pass(time);
                    }
                    answers.push(operation.run(store).await);
                }
                for (subject, answer) in subjects.iter().zip(&answers) {
                    let name = subject.name;
                    assert_eq!(
                        answer, &answers[0],
                        "seed {seed}, step {step}, {name}: {operation:?}"
                    );
                }
            }
        }
    });
}

const SEEDS: u64 = 4;
const STEPS: usize = 200;

/// A small generator, so that a failure can be repeated.
struct Random {
    state: u64,
    /// Ids that are like those of `random_id`, of responses that were stored.
    fresh: Vec<String>,
}

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        let next = self.state.wrapping_mul(6_364_136_223_846_793_005);
        self.state = next.wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % limit
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        let index = self.below(u64::try_from(list.len()).unwrap());
        list[usize::try_from(index).unwrap()].clone()
    }

    /// One of few ids, so that they meet.
    fn id(&mut self) -> String {
        let latest: Vec<_> = self.fresh.iter().rev().take(4).cloned().collect();
        if !latest.is_empty() && self.pick(&[true, false]) {
            return self.pick(&latest);
        }
        self.few()
    }

    fn few(&mut self) -> String {
        format!("id{}", self.below(6))
    }

    /// A response that is new and complete, with an id that nobody has had before.
    fn fresh(&mut self) -> Write {
        let id = format!("resp_{:048x}", self.fresh.len());
        let (body, repeats) = self.body_with_part();
        let previous = self.pick(&[true, false]).then(|| self.id());
        self.fresh.push(id.clone());
        Write::Response(NewResponse {
            previous,
            repeats: Some(repeats),
            input: self.items(),
            output: self.output(&body),
            ..NewResponse::new(id, self.pick(&[Status::Completed, Status::Failed]), body.clone())
        })
    }

    fn items(&mut self) -> Vec<Item> {
        (0..self.below(4)).map(|_| Item::new(self.id(), format!("{}", self.below(1000)))).collect()
    }

    /// Items of which one may be a part of the body.
    fn output(&mut self, body: &Bytes) -> Vec<Item> {
        if self.pick(&[true, false]) {
            return self.items();
        }
        let end = self.pick(&[1, 7, body.len()]);
        vec![Item::new(self.id(), body.slice(..end))]
    }

    fn kind(&mut self) -> ThreadKind {
        self.pick(&[ThreadKind::Conversation, ThreadKind::Session])
    }

    fn owner(&mut self) -> String {
        self.pick(&["g1", "g2"]).to_owned()
    }

    fn lease(&mut self) -> Lease {
        Lease { owner: self.owner(), duration: TTL / 10 }
    }

    fn page(&mut self) -> Page {
        let after = self.pick(&[true, false]).then(|| self.id());
        let limit = usize::try_from(1 + self.below(4)).unwrap();
        Page { after, limit, order: self.pick(&[Order::OldestFirst, Order::NewestFirst]) }
    }

    fn write(&mut self) -> Write {
        let body = Bytes::from(format!("body {}", self.below(1000)));
        match self.below(7) {
            0 => {
                let (body, repeats) = self.body_with_part();
                Write::Response(NewResponse {
                    previous: self.pick(&[true, false]).then(|| self.id()),
                    conversation: self.pick(&[true, false]).then(|| self.id()),
                    model: self.id(),
                    repeats: Some(repeats),
                    input: self.items(),
                    output: self.output(&body),
                    lease: self.pick(&[true, false]).then(|| self.lease()),
                    ..NewResponse::new(self.few(), self.status(), body.clone())
                })
            }
            1 => Write::Update(Update {
                id: self.id(),
                owner: self.pick(&[true, false]).then(|| self.owner()),
                status: self.status(),
                body,
                output: self.items(),
                events: self.pick(&[true, false]).then(|| (self.below(3), vec![Bytes::from("e")])),
            }),
            2 => Write::Events {
                id: self.id(),
                owner: self.owner(),
                first: self.below(4),
                events: vec![body; 2],
            },
            3 => Write::Thread(NewThread {
                kind: self.kind(),
                id: self.id(),
                metadata: body,
                items: self.items(),
            }),
            4 => Write::Append {
                kind: self.kind(),
                id: self.id(),
                expected: self.pick(&[true, false]).then(|| self.below(5)),
                items: self.items(),
            },
            5 => Write::Metadata { kind: self.kind(), id: self.id(), metadata: body },
            _ => Write::RemoveItem { kind: self.kind(), id: self.id(), item: self.id() },
        }
    }

    /// A body with one of two parts that come again, and where the part is.
    fn body_with_part(&mut self) -> (Bytes, Range<usize>) {
        let part = self.pick(&["tools", "other tools"]).repeat(300);
        let (before, behind) = (self.pick(&["", "before "]), self.pick(&["", " behind"]));
        let place = before.len()..before.len() + part.len();
        (format!("{before}{part}{behind}").into(), place)
    }

    fn status(&mut self) -> Status {
        self.pick(&[Status::Queued, Status::InProgress, Status::Completed, Status::Failed])
    }
}

#[derive(Debug)]
enum Operation {
    Write(Tenant, Vec<Write>),
    DeleteResponse(Tenant, String),
    DeleteThread(Tenant, ThreadKind, String),
    Read(Tenant, String, ThreadKind, Page),
    Claim(Lease),
    Renew(Lease, Vec<String>),
    Prune,
    Wait(Duration),
}

impl Operation {
    fn random(random: &mut Random) -> Self {
        let tenant = Tenant::of_key(random.pick(&["a", "a", "a", "b"]));
        match random.below(25) {
            20.. => Self::Write(tenant, vec![random.fresh()]),
            0..8 => {
                let writes = (0..=random.below(3)).map(|_| random.write()).collect();
                Self::Write(tenant, writes)
            }
            8 => Self::DeleteResponse(tenant, random.id()),
            9 => Self::DeleteThread(tenant, random.kind(), random.id()),
            10..16 => Self::Read(tenant, random.id(), random.kind(), random.page()),
            16 => Self::Claim(random.lease()),
            17 => {
                let ids = (0..random.below(4)).map(|_| random.id()).collect();
                Self::Renew(random.lease(), ids)
            }
            18 => Self::Prune,
            _ => Self::Wait(TTL * u32::try_from(random.below(5)).unwrap() / 10),
        }
    }

    /// What an engine answers, as text.
    async fn run(&self, store: &Store) -> Vec<String> {
        let mut answers = match self {
            Self::Write(tenant, writes) => vec![text(store.write(tenant, writes.clone()).await)],
            Self::DeleteResponse(tenant, id) => {
                vec![text(store.delete_response(tenant, id).await)]
            }
            Self::DeleteThread(tenant, kind, id) => {
                vec![text(store.delete_thread(tenant, *kind, id).await)]
            }
            Self::Read(tenant, id, kind, page) => vec![
                text(store.response(tenant, id).await),
                text(store.chain(tenant, id).await),
                text(store.input_items(tenant, id, page).await),
                text(store.events(tenant, id, None, page.limit).await),
                text(store.events(tenant, id, Some(0), page.limit).await),
                text(store.item(tenant, id).await),
                text(store.thread(tenant, *kind, id).await),
                text(store.thread_with_items(tenant, *kind, id).await),
                text(store.thread_items(tenant, *kind, id, page).await),
                text(store.threads(tenant, *kind, page).await),
                text(store.usage(tenant).await),
            ],
            // Two leases that end at the same moment are claimed in any order.
            Self::Claim(lease) => {
                let mut claimed = store.claim_abandoned(lease, 100).await.unwrap();
                claimed.sort_by_key(|claimed| {
                    (claimed.tenant.as_str().to_owned(), claimed.response.id.clone())
                });
                vec![format!("{claimed:?}")]
            }
            Self::Renew(lease, ids) => vec![text(store.renew(lease, ids).await)],
            // Of those that expire at the same moment, any may be pruned first.
            Self::Prune => vec![prune_all(store, 100).await.to_string()],
            Self::Wait(_) => Vec::new(),
        };
        let mut stats = store.stats().await.unwrap();
        (stats.engine, stats.version) = ("", 0);
        answers.push(format!("{stats:?}"));
        answers
    }
}

fn text<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> String {
    format!("{answer:?}")
}
