//! Messages.

use crate::codec::Codec;
use crate::ledger::Ledger;
use crate::model::{ApiError, ErrorKind, Protocol, Request, Response, Tool};
use crate::profile::Profile;
use crate::wire::ReadError;

/// The Messages protocol.
pub struct Messages;

impl Codec for Messages {
    fn protocol(&self) -> Protocol {
        Protocol::Messages
    }

    fn decode_request<'a>(&self, _body: &'a str) -> Result<Request<'a>, ReadError> {
        Ok(Request::new(Protocol::Messages))
    }

    fn encode_request(
        &self,
        _request: &Request<'_>,
        _profile: &Profile,
        _out: &mut Vec<u8>,
        _ledger: &mut Ledger,
    ) {
    }

    fn decode_response<'a>(&self, _body: &'a str) -> Result<Response<'a>, ReadError> {
        Ok(Response {
            origin: Protocol::Messages,
            id: None,
            model: None,
            created: None,
            candidates: Vec::new(),
            usage: None,
            tier: None,
            extra: Vec::new(),
        })
    }

    fn encode_response(
        &self,
        _response: &Response<'_>,
        _request: Option<&Request<'_>>,
        _out: &mut Vec<u8>,
        _ledger: &mut Ledger,
    ) {
    }

    fn decode_error(&self, _status: Option<u16>, _body: &str) -> Result<ApiError, ReadError> {
        Ok(ApiError::new(ErrorKind::Server, ""))
    }

    fn encode_error(&self, _error: &ApiError, _out: &mut Vec<u8>) -> u16 {
        500
    }

    fn decode_tools<'a>(&self, _body: &'a str) -> Result<Vec<Tool<'a>>, ReadError> {
        Ok(Vec::new())
    }

    fn encode_tools(
        &self,
        _tools: &[Tool<'_>],
        _origin: Protocol,
        _profile: &Profile,
        _out: &mut Vec<u8>,
        _ledger: &mut Ledger,
    ) {
    }
}
