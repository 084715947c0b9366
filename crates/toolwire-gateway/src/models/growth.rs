//! What reading and listing an upstream's models costs.

use toolwire::protocol::UpstreamModel;
use toolwire::{Protocol, codec};
use toolwire_laws::growth::Growth;

use super::{Catalog, Listing};
use crate::active_config::ActiveConfig;
use crate::growth::{Row, config, upstream};
use crate::observe::Metrics;
use crate::route;

pub(crate) const ROWS: &[Row] = &[
    Row {
        names: &["models/catalog.rs::build", "route.rs::serving"],
        shape: "a long list of an upstream",
        measure: || Growth::of(300, listed, |active| drop(Catalog::build(active))),
    },
    Row {
        names: &["models/listing.rs::get", "models/listing.rs::lists", "route.rs::upstreams_for"],
        shape: "a long name",
        measure: || {
            let active = listed(10);
            let name = |size| "a/".repeat(size);
            Growth::of(2000, name, |name: &String| {
                for _ in 0..50 {
                    drop(route::upstreams_for(&active, name));
                }
            })
        },
    },
    Row {
        names: &["models/catalog.rs::facts_of", "models/catalog.rs::get"],
        shape: "a long list",
        measure: || {
            Growth::of(300, listed, |active: &ActiveConfig| {
                for _ in 0..300 {
                    std::hint::black_box(active.upstreams[0].facts_of("m-7"));
                    std::hint::black_box(active.catalog().get("m-7"));
                }
            })
        },
    },
];

/// A configuration whose upstream lists many models.
fn listed(size: usize) -> ActiveConfig {
    let config = config(vec![upstream("u", Protocol::ALL[0], &["*"])]);
    let active = ActiveConfig::build(config, &Metrics::default(), &[]).unwrap();
    let entries: Vec<String> = (0..size).map(|n| format!(r#"{{"id":"m-{n}"}}"#)).collect();
    let body = format!(r#"{{"data":[{}]}}"#, entries.join(","));
    let models: Vec<UpstreamModel> = (codec(Protocol::ALL[0]).read_models)(&body).unwrap().models;
    active.upstreams[0].listing.replace(Listing::new(models));
    active.update_catalog();
    active
}
