//! Start of the schema's keeper: makes the system tables in an empty data directory, brings those
//! of an older one up to date, reads everything, and holds it against the storage that is there.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use basalt_model::command::PartitionRows;
use basalt_model::schema::KeyspaceKind;
use basalt_model::{Deadline, DecoratedKey, Keyspace, Mutation, Schema, Table, TableId};
use tokio::sync::Mutex;

use super::assemble::{TableDraft, index_tables};
use super::change::{ChangeTime, difference};
use super::column_ids::ColumnIds;
use super::digest::SchemaDigest;
use super::load::{KeyspaceRows, Loader};
use super::rows::{ALL, SchemaTables};
use super::store::{SchemaStore, SchemaStoreParts, Writer, system_table};
use super::{SchemaError, encode, read};
use crate::system_tables::definitions::{self, generation};
use crate::system_tables::local::{self, NodeIdentity, StoredLocal};

impl SchemaStore {
    /// Reads the stored schema; makes all system tables first if there is none. Storage that no
    /// table owns is removed.
    ///
    /// # Errors
    /// [`SchemaError::Damaged`] if a table has no storage or the rows contradict themselves;
    /// [`SchemaError::Refused`] if the data belongs to another cluster, datacenter or rack.
    pub async fn open(parts: SchemaStoreParts) -> Result<Arc<SchemaStore>, SchemaError> {
        let defined = Defined::new()?;
        let existing: HashSet<TableId> = parts.storage.existing().await?.into_iter().collect();
        let missing: Vec<TableId> =
            defined.stored_tables().map(|table| table.id).filter(|id| !existing.contains(id)).collect();
        if !missing.is_empty() {
            parts.storage.create_small(missing).await?;
        }
        let stored = read_local(&parts, &defined.schema).await?;
        if stored.is_none() {
            defined.refuse_strangers(&existing)?;
        }
        if let Some(stored) = &stored {
            stored.check(&parts.facts).map_err(|error| SchemaError::Refused(error.to_string()))?;
        }
        let identity = match &stored {
            Some(stored) => stored.identity.clone(),
            None => NodeIdentity::draw(parts.env.as_ref(), parts.facts.num_tokens),
        };
        let mut opening = Opening::read(&parts, &defined).await?;
        opening.update_system_tables(&parts, &defined, &identity).await?;
        opening.check_storage(&parts, &existing, &defined).await?;
        opening.finish(parts, defined, identity).await
    }
}

/// The system keyspaces as this version defines them.
struct Defined {
    schema: Schema,
    schema_tables: SchemaTables,
}

impl Defined {
    fn new() -> Result<Defined, SchemaError> {
        let mut schema = Schema::default();
        for keyspace in definitions::keyspaces()? {
            schema.keyspaces.insert(keyspace.name.clone(), Arc::new(keyspace));
        }
        index_tables(&mut schema);
        let find = |name: &'static str| {
            let table = schema.table("system_schema", name).cloned();
            table
                .map(|table| (name, table))
                .ok_or_else(|| SchemaError::Damaged(format!("system_schema.{name} is not defined")))
        };
        let schema_tables: Result<SchemaTables, SchemaError> = ALL.into_iter().map(find).collect();
        let schema_tables = schema_tables?;
        Ok(Defined { schema, schema_tables })
    }

    /// System tables that hold data.
    fn stored_tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        let stored = self.schema.keyspaces.values().filter(|keyspace| keyspace.kind != KeyspaceKind::Virtual);
        stored.flat_map(|keyspace| keyspace.tables.values())
    }

    /// A directory that has tables but does not know whose it is has lost something.
    fn refuse_strangers(&self, existing: &HashSet<TableId>) -> Result<(), SchemaError> {
        let known: HashSet<TableId> = self.stored_tables().map(|table| table.id).collect();
        match existing.iter().find(|id| !known.contains(id)) {
            None => Ok(()),
            Some(stranger) => Err(SchemaError::Damaged(format!(
                "there is data of table {} but system.local is empty",
                stranger.0
            ))),
        }
    }
}

async fn read_local(parts: &SchemaStoreParts, schema: &Schema) -> Result<Option<StoredLocal>, SchemaError> {
    let table = system_table(schema, "local")?;
    let key = DecoratedKey::new(encode::text("local"));
    let rows = read::partition(parts.replica.as_ref(), table, &key, parts.env.now_s()).await?;
    let Some(row) = rows.as_ref().and_then(|partition| partition.rows.first()) else { return Ok(None) };
    let damaged = || SchemaError::Damaged("system.local has no host id or tokens".to_owned());
    StoredLocal::read(table, row).map(Some).ok_or_else(damaged)
}

/// What has been read so far.
struct Opening {
    digest: SchemaDigest,
    column_ids: ColumnIds,
    keyspaces: BTreeMap<Arc<str>, Keyspace>,
    last_timestamp: i64,
}

impl Opening {
    /// Reads all of `system_schema`.
    async fn read(parts: &SchemaStoreParts, defined: &Defined) -> Result<Opening, SchemaError> {
        let now_s = parts.env.now_s();
        let mut column_ids = ColumnIds::default();
        defined.stored_tables().for_each(|table| column_ids.define(table));
        let ids = system_table(&defined.schema, "basalt_columns")?;
        for partition in read::table(parts.replica.as_ref(), ids, now_s).await? {
            column_ids.load(ids, &partition)?;
        }
        let mut opening = Opening {
            digest: SchemaDigest::default(),
            column_ids,
            keyspaces: BTreeMap::new(),
            last_timestamp: i64::MIN,
        };
        let mut rows: BTreeMap<DecoratedKey, KeyspaceRows> = BTreeMap::new();
        for (name, table) in &defined.schema_tables {
            for partition in read::table(parts.replica.as_ref(), table, now_s).await? {
                opening.last_timestamp = opening.last_timestamp.max(newest(&partition));
                opening.digest.set(table, &partition.key, Some(&partition));
                rows.entry(partition.key.clone()).or_default().insert(name, partition);
            }
        }
        let loader = Loader { schema_tables: &defined.schema_tables, column_ids: &opening.column_ids };
        for (key, rows) in &rows {
            let unreadable = || SchemaError::Damaged("the name of a keyspace is unreadable".to_owned());
            let name = encode::read_text(&key.key).ok_or_else(unreadable)?;
            if let Some(keyspace) = loader.keyspace(&name, rows)? {
                opening.keyspaces.insert(keyspace.name.clone(), keyspace);
            }
        }
        Ok(opening)
    }

    /// Writes what this version defines otherwise than what is stored, and who this node is.
    async fn update_system_tables(
        &mut self,
        parts: &SchemaStoreParts,
        defined: &Defined,
        identity: &NodeIdentity,
    ) -> Result<(), SchemaError> {
        let now_s = parts.env.now_s();
        let timestamp = parts.env.wall_micros().max(self.last_timestamp.saturating_add(2));
        self.last_timestamp = timestamp;
        let mut mutations = Vec::new();
        let mut changed = Vec::new();
        for (name, keyspace) in &defined.schema.keyspaces {
            let stored = self.keyspaces.get(name);
            let found = match (keyspace.kind, generation(name)) {
                (KeyspaceKind::DistributedSystem, Some(timestamp)) => {
                    let desired = updated(keyspace, stored);
                    difference(
                        &defined.schema_tables,
                        stored,
                        Some(&desired),
                        ChangeTime { timestamp, now_s },
                    )
                }
                (KeyspaceKind::LocalSystem, _) => {
                    let time = ChangeTime { timestamp, now_s };
                    difference(&defined.schema_tables, stored, Some(keyspace), time)
                }
                _ => continue,
            };
            if let Some(mutation) = found.mutation {
                mutations.push(mutation);
                changed.push(name.clone());
            }
        }
        mutations.extend(self_description(parts, &defined.schema, identity, timestamp)?);
        parts.replica.apply(mutations, Deadline::NEVER).await?;
        for name in changed {
            self.reload(parts, defined, &name).await?;
        }
        Ok(())
    }

    async fn reload(
        &mut self,
        parts: &SchemaStoreParts,
        defined: &Defined,
        name: &str,
    ) -> Result<(), SchemaError> {
        let key = DecoratedKey::new(encode::text(name));
        let mut rows = KeyspaceRows::new();
        for (table_name, table) in &defined.schema_tables {
            let partition = read::partition(parts.replica.as_ref(), table, &key, parts.env.now_s()).await?;
            self.digest.set(table, &key, partition.as_ref());
            if let Some(partition) = partition {
                rows.insert(table_name, partition);
            }
        }
        let loader = Loader { schema_tables: &defined.schema_tables, column_ids: &self.column_ids };
        if let Some(keyspace) = loader.keyspace(name, &rows)? {
            self.keyspaces.insert(keyspace.name.clone(), keyspace);
        }
        Ok(())
    }

    /// Every table has storage, with its options; storage without a table goes.
    async fn check_storage(
        &self,
        parts: &SchemaStoreParts,
        existing: &HashSet<TableId>,
        defined: &Defined,
    ) -> Result<(), SchemaError> {
        let mut owned: HashSet<TableId> = defined.stored_tables().map(|table| table.id).collect();
        for table in self.keyspaces.values().flat_map(|keyspace| keyspace.tables.values()) {
            if !existing.contains(&table.id) && !owned.contains(&table.id) {
                return Err(SchemaError::Damaged(format!(
                    "table {}.{} ({}) has no data files",
                    table.keyspace, table.name, table.id.0
                )));
            }
            owned.insert(table.id);
        }
        let orphans: Vec<TableId> = existing.iter().filter(|id| !owned.contains(id)).copied().collect();
        if !orphans.is_empty() {
            parts.storage.remove(orphans).await?;
        }
        // A crash may have come between a change and its effect on storage.
        let tables = self.keyspaces.values().flat_map(|keyspace| keyspace.tables.values()).cloned().collect();
        parts.storage.set_options(tables).await?;
        Ok(())
    }

    async fn finish(
        self,
        parts: SchemaStoreParts,
        defined: Defined,
        identity: NodeIdentity,
    ) -> Result<Arc<SchemaStore>, SchemaError> {
        let mut schema = defined.schema;
        for keyspace in self.keyspaces.into_values() {
            // This node's own tables are as it defines them.
            if keyspace.kind != KeyspaceKind::LocalSystem {
                schema.keyspaces.insert(keyspace.name.clone(), Arc::new(keyspace));
            }
        }
        index_tables(&mut schema);
        schema.version = self.digest.version();
        schema.generation = 1;
        let table = system_table(&schema, "local")?;
        let version = local::write_schema_version(table, schema.version, self.last_timestamp);
        parts.replica.apply(vec![version], Deadline::NEVER).await?;
        let writer = Writer {
            digest: self.digest,
            column_ids: self.column_ids,
            last_timestamp: self.last_timestamp,
            unfinished: None,
        };
        Ok(Arc::new(SchemaStore {
            parts,
            schema_tables: defined.schema_tables,
            identity,
            current: ArcSwap::from_pointee(schema),
            writer: Mutex::new(writer),
            listeners: parking_lot::RwLock::default(),
        }))
    }
}

fn self_description(
    parts: &SchemaStoreParts,
    schema: &Schema,
    identity: &NodeIdentity,
    timestamp: i64,
) -> Result<Vec<Mutation>, SchemaError> {
    let (facts, now_s) = (&parts.facts, parts.env.now_s());
    Ok(vec![
        local::write(system_table(schema, "local")?, facts, identity, timestamp, now_s),
        local::write_basalt(system_table(schema, "basalt")?, facts, timestamp),
    ])
}

/// The newest write time among a partition's rows.
fn newest(partition: &PartitionRows) -> i64 {
    let row = |row: &basalt_model::Row| {
        row.cells.iter().map(|cell| cell.timestamp).chain([row.liveness.timestamp]).max().unwrap_or(i64::MIN)
    };
    partition.rows.iter().map(row).max().unwrap_or(i64::MIN)
}

/// What a distributed system keyspace should be (`SchemaTransformations.updateSystemKeyspace`):
/// as defined, but its replication, unknown tables and added columns stay.
fn updated(defined: &Keyspace, stored: Option<&Keyspace>) -> Keyspace {
    let mut keyspace = defined.clone();
    let Some(stored) = stored else { return keyspace };
    keyspace.durable_writes = stored.durable_writes;
    keyspace.replication.clone_from(&stored.replication);
    for (name, table) in &stored.tables {
        let desired = match keyspace.tables.get(name) {
            None => table.clone(),
            Some(desired) => Arc::new(with_columns(desired, table)),
        };
        keyspace.tables.insert(name.clone(), desired);
    }
    keyspace
}

fn with_columns(desired: &Table, stored: &Table) -> Table {
    let mut draft = TableDraft::of(desired);
    let added = stored.columns.iter().filter(|column| desired.column(&column.name).is_none());
    draft.columns.extend(added.cloned());
    draft.finish()
}
