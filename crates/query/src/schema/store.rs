//! The current schema and its only writer. A change is: rows computed, storage created, rows
//! applied in one atomic step, the picture read back from the rows and published, storage dropped.
//! Knows no statement.

use std::sync::Arc;

use arc_swap::ArcSwap;
use basalt_coordinator::{Replica, ReplicaError, TableStorage};
use basalt_model::command::{PartitionRows, ReadPage};
use basalt_model::env::SharedEnv;
use basalt_model::schema::{DroppedColumn, OptionsEffect};
use basalt_model::{
    CqlError, Deadline, DecoratedKey, Keyspace, Mutation, PartitionUpdate, ReadCommand, Schema, Table,
    TableId,
};
use tokio::sync::Mutex;

use super::assemble::index_tables;
use super::change::{ChangeTime, Difference, difference};
use super::column_ids::{self, ColumnIds};
use super::digest::SchemaDigest;
use super::load::{KeyspaceRows, Loader};
use super::rows::{ALL, SchemaTables};
use super::{SchemaError, encode, read, time_uuid};
use crate::ddl::{DdlContext, DdlPlan, NewState};
use crate::result::{Outcome, SchemaChange, StatementResult};
use crate::settings::SchemaSettings;
use crate::system_tables::local::{self, NodeIdentity};
use crate::system_tables::{NodeFacts, NodeViews};

/// Runs ordinary reads over rows that are stored nowhere: `node` supplies an in-memory engine.
pub trait Scratch: Send + Sync {
    /// The live rows of `command` over exactly these updates.
    ///
    /// # Errors
    /// As a replica's read.
    fn read(&self, rows: Vec<PartitionUpdate>, command: ReadCommand) -> Result<ReadPage, ReplicaError>;
}

/// What a [`SchemaStore`] is made of.
pub struct SchemaStoreParts {
    /// Time and randomness.
    pub env: SharedEnv,
    /// This node's own data.
    pub replica: Arc<dyn Replica>,
    /// This node's tables.
    pub storage: Arc<dyn TableStorage>,
    /// Reads of virtual tables.
    pub scratch: Arc<dyn Scratch>,
    /// What this node says of itself in `system.local`.
    pub facts: NodeFacts,
    /// What virtual tables show of the running node.
    pub views: Arc<dyn NodeViews>,
    /// What statements may do.
    pub settings: SchemaSettings,
}

/// Told of each change after it is published.
pub type ChangeListener = Box<dyn Fn(&SchemaChange) + Send + Sync>;

/// What only the writer needs.
pub(super) struct Writer {
    pub(super) digest: SchemaDigest,
    pub(super) column_ids: ColumnIds,
    /// The write time of the last change: the next one is later even if the clock is not.
    pub(super) last_timestamp: i64,
    /// The keyspace of a change whose rows may be stored but whose picture was not published: it
    /// failed, or whoever waited for it went away.
    pub(super) unfinished: Option<Arc<str>>,
}

/// The schema's keeper. One per node.
pub struct SchemaStore {
    pub(super) parts: SchemaStoreParts,
    pub(super) schema_tables: SchemaTables,
    pub(super) identity: NodeIdentity,
    pub(super) current: ArcSwap<Schema>,
    pub(super) writer: Mutex<Writer>,
    pub(super) listeners: parking_lot::RwLock<Vec<ChangeListener>>,
}

impl SchemaStore {
    /// The schema now.
    pub fn current(&self) -> Arc<Schema> {
        self.current.load_full()
    }

    /// Calls `listener` after every change from now on, in the order of the changes.
    pub fn on_change(&self, listener: ChangeListener) {
        self.listeners.write().push(listener);
    }

    /// What this node says of itself.
    pub fn facts(&self) -> &NodeFacts {
        &self.parts.facts
    }

    /// Host id and tokens.
    pub fn identity(&self) -> &NodeIdentity {
        &self.identity
    }

    /// Plans and makes one change; changes wait for each other.
    ///
    /// # Errors
    /// The plan's, and storage's.
    pub async fn change(
        &self,
        keyspace: Option<&str>,
        plan: impl FnOnce(&DdlContext<'_>) -> Result<DdlPlan, CqlError>,
    ) -> Result<Outcome, CqlError> {
        let mut writer = self.writer.lock().await;
        let env = &self.parts.env;
        if let Some(keyspace) = writer.unfinished.clone() {
            self.catch_up(&mut writer, &keyspace).await?;
        }
        let timestamp = env.wall_micros().max(writer.last_timestamp + 2);
        let schema = self.current();
        let context = DdlContext {
            schema: &schema,
            keyspace,
            datacenters: &[(self.parts.facts.data_center.clone(), 1)],
            timestamp,
            settings: self.parts.settings,
            env,
            new_table_id: TableId(time_uuid::generate(env.as_ref(), timestamp)),
        };
        let plan = plan(&context)?;
        let before = schema.keyspace(&plan.keyspace).map(Arc::as_ref);
        let after = match &plan.state {
            NewState::Same => before,
            NewState::Keyspace(after) => Some(after.as_ref()),
            NewState::Dropped => None,
        };
        let time = ChangeTime { timestamp, now_s: env.now_s() };
        let difference = difference(&self.schema_tables, before, after, time);
        let mut warnings = plan.warnings;
        if difference.mutation.is_none() {
            return Ok(Outcome { result: StatementResult::Void, warnings });
        }
        writer.last_timestamp = timestamp;
        let dropped = difference.dropped.clone();
        if !dropped.is_empty() {
            // Before the change: should the node die between the two, there is a snapshot too many, not one too few.
            self.parts.storage.keep_dropped(dropped.clone()).await.map_err(SchemaError::from)?;
        }
        let late = self.make(&mut writer, &schema, &plan.keyspace, after, difference, time).await?;
        warnings.extend(late);
        for listener in self.listeners.read().iter() {
            listener(&plan.change);
        }
        if !dropped.is_empty() {
            dropped.iter().for_each(|table| writer.column_ids.remove(*table));
            // Should this fail, the storage is an orphan and goes at the next start.
            self.parts.storage.remove(dropped).await.map_err(SchemaError::from)?;
        }
        warnings.extend(plan.warnings_if_changed);
        Ok(Outcome { result: StatementResult::SchemaChange(plan.change), warnings })
    }

    /// Writes a difference and publishes what came of it; warns of options that have no effect on storage, or not yet.
    async fn make(
        &self,
        writer: &mut Writer,
        schema: &Schema,
        keyspace: &str,
        after: Option<&Keyspace>,
        difference: Difference,
        time: ChangeTime,
    ) -> Result<Vec<String>, SchemaError> {
        let Difference { mutation, created, with_options, dropped } = difference;
        let mut warnings = Vec::new();
        if !created.is_empty() {
            let effects = self.parts.storage.create(created.clone()).await?;
            warnings.extend(created.iter().zip(effects).filter_map(effect_warning));
        }
        let ids = system_table(schema, "basalt_columns")?;
        let mut mutations: Vec<Mutation> = mutation.into_iter().collect();
        let tables = after.into_iter().flat_map(|keyspace| keyspace.tables.values());
        let mut touched = Vec::new();
        for table in tables {
            if let Some(mutation) = column_ids::write(ids, table, &writer.column_ids, time) {
                mutations.push(mutation);
                touched.push(table.id);
            }
        }
        mutations.extend(dropped.iter().map(|table| column_ids::delete(ids, *table, time)));
        writer.unfinished = Some(keyspace.into());
        self.parts.replica.apply(mutations, Deadline::NEVER).await?;
        for table in touched {
            let partition = self.partition(ids, &column_ids::key_of(table)).await?;
            if let Some(partition) = partition {
                writer.column_ids.load(ids, &partition)?;
            }
        }
        let mut loaded = self.reload(writer, keyspace).await?;
        if let (Some(loaded), Some(after)) = (&mut loaded, after) {
            keep_drop_times(after, loaded);
        }
        self.publish(writer, schema, keyspace, loaded, time).await?;
        if !with_options.is_empty() {
            // Should this fail, storage gets them at the next start.
            let effects = self.parts.storage.set_options(with_options.clone()).await?;
            warnings.extend(with_options.iter().zip(effects).filter_map(effect_warning));
        }
        Ok(warnings)
    }

    /// Publishes what is stored of a keyspace, whatever it is.
    async fn catch_up(&self, writer: &mut Writer, keyspace: &str) -> Result<(), SchemaError> {
        let schema = self.current();
        let ids = system_table(&schema, "basalt_columns")?;
        let (replica, now_s) = (self.parts.replica.as_ref(), self.parts.env.now_s());
        for partition in read::table(replica, ids, now_s).await? {
            writer.column_ids.load(ids, &partition)?;
        }
        let loaded = self.reload(writer, keyspace).await?;
        let time = ChangeTime { timestamp: self.parts.env.wall_micros(), now_s };
        self.publish(writer, &schema, keyspace, loaded, time).await
    }

    /// Reads one keyspace back from its rows.
    pub(super) async fn reload(
        &self,
        writer: &mut Writer,
        keyspace: &str,
    ) -> Result<Option<Keyspace>, SchemaError> {
        let key = DecoratedKey::new(encode::text(keyspace));
        let mut rows = KeyspaceRows::new();
        for name in ALL {
            let Some(table) = self.schema_tables.get(name) else { continue };
            let partition = self.partition(table, &key).await?;
            writer.digest.set(table, &key, partition.as_ref());
            if let Some(partition) = partition {
                rows.insert(name, partition);
            }
        }
        let loader = Loader { schema_tables: &self.schema_tables, column_ids: &writer.column_ids };
        loader.keyspace(keyspace, &rows)
    }

    async fn partition(
        &self,
        table: &Arc<Table>,
        key: &DecoratedKey,
    ) -> Result<Option<PartitionRows>, SchemaError> {
        let now_s = self.parts.env.now_s();
        Ok(read::partition(self.parts.replica.as_ref(), table, key, now_s).await?)
    }

    async fn publish(
        &self,
        writer: &mut Writer,
        schema: &Schema,
        name: &str,
        loaded: Option<Keyspace>,
        time: ChangeTime,
    ) -> Result<(), SchemaError> {
        let mut next = schema.clone();
        match loaded {
            Some(loaded) => {
                let mut loaded = loaded;
                if let Some(before) = schema.keyspace(name) {
                    keep_unchanged(before, &mut loaded);
                }
                next.keyspaces.insert(loaded.name.clone(), Arc::new(loaded));
            }
            None => {
                next.keyspaces.remove(name);
            }
        }
        index_tables(&mut next);
        next.version = writer.digest.version();
        next.generation = schema.generation + 1;
        let table = system_table(schema, "local")?;
        let version = local::write_schema_version(table, next.version, time.timestamp);
        self.current.store(Arc::new(next));
        writer.unfinished = None;
        Ok(self.parts.replica.apply(vec![version], Deadline::NEVER).await?)
    }
}

/// What users have to know of a table's options as its storage takes them.
fn effect_warning((table, effect): (&Arc<Table>, OptionsEffect)) -> Option<String> {
    let (keyspace, name) = (&table.keyspace, &table.name);
    match effect {
        OptionsEffect::NewFiles => None,
        OptionsEffect::NextStart => Some(format!(
            "Table {keyspace}.{name} is compacted and cached as before until the node starts again or the table is truncated"
        )),
        OptionsEffect::Shared => Some(format!(
            "Table {keyspace}.{name} shares its files with other tables: its compaction, compression, bloom_filter_fp_chance and caching have no effect"
        )),
    }
}

/// A table of keyspace `system`.
pub(super) fn system_table<'a>(schema: &'a Schema, name: &str) -> Result<&'a Arc<Table>, SchemaError> {
    schema.table("system", name).ok_or_else(|| SchemaError::Damaged(format!("system.{name} is not defined")))
}

/// Rows keep the time at which a column was dropped in milliseconds; until a restart it is known
/// better, so that a cell written just before stays dropped when the column comes back.
fn keep_drop_times(after: &Keyspace, loaded: &mut Keyspace) {
    for (name, table) in &mut loaded.tables {
        let Some(known) = after.tables.get(name).filter(|known| known.id == table.id) else { continue };
        let exact = |dropped: &DroppedColumn| {
            let time = known.dropped_columns.get(&dropped.column.name)?.dropped_time;
            (time.div_euclid(1000) == dropped.dropped_time.div_euclid(1000)).then_some(time)
        };
        if table.dropped_columns.is_empty() {
            continue;
        }
        let mut changed = Table::clone(table);
        for dropped in changed.dropped_columns.values_mut() {
            dropped.dropped_time = exact(dropped).unwrap_or(dropped.dropped_time);
        }
        *table = Arc::new(changed);
    }
}

/// Tables that a change did not touch stay the same objects, so that plans made with them compare
/// equal by pointer.
fn keep_unchanged(before: &Keyspace, loaded: &mut Keyspace) {
    for (name, table) in &mut loaded.tables {
        if let Some(old) = before.tables.get(name)
            && is_same(old, table)
        {
            *table = old.clone();
        }
    }
}

fn is_same(left: &Table, right: &Table) -> bool {
    left.id == right.id
        && left.columns == right.columns
        && left.dropped_columns == right.dropped_columns
        && left.options == right.options
        && left.flags == right.flags
}
