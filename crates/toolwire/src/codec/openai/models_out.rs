//! The list of models.

use crate::protocol::ListedModel;
use crate::wire::Object;

/// Writes a list of models.
pub(in crate::codec) fn write_models(models: &[ListedModel<'_>], out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    object.put("object", "list");
    let mut data = object.array("data");
    for model in models {
        write_members(*model, &mut data.object());
    }
}

/// Writes one model.
pub(in crate::codec) fn write_model(model: ListedModel<'_>, out: &mut Vec<u8>) {
    write_members(model, &mut Object::new(out));
}

fn write_members(model: ListedModel<'_>, object: &mut Object<'_>) {
    object.put("id", model.name);
    object.put("object", "model");
    // Nobody here knows when a model was made.
    object.put("created", &0_u64);
    object.put("owned_by", model.owner);
}
