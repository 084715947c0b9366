//! The list of models of an upstream.

use toolwire::protocol::{ModelPage, UpstreamModel};
use toolwire::wire::{Raw, ReadError, Reader};

/// Reads a list of models, all on one page.
pub(super) fn read_models(body: &str) -> Result<ModelPage, ReadError> {
    let [machines] = Reader::new(body).pick(["machines"])?;
    let machines = machines.as_ref().map(Raw::elements).transpose()?.unwrap_or_default();
    let mut page = ModelPage::default();
    for machine in machines {
        let [name] = machine.reader().pick(["by"])?;
        let Some(name) = name else { continue };
        let mut model = UpstreamModel::default();
        model.name = name.reader().string()?.into_decoded().into_owned();
        page.models.push(model);
    }
    Ok(page)
}
