//! Takes on a request whose client does not wait.

use std::sync::Arc;

use bytes::Bytes;
use toolwire::model::{ApiError, ErrorKind, Retry};
use toolwire::stateful;
use toolwire::translate::{KeptState, RequestHead};
use toolwire_store::{Item, NewResponse, Status, Write};

use super::JobKind;
use super::job::Job;
use crate::relay::Failure;
use crate::stored::failure::{from_store, invalid, store_is_off};
use crate::stored::recall::Recalled;
use crate::stored::time_of_day::now;
use crate::stored::{ResponseStore, Turn};

impl Turn {
    /// Whether the client fetches the answer later.
    pub(crate) fn is_background(&self) -> bool {
        self.background
    }

    /// Stores that the answer is being made. `body` is the request with
    /// everything that it refers to, `head` is of the client's own.
    pub(crate) async fn begin_job(
        &mut self,
        memory: &ResponseStore,
        body: &Bytes,
        model: &str,
        head: &RequestHead,
    ) -> Result<Job, Failure> {
        let Some(store) = &memory.store else { return Err(store_is_off("background")) };
        if self.wanted == Some(false) {
            let message = "An answer in the background has to be stored. Send the request \
                           without `store: false`, or without `background`.";
            return Err(invalid("background", message));
        }
        if let Recalled::Unknown(missing) = &self.recalled {
            return Err(missing.failure());
        }
        self.check_store()?;
        let kept = KeptState {
            id: Some(self.id.clone()),
            created: Some(now()),
            store: true,
            previous: self.previous.clone(),
            conversation: self.conversation.as_ref().map(|joined| joined.id.clone()),
            background: true,
        };
        let id = kept.id.clone().unwrap_or_default();
        let pending = stateful::pending_answer(self.client, body, &kept);
        let pending = pending.map_err(|error| Failure::from_translation(&error))?;
        let pending = Bytes::from(pending.unwrap_or_default());
        let running = memory.jobs.add(&id).ok_or_else(too_many)?;
        running.hold(self.lock.take());
        // What is kept must not keep the client's whole request in memory.
        let input = self.read_input(head)?.into_iter();
        let input = input.map(|item| Item { body: Bytes::copy_from_slice(&item.body), ..item });
        let input: Vec<Item> = input.collect();
        let kind = JobKind::new(head.stream);
        let response = NewResponse {
            id: id.clone(),
            previous: self.previous.clone(),
            conversation: kept.conversation.clone(),
            status: Status::InProgress,
            model: model.to_owned(),
            body: pending.clone(),
            repeats: None,
            internal: kind.note(),
            input: input.clone(),
            output: Vec::new(),
            lease: Some(memory.jobs.lease()),
        };
        let written = store.write(&self.tenant, vec![Write::Response(response)]).await;
        memory.health.note(&written);
        written.map_err(|error| from_store(&error))?;
        running.set_stored();
        Ok(Job {
            store: store.clone(),
            tenant: self.tenant.clone(),
            client: self.client,
            kind,
            owner: memory.jobs.owner().to_owned(),
            conversation: self.conversation.clone(),
            input: Arc::new(input),
            pending,
            next: Arc::default(),
            running: Arc::new(running),
            kept,
        })
    }
}

fn too_many() -> Failure {
    let message = "The gateway is working on too many responses in the background. Try again \
                   later.";
    let mut error = ApiError::new(ErrorKind::Overloaded, message);
    error.retry = Retry::After(5);
    Failure::with_status(503, error)
}
