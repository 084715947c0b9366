//! The paths where clients look at what was kept.

use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Response};
use toolwire_store::{Store, Tenant};

use super::failure::{not_found, store_is_off};
use super::list::percent_decoded;
use super::{EventReplay, RunningJobs, background, conversations, responses, sessions, tenant};
use crate::observe::Outcome;
use crate::relay::{Failure, RequestContext, passthrough, respond_with_error};
use crate::response_body::ResponseBody;

/// One of the paths, with the ids in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoredEndpoint {
    Response { id: String },
    Cancel { id: String },
    InputItems { id: String },
    Conversations,
    Conversation { id: String },
    ConversationItems { id: String },
    ConversationItem { id: String, item: String },
    Sessions,
    Session { id: String },
    SessionMessages { id: String },
}

impl StoredEndpoint {
    /// What is served at a path. Clients encode ids or do not: `encodeURIComponent` in
    /// JavaScript writes the colon of `user:42` as `%3A`.
    pub(crate) fn find(path: &str) -> Option<Self> {
        let mut parts = path.strip_prefix("/v1/")?.split('/');
        let parts = (parts.next()?, parts.next(), parts.next(), parts.next(), parts.next());
        let own = percent_decoded;
        Some(match parts {
            ("responses", Some(id), None, None, None) => Self::Response { id: own(id) },
            ("responses", Some(id), Some("cancel"), None, None) => Self::Cancel { id: own(id) },
            ("responses", Some(id), Some("input_items"), None, None) => {
                Self::InputItems { id: own(id) }
            }
            ("conversations", None, None, None, None) => Self::Conversations,
            ("conversations", Some(id), None, None, None) => Self::Conversation { id: own(id) },
            ("conversations", Some(id), Some("items"), None, None) => {
                Self::ConversationItems { id: own(id) }
            }
            ("conversations", Some(id), Some("items"), Some(item), None) => {
                Self::ConversationItem { id: own(id), item: own(item) }
            }
            ("sessions", None, None, None, None) => Self::Sessions,
            ("sessions", Some(id), None, None, None) => Self::Session { id: own(id) },
            ("sessions", Some(id), Some("messages"), None, None) => {
                Self::SessionMessages { id: own(id) }
            }
            (_, _, _, _, _) => return None,
        })
    }

    /// Whether a POST needs no body.
    pub(crate) fn takes_no_body(&self) -> bool {
        match self {
            Self::Cancel { .. } | Self::Conversations | Self::Sessions => true,
            Self::Response { .. }
            | Self::InputItems { .. }
            | Self::Conversation { .. }
            | Self::ConversationItems { .. }
            | Self::ConversationItem { .. }
            | Self::Session { .. }
            | Self::SessionMessages { .. } => false,
        }
    }

    /// The path without ids, and its methods.
    pub(crate) fn route(&self) -> &'static (&'static str, &'static [Method]) {
        let [
            response,
            cancel,
            input_items,
            conversations,
            conversation,
            items,
            item,
            sessions,
            session,
            session_messages,
        ] = &ROUTES;
        match self {
            Self::Response { .. } => response,
            Self::Cancel { .. } => cancel,
            Self::InputItems { .. } => input_items,
            Self::Conversations => conversations,
            Self::Conversation { .. } => conversation,
            Self::ConversationItems { .. } => items,
            Self::ConversationItem { .. } => item,
            Self::Sessions => sessions,
            Self::Session { .. } => session,
            Self::SessionMessages { .. } => session_messages,
        }
    }
}

/// Every path here and its methods.
pub(crate) const ROUTES: [(&str, &[Method]); 10] = [
    ("/v1/responses/{id}", &[Method::GET, Method::DELETE]),
    ("/v1/responses/{id}/cancel", &[Method::POST]),
    ("/v1/responses/{id}/input_items", &[Method::GET]),
    ("/v1/conversations", &[Method::POST]),
    ("/v1/conversations/{id}", &[Method::GET, Method::POST, Method::DELETE]),
    ("/v1/conversations/{id}/items", &[Method::GET, Method::POST]),
    ("/v1/conversations/{id}/items/{item}", &[Method::GET, Method::DELETE]),
    ("/v1/sessions", &[Method::GET, Method::POST]),
    ("/v1/sessions/{id}", &[Method::GET, Method::DELETE]),
    ("/v1/sessions/{id}/messages", &[Method::GET, Method::POST]),
];

/// Answers a request for one of them.
pub(crate) async fn serve(
    context: RequestContext<'_>,
    endpoint: StoredEndpoint,
    body: Incoming,
) -> Response<ResponseBody> {
    if let Some(route) = passthrough::kept_route(&context)
        && !is_kept_here(&context, &endpoint).await
    {
        return passthrough::serve(context, route, body).await;
    }
    if let Some(replayed) = replay(&context, &endpoint).await {
        let RequestContext { client, mut log, .. } = context;
        let body = match replayed {
            Ok(replay) => ResponseBody::Replayed(Box::new(replay)),
            Err(failure) => return respond_with_error(log, failure, client),
        };
        log.set_status(200);
        let mut response = Response::new(body);
        crate::relay::set_headers(response.headers_mut());
        crate::relay::set_request_id(client, &log.id, response.headers_mut());
        log.finish(Outcome::Answered);
        return response;
    }
    let answered = answer(&context, endpoint, body).await;
    let RequestContext { client, mut log, .. } = context;
    match answered {
        Ok(body) => {
            log.set_status(200);
            log.add_sent(body.len());
            let mut response = Response::new(ResponseBody::whole(body));
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(JSON));
            crate::relay::set_request_id(client, &log.id, headers);
            log.finish(Outcome::Answered);
            response
        }
        Err(failure) => respond_with_error(log, failure, client),
    }
}

/// Whether the gateway has the response that a path names. If nobody can tell, its own
/// answer says why.
async fn is_kept_here(context: &RequestContext<'_>, endpoint: &StoredEndpoint) -> bool {
    let id = match endpoint {
        StoredEndpoint::Response { id }
        | StoredEndpoint::Cancel { id }
        | StoredEndpoint::InputItems { id } => id,
        StoredEndpoint::Conversations
        | StoredEndpoint::Conversation { .. }
        | StoredEndpoint::ConversationItems { .. }
        | StoredEndpoint::ConversationItem { .. }
        | StoredEndpoint::Sessions
        | StoredEndpoint::Session { .. }
        | StoredEndpoint::SessionMessages { .. } => return true,
    };
    let Some(store) = context.state.stored.store() else { return false };
    let tenant = tenant(&context.active.config, context.credentials);
    !matches!(store.response(&tenant, id).await, Ok(None))
}

/// Who asks, and where the answer is.
pub(super) struct Access<'s> {
    pub(super) store: &'s Store,
    pub(super) tenant: Tenant,
    pub(super) query: &'s str,
    pub(super) jobs: &'s RunningJobs,
}

/// The events of a response, if that is what the client asks for.
async fn replay(
    context: &RequestContext<'_>,
    endpoint: &StoredEndpoint,
) -> Option<Result<EventReplay, Failure>> {
    let StoredEndpoint::Response { id } = endpoint else { return None };
    let query = context.parts.uri.query().unwrap_or_default();
    if context.parts.method != Method::GET || !background::is_asked_for(query) {
        return None;
    }
    let store = context.state.stored.store()?;
    let tenant = tenant(&context.active.config, context.credentials);
    let access = Access { store, tenant, query, jobs: &context.state.stored.jobs };
    let heartbeat = context.active.config.limits.heartbeat;
    Some(EventReplay::find(context.state, &access, id, heartbeat).await)
}

async fn answer(
    context: &RequestContext<'_>,
    endpoint: StoredEndpoint,
    body: Incoming,
) -> Result<Vec<u8>, Failure> {
    let Some(store) = context.state.stored.store() else {
        return Err(match endpoint {
            StoredEndpoint::Conversations => store_is_off("conversation"),
            StoredEndpoint::Sessions => sessions::store_is_off(),
            StoredEndpoint::Response { .. }
            | StoredEndpoint::Cancel { .. }
            | StoredEndpoint::InputItems { .. }
            | StoredEndpoint::Conversation { .. }
            | StoredEndpoint::ConversationItems { .. }
            | StoredEndpoint::ConversationItem { .. }
            | StoredEndpoint::Session { .. }
            | StoredEndpoint::SessionMessages { .. } => not_found(),
        });
    };
    let tenant = tenant(&context.active.config, context.credentials);
    let query = context.parts.uri.query().unwrap_or_default();
    let jobs = &context.state.stored.jobs;
    let access = Access { store, tenant, query, jobs };
    let locks = &context.state.stored.conversations;
    let method = &context.parts.method;
    match endpoint {
        StoredEndpoint::Response { id } if method == Method::DELETE => {
            responses::delete(&access, &id).await
        }
        StoredEndpoint::Response { id } => responses::retrieve(&access, &id).await,
        StoredEndpoint::Cancel { id } => responses::cancel(&access, &id).await,
        StoredEndpoint::InputItems { id } => responses::input_items(&access, &id).await,
        StoredEndpoint::Conversations => {
            let body = context.read_request(body).await?;
            conversations::create(&access, &body).await
        }
        StoredEndpoint::Conversation { id } if method == Method::POST => {
            let body = context.read_request(body).await?;
            conversations::update(&access, locks, &id, &body).await
        }
        StoredEndpoint::Conversation { id } if method == Method::DELETE => {
            conversations::delete(&access, locks, &id).await
        }
        StoredEndpoint::Conversation { id } => conversations::retrieve(&access, &id).await,
        StoredEndpoint::ConversationItems { id } if method == Method::POST => {
            let body = context.read_request(body).await?;
            conversations::add_items(&access, locks, &id, &body).await
        }
        StoredEndpoint::ConversationItems { id } => conversations::items(&access, &id).await,
        StoredEndpoint::Sessions if method == Method::POST => {
            let body = context.read_request(body).await?;
            sessions::create(&access, context.client, &body).await
        }
        StoredEndpoint::Sessions => sessions::list(&access).await,
        StoredEndpoint::Session { id } if method == Method::DELETE => {
            sessions::delete(&access, &context.state.stored.sessions, &id).await
        }
        StoredEndpoint::Session { id } => sessions::retrieve(&access, &id).await,
        StoredEndpoint::SessionMessages { id } if method == Method::POST => {
            let body = context.read_request(body).await?;
            let locks = &context.state.stored.sessions;
            sessions::add_messages(&access, locks, context.client, &id, &body).await
        }
        StoredEndpoint::SessionMessages { id } => sessions::messages(&access, &id).await,
        StoredEndpoint::ConversationItem { id, item } if method == Method::DELETE => {
            conversations::delete_item(&access, locks, &id, &item).await
        }
        StoredEndpoint::ConversationItem { id, item } => {
            conversations::item(&access, &id, &item).await
        }
    }
}

const JSON: &str = "application/json";
