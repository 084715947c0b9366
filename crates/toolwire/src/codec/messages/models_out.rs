//! The list of models.

use crate::protocol::ListedModel;
use crate::wire::Object;

/// Writes a list of models, all on one page.
pub(super) fn write_models(models: &[ListedModel<'_>], out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    {
        let mut data = object.array("data");
        for model in models {
            write_members(*model, &mut data.object());
        }
    }
    object.put("has_more", &false);
    object.put("first_id", &models.first().map(|model| model.name));
    object.put("last_id", &models.last().map(|model| model.name));
}

/// Writes one model.
pub(super) fn write_model(model: ListedModel<'_>, out: &mut Vec<u8>) {
    write_members(model, &mut Object::new(out));
}

fn write_members(model: ListedModel<'_>, object: &mut Object<'_>) {
    object.put("type", "model");
    object.put("id", model.name);
    object.put("display_name", model.name);
    // When a model was made is not known here.
    object.put("created_at", "1970-01-01T00:00:00Z");
}
