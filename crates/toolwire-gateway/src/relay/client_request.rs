//! A client's request, and the same with everything that it refers to.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::HeaderMap;
use toolwire::translate::{KeptState, RequestHead};
use toolwire::{Protocol, codec};

use super::request_head::CheckedHead;
use super::{Failure, RequestContext, dry_run};
use crate::route::{SealedReasoning, UpstreamMemory};
use crate::stored::{
    self, AnswerRecorder, Job, RecallMemory, ResponseStore, SessionLookup, SessionTurn,
    StateLookup, Turn, TurnPlan,
};
use crate::upstream::Upstream;

/// A request that was read, and what the gateway remembers for it. That is
/// seldom anything, so it takes no room in what all requests go through.
pub(super) struct ClientRequest {
    pub(super) document: RequestDocument,
    turn: Option<Box<Turn>>,
    session: Option<Box<SessionTurn>>,
    /// The request with the whole conversation, if the gateway has kept the
    /// earlier part of it.
    whole: Option<Box<RequestDocument>>,
    /// What is kept of an answer that is made in the background.
    job: Option<Box<KeptState>>,
}

/// A body with what is known about it.
pub(super) struct RequestDocument {
    pub(super) head: CheckedHead,
    pub(super) body: Bytes,
    /// The protocols of the messages in front of the client's own, if it
    /// continues a session.
    pub(super) session: Option<Arc<[Protocol]>>,
}

impl ClientRequest {
    /// Looks up what a request refers to.
    pub(super) async fn recall(
        context: &RequestContext<'_>,
        head: CheckedHead,
        body: Bytes,
    ) -> Result<Self, Failure> {
        let RequestContext { state, active, client, .. } = context;
        let tenant = stored::tenant(&active.config, context.credentials);
        let headers = &context.parts.headers;
        // Most requests refer to nothing, so what looks it up is boxed.
        if let Some(id) = stored::requested_session(*client, headers, &head.scanned)? {
            let lookup = SessionLookup {
                memory: &state.stored,
                heavy_work: &state.heavy_work,
                bodies: &state.bodies,
                bodies_total: active.config.limits.bodies_total,
                tenant,
                client: *client,
                is_dry_run: dry_run::is_wanted(headers),
                is_retry: is_retry(headers),
            };
            let session = Box::pin(SessionTurn::recall(lookup, id, &body)).await?;
            let whole = RequestDocument::of_session(context, &session).await?;
            let document = RequestDocument { head, body, session: None };
            let (session, whole) = (Some(Box::new(session)), Some(Box::new(whole)));
            return Ok(Self { document, turn: None, session, whole, job: None });
        }
        let memory = match codec(*client).stateful {
            Some(_) => UpstreamMemory::find(active, &head.model),
            None => UpstreamMemory::None,
        };
        let sealed = match memory {
            UpstreamMemory::Own | UpstreamMemory::Shared => {
                SealedReasoning::find(active, &head.model)
            }
            UpstreamMemory::None => SealedReasoning::Possible,
        };
        let lookup = context.state_lookup(&head.scanned, &body);
        let turn = Turn::recall(lookup, memory, sealed).await?;
        let turn = turn.map(Box::new);
        let whole = match turn.as_deref().and_then(Turn::expanded) {
            Some(whole) => Some(Box::new(RequestDocument::grown(context, whole).await?)),
            None => None,
        };
        let document = RequestDocument { head, body, session: None };
        Ok(Self { document, turn, session: None, whole, job: None })
    }

    /// Whether the client fetches the answer later.
    pub(super) fn is_background(&self) -> bool {
        self.turn.as_deref().is_some_and(Turn::is_background)
    }

    /// Whether only the upstream that remembers can answer.
    pub(super) fn is_for_its_upstream(&self) -> bool {
        self.turn.as_deref().is_some_and(Turn::is_for_its_upstream)
    }

    /// How many bytes the client has sent.
    pub(super) fn size(&self) -> usize {
        self.document.body.len()
    }

    /// Goes on as if the answer were being made, for a client that only wants to
    /// know what would be sent.
    pub(super) fn plan_job(&mut self) {
        let (id, created, previous, conversation) = (None, None, None, None);
        let (store, background) = (true, true);
        let kept = KeptState { id, created, store, previous, conversation, background };
        self.job = Some(Box::new(kept));
    }

    /// Stores that the answer is being made.
    pub(super) async fn begin_job(&mut self, memory: &ResponseStore) -> Result<Job, Failure> {
        let Some(turn) = &mut self.turn else { return Err(stored::no_background()) };
        let CheckedHead { model, scanned, .. } = &self.document.head;
        let body = &self.whole.as_deref().unwrap_or(&self.document).body;
        let job = turn.begin_job(memory, body, model, scanned).await?;
        self.job = Some(Box::new(job.kept().clone()));
        Ok(job)
    }

    /// What is sent to an upstream, what the answer says about what is kept, and
    /// who keeps it.
    pub(super) fn toward(
        &self,
        upstream: &Upstream,
    ) -> Result<(&RequestDocument, Option<KeptState>, Option<AnswerRecorder>), Failure> {
        if let (Some(session), Some(whole)) = (&self.session, &self.whole) {
            let recorder = AnswerRecorder::Session(Box::new(session.recorder()));
            return Ok((whole, None, Some(recorder)));
        }
        let Some(turn) = &self.turn else { return Ok((&self.document, None, None)) };
        if let Some(kept) = &self.job {
            let document = self.whole.as_deref().unwrap_or(&self.document);
            return Ok((document, Some(KeptState::clone(kept)), None));
        }
        let CheckedHead { model, scanned, .. } = &self.document.head;
        let plan = turn.plan(upstream.remembers(), model, scanned)?;
        let TurnPlan { is_expanded, kept, recorder } = plan;
        let whole = self.whole.as_deref().filter(|_| is_expanded);
        let recorder = recorder.map(|recorder| AnswerRecorder::Response(Box::new(recorder)));
        Ok((whole.unwrap_or(&self.document), kept, recorder))
    }
}

impl RequestDocument {
    /// A request behind its session, which counts as memory already.
    async fn of_session(context: &RequestContext<'_>, turn: &SessionTurn) -> Result<Self, Failure> {
        let body = turn.whole.clone();
        let head = context.read_head(&body).await?;
        Ok(Self { head, body, session: Some(Arc::clone(&turn.origins)) })
    }

    /// What a client's own request has grown to, which counts as memory already.
    async fn grown(context: &RequestContext<'_>, body: &Bytes) -> Result<Self, Failure> {
        let head = context.read_head(body).await?;
        Ok(Self { head, body: body.clone(), session: None })
    }
}

impl RequestContext<'_> {
    /// How what a request refers to is looked up.
    pub(super) fn state_lookup<'l>(
        &'l self,
        head: &'l RequestHead,
        body: &'l Bytes,
    ) -> StateLookup<'l> {
        let Self { state, active, credentials, client, .. } = self;
        StateLookup {
            memory: &state.stored,
            room: RecallMemory::new(&state.bodies, active.config.limits.bodies_total),
            tenant: stored::tenant(&active.config, credentials),
            client: *client,
            head,
            body,
        }
    }
}

/// Whether the client's SDK has sent the request before and heard no answer. The
/// SDKs of both vendors count that.
fn is_retry(headers: &HeaderMap) -> bool {
    let count = headers.get("x-stainless-retry-count").and_then(|count| count.to_str().ok());
    count.and_then(|count| count.parse().ok()).is_some_and(|count: u32| count > 0)
}
