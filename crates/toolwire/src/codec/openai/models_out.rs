//! The list of models.

use crate::model::ApiError;
use crate::protocol::ListedModel;
use crate::wire::Object;

/// Writes a list of models, which has no pages.
pub(in crate::codec) fn write_models(
    models: &[ListedModel<'_>],
    _query: &str,
    out: &mut Vec<u8>,
) -> Result<(), Box<ApiError>> {
    let mut object = Object::new(out);
    object.put("object", "list");
    let mut data = object.array("data");
    for model in models {
        write_members(*model, &mut data.object());
    }
    Ok(())
}

/// Writes one model.
pub(in crate::codec) fn write_model(model: ListedModel<'_>, out: &mut Vec<u8>) {
    write_members(model, &mut Object::new(out));
}

/// The published type has no room for the rest.
fn write_members(model: ListedModel<'_>, object: &mut Object<'_>) {
    let ListedModel { name, title: _, owner, created, context_window: _, max_output: _ } = model;
    object.put("id", name);
    object.put("object", "model");
    object.put("created", &created);
    object.put("owned_by", owner);
}
