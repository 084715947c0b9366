//! The list of models, in the shape that the caller's protocol expects.
//!
//! Only names are listed. A pattern stands for models whose names the gateway
//! does not know.

use toolwire::Protocol;
use toolwire::wire::Object;

use crate::active_config::ActiveConfig;
use crate::route;

/// All models.
pub(crate) fn list(active: &ActiveConfig, client: Protocol) -> Vec<u8> {
    let names = names(active);
    let mut out = Vec::with_capacity(64 + 96 * names.len());
    let mut object = Object::new(&mut out);
    match client {
        Protocol::Chat | Protocol::Responses => object.put("object", "list"),
        Protocol::Messages => {}
    }
    let mut data = object.array("data");
    for (name, owner) in &names {
        write(name, owner, client, &mut data.object());
    }
    drop(data);
    match client {
        Protocol::Chat | Protocol::Responses => {}
        Protocol::Messages => {
            object.put("has_more", &false);
            object.put("first_id", &names.first().map(|(name, _)| *name));
            object.put("last_id", &names.last().map(|(name, _)| *name));
        }
    }
    drop(object);
    out
}

/// One model, if a request for it would find an upstream.
pub(crate) fn get(active: &ActiveConfig, name: &str, client: Protocol) -> Option<Vec<u8>> {
    let route = route::find(active, name, client)?;
    let owner = route.upstreams.first().map_or("", |upstream| upstream.config.name.as_str());
    let mut out = Vec::with_capacity(128);
    write(name, owner, client, &mut Object::new(&mut out));
    Some(out)
}

fn names(active: &ActiveConfig) -> Vec<(&str, &str)> {
    let models = active.upstreams.iter().flat_map(|upstream| {
        let owner = upstream.config.name.as_str();
        upstream.config.models.iter().map(move |model| (model.0.as_str(), owner))
    });
    let aliases = active.config.aliases.iter().map(|alias| (alias.name.0.as_str(), "alias"));
    let mut names: Vec<(&str, &str)> = Vec::new();
    for (name, owner) in models.chain(aliases) {
        if !name.contains('*') && !names.iter().any(|(known, _)| *known == name) {
            names.push((name, owner));
        }
    }
    names
}

fn write(name: &str, owner: &str, client: Protocol, object: &mut Object<'_>) {
    match client {
        Protocol::Chat | Protocol::Responses => {
            object.put("id", name);
            object.put("object", "model");
            object.put("created", &0_u64);
            object.put("owned_by", owner);
        }
        Protocol::Messages => {
            object.put("type", "model");
            object.put("id", name);
            object.put("display_name", name);
            object.put("created_at", "1970-01-01T00:00:00Z");
        }
    }
}
