//! Stored responses.

use bytes::Bytes;
use toolwire::stateful::{self, Progress};
use toolwire::wire::Object;
use toolwire_store::{Status, StoreError, Update, Write};

use super::background::JobKind;
use super::endpoints::Access;
use super::failure::{from_store, invalid, not_found};
use super::list::{item_protocol, read_page, write_page};
use crate::relay::Failure;

/// The response object.
pub(super) async fn retrieve(access: &Access<'_>, id: &str) -> Result<Vec<u8>, Failure> {
    let found = access.store.response(&access.tenant, id).await;
    let found = found.map_err(|error| from_store(&error))?.ok_or_else(not_found)?;
    Ok(found.body.to_vec())
}

/// Forgets a response.
pub(super) async fn delete(access: &Access<'_>, id: &str) -> Result<Vec<u8>, Failure> {
    let deleted = access.store.delete_response(&access.tenant, id).await;
    if !deleted.map_err(|error| from_store(&error))? {
        return Err(not_found());
    }
    access.jobs.stop(id);
    let mut out = Vec::new();
    {
        let mut object = Object::new(&mut out);
        object.put("id", id);
        object.put("object", "response");
        object.put("deleted", &true);
    }
    Ok(out)
}

/// Stops what is made in the background. What has ended stays as it is.
pub(super) async fn cancel(access: &Access<'_>, id: &str) -> Result<Vec<u8>, Failure> {
    loop {
        let found = access.store.response(&access.tenant, id).await;
        let found = found.map_err(|error| from_store(&error))?.ok_or_else(not_found)?;
        if JobKind::of(&found).is_none() {
            let message =
                "Only a response that was created with `background: true` can be cancelled.";
            return Err(invalid("response_id", message));
        }
        if found.status.is_terminal() {
            return Ok(found.body.to_vec());
        }
        let cancelled = stateful::with_progress(item_protocol(), &found.body, Progress::Cancelled);
        let cancelled = cancelled.map_err(|error| Failure::from_translation(&error))?;
        let body = Bytes::from(cancelled.unwrap_or_default());
        let update = Update {
            id: id.to_owned(),
            owner: None,
            status: Status::Cancelled,
            body: body.clone(),
            output: Vec::new(),
            events: None,
        };
        match access.store.write(&access.tenant, vec![Write::Update(update)]).await {
            Ok(()) => {
                access.jobs.stop(id);
                return Ok(body.to_vec());
            }
            // It has ended in the meantime.
            Err(StoreError::Conflict) => {}
            Err(error) => return Err(from_store(&error)),
        }
    }
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
