//! The few facts about a request that the gateway itself needs: the model, the
//! stream flag, and the size of the tool definitions.

use bytes::Bytes;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::protocol::PathMatch;
use toolwire::translate::ToolLists;
use toolwire::{Protocol, session, translate};

use super::{Failure, RequestContext};
use crate::config::Limits;

/// The head of a request, within the limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckedHead {
    /// The model, as the client names it.
    pub(super) model: String,
    /// Everything that the scan of the body found.
    pub(super) scanned: translate::RequestHead,
}

impl RequestContext<'_> {
    /// Scans the request's body and checks it against the limits, where it is in
    /// nobody's way.
    pub(super) async fn read_head(&self, body: &[u8]) -> Result<CheckedHead, Failure> {
        let (lists, limits) = (&self.state.tool_lists, &self.active.config.limits);
        let scan = || CheckedHead::read(lists, self.client, &self.path, body, limits);
        self.state.heavy_work.run(body.len(), scan).await
    }

    /// The same request without the member that could name a session and names
    /// none. It is the gateway's own, so no upstream gets to see it.
    pub(super) async fn without_null_session(
        &self,
        head: CheckedHead,
        body: Bytes,
    ) -> Result<(CheckedHead, Bytes), Failure> {
        if !head.scanned.has_null_session {
            return Ok((head, body));
        }
        let body = session::without_session_member(&body);
        let body = self.hold_request(body.map_err(|error| unreadable(&error))?)?;
        let head = self.read_head(&body).await?;
        Ok((head, body))
    }
}

impl CheckedHead {
    /// Scans a request and checks it against the limits.
    pub(super) fn read(
        lists: &ToolLists,
        client: Protocol,
        path: &PathMatch,
        body: &[u8],
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let mut scanned = translate::RequestHead::read_with(lists, client, path, body)
            .map_err(|error| unreadable(&error))?;
        let (tools, bytes) = (scanned.tools, scanned.tool_bytes);
        if tools > limits.tools {
            let limit = limits.tools;
            let message = format!("The request has {tools} tools. This gateway allows {limit}.");
            return Err(invalid("tools", message));
        }
        if bytes > limits.schemas {
            let limit = limits.schemas;
            let message = format!(
                "The tool definitions are {bytes} bytes long. This gateway allows {limit}."
            );
            return Err(invalid("tools", message));
        }
        match scanned.model.take().filter(|model| !model.is_empty()) {
            Some(model) => Ok(Self { model, scanned }),
            None => Err(invalid("model", "The request must name a model.".to_owned())),
        }
    }
}

fn unreadable(error: &translate::Error) -> Failure {
    let mut param = None;
    let message = if let translate::Error::Invalid { pointer, offset, message } = error {
        param = Some(pointer.clone()).filter(|pointer| !pointer.is_empty());
        let place = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
        format!("The request cannot be read{place}: {message} (byte {offset}).")
    } else {
        format!("The request cannot be read: {error}.")
    };
    let mut error = ApiError::new(ErrorKind::InvalidRequest, message);
    error.param = param;
    Failure::new(error)
}

fn invalid(param: &str, message: String) -> Failure {
    let mut error = ApiError::new(ErrorKind::InvalidRequest, message);
    error.param = Some(param.to_owned());
    Failure::new(error)
}

#[cfg(test)]
mod tests;
