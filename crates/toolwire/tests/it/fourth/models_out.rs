//! The list of models.

use toolwire::ApiError;
use toolwire::protocol::ListedModel;
use toolwire::wire::Object;

/// Writes a list of models.
pub(super) fn write_models(
    models: &[ListedModel<'_>],
    _query: &str,
    out: &mut Vec<u8>,
) -> Result<(), Box<ApiError>> {
    let mut object = Object::new(out);
    let mut list = object.array("machines");
    for model in models {
        list.object().put("by", model.name);
    }
    Ok(())
}

/// Writes one model.
pub(super) fn write_model(model: ListedModel<'_>, out: &mut Vec<u8>) {
    Object::new(out).put("by", model.name);
}
