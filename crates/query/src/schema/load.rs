//! Rows of `system_schema` back to keyspaces, tables and types. Knows how rows look
//! (`super::rows`), not how they are read.

mod types;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use basalt_model::command::PartitionRows;
use basalt_model::schema::{
    ClusteringOrder, ColumnKind, ColumnMask, DroppedColumn, SpeculativeRetry, TableOptions,
};
use basalt_model::{Column, ColumnId, Keyspace, Row, Table, TableId};

use super::assemble::TableDraft;
use super::column_ids::ColumnIds;
use super::mask_values::from_stored;
use super::rows::{SchemaTables, columns};
use super::stored::StoredRow;
use super::types::UserTypes;
use super::{SchemaError, encode};
use crate::ddl::options;
use crate::system_tables::kind_of;

pub use types::parse_stored_type;

/// The live rows about one keyspace, by table of `system_schema`.
pub type KeyspaceRows = BTreeMap<&'static str, PartitionRows>;

/// Reads one keyspace.
pub struct Loader<'a> {
    /// Definitions of `system_schema`.
    pub schema_tables: &'a SchemaTables,
    /// Ids of columns.
    pub column_ids: &'a ColumnIds,
}

impl Loader<'_> {
    fn rows<'r>(&'r self, rows: &'r KeyspaceRows, table: &str) -> impl Iterator<Item = StoredRow<'r>> {
        let definition = self.schema_tables.get(table);
        let stored: &[Row] = rows.get(table).map_or(&[], |partition| &partition.rows);
        stored.iter().filter_map(move |row| Some(StoredRow { table: definition?, row }))
    }

    /// The keyspace; `None` when it has no row of its own.
    ///
    /// # Errors
    /// [`SchemaError::Damaged`] when rows are missing or unreadable.
    pub fn keyspace(&self, name: &str, rows: &KeyspaceRows) -> Result<Option<Keyspace>, SchemaError> {
        let Some(row) = self.rows(rows, "keyspaces").next() else { return Ok(None) };
        let types = types::load(name, self.rows(rows, "types"))?;
        let mut keyspace = Keyspace {
            name: name.into(),
            kind: kind_of(name),
            durable_writes: row.boolean("durable_writes")?,
            replication: row.text_map("replication")?,
            tables: BTreeMap::new(),
            types,
        };
        let mut columns = self.by_table(rows, "columns")?;
        let mut dropped = self.by_table(rows, "dropped_columns")?;
        let mut masks = self.by_table(rows, "column_masks")?;
        for row in self.rows(rows, "tables") {
            let table_name = row.clustering(0)?;
            let parts = TableRows {
                table: row,
                columns: columns.remove(&table_name).unwrap_or_default(),
                dropped: dropped.remove(&table_name).unwrap_or_default(),
                masks: masks.remove(&table_name).unwrap_or_default(),
            };
            let table = self.table(name, &table_name, &parts, &keyspace.types)?;
            keyspace.tables.insert(table.name.clone(), Arc::new(table));
        }
        Ok(Some(keyspace))
    }

    fn by_table<'r>(
        &'r self,
        rows: &'r KeyspaceRows,
        table: &str,
    ) -> Result<HashMap<String, Vec<StoredRow<'r>>>, SchemaError> {
        let mut grouped: HashMap<String, Vec<StoredRow<'r>>> = HashMap::new();
        for row in self.rows(rows, table) {
            grouped.entry(row.clustering(0)?).or_default().push(row);
        }
        Ok(grouped)
    }

    fn table(
        &self,
        keyspace: &str,
        name: &str,
        rows: &TableRows<'_>,
        types: &UserTypes,
    ) -> Result<Table, SchemaError> {
        let id = TableId(rows.table.uuid("id")?);
        let mut draft = TableDraft {
            id,
            keyspace: keyspace.into(),
            name: name.into(),
            columns: Vec::with_capacity(rows.columns.len()),
            dropped_columns: BTreeMap::new(),
            options: table_options(rows.table)?,
            flags: rows.table.text_list("flags")?,
            is_virtual: false,
        };
        for row in &rows.columns {
            let mut column = self.column(id, keyspace, *row, types)?;
            column.mask = mask(rows, &column.name, keyspace, types)?;
            draft.columns.push(column);
        }
        for row in &rows.dropped {
            let dropped = self.dropped(id, keyspace, *row)?;
            draft.dropped_columns.insert(dropped.column.name.clone(), dropped);
        }
        let table = draft.finish();
        if table.partition_key_count == 0 {
            return Err(SchemaError::Damaged(format!(
                "table {keyspace}.{name} has no partition key columns"
            )));
        }
        Ok(table)
    }

    fn column(
        &self,
        table: TableId,
        keyspace: &str,
        row: StoredRow<'_>,
        types: &UserTypes,
    ) -> Result<Column, SchemaError> {
        let name = row.clustering(1)?;
        let kind = kind(row)?;
        let order = if row.text("clustering_order")? == "desc" {
            ClusteringOrder::Desc
        } else {
            ClusteringOrder::Asc
        };
        Ok(Column {
            data_type: parse_stored_type(&row.text("type")?, keyspace, types)?,
            id: self.id(table, keyspace, kind, &name)?,
            kind,
            position: u16::try_from(row.int("position")?).unwrap_or(0),
            order,
            mask: None,
            name: name.into(),
        })
    }

    fn dropped(
        &self,
        table: TableId,
        keyspace: &str,
        row: StoredRow<'_>,
    ) -> Result<DroppedColumn, SchemaError> {
        let name = row.clustering(1)?;
        let kind = kind(row)?;
        let column = Column {
            // User types were written as tuples.
            data_type: parse_stored_type(&row.text("type")?, keyspace, &UserTypes::new())?,
            id: self.id(table, keyspace, kind, &name)?,
            kind,
            position: 0,
            order: ClusteringOrder::Asc,
            mask: None,
            name: name.into(),
        };
        Ok(DroppedColumn { column, dropped_time: row.bigint("dropped_time")?.saturating_mul(1000) })
    }

    fn id(
        &self,
        table: TableId,
        keyspace: &str,
        kind: ColumnKind,
        name: &str,
    ) -> Result<ColumnId, SchemaError> {
        self.column_ids.get(table, kind, name).ok_or_else(|| {
            SchemaError::Damaged(format!(
                "column {name} of table {} in keyspace {keyspace} has no id",
                table.0
            ))
        })
    }
}

/// The rows about one table.
struct TableRows<'a> {
    table: StoredRow<'a>,
    columns: Vec<StoredRow<'a>>,
    dropped: Vec<StoredRow<'a>>,
    masks: Vec<StoredRow<'a>>,
}

/// The mask of a column.
fn mask(
    rows: &TableRows<'_>,
    column: &str,
    keyspace: &str,
    types: &UserTypes,
) -> Result<Option<Arc<ColumnMask>>, SchemaError> {
    let Some(row) = rows.masks.iter().find(|row| row.clustering(1).is_ok_and(|name| name == column)) else {
        return Ok(None);
    };
    let nulls = row.read("function_argument_nulls", encode::read_boolean_list)?;
    let values = row.text_list("function_argument_values")?;
    let mut arguments = Vec::with_capacity(values.len());
    for ((text, written), is_null) in row.text_list("function_argument_types")?.iter().zip(&values).zip(nulls)
    {
        let data_type = parse_stored_type(text, keyspace, types)?;
        let value = if is_null { None } else { Some(from_stored(&data_type, written)) };
        let damaged = || SchemaError::Damaged(format!("the mask of column {column} is unreadable"));
        arguments.push((data_type, value.map(|value| value.ok_or_else(damaged)).transpose()?));
    }
    let text = |column| row.text(column).map(Arc::from);
    let (keyspace, function) = (text("function_keyspace")?, text("function_name")?);
    Ok(Some(Arc::new(ColumnMask { keyspace, function, arguments })))
}

fn kind(row: StoredRow<'_>) -> Result<ColumnKind, SchemaError> {
    let name = row.text("kind")?;
    columns::kind_of(&name).ok_or_else(|| SchemaError::Damaged(format!("unknown kind of column: {name}")))
}

fn table_options(row: StoredRow<'_>) -> Result<TableOptions, SchemaError> {
    let maps = options::stored_maps(
        &row.text_map("caching")?,
        row.text_map("compaction")?,
        row.text_map("compression")?,
    );
    let (caching, compaction, compression) = maps.map_err(|error| SchemaError::Damaged(error.to_string()))?;
    let policy = |column| row.text(column).map(SpeculativeRetry);
    let enabled =
        |column| Ok::<bool, SchemaError>(row.optional(column, encode::read_boolean)?.unwrap_or(true));
    Ok(TableOptions {
        comment: row.text("comment")?,
        gc_grace_seconds: row.int("gc_grace_seconds")?,
        default_time_to_live: row.int("default_time_to_live")?,
        bloom_filter_fp_chance: row.double("bloom_filter_fp_chance")?,
        caching,
        compaction,
        compression,
        crc_check_chance: row.double("crc_check_chance")?,
        memtable: row.optional("memtable", encode::read_text)?,
        memtable_flush_period_in_ms: row.int("memtable_flush_period_in_ms")?,
        min_index_interval: row.int("min_index_interval")?,
        max_index_interval: row.int("max_index_interval")?,
        read_repair: row.text("read_repair")?,
        speculative_retry: policy("speculative_retry")?,
        additional_write_policy: policy("additional_write_policy")?,
        cdc: row.optional("cdc", encode::read_boolean)?.unwrap_or(false),
        allow_auto_snapshot: enabled("allow_auto_snapshot")?,
        incremental_backups: enabled("incremental_backups")?,
        extensions: row.optional("extensions", encode::read_blob_map)?.unwrap_or_default(),
    })
}
