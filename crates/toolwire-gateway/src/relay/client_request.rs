//! A client's request, and the same with everything that it refers to.

use std::sync::Arc;

use bytes::Bytes;
use toolwire::Protocol;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::translate::KeptState;

use super::request_head::CheckedHead;
use super::{Failure, RequestContext, request_body};
use crate::stored::{self, AnswerRecorder, Job, ResponseStore, SessionTurn, Turn, TurnPlan};
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
            let (stored, heavy_work) = (&state.stored, &state.heavy_work);
            let session = SessionTurn::recall(stored, heavy_work, tenant, *client, id, &body);
            let session = Box::pin(session).await?;
            let mut whole = RequestDocument::read(context, &session.whole).await?;
            whole.session = Some(Arc::clone(&session.origins));
            let document = RequestDocument { head, body, session: None };
            let (session, whole) = (Some(Box::new(session)), Some(Box::new(whole)));
            return Ok(Self { document, turn: None, session, whole, job: None });
        }
        let turn = Turn::recall(&state.stored, tenant, *client, &head.scanned, &body).await?;
        let turn = turn.map(Box::new);
        let whole = match turn.as_deref().and_then(Turn::expanded) {
            Some(whole) => Some(Box::new(RequestDocument::read(context, whole).await?)),
            None => None,
        };
        let document = RequestDocument { head, body, session: None };
        Ok(Self { document, turn, session: None, whole, job: None })
    }

    /// Whether the client fetches the answer later.
    pub(super) fn is_background(&self) -> bool {
        self.turn.as_deref().is_some_and(Turn::is_background)
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
        let Some(turn) = &self.turn else { return Err(stored::no_background()) };
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
    /// Checks a request that has grown like one that a client has sent.
    async fn read(context: &RequestContext<'_>, body: &Bytes) -> Result<Self, Failure> {
        let limits = &context.active.config.limits;
        if body.len() > limits.body {
            let message = format!(
                "The conversation is longer than {} bytes, the limit of this gateway.",
                limits.body
            );
            return Err(Failure::new(ApiError::new(ErrorKind::TooLarge, message)));
        }
        let mut reservation = context.state.bodies.reservation();
        let reserved = reservation.grow(body.len(), limits.bodies_total);
        reserved.map_err(|_| request_body::out_of_memory())?;
        let body = reservation.hold(body.clone());
        let head = context.read_head(&body).await?;
        Ok(Self { head, body, session: None })
    }
}
