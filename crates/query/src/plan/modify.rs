//! What INSERT, UPDATE and DELETE share (`ModificationStatement`): which partitions and rows, what
//! is read before, the rows written.

use std::borrow::Cow;
use std::sync::Arc;

use basalt_coordinator::Replication;
use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, PartitionRows, ReadTarget, RowFilter, RowSelection,
};
use basalt_model::error::WriteType;
use basalt_model::mutation::RangeTombstone;
use basalt_model::schema::ColumnKind;
use basalt_model::{
    Clustering, Consistency, DecoratedKey, Mutation, PartitionUpdate, ReadCommand, Slice, Table,
};
use bytes::Bytes;

use super::attributes::Attributes;
use super::collect::{self, Collector};
use super::conditional::{self, Step};
use super::document::Document;
use super::{Execution, Reader, compact, oversize, refuse_own_tables, refuse_virtual};
use crate::bind::Binding;
use crate::conditions::Conditions;
use crate::error::{CqlResult, bail, ensure, invalid, marshal};
use crate::operations::{Operation, Writer};
use crate::request::Value;
use crate::restrictions::{Restrictions, StatementKind, check_key, check_length};
use crate::result::StatementResult;

/// A modification, resolved.
#[derive(Clone, Debug)]
pub(crate) struct ModifyPlan {
    pub(crate) kind: StatementKind,
    pub(crate) table: Arc<Table>,
    pub(crate) replication: Arc<Replication>,
    pub(crate) restrictions: Restrictions,
    pub(crate) regular: Vec<Operation>,
    pub(crate) statics: Vec<Operation>,
    pub(crate) conditions: Conditions,
    pub(crate) attributes: Attributes,
    /// `INSERT ... JSON ?`
    pub(crate) document: Option<Document>,
}

/// What a modification does to a partition: rows by name, or slices of them.
pub(crate) enum Rows {
    /// These rows; the empty clustering stands for the partition, or its static row.
    Named(Vec<Clustering>),
    /// These slices.
    Slices(Vec<Slice>),
}

impl Rows {
    /// Whether it does nothing: nothing more is then asked of the statement.
    fn are_none(&self) -> bool {
        match self {
            Rows::Named(rows) => rows.is_empty(),
            Rows::Slices(slices) => slices.is_empty(),
        }
    }
}

/// Operations by the kind of column they change.
pub(crate) fn split(operations: Vec<Operation>, table: &Table) -> (Vec<Operation>, Vec<Operation>) {
    operations.into_iter().partition(|operation| table.columns[operation.column].kind != ColumnKind::Static)
}

/// Whether only static columns are changed and looked at.
pub(crate) fn is_static_only(
    kind: StatementKind,
    (regular, statics): (&[Operation], &[Operation]),
    conditions: &Conditions,
    table: &Table,
) -> bool {
    let deletes_rows = kind == StatementKind::Delete && statics.is_empty();
    regular.is_empty()
        && !deletes_rows
        && !conditions.applies_to_regular(table)
        && (!statics.is_empty() || conditions.applies_to_static(table))
}

impl ModifyPlan {
    /// What conditions rule out (the constructor of `ModificationStatement`).
    pub(crate) fn validate_conditions(&self) -> CqlResult<()> {
        let conditional = !self.conditions.is_empty();
        ensure(!conditional || !self.table.is_counter(), || {
            "Conditional updates are not supported on counter tables".to_owned()
        })?;
        ensure(!conditional || self.attributes.timestamp.is_none(), || {
            "Cannot provide custom timestamp for conditional updates".to_owned()
        })
    }

    /// What the table rules out (`ModificationStatement.validate`).
    pub(crate) fn validate(&self) -> CqlResult<()> {
        let timed = self.attributes.timestamp.is_some();
        if self.table.is_counter() {
            ensure(!timed, || "Cannot provide custom timestamp for counter updates".to_owned())?;
            ensure(self.attributes.ttl.is_none(), || {
                "Cannot provide custom TTL for counter updates".to_owned()
            })?;
        }
        if self.table.is_virtual {
            ensure(!timed, || "Custom timestamp is not supported by virtual tables".to_owned())?;
            ensure(self.attributes.ttl.is_none(), || {
                "Expiring columns are not supported by virtual tables".to_owned()
            })?;
            ensure(self.conditions.is_empty(), || {
                "Conditional updates are not supported by virtual tables".to_owned()
            })?;
        }
        Ok(())
    }

    /// Refuses tables that cannot be written to.
    pub(crate) fn refuse_unbuilt(&self) -> CqlResult<()> {
        refuse_own_tables(&self.table)?;
        refuse_virtual(&self.table)
    }

    fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.statics.iter().chain(&self.regular)
    }

    /// The columns operations must know the values of.
    pub(crate) fn read_columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.operations().filter(|operation| operation.requires_read()).map(|operation| operation.column)
    }

    /// Whether it changes rows rather than static columns alone.
    pub(crate) fn updates_rows(&self) -> bool {
        self.table.clustering_count == 0 || self.restrictions.has_clustering()
    }

    /// Whether it changes static columns.
    pub(crate) fn updates_statics(&self) -> bool {
        !self.statics.is_empty()
    }

    fn is_static_only(&self) -> bool {
        is_static_only(self.kind, (&self.regular, &self.statics), &self.conditions, &self.table)
    }

    /// Whether it deletes slices of rows.
    pub(crate) fn has_slices(&self) -> bool {
        self.kind == StatementKind::Delete
            && self.restrictions.has_clustering()
            && self.restrictions.is_column_range(&self.table)
    }

    /// The values its terms are evaluated with: those of the markers, and of a bound document.
    pub(crate) fn values<'a>(&self, binding: Binding<'a>) -> CqlResult<Cow<'a, [Value]>> {
        match &self.document {
            None => Ok(Cow::Borrowed(binding.values)),
            Some(document) => document.values(&self.table, &binding),
        }
    }

    /// The rows it is about.
    pub(crate) fn rows(&self, execution: &Execution<'_>) -> CqlResult<Rows> {
        let binding = execution.binding();
        if self.has_slices() {
            return Ok(Rows::Slices(self.restrictions.deleted_slices(&self.table, &binding)?));
        }
        if !self.restrictions.has_clustering() {
            return Ok(Rows::Named(vec![Clustering::empty()]));
        }
        let mut rows = self.restrictions.rows(&self.table, &binding)?;
        for row in &mut rows {
            compact::complete(&self.table, row);
            if let Some(missing) = self.table.clustering().get(row.len()) {
                bail!("Invalid null value for column {}", missing.name);
            }
            for (column, value) in self.table.clustering().iter().zip(&row.0) {
                // Functions of another type can make an empty value of any (`blob_as_int(0x)` for a date).
                if let Some(value) = value.as_ref().filter(|value| !value.is_empty()) {
                    column.data_type.validate(value).map_err(marshal)?;
                }
            }
        }
        Ok(Rows::Named(rows))
    }

    /// The partitions it is about.
    pub(crate) fn keys(&self, execution: &Execution<'_>) -> CqlResult<Vec<DecoratedKey>> {
        let keys = self.restrictions.written_keys(&self.table, &execution.binding())?;
        keys.iter().try_for_each(check_key)?;
        Ok(keys)
    }

    /// Whether the rows are only the static one.
    pub(crate) fn is_on_static_row(&self) -> bool {
        self.is_static_only() && !self.restrictions.has_clustering()
    }

    /// Runs it.
    pub(crate) async fn execute(&self, execution: &mut Execution<'_>) -> CqlResult<StatementResult> {
        self.refuse_unbuilt()?;
        let values = self.values(execution.binding())?;
        let execution = &mut execution.with_values(&values);
        if !self.conditions.is_empty() {
            let step = Step { plan: self, values: Cow::Borrowed(execution.values) };
            return Box::pin(conditional::execute(&[step], None, execution)).await;
        }
        if self.table.is_counter() {
            return Box::pin(self.execute_counting(execution)).await;
        }
        let options = execution.options;
        let coordinator = &execution.processor.coordinator;
        if options.consistency.is_serial() {
            return invalid("You must use conditional updates for serializable writes");
        }
        let mut collector = Collector::default();
        let timestamp = execution.timestamp();
        // Cassandra looks at the statement's own before all else (`validateTimestamp`).
        self.attributes.timestamp(execution, timestamp)?;
        let keys = self.keys(execution)?;
        self.add_updates(&mut collector, execution, &keys, timestamp).await?;
        let mutations: Vec<Mutation> =
            collector.into_mutations().into_iter().map(|(mutation, _)| mutation).collect();
        // One row, too, may be larger than the message that brings it: a named value may be bound twice.
        let max_bytes = execution.processor.settings.max_mutation_bytes;
        mutations.iter().try_for_each(|mutation| oversize::check(mutation, max_bytes))?;
        if mutations.is_empty() {
            return Ok(StatementResult::Void);
        }
        coordinator.check_write(&self.replication, options.consistency)?;
        coordinator.write(&self.replication, mutations, options.consistency, WriteType::Simple).await?;
        Ok(StatementResult::Void)
    }

    /// Runs it over a counter table (`ConsistencyLevel.validateCounterForWrite`).
    async fn execute_counting(&self, execution: &mut Execution<'_>) -> CqlResult<StatementResult> {
        let consistency = execution.options.consistency;
        if consistency == Consistency::Any {
            bail!("Consistency level ANY is not yet supported for counter table {}", self.table.name);
        }
        if consistency.is_serial() {
            return invalid("Counter operations are inherently non-serializable");
        }
        let mut collector = Collector::default();
        let timestamp = execution.timestamp();
        let keys = self.keys(execution)?;
        self.add_updates(&mut collector, execution, &keys, timestamp).await?;
        let coordinator = &execution.processor.coordinator;
        coordinator.write_counters(collector.into_replicated(), consistency).await?;
        Ok(StatementResult::Void)
    }

    /// Adds what the statement writes to its partitions, without conditions. `timestamp` is that of the
    /// request or batch.
    pub(crate) async fn add_updates(
        &self,
        collector: &mut Collector,
        execution: &mut Execution<'_>,
        keys: &[DecoratedKey],
        timestamp: i64,
    ) -> CqlResult<()> {
        let rows = self.rows(execution)?;
        if rows.are_none() {
            return Ok(());
        }
        let read = match self.read_columns().next() {
            None => Vec::new(),
            Some(_) => Box::pin(self.read_required(keys, &rows, execution)).await?,
        };
        let timestamp = self.attributes.timestamp(execution, timestamp)?;
        let ttl_s = self.attributes.ttl_s(execution, &self.table)?;
        let writer = Writer {
            table: &self.table,
            binding: execution.binding(),
            timestamp,
            now_s: execution.now_s,
            ttl_s,
            max_deletion_time_s: execution
                .processor
                .settings
                .storage_compatibility_mode
                .max_deletion_time_s(),
            is_conditional: false,
            read: &read,
        };
        writer.check()?;
        for key in keys {
            self.write(collector.update(&self.table, key, &self.replication), &writer, &rows)?;
        }
        Ok(())
    }

    /// Reads what operations on lists must know.
    async fn read_required(
        &self,
        keys: &[DecoratedKey],
        rows: &Rows,
        execution: &mut Execution<'_>,
    ) -> CqlResult<Vec<PartitionRows>> {
        let mut columns: Vec<_> = self.read_columns().map(|column| self.table.columns[column].id).collect();
        columns.sort_unstable();
        columns.dedup();
        let consistency = execution.options.consistency;
        if consistency == Consistency::Any {
            bail!("Write operation require a read but consistency ANY is not supported on reads");
        }
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let reader = Reader {
            schema: &*execution.processor.schema,
            coordinator: &execution.processor.coordinator,
            replication: &self.replication,
            consistency,
            warnings: Default::default(),
        };
        reader.check(&self.table, keys.len(), false)?;
        let on_static = self.is_on_static_row();
        let (selection, row_limit) = match rows {
            // Which nothing is written to: it will be refused.
            Rows::Slices(_) => return Ok(Vec::new()),
            Rows::Named(_) if on_static => (RowSelection::Slices(vec![Slice::all()]), 1),
            Rows::Named(rows) => {
                // A prefix names no row: it is refused when it comes to writing.
                let complete = rows.iter().filter(|row| row.len() == self.table.clustering_count);
                (RowSelection::Names(complete.cloned().collect()), u32::MAX)
            }
        };
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            let filter = ClusteringFilter { rows: selection.clone(), reversed: false, resume_after: None };
            let command = ReadCommand {
                table: self.table.clone(),
                now_s: execution.now_s,
                columns: ColumnFilter::Only(columns.clone()),
                row_filter: RowFilter::default(),
                layout: None,
                limits: DataLimits { rows: row_limit, keeps_static: true, ..DataLimits::NONE },
                target: ReadTarget::Partition { key: key.clone(), filter },
            };
            found.extend(reader.read(command).await?.partitions);
        }
        execution.warnings.append(&mut reader.warnings.lock());
        Ok(found)
    }

    /// Writes the statement's rows of one partition.
    pub(crate) fn write(
        &self,
        update: &mut PartitionUpdate,
        writer: &Writer<'_>,
        rows: &Rows,
    ) -> CqlResult<()> {
        match rows {
            Rows::Slices(slices) => {
                ensure(self.regular.is_empty() && self.statics.is_empty(), || {
                    "Range deletions are not supported for specific columns".to_owned()
                })?;
                for slice in slices {
                    self.refuse_null(slice)?;
                    let tombstone = RangeTombstone { slice: slice.clone(), deletion: writer.deletion() };
                    update.range_tombstones.push(tombstone);
                }
                Ok(())
            }
            Rows::Named(rows) => rows.iter().try_for_each(|row| {
                // Cassandra asks for it on this way only.
                if !writer.is_conditional {
                    check_length(row.0.iter().flatten().map(Bytes::len).sum())?;
                }
                self.write_row(update, writer, row)
            }),
        }
    }

    /// A bound of a deletion that is null: Cassandra trips over it and lets the client wait.
    fn refuse_null(&self, slice: &Slice) -> CqlResult<()> {
        let is_null = |(_, value): &(_, &Option<Bytes>)| value.is_none();
        for bound in [&slice.start, &slice.end] {
            if let Some((column, _)) = self.table.clustering().iter().zip(&bound.prefix.0).find(is_null) {
                bail!("Invalid null value in condition for column {}", column.name);
            }
        }
        Ok(())
    }

    fn write_row(
        &self,
        update: &mut PartitionUpdate,
        writer: &Writer<'_>,
        clustering: &Clustering,
    ) -> CqlResult<()> {
        let key = update.key.clone();
        if self.kind == StatementKind::Delete {
            return self.delete_row(update, writer, clustering, &key);
        }
        if self.updates_rows() {
            compact::check(&self.table, clustering)?;
            let mut row = writer.row(clustering.clone());
            row.cells.reserve(self.regular.len());
            let is_compact = self.table.compact.is_some();
            // A row of a compact table is there while a cell of it is.
            if self.kind == StatementKind::Insert && !is_compact {
                row.liveness = writer.liveness();
            }
            for operation in &self.regular {
                operation.execute(writer, &key, &mut row)?;
            }
            if is_compact && self.regular.is_empty() {
                compact::write_value(writer, &mut row)?;
            }
            collect::add_row(update, writer.finish(row));
        }
        self.write_statics(update, writer, &key)
    }

    fn write_statics(
        &self,
        update: &mut PartitionUpdate,
        writer: &Writer<'_>,
        key: &DecoratedKey,
    ) -> CqlResult<()> {
        if self.statics.is_empty() {
            return Ok(());
        }
        let mut row = writer.row(Clustering::empty());
        for operation in &self.statics {
            operation.execute(writer, key, &mut row)?;
        }
        collect::add_static(update, writer.finish(row));
        Ok(())
    }

    fn delete_row(
        &self,
        update: &mut PartitionUpdate,
        writer: &Writer<'_>,
        clustering: &Clustering,
        key: &DecoratedKey,
    ) -> CqlResult<()> {
        let columns = self.table.clustering_count;
        if self.regular.is_empty() && self.statics.is_empty() {
            if clustering.is_empty() {
                update.deletion = update.deletion.merge(writer.deletion());
            } else if clustering.len() == columns {
                compact::check(&self.table, clustering)?;
                let mut row = writer.row(clustering.clone());
                if !compact::delete_value(writer, &mut row) {
                    row.deletion = writer.deletion();
                }
                collect::add_row(update, row);
            } else {
                let slice = Slice::of_prefix(clustering.clone());
                update.range_tombstones.push(RangeTombstone { slice, deletion: writer.deletion() });
            }
            return Ok(());
        }
        if !self.regular.is_empty() {
            ensure(!clustering.is_empty() || columns == 0, || {
                "Range deletions are not supported for specific columns".to_owned()
            })?;
            compact::check(&self.table, clustering)?;
            let mut row = writer.row(clustering.clone());
            for operation in &self.regular {
                operation.execute(writer, key, &mut row)?;
            }
            collect::add_row(update, writer.finish(row));
        }
        self.write_statics(update, writer, key)
    }
}
