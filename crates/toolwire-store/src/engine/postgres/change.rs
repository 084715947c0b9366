//! The steps of a write.

use deadpool_postgres::{GenericClient, Object};
use tokio_postgres::Row as SqlRow;

use super::failure::Failure;
use super::record_values::RecordValues;
use super::shared::{CutChange, KnownParts, NewRecord, SharedParts};
use super::{read, response};
use crate::change::{Append, Change, Moment, RecordUpdate};
use crate::engine::sql;
use crate::error::StoreError;
use crate::packed;
use crate::record::{FullRecord, Kind, Record, Row, Section, count, length};

/// Writes all of it or nothing.
pub(super) async fn write(
    client: &mut Object,
    shared: &SharedParts,
    tenant: &str,
    moment: Moment,
    changes: &[CutChange],
) -> Result<(), Failure> {
    let mut known = KnownParts::Trusted;
    loop {
        match write_with(client, shared, known, tenant, moment, changes).await {
            Err(failure) if failure.is_missing_part() && known == KnownParts::Trusted => {
                known = KnownParts::WrittenAgain;
            }
            result => return result,
        }
    }
}

async fn write_with(
    client: &mut Object,
    shared: &SharedParts,
    known: KnownParts,
    tenant: &str,
    moment: Moment,
    changes: &[CutChange],
) -> Result<(), Failure> {
    if let Some(new) = response::only_response(changes)
        && response::insert_together(client, shared, known, &[new]).await? == [true]
    {
        return Ok(());
    }
    let transaction = client.transaction().await?;
    // Parts come first. Who waits for another's part then holds nothing that the other
    // may need.
    let parts = shared.new_parts(changes.iter().filter_map(CutChange::new_record), known);
    let insert_parts = parts.prepare(&transaction).await?;
    parts.write(&transaction, insert_parts.as_ref()).await?;
    let step = Step { client: &transaction, tenant, moment };
    for change in changes {
        step.apply(change).await?;
    }
    transaction.commit().await.map_err(Failure::Commit)?;
    shared.note_written(&parts);
    Ok(())
}

/// Whether a record is there as it was to be stored. Its lease may be another by now.
pub(super) async fn is_stored(client: &impl GenericClient, new: &Record) -> Result<bool, Failure> {
    let found = read::record(client, &new.tenant, new.kind, &new.id, i64::MIN).await?;
    Ok(found.is_some_and(|(_, found)| Record { lease: new.lease, ..found } == *new))
}

/// Stores a record as it is. Returns whether it was not there yet.
pub(super) async fn insert(
    client: &impl GenericClient,
    full: &FullRecord,
) -> Result<bool, Failure> {
    let Record { tenant, kind, id, .. } = &full.record;
    let exists = client.prepare_cached(sql::EXISTS).await?;
    // Also what has expired is there.
    if client.query_opt(&exists, &[tenant, &kind.as_str(), id, &i64::MIN]).await?.is_some() {
        return Ok(false);
    }
    let new = NewRecord { full, cut: None };
    insert_into(client, lineage(client, &full.record).await?, new).await
}

async fn insert_into(
    client: &impl GenericClient,
    lineage: i64,
    new: NewRecord<'_>,
) -> Result<bool, Failure> {
    let FullRecord { record, rows } = new.full;
    let insert = client.prepare_cached(sql::INSERT_RECORD_RETURNING).await?;
    let values = RecordValues::of(new);
    let inserted = client.query_opt(&insert, &values.behind(&lineage)).await?;
    let Some(row) = inserted else { return Ok(false) };
    let key = row.try_get(0)?;
    insert_rows(client, key, &record.tenant, 0, rows).await?;
    if rows.iter().any(|row| row.section.is_packed()) {
        set_items(client, key, &record.tenant, &record.id, rows).await?;
    }
    Ok(true)
}

/// What expires together with a record: the chain that it continues, or
/// something that begins with it.
async fn lineage(client: &impl GenericClient, record: &Record) -> Result<i64, Failure> {
    if let Some(previous) = &record.previous {
        let extend = client.prepare_cached(sql::EXTEND_LINEAGE_OF).await?;
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
            [&record.expires, &record.tenant, previous];
        if let Some(row) = client.query_opt(&extend, &values).await? {
            return Ok(row.try_get(0)?);
        }
    }
    let begin = client.prepare_cached(sql::INSERT_LINEAGE_RETURNING).await?;
    Ok(client.query_one(&begin, &[&record.expires]).await?.try_get(0)?)
}

/// Keeps the items of a response, and lists their ids.
pub(super) async fn set_items(
    client: &impl GenericClient,
    key: i64,
    tenant: &str,
    response: &str,
    rows: &[Row],
) -> Result<(), Failure> {
    let set = client.prepare_cached(sql::SET_ITEMS).await?;
    client.execute(&set, &[&key, &packed::pack(rows.iter())]).await?;
    let ids = packed::listed_ids(response, rows);
    if !ids.is_empty() {
        let insert = client.prepare_cached(INSERT_ITEM_IDS).await?;
        client.execute(&insert, &[&tenant, &ids, &key]).await?;
    }
    Ok(())
}

async fn insert_rows(
    client: &impl GenericClient,
    key: i64,
    tenant: &str,
    first: i64,
    rows: &[Row],
) -> Result<(), Failure> {
    let rows: Vec<_> = rows.iter().filter(|row| !row.section.is_packed()).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let sections: Vec<_> = rows.iter().map(|row| row.section.number()).collect();
    let positions: Vec<_> = rows.iter().map(|row| first + row.position).collect();
    let ids: Vec<_> = rows.iter().map(|row| row.id.as_str()).collect();
    let tags: Vec<_> = rows.iter().map(|row| row.tag.as_str()).collect();
    let bodies: Vec<_> = rows.iter().map(|row| row.body.as_ref()).collect();
    let insert = client.prepare_cached(INSERT_ROWS).await?;
    client.execute(&insert, &[&key, &tenant, &sections, &positions, &ids, &tags, &bodies]).await?;
    Ok(())
}

struct Step<'a, C> {
    client: &'a C,
    tenant: &'a str,
    moment: Moment,
}

impl<C: GenericClient> Step<'_, C> {
    async fn apply(&self, step: &CutChange) -> Result<(), Failure> {
        match &step.change {
            Change::Insert { full, repeats: _ } => {
                self.insert(NewRecord { full, cut: step.cut.as_ref() }).await
            }
            Change::Append(append) => self.append(append).await,
            Change::Update(update) => self.update(update).await,
            Change::Metadata { kind, id, metadata } => {
                let Moment { now, expires } = &self.moment;
                let update = self.client.prepare_cached(sql::METADATA).await?;
                let (length, kind) = (length(metadata), kind.as_str());
                let changed = self
                    .client
                    .query_opt(
                        &update,
                        &[&length, &metadata.as_ref(), now, expires, &self.tenant, &kind, id, now],
                    )
                    .await?;
                let changed = changed.ok_or(StoreError::NotFound)?;
                self.extend(&Changed::read(&changed)?).await
            }
            Change::RemoveItem { kind, id, item } => self.remove_item(*kind, id, item).await,
        }
    }

    async fn insert(&self, new: NewRecord<'_>) -> Result<(), Failure> {
        let Record { kind, id, .. } = &new.full.record;
        let lineage = lineage(self.client, &new.full.record).await?;
        if insert_into(self.client, lineage, new).await? {
            return Ok(());
        }
        // What has expired but is not pruned yet is in nobody's way.
        let delete = self.client.prepare_cached(sql::DELETE_EXPIRED).await?;
        let deleted = self
            .client
            .execute(&delete, &[&self.tenant, &kind.as_str(), id, &self.moment.now])
            .await?;
        if deleted > 0 && insert_into(self.client, lineage, new).await? {
            return Ok(());
        }
        Err(StoreError::Conflict.into())
    }

    async fn append(&self, append: &Append) -> Result<(), Failure> {
        let added = count(append.rows.len());
        let sums = [added, append.items_added(), append.bytes, append.context_added()];
        let Append { kind, section: _, id, owner, expected, rows, bytes: _ } = append;
        let (changed, next) = self.make_room(sums, *kind, id, *expected, owner.as_deref()).await?;
        insert_rows(self.client, changed.key, self.tenant, next - added, rows).await?;
        self.extend(&changed).await
    }

    async fn update(&self, update: &RecordUpdate) -> Result<(), Failure> {
        let RecordUpdate { id, owner, status, body, output, output_bytes, events } = update;
        if let Some(events) = events {
            self.append(events).await?;
        }
        let Moment { now, expires } = &self.moment;
        let statement = self.client.prepare_cached(sql::UPDATE).await?;
        let changed = self
            .client
            .query_opt(
                &statement,
                &[
                    &status.as_str(),
                    &(length(body) + output_bytes),
                    &body.as_ref(),
                    &count(output.len()),
                    output_bytes,
                    now,
                    expires,
                    &self.tenant,
                    id,
                    now,
                    owner,
                ],
            )
            .await?;
        let Some(changed) = changed else { return Err(self.why_not(Kind::Response, id).await?) };
        let changed = Changed::read(&changed)?;
        let rows = read::packed_items(self.client, changed.key).await?.into_iter();
        let (input, replaced): (Vec<_>, Vec<_>) =
            rows.partition(|row| row.section == Section::Input);
        if !replaced.is_empty() || !output.is_empty() {
            let removed: Vec<_> = replaced.iter().map(Row::bytes).collect();
            self.adjust(changed.key, &removed).await?;
            let delete = self.client.prepare_cached(sql::DELETE_ITEM_IDS).await?;
            self.client.execute(&delete, &[&changed.key]).await?;
            let rows = [input.as_slice(), output].concat();
            set_items(self.client, changed.key, self.tenant, id, &rows).await?;
        }
        self.extend(&changed).await
    }

    async fn remove_item(&self, kind: Kind, id: &str, item: &str) -> Result<(), Failure> {
        let (changed, _) = self.make_room([1, 0, 0, 0], kind, id, None, None).await?;
        let delete = self.client.prepare_cached(sql::DELETE_ENTRY).await?;
        let removed = self.client.query(&delete, &[&changed.key, &self.tenant, &item]).await?;
        if removed.is_empty() {
            return Err(StoreError::NotFound.into());
        }
        let removed = removed.iter().map(|row| row.try_get(0)).collect::<Result<Vec<_>, _>>()?;
        self.adjust(changed.key, &removed).await?;
        self.extend(&changed).await
    }

    /// Counts new rows, items, bytes and context of a record. Returns the
    /// position after its last row.
    async fn make_room(
        &self,
        [next, items, bytes, context]: [i64; 4],
        kind: Kind,
        id: &str,
        expected: Option<i64>,
        owner: Option<&str>,
    ) -> Result<(Changed, i64), Failure> {
        let Moment { now, expires } = &self.moment;
        let append = self.client.prepare_cached(sql::APPEND).await?;
        let kind_name = kind.as_str();
        let changed = self
            .client
            .query_opt(
                &append,
                &[
                    &next, &items, &bytes, &context, now, expires, &self.tenant, &kind_name, &id,
                    now, &expected, &owner,
                ],
            )
            .await?;
        let Some(row) = changed else { return Err(self.why_not(kind, id).await?) };
        Ok((Changed::read(&row)?, row.try_get(3)?))
    }

    async fn adjust(&self, key: i64, removed: &[i64]) -> Result<(), Failure> {
        if removed.is_empty() {
            return Ok(());
        }
        let bytes: i64 = removed.iter().sum();
        let adjust = self.client.prepare_cached(sql::ADJUST).await?;
        self.client.execute(&adjust, &[&-count(removed.len()), &-bytes, &-bytes, &key]).await?;
        Ok(())
    }

    /// A lineage lives as long as its records.
    async fn extend(&self, changed: &Changed) -> Result<(), Failure> {
        let extend = self.client.prepare_cached(sql::EXTEND_LINEAGE).await?;
        self.client.execute(&extend, &[&changed.expires, &changed.lineage]).await?;
        Ok(())
    }

    /// Why nothing was changed.
    async fn why_not(&self, kind: Kind, id: &str) -> Result<Failure, Failure> {
        let exists = self.client.prepare_cached(sql::EXISTS).await?;
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
            [&self.tenant, &kind.as_str(), &id, &self.moment.now];
        let exists = self.client.query_opt(&exists, &values).await?.is_some();
        Ok(if exists { StoreError::Conflict.into() } else { StoreError::NotFound.into() })
    }
}

/// A record that was changed.
struct Changed {
    key: i64,
    lineage: i64,
    expires: i64,
}

impl Changed {
    fn read(row: &SqlRow) -> Result<Self, Failure> {
        Ok(Self { key: row.try_get(0)?, lineage: row.try_get(1)?, expires: row.try_get(2)? })
    }
}

const INSERT_ITEM_IDS: &str = "INSERT INTO toolwire_packed_id (tenant, id, record) SELECT $1, id, $3 FROM \
     unnest($2::text[]) AS id";

const INSERT_ROWS: &str = "INSERT INTO toolwire_item (record, tenant, section, position, id, tag, \
     body) SELECT $1, $2, * FROM unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], \
     $7::bytea[])";
