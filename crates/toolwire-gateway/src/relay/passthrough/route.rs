//! Which upstream a request that passes goes to: the one that serves its model,
//! or the only one that has its path.

use std::sync::Arc;

use toolwire::model::{ApiError, ErrorKind};

use super::table::{PassedRoute, Scope};
use crate::config::{Credential, Origin, UpstreamConfig};
use crate::health::Probe;
use crate::relay::{Failure, RequestContext, no_model};
use crate::route;
use crate::upstream::Upstream;

/// Where a request goes.
pub(super) struct PassedTo {
    /// The name that the upstreams know the model by, if the request names one.
    pub(super) model: Option<String>,
    /// The upstreams in the order in which to try them. Never empty.
    pub(super) upstreams: Vec<Arc<Upstream>>,
    /// If the first one is ejected, and this request finds out whether it works
    /// again.
    pub(super) probe: Option<Probe>,
}

impl PassedTo {
    /// Leaves only the upstream that may know what the request refers to and the gateway does
    /// not. Returns whether there is one, and its memory is the client's alone.
    pub(super) fn keep_only_memory(&mut self, context: &RequestContext<'_>) -> bool {
        let remembering =
            || context.active.upstreams.iter().filter(|upstream| upstream.remembers());
        self.upstreams
            .retain(|one| remembering().any(|another| is_same_api(&one.config, &another.config)));
        let [only] = self.upstreams.as_slice() else { return false };
        self.probe = self.probe.take().filter(|probe| probe.is_of(&only.health));
        !context.active.config.shares_account(&only.config)
    }
}

/// Finds the upstreams for a request.
pub(super) fn find(
    context: &RequestContext<'_>,
    route: &PassedRoute,
    model: Option<&str>,
) -> Result<PassedTo, Failure> {
    let vendor = route.vendor.unwrap_or(context.client.describe().vendor.name);
    let fitting = fitting(context, route, vendor);
    if let Some(name) = context.parts.headers.get(UPSTREAM_HEADER) {
        let named = fitting.iter().find(|upstream| upstream.config.name.as_bytes() == name);
        let Some(named) = named else { return Err(no_such_upstream(&fitting, route)) };
        check_scope(context, route, &named.config)?;
        let model = model.map(|model| without_prefix(model, &named.config.name).to_owned());
        return Ok(PassedTo { model, upstreams: vec![Arc::clone(named)], probe: None });
    }
    if let Some(model) = model
        && let Some(found) = route::look_up(context.active, model, context.client)
    {
        let mut upstreams = found.upstreams;
        let other = upstreams.first().map(|upstream| upstream.config.name.clone());
        upstreams.retain(|upstream| fits(&upstream.config, vendor));
        // One API may be configured once for each of its protocols.
        upstreams.dedup_by(|one, another| is_same_api(&one.config, &another.config));
        let Some(first) = upstreams.first() else {
            return Err(wrong_vendor(model, &other.unwrap_or_default(), route));
        };
        check_scope(context, route, &first.config)?;
        // Requests that pass may be all that these upstreams get.
        let probe = route::put_probe_first(&mut upstreams);
        return Ok(PassedTo { model: Some(found.model), upstreams, probe });
    }
    let Some(first) = fitting.first() else {
        return Err(match model {
            Some(model) if route.vendor.is_none() => no_model(model),
            Some(_) | None => nobody_has(route, vendor),
        });
    };
    if fitting.iter().any(|other| !is_same_api(&first.config, &other.config)) {
        return Err(several(&fitting, route, model));
    }
    check_scope(context, route, &first.config)?;
    let model = model.map(str::to_owned);
    Ok(PassedTo { model, upstreams: vec![Arc::clone(first)], probe: None })
}

/// Whether there is one upstream that may know what a path names, and that this client may
/// ask.
pub(super) fn has_target(context: &RequestContext<'_>, route: &PassedRoute) -> bool {
    let vendor = route.vendor.unwrap_or(context.client.describe().vendor.name);
    let fitting = fitting(context, route, vendor);
    let named = context.parts.headers.get(UPSTREAM_HEADER);
    let mut asked = fitting
        .into_iter()
        .filter(|upstream| named.is_none_or(|name| upstream.config.name.as_bytes() == name));
    let Some(first) = asked.next() else { return false };
    asked.all(|other| is_same_api(&first.config, &other.config))
        && !context.active.config.shares_account(&first.config)
}

/// The upstreams that have a path.
fn fitting<'c>(
    context: &'c RequestContext<'_>,
    route: &PassedRoute,
    vendor: &str,
) -> Vec<&'c Arc<Upstream>> {
    let upstreams = context.active.upstreams.iter();
    let fitting = upstreams.filter(|upstream| fits(&upstream.config, vendor));
    fitting.filter(|upstream| route.scope != Scope::Memory || upstream.remembers()).collect()
}

/// Whether an upstream has the paths of a vendor.
fn fits(upstream: &UpstreamConfig, vendor: &str) -> bool {
    upstream.origin != Origin::Demo
        && upstream.passthrough != Some(false)
        && upstream.protocol.describe().vendor.name == vendor
}

/// Whether two upstreams are one API, which speaks two protocols.
fn is_same_api(one: &UpstreamConfig, another: &UpstreamConfig) -> bool {
    let same_credential = match (&one.credential, &another.credential) {
        (Credential::None, Credential::None) | (Credential::Client, Credential::Client) => true,
        (Credential::Key(one), Credential::Key(another)) => one == another,
        (Credential::None | Credential::Client | Credential::Key(_), _) => false,
    };
    same_credential && one.origin == another.origin && one.headers == another.headers
}

/// Several clients with keys of their own share the upstream's account, and must
/// not see each other's files by accident.
fn check_scope(
    context: &RequestContext<'_>,
    route: &PassedRoute,
    upstream: &UpstreamConfig,
) -> Result<(), Failure> {
    let is_own = match route.scope {
        Scope::Request | Scope::Thread => true,
        Scope::Account | Scope::Memory => false,
    };
    if is_own || !context.active.config.shares_account(upstream) {
        return Ok(());
    }
    let message = format!(
        "This path shows what all clients of the upstream {} have stored there. Set `passthrough = true` for it if they may see it.",
        upstream.name
    );
    Err(Failure::new(ApiError::new(ErrorKind::Permission, message)))
}

/// A model's name that was written as `upstream/model`.
fn without_prefix<'m>(model: &'m str, upstream: &str) -> &'m str {
    let rest = model.strip_prefix(upstream).and_then(|rest| rest.strip_prefix('/'));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(model)
}

fn wrong_vendor(model: &str, upstream: &str, route: &PassedRoute) -> Failure {
    let path = route.path.replace("{}", "…");
    let message = format!(
        "The upstream {upstream} serves the model `{}`, and it has no {path}. Name a model of another upstream, or the upstream itself in the header toolwire-upstream.",
        clipped(model)
    );
    not_found(message)
}

fn nobody_has(route: &PassedRoute, vendor: &str) -> Failure {
    let path = route.path.replace("{}", "…");
    not_found(format!(
        "No upstream has {path}: it needs an upstream that speaks a protocol of {vendor}."
    ))
}

fn several(fitting: &[&Arc<Upstream>], route: &PassedRoute, model: Option<&str>) -> Failure {
    let (path, names) = (route.path.replace("{}", "…"), names(fitting));
    let message = match model {
        Some(model) => format!(
            "No upstream serves the model `{}`, and several have {path}: {names}. Add the model to the `models` of one of them, or name one in the header toolwire-upstream.",
            clipped(model)
        ),
        None => format!(
            "The beginning of the request names no model, and several upstreams have {path}: {names}. Put `model` first, or name one of them in the header toolwire-upstream."
        ),
    };
    let mut error = ApiError::new(ErrorKind::InvalidRequest, message);
    error.param = Some("model".to_owned());
    Failure::new(error)
}

fn no_such_upstream(fitting: &[&Arc<Upstream>], route: &PassedRoute) -> Failure {
    let (path, names) = (route.path.replace("{}", "…"), names(fitting));
    not_found(format!(
        "The header toolwire-upstream must name an upstream that has {path}: {names}."
    ))
}

fn names(upstreams: &[&Arc<Upstream>]) -> String {
    let names = upstreams.iter().map(|upstream| upstream.config.name.as_str());
    let names: Vec<&str> = names.take(MOST_NAMED).collect();
    if names.is_empty() { "there is none".to_owned() } else { names.join(", ") }
}

fn clipped(name: &str) -> String {
    let name: String = name.chars().take(200).collect();
    name.escape_debug().to_string()
}

fn not_found(message: String) -> Failure {
    Failure::new(ApiError::new(ErrorKind::NotFound, message))
}

/// The header in which a client names an upstream.
pub(super) const UPSTREAM_HEADER: &str = "toolwire-upstream";

/// How many upstreams are named where all are meant.
const MOST_NAMED: usize = 20;
