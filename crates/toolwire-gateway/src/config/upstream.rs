//! One `[[upstream]]` of a file.

use std::ops::Range;
use std::path::Path;

use toml::de::DeTable;
use toolwire::Profile;
use toolwire_tokens::BudgetPolicy;

use super::fields::{Fields, Value, in_order, refuse, setting};
use super::preset::Vendor;
use super::problem::Problem;
use super::secrets::{Literal, secret};
use super::{
    CaBundle, Credential, Environment, Origin, Pattern, Secret, Timeouts, ToolCallRules,
    UpstreamConfig, address, file, profile,
};

/// Reads one upstream, or those of a preset that has several APIs. Returns `None`
/// if a setting is missing or invalid, after all problems of the upstream are
/// reported.
pub(super) fn read(
    value: Value<'_, '_>,
    defaults: &Timeouts,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Option<Vec<UpstreamConfig>> {
    let table = setting("upstream", problems).table(value)?;
    let mut fields = Fields::new(table, "an upstream");
    let preset = fields.take("preset");
    let name = fields.take("name");
    let demo = fields.take("demo");
    let protocol = fields.take("protocol");
    let base_url = fields.take("base_url");
    let insecure = fields.take("insecure");
    let ca = fields.take("ca");
    let key = fields.take("key");
    let key_header = fields.take("key_header");
    let query = fields.take("query");
    let credential = fields.take("credential");
    let models = fields.take("models");
    let list_models = fields.take("list_models");
    let headers = fields.take("headers");
    let profile = fields.take("profile");
    let tool_calls = fields.take("tool_calls");
    let tool_dialect = fields.take("tool_dialect");
    let on_loss = fields.take("on_loss");
    let output_budget = fields.take("output_budget");
    let passthrough = fields.take("passthrough");
    let weight = fields.take("weight");
    let timeouts = fields.take("timeouts");
    fields.finish(problems);
    let header = header_span(value);
    let demo = demo.and_then(|value| setting("demo", problems).boolean(value)).unwrap_or(false);
    let vendor = match preset {
        Some(value) => Some(read_preset(value, problems)?),
        None => None,
    };
    let protocol = match protocol {
        Some(value) => file::protocol(value, problems).map(Some),
        None if demo => Some(Some(toolwire_demo::PROTOCOL)),
        None if vendor.is_some() => Some(None),
        None => missing(problems, &header, "protocol", "\"chat\", \"responses\" or \"messages\""),
    };
    let name = match (name, vendor) {
        (Some(value), _) => read_name(value, problems),
        (None, Some(vendor)) => Some(vendor.name.to_owned()),
        (None, None) => {
            missing(problems, &header, "name", "a short name of your choice, such as \"anthropic\"")
        }
    };
    let insecure =
        insecure.and_then(|value| setting("insecure", problems).boolean(value)).unwrap_or(false);
    let origin = match (base_url, vendor) {
        (Some(value), _) if demo => refuse(
            problems,
            value.span(),
            "the demo model has no address",
            "not used",
            "remove `base_url`, or `demo = true`",
        ),
        (Some(value), vendor) => read_origin(value, insecure, vendor, problems),
        (None, _) if demo => Some(Origin::Demo),
        (None, vendor) => match vendor.and_then(Vendor::url) {
            Some(url) => address::origin(url, false).ok(),
            None => missing(problems, &header, "base_url", "\"https://…\""),
        },
    };
    let ca = ca.map(|value| read_ca(value, origin.as_ref(), environment, problems));
    let variable = vendor.and_then(|vendor| vendor.key_variable(environment));
    let credential = match (key, credential, variable) {
        (None, None, Some(variable)) => preset_key(variable, &header, environment, problems),
        (key, credential, _) => read_credential(key, credential, environment, problems),
    };
    let key_header = key_header.map(|value| read_header_name(value, problems));
    let query = query.map(|value| read_query(value, problems));
    let models = match models {
        Some(value) => read_models(value, problems).map(Some),
        None if demo => Some(Some(vec![Pattern("demo".to_owned()), Pattern("demo-*".to_owned())])),
        None if vendor.is_some() => Some(None),
        None => missing(
            problems,
            &header,
            "models",
            "[\"*\"] for any model, or names such as [\"claude-*\"]",
        ),
    };
    let list_models = list_models.and_then(|value| setting("list_models", problems).boolean(value));
    let headers =
        headers.map(|value| read_headers(value, environment, problems)).unwrap_or_default();
    let profile = profile.and_then(|value| setting("profile", problems).table(value));
    // Its mistakes are told once, whatever becomes of the rest.
    let of_vendor = vendor.and_then(|vendor| vendor.apis.first()).map(|api| api.protocol);
    if let (Some(table), Some(protocol)) = (profile, protocol.and_then(|named| named.or(of_vendor)))
    {
        profile::read(Profile::of(protocol), table, problems);
    }
    let tool_calls = ToolCallRules::read(tool_calls, tool_dialect, problems);
    let on_loss = on_loss.and_then(|value| file::loss_policy(value, problems));
    let output_budget = output_budget.and_then(|value| {
        let words = BudgetPolicy::ALL.map(|policy| (policy.as_str(), policy));
        setting("output_budget", problems).word(value, &words)
    });
    let passthrough = passthrough.and_then(|value| setting("passthrough", problems).boolean(value));
    let weight = weight.map(|value| setting("weight", problems).whole(value, 0).unwrap_or(1));
    let timeouts = match timeouts.and_then(|value| setting("timeouts", problems).table(value)) {
        Some(table) => read_timeouts(table, defaults, problems),
        None => defaults.clone(),
    };
    let (name, protocol, origin, credential) = (name?, protocol?, origin?, credential?);
    let mut upstreams = match (vendor, protocol) {
        (None, protocol) => vec![UpstreamConfig::new(name, protocol?, origin, credential)],
        (Some(vendor), protocol) => {
            vendor.upstreams(&name, protocol, &origin, &credential).or_else(|| {
                let apis = vendor.apis.iter().map(|api| api.protocol.as_str()).collect::<Vec<_>>();
                let help = format!("it speaks {}; or leave `protocol` out", apis.join(" and "));
                refuse(problems, header, "the preset has no such API", "this protocol", help)
            })?
        }
    };
    let models = models?;
    for upstream in &mut upstreams {
        upstream.ca = ca.clone().flatten();
        upstream.key_header = key_header.clone().flatten().or(upstream.key_header.take());
        if let Some(query) = &query {
            upstream.query.clone_from(query);
        }
        if let Some(models) = &models {
            upstream.models.clone_from(models);
        }
        upstream.list_models = list_models.unwrap_or(upstream.list_models);
        upstream.headers.clone_from(&headers);
        if let Some(table) = profile {
            (upstream.profile, upstream.facts) =
                profile::read(upstream.profile.clone(), table, &mut Vec::new());
        }
        upstream.tool_calls = tool_calls.clone();
        upstream.on_loss = on_loss;
        upstream.output_budget = output_budget;
        upstream.passthrough = passthrough;
        let weight = weight.map(|weight| u32::try_from(weight).unwrap_or(u32::MAX));
        upstream.weight = weight.unwrap_or(upstream.weight);
        upstream.timeouts = timeouts.clone();
    }
    Some(upstreams)
}

fn read_preset(value: Value<'_, '_>, problems: &mut Vec<Problem>) -> Option<&'static Vendor> {
    let words: Vec<_> = Vendor::all().iter().map(|vendor| (vendor.name, vendor)).collect();
    setting("preset", problems).word(value, &words)
}

/// The key of a preset, from the vendor's own variable.
fn preset_key(
    variable: &str,
    header: &Range<usize>,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Option<Credential> {
    let key = environment.variable(variable).map(|key| key.trim().to_owned());
    let is_printable = |key: &String| key.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    match key {
        Some(key) if is_printable(&key) => Some(Credential::Key(Secret::new(key))),
        Some(_) => refuse(
            problems,
            header.clone(),
            format!("{variable} cannot be sent as a header"),
            "contains a line break or a non-ASCII character",
            "the variable must hold the key alone",
        ),
        None => refuse(
            problems,
            header.clone(),
            format!("the environment variable {variable} is not set"),
            "the preset's key",
            format!("set it before starting toolwire: export {variable}=…; or set `key`"),
        ),
    }
}

fn read_header_name(value: Value<'_, '_>, problems: &mut Vec<Problem>) -> Option<String> {
    let name = setting("key_header", problems).text(value)?.to_ascii_lowercase();
    if http::HeaderName::from_bytes(name.as_bytes()).is_err()
        || RESERVED_HEADERS.contains(&name.as_str())
    {
        let help = "for example \"api-key\"";
        return refuse(
            problems,
            value.span(),
            "invalid value for `key_header`",
            "not allowed",
            help,
        );
    }
    Some(name)
}

/// Parameters for the URL, as `name=value`.
fn read_query(value: Value<'_, '_>, problems: &mut Vec<Problem>) -> Vec<String> {
    let Some(table) = setting("query", problems).table(value) else { return Vec::new() };
    let mut query = Vec::new();
    for (key, value) in in_order(table) {
        let Some(text) = setting("query", problems).text(value) else { continue };
        let is_plain = |text: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            !text.is_empty() && text.bytes().all(plain)
        };
        if !is_plain(key.get_ref()) || !is_plain(text) {
            let help = "letters, digits, `-`, `.`, `_` and `~`";
            refuse::<()>(problems, value.span(), "invalid value for `query`", "not allowed", help);
            continue;
        }
        query.push(format!("{}={text}", key.get_ref()));
    }
    query
}

/// Reads `[timeouts]`, with `defaults` for the rest.
pub(super) fn read_timeouts(
    table: &DeTable<'_>,
    defaults: &Timeouts,
    problems: &mut Vec<Problem>,
) -> Timeouts {
    let mut timeouts = defaults.clone();
    let Timeouts { connect, headers, whole, first_event, idle, total } = &mut timeouts;
    let mut fields = Fields::new(table, "`timeouts`");
    let [sets_headers, sets_whole] = ["headers", "whole"].map(|name| table.contains_key(name));
    for (name, time) in [
        ("connect", connect),
        ("headers", headers),
        ("whole", whole),
        ("first_event", first_event),
        ("idle", idle),
        ("total", total),
    ] {
        let value = fields.take(name);
        if let Some(value) = value.and_then(|value| setting(name, problems).duration(value)) {
            *time = value;
        }
    }
    // Who lets every response take long to begin means whole answers as well.
    if sets_headers && !sets_whole {
        timeouts.whole = timeouts.whole.max(timeouts.headers);
    }
    fields.finish(problems);
    timeouts
}

/// The first line of a table, where missing settings are reported.
fn header_span(value: Value<'_, '_>) -> Range<usize> {
    let span = value.span();
    span.start..span.end.min(span.start + "[[upstream]]".len())
}

fn missing<T>(
    problems: &mut Vec<Problem>,
    header: &Range<usize>,
    name: &str,
    example: &str,
) -> Option<T> {
    refuse(
        problems,
        header.clone(),
        format!("this upstream has no `{name}`"),
        format!("`{name}` is missing"),
        format!("add {name} = {example}"),
    )
}

fn read_name(value: Value<'_, '_>, problems: &mut Vec<Problem>) -> Option<String> {
    let name = setting("name", problems).text(value)?;
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_allowed) {
        return refuse(
            problems,
            value.span(),
            "invalid upstream name",
            "expected up to 64 letters, digits, `-`, `_` or `.`",
            "the name is used in `name/model`, in the log and in metrics",
        );
    }
    Some(name.to_owned())
}

fn read_origin(
    value: Value<'_, '_>,
    insecure: bool,
    vendor: Option<&Vendor>,
    problems: &mut Vec<Problem>,
) -> Option<Origin> {
    let url = setting("base_url", problems).text(value)?;
    let read = match vendor {
        Some(vendor) if !insecure => vendor.origin(url),
        Some(_) | None => address::origin(url, insecure),
    };
    match read {
        Ok(origin) => Some(origin),
        Err(address::InvalidUrl { label, help }) => {
            refuse(problems, value.span(), "invalid value for `base_url`", label, help)
        }
    }
}

fn read_ca(
    value: Value<'_, '_>,
    origin: Option<&Origin>,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Option<CaBundle> {
    let path = setting("ca", problems).text(value)?;
    let is_https = |origin: &Origin| match origin {
        Origin::Demo => false,
        Origin::Http { base, .. } => base.starts_with("https://"),
    };
    // An invalid origin is already reported.
    if origin.is_some_and(|origin| !is_https(origin)) {
        let help = "remove `ca`, or write the address with https";
        return refuse(problems, value.span(), "`ca` is for https only", "not used", help);
    }
    let help = "relative paths start at the folder of this file";
    let read = environment.read_file(Path::new(path)).map_err(|error| error.to_string());
    match read.and_then(|pem| CaBundle::read(&pem).map_err(|error| error.to_string())) {
        Ok(bundle) => Some(bundle),
        Err(reason) => refuse(problems, value.span(), "cannot use the file of `ca`", reason, help),
    }
}

fn read_credential(
    key: Option<Value<'_, '_>>,
    credential: Option<Value<'_, '_>>,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Option<Credential> {
    if let (Some(_), Some(value)) = (key, credential) {
        return refuse(
            problems,
            value.span(),
            "`key` and `credential` cannot both be set",
            "`key` is already set",
            "remove one of them",
        );
    }
    if let Some(value) = key {
        return secret("key", value, Literal::Refused, environment, problems).map(Credential::Key);
    }
    let Some(value) = credential else { return Some(Credential::None) };
    let words = [("client", true), ("none", false)];
    let client = setting("credential", problems).word(value, &words)?;
    Some(if client { Credential::Client } else { Credential::None })
}

fn read_models(value: Value<'_, '_>, problems: &mut Vec<Problem>) -> Option<Vec<Pattern>> {
    let list = setting("models", problems).list(value)?;
    if list.is_empty() {
        let help = "write [\"*\"] for any model, or remove the upstream";
        return refuse(problems, value.span(), "this upstream serves no model", "empty", help);
    }
    // Every element is checked, even after an invalid one.
    let patterns: Vec<_> =
        list.into_iter().map(|value| pattern("models", value, problems)).collect();
    patterns.into_iter().collect()
}

/// A model's name or a pattern with `*`.
pub(super) fn pattern(
    name: &'static str,
    value: Value<'_, '_>,
    problems: &mut Vec<Problem>,
) -> Option<Pattern> {
    let text = setting(name, problems).text(value)?;
    pattern_of(text, value.span(), problems)
}

/// The pattern that a text at some place of the file is.
pub(super) fn pattern_of(
    text: &str,
    span: Range<usize>,
    problems: &mut Vec<Problem>,
) -> Option<Pattern> {
    match file::check_model_name(text) {
        Ok(()) => Some(Pattern(text.to_owned())),
        Err(label) => refuse(problems, span, "invalid model name", label, ""),
    }
}

fn read_headers(
    value: Value<'_, '_>,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Vec<(String, Secret)> {
    let Some(table) = setting("headers", problems).table(value) else {
        return Vec::new();
    };
    let mut headers = Vec::new();
    for (key, value) in in_order(table) {
        let name = key.get_ref().to_ascii_lowercase();
        if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
            let help = "header names consist of letters, digits and dashes";
            refuse::<()>(problems, key.span(), "invalid header name", "not allowed", help);
        } else if RESERVED_HEADERS.contains(&name.as_str()) {
            refuse::<()>(
                problems,
                key.span(),
                format!("the gateway sets the header `{name}` itself"),
                "reserved",
                "remove it; a key belongs in `key`",
            );
        } else if let Some(value) =
            secret("headers", value, Literal::Allowed, environment, problems)
        {
            headers.push((name, value));
        }
    }
    headers
}

/// Headers that frame a message or name its receiver.
const RESERVED_HEADERS: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
