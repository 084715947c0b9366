//! Stored responses.

use toolwire::wire::Object;

use super::endpoints::Access;
use super::failure::{from_store, invalid, not_found};
use super::list::{read_page, write_page};
use crate::relay::Failure;

/// The response object.
pub(super) async fn retrieve(access: &Access<'_>, id: &str) -> Result<Vec<u8>, Failure> {
    let found = access.store.response(&access.tenant, id).await;
    let found = found.map_err(|error| from_store(&error))?.ok_or_else(not_found)?;
    let streams = |(name, value): (String, String)| name == "stream" && value == "true";
    if super::list::parameters(access.query).any(streams) {
        let message = "Only a response that was made in the background can be streamed again.";
        return Err(invalid("stream", message));
    }
    Ok(found.body.to_vec())
}

/// Forgets a response.
pub(super) async fn delete(access: &Access<'_>, id: &str) -> Result<Vec<u8>, Failure> {
    let deleted = access.store.delete_response(&access.tenant, id).await;
    if !deleted.map_err(|error| from_store(&error))? {
        return Err(not_found());
    }
    let mut out = Vec::new();
    {
        let mut object = Object::new(&mut out);
        object.put("id", id);
        object.put("object", "response");
        object.put("deleted", &true);
    }
    Ok(out)
}

/// Only what is made in the background can be stopped.
pub(super) async fn cancel(access: &Access<'_>, id: &str) -> Result<Vec<u8>, Failure> {
    let found = access.store.response(&access.tenant, id).await;
    found.map_err(|error| from_store(&error))?.ok_or_else(not_found)?;
    let message = "Only a response that was created with `background: true` can be cancelled.";
    Err(invalid("response_id", message))
}

/// What the client had sent.
pub(super) async fn input_items(access: &Access<'_>, id: &str) -> Result<Vec<u8>, Failure> {
    let Some(_) =
        access.store.response(&access.tenant, id).await.map_err(|error| from_store(&error))?
    else {
        return Err(not_found());
    };
    let page = read_page(access.query)?;
    let found = access.store.input_items(&access.tenant, id, &page).await;
    let found = found.map_err(|error| from_store(&error))?.ok_or_else(not_found)?;
    Ok(write_page(&found))
}
