//! MiniMax's own report of how a request went, which is in every answer.
//!
//! <https://platform.minimax.io/docs/api-reference/errorcode>

use crate::model::{ApiError, ErrorKind};
use crate::wire::{At, Extra, Raw, Read, Str};

/// The name of the member.
pub(crate) const BASE_RESP: &str = "base_resp";

wire! {
    struct BaseResp<'a> {
        status_code: At<u64> = "status_code",
        status_msg: Str<'a> = "status_msg",
    }
}

/// The error that the member names. `None` if it says that all went well.
pub(crate) fn error(raw: &Raw<'_>) -> Option<ApiError> {
    let BaseResp { at: _, status_code, status_msg, extra: _ } =
        BaseResp::read(&mut raw.reader()).ok()?;
    let code = status_code.filter(|code| code.value != 0)?.value;
    let message = status_msg.map(Str::into_decoded).unwrap_or_default().into_owned();
    let mut error = ApiError::new(kind(code), message);
    let value = raw.clone().into_owned();
    error.extra.push(Extra { key: Str::plain(BASE_RESP), value });
    Some(error)
}

fn kind(code: u64) -> ErrorKind {
    match code {
        1001 => ErrorKind::Timeout,
        1002 | 1039 | 1041 | 2045 => ErrorKind::RateLimit,
        1004 | 2049 => ErrorKind::Auth,
        1008 | 2056 => ErrorKind::Quota,
        1026 | 1027 => ErrorKind::ContentFilter,
        2013 => ErrorKind::InvalidRequest,
        _other => ErrorKind::Server,
    }
}
