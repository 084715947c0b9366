//! The list of models.

use toolwire::protocol::ListedModel;
use toolwire::wire::Object;

/// Writes a list of models.
pub(super) fn write_models(models: &[ListedModel<'_>], out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    let mut list = object.array("machines");
    for model in models {
        list.object().put("by", model.name);
    }
}

/// Writes one model.
pub(super) fn write_model(model: ListedModel<'_>, out: &mut Vec<u8>) {
    Object::new(out).put("by", model.name);
}
