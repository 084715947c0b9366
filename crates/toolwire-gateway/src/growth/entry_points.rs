//! Which functions are entry points: those that another file may call with
//! bytes, text, headers or a configuration.

use std::collections::BTreeSet;
use std::path::Path;

use toolwire_laws::signature;

/// Functions that take such a thing, but nothing from outside that may be long,
/// each with the reason.
const NOT_FROM_STRANGERS: &[(&str, &str)] = &[
    ("config/fields.rs::finish", PART_OF_PARSE),
    ("config/fields.rs::setting", PART_OF_PARSE),
    ("config/hints.rs::other_format", PART_OF_PARSE),
    ("config/hints.rs::protocol", PART_OF_PARSE),
    ("config/hints.rs::setting", PART_OF_PARSE),
    ("config/hints.rs::variable", PART_OF_PARSE),
    ("config/origins.rs::read", PART_OF_PARSE),
    ("config/source_mask.rs::new", PART_OF_PARSE),
    ("config/pattern.rs::contains_listed", PART_OF_PARSE),
    ("cors.rs::allow", "adds three headers"),
    ("cors.rs::is_preflight", "looks up one header"),
    ("cors.rs::preflight", "adds three headers"),
    ("observe/figures.rs::write_duration", "writes one number"),
    ("observe/figures.rs::write_number", "writes one number"),
    ("observe/figures.rs::write_time", "writes one time"),
    ("observe/notes.rs::client_request_id", "looks up one header"),
    ("observe/notes.rs::write_text", "writes what is short already"),
    ("observe/request_log.rs::set_client", "looks up one header"),
    ("offline.rs::new", "what active_config.rs::build does"),
    ("offline.rs::plan", "what relay/mod.rs::relay does"),
    ("relay/dry_run.rs::is_wanted", "looks up one header"),
    ("relay/dry_run.rs::respond", "copies a translated request once"),
    ("relay/dry_run.rs::write", "copies a translated request once"),
    ("relay/attempt.rs::send", "what relay/mod.rs::relay does"),
    ("relay/mod.rs::plan", "what relay/mod.rs::relay does"),
    ("relay/mod.rs::upstream_headers", "what relay/headers.rs::for_upstream does"),
    ("relay/failure.rs::into_body", "what relay/failure.rs::into_response does"),
    ("upstream/passed.rs::url", "joins two texts"),
    ("guard.rs::check_media_type", "looks at one header"),
    ("guard.rs::allowed_origin", "compares one header with the operator's list"),
    ("config/file.rs::loss_policy", PART_OF_PARSE),
    ("config/mod.rs::shares_account", "looks at three settings"),
    ("config/file.rs::protocol", PART_OF_PARSE),
    ("config/profile.rs::read", PART_OF_PARSE),
    ("config/retry.rs::read", PART_OF_PARSE),
    ("config/secrets.rs::secret", PART_OF_PARSE),
    ("config/store.rs::read", PART_OF_PARSE),
    ("config/tool_calls.rs::read", PART_OF_PARSE),
    ("config/upstream.rs::pattern", PART_OF_PARSE),
    ("config/upstream.rs::pattern_of", PART_OF_PARSE),
    ("config/upstream.rs::read", PART_OF_PARSE),
    ("config/upstream.rs::read_timeouts", PART_OF_PARSE),
    ("config/local_server.rs::ask", "asks a few addresses of the operator's"),
    ("config/preset.rs::find_vendors", "looks at a few variables"),
    ("config/preset.rs::named", "compares with the names of the table"),
    ("config/preset.rs::origin", "takes an address of the operator's"),
    ("config/preset.rs::upstreams", "only keeps what it is given"),
    ("models/fetch.rs::fetch_one", "reads one model, of at most 64 KiB"),
    ("models/mod.rs::ask", "the work is that of models/fetch.rs::fetch_one"),
    ("models/mod.rs::wait_for_first_lists", "only waits"),
    ("models/refresh.rs::is_asked", "looks at a few settings"),
    ("models/report.rs::report", "the work is that of models/catalog.rs::build"),
    ("relay/early_stream.rs::new", "the work is that of relay/mod.rs::relay"),
    ("relay/failure.rs::new", "only keeps what it is given"),
    ("relay/failure.rs::with_status", "only keeps what it is given"),
    ("relay/headers.rs::set_recovered", "adds one header"),
    ("relay/loss.rs::announce", "adds one header"),
    ("relay/failure.rs::into_stream", "writes an error once"),
    ("relay/headers.rs::is_codex", "looks at the beginning of two headers"),
    ("relay/stream.rs::set_headers", "adds three headers"),
    ("relay/stream/opening.rs::client_response", "adds some headers"),
    ("relay/mod.rs::read_request", ONLY_A_CONNECTION),
    ("relay/request_head.rs::read_head", "the work is that of relay/request_head.rs::read"),
    ("relay/request_head.rs::without_null_session", "copies a request once, then read_head"),
    ("relay/request_body.rs::read", ONLY_A_CONNECTION),
    ("relay/failure.rs::from_passed_error", "what relay/failure.rs::from_error_response does"),
    ("relay/failure.rs::from_failed_response", "what relay/headers.rs::for_client does"),
    ("relay/passthrough/mod.rs::kept_route", "compares a path with three patterns"),
    ("relay/passthrough/mod.rs::serve", ONLY_A_CONNECTION),
    ("relay/passthrough/recall.rs::open", ONLY_A_CONNECTION),
    ("relay/passthrough/response.rs::client_headers", "adds to relay/headers.rs::for_client"),
    ("relay/passthrough/response.rs::new", ONLY_A_CONNECTION),
    ("relay/passthrough/route.rs::find", "what route.rs::look_up does"),
    ("relay/passthrough/route.rs::has_target", "compares a header with the names of upstreams"),
    ("relay/passthrough/route.rs::keep_only_memory", "compares a few upstreams"),
    ("relay/passthrough/table.rs::find_kept", "compares a path with three patterns"),
    ("relay/passthrough/upload.rs::open", ONLY_A_CONNECTION),
    ("relay/passthrough/upload.rs::of_document", "what relay/passthrough/model_scan.rs::read does"),
    ("relay/passthrough/upload.rs::rename_model", "moves the beginning of a body once"),
    ("upstream/passed.rs::whole", "only keeps what it is given"),
    ("upstream/passed.rs::streamed", "only keeps what it is given"),
    ("relay/client_request.rs::recall", "the work is that of stored/recall.rs::recall"),
    ("relay/client_request.rs::state_lookup", "only keeps what it is given"),
    ("relay/failure.rs::set_header_value", "adds one header"),
    ("relay/background.rs::begin", "the work is that of relay/mod.rs::relay and stored/background"),
    ("stored/background/replay.rs::find", "reads a query like stored/list.rs, then start"),
    ("stored/background/replay.rs::start", "reads a page of events at a time"),
    ("stored/background/running.rs::add", "looks up one id"),
    ("stored/background/running.rs::progress", "looks up one id"),
    ("stored/background/running.rs::stop", "looks up one id"),
    ("stored/conversation_lock.rs::take", "looks up one id"),
    ("stored/answer_recorder.rs::record_failed", "the work is that of stored/record.rs"),
    ("stored/record.rs::output_items", "part of stored/record.rs::record"),
    ("stored/record.rs::status", "looks at one word"),
    ("stored/references.rs::find", "looks up one id"),
    ("stored/endpoints.rs::serve", "the work is that of the functions for each path"),
    ("stored/failure.rs::not_in_conversation", "shows the beginning of an id"),
    ("stored/failure.rs::invalid", "only keeps what it is given"),
    ("stored/failure.rs::store_is_off", "only keeps what it is given"),
    ("stored/sessions/object.rs::deleted", "writes one id"),
    ("stored/sessions/recall.rs::is_usable_id", "looks at one id"),
    ("stored/mod.rs::open", "opens the one store"),
    ("stored/mod.rs::tenant", "takes one key"),
    ("retry.rs::after_error", "looks at the kind of the error"),
    ("state.rs::new", "the work is that of active_config.rs::build"),
    ("upstream/mod.rs::get", "passes the query on unread"),
    ("upstream/mod.rs::send", "passes the bytes on unread"),
    ("upstream/error.rs::from_client", "takes the host of the operator's address"),
    ("upstream/error.rs::from_connector", "takes the host of the operator's address"),
    ("upstream/http1/connection.rs::new", "only keeps what it is given"),
    ("upstream/http1/connection.rs::poll_read", "reads once, at most 16 KiB"),
    ("upstream/http1/framing.rs::take", "splits in one place"),
    ("upstream/http1/mod.rs::send", "passes the bytes on unread"),
    ("upstream/tls.rs::new", "takes the host of the operator's address"),
    ("upstream/response.rs::from_hyper", ONLY_A_CONNECTION),
];

const PART_OF_PARSE: &str = "part of config/file.rs::parse, which has long files in its rows";
const ONLY_A_CONNECTION: &str =
    "only a connection makes such a body; what is done with its bytes is upstream/decode.rs::push";

/// Whoever adds a function that takes bytes says here what it costs.
#[test]
fn every_entry_point_has_a_row() {
    let mut found = BTreeSet::new();
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), "", &mut found);
    let measured: BTreeSet<&str> = super::rows().flat_map(|row| row.names).copied().collect();
    let exempt: BTreeSet<&str> = NOT_FROM_STRANGERS.iter().map(|(name, _)| *name).collect();
    let missing: Vec<_> = found
        .iter()
        .filter(|(name, takes)| {
            *takes && !measured.contains(name.as_str()) && !exempt.contains(name.as_str())
        })
        .map(|(name, _)| name)
        .collect();
    assert!(missing.is_empty(), "without a growth test: {missing:#?}");
    for name in measured.iter().chain(&exempt) {
        let is_there = [true, false].map(|takes| found.contains(&((*name).to_owned(), takes)));
        assert!(is_there.contains(&true), "there is no {name}");
    }
    let both: Vec<_> = measured.intersection(&exempt).collect();
    assert!(both.is_empty(), "measured after all: {both:?}");
}

/// Collects the functions of a folder that other files can call, and whether
/// they take something that may be long.
fn collect(folder: &Path, prefix: &str, found: &mut BTreeSet<(String, bool)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{prefix}{name}");
        if entry.file_type().unwrap().is_dir() {
            if path != "growth" {
                collect(&entry.path(), &format!("{path}/"), found);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" && name != "growth.rs" {
            let source = std::fs::read_to_string(entry.path()).unwrap();
            for (function, arguments) in functions(&source) {
                let takes = LONG.iter().any(|kind| arguments.contains(kind));
                found.insert((format!("{path}::{function}"), takes));
            }
        }
    }
}

/// The names and the arguments of public functions.
fn functions(source: &str) -> impl Iterator<Item = (&str, String)> {
    source.match_indices("fn ").filter_map(|(at, _)| {
        let line = source[..at].rsplit('\n').next().unwrap().trim_start();
        if !line.starts_with("pub") || line.contains("//") {
            return None;
        }
        let rest = &source[at + 3..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        Some((&rest[..end], signature::arguments(rest)?))
    })
}

/// Types that something long comes in.
const LONG: &[&str] = &[
    "[u8]", "&str", "Option<&str>", "String", "Vec<u8>", "Bytes", "HeaderMap", "HeaderValue",
    "Parts", "Incoming", "IncomingRequest", "Request<", "UpstreamResponse", "ApiError", "[Entry]",
    "&Entry", "Config", "RequestContext", "ReadBuf", "Vec<Problem>",
];
