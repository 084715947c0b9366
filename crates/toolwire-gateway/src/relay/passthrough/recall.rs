//! A request that passes and that may refer to what was kept. The gateway may be the one
//! that has kept it, or nobody may look at it in the account that clients share.

use hyper::body::Incoming;
use toolwire::protocol::PathMatch;
use toolwire::translate::RequestHead;

use super::upload::Upload;
use crate::relay::{Failure, RequestContext};
use crate::stored::{self, Missing, Recalled, StateLookup};

/// A request that was read, with everything that the gateway has of what it refers to.
pub(super) struct RecalledRequest {
    pub(super) upload: Upload,
    /// What the gateway does not have. An upstream that remembers may have it.
    pub(super) missing: Option<Missing>,
}

impl RecalledRequest {
    /// Reads a request to its end, and looks up what it refers to.
    pub(super) async fn open(
        context: &RequestContext<'_>,
        body: Incoming,
    ) -> Result<Self, Failure> {
        let RequestContext { state, active, .. } = context;
        // The path says what the request is, whatever else the client says of itself.
        let client = stored::item_protocol();
        let body = context.read_request(body).await?.into_bytes();
        let scan = || RequestHead::read(client, &PathMatch::default(), &body);
        let head = state.heavy_work.run(body.len(), scan).await;
        let head = head.map_err(|error| Failure::from_translation(&error))?;
        let lookup = StateLookup { client, ..context.state_lookup(&head, &body) };
        let (body, missing) = match Box::pin(stored::look_up(lookup)).await? {
            Recalled::Nothing => (body, None),
            Recalled::Found(whole) => (whole, None),
            Recalled::Unknown(missing) => (body, Some(missing)),
        };
        let upload = Upload::of_document(&body, &active.config.limits, &state.bodies)?;
        Ok(Self { upload, missing })
    }
}
