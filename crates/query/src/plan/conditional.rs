//! Conditional statements and batches (`CQL3CasRequest`): read the partition, ask the conditions,
//! write or show what is there, with nobody else doing the same in between.

use std::borrow::Cow;
use std::sync::Arc;

use basalt_model::command::{
    ClusteringFilter, ColumnFilter, DataLimits, PartitionRows, ReadTarget, RowFilter, RowSelection,
};
use basalt_model::error::WriteType;
use basalt_model::schema::ColumnKind;
use basalt_model::{
    Clustering, Consistency, CqlError, DataType, DecoratedKey, Mutation, ReadCommand, Row, SerialConsistency,
    Slice, Table,
};
use bytes::Bytes;

use super::attributes::Attributes;
use super::collect::Collector;
use super::modify::{ModifyPlan, Rows};
use super::{Execution, Reader, oversize};
use crate::bind::Binding;
use crate::conditions::{Bound, Condition, Conditions};
use crate::error::{CqlResult, bail, ensure, invalid};
use crate::operations::Writer;
use crate::request::Value;
use crate::restrictions::StatementKind;
use crate::result::{ColumnSpec, ResultMetadata, ResultSet, StatementResult};
use crate::selection::{ResultBuilder, Selection};

/// The id of the metadata of conditional results: their columns differ from one execution to the
/// next, so clients must not keep them.
pub const CONDITIONAL_RESULT_ID: [u8; 16] = [0; 16];

/// A statement with its values.
pub(crate) struct Step<'a> {
    /// The statement.
    pub(crate) plan: &'a ModifyPlan,
    /// Values in its marker order, and behind them those of its document.
    pub(crate) values: Cow<'a, [Value]>,
}

impl<'a> Step<'a> {
    /// A statement with the values bound to its markers.
    pub(crate) fn new(
        plan: &'a ModifyPlan,
        values: &'a [Value],
        execution: &Execution<'a>,
    ) -> CqlResult<Self> {
        let values = plan.values(Binding { values, ..execution.binding() })?;
        Ok(Step { plan, values })
    }
}

/// What is asked of one row.
enum RowCondition {
    NotExists,
    Exists,
    Columns(Vec<Bound>),
}

/// A conditional request: one partition, conditions by row, rows to write.
struct Request<'a> {
    table: &'a Arc<Table>,
    key: DecoratedKey,
    static_condition: Option<RowCondition>,
    conditions: Vec<(Clustering, RowCondition)>,
    writes: Vec<(&'a Step<'a>, Rows)>,
    /// Columns to show when the conditions do not hold; all when rows' existence was asked.
    shown: Option<Vec<usize>>,
}

/// Runs statements of which at least one has conditions, all or nothing.
pub(crate) async fn execute(
    steps: &[Step<'_>],
    batch: Option<&Attributes>,
    execution: &mut Execution<'_>,
) -> CqlResult<StatementResult> {
    let Some(first) = steps.first() else { return Ok(StatementResult::Void) };
    let request = prepare(steps, batch.is_some(), execution)?;
    let processor = execution.processor;
    let coordinator = &processor.coordinator;
    let options = execution.options;
    let replication = &first.plan.replication;
    coordinator.check_conditional(replication, options.serial_consistency, options.consistency)?;
    let _alone = coordinator.lock_partition(request.table.id, &request.key).await;
    let reader = Reader {
        schema: &*processor.schema,
        coordinator,
        replication,
        consistency: match options.serial_consistency {
            SerialConsistency::Serial => Consistency::Quorum,
            SerialConsistency::LocalSerial => Consistency::LocalQuorum,
        },
        warnings: Default::default(),
    };
    let command = request.read_command(steps, execution.now_s);
    let mut found = reader.read(command).await?.partitions;
    execution.warnings.append(&mut reader.warnings.lock());
    let current = found.pop();
    if !request.holds(current.as_ref())? {
        return request.refused(current.as_ref(), batch.is_some(), execution).map(StatementResult::Rows);
    }
    let timestamp = processor.clock.next_after(&*processor.env, newest(current.as_ref()));
    let mut collector = Collector::default();
    request.write(&mut collector, current.as_slice(), timestamp, execution)?;
    let mutations = collector.into_mutations().into_iter().map(|(mutation, _)| held_back(mutation));
    let mutations: Vec<Mutation> = mutations.filter(|mutation| !is_nothing(mutation)).collect();
    let max_bytes = processor.settings.max_mutation_bytes;
    mutations.iter().try_for_each(|mutation| oversize::check(mutation, max_bytes))?;
    if !mutations.is_empty() {
        coordinator.check_commit(replication, options.consistency)?;
        coordinator.write(replication, mutations, options.consistency, WriteType::Cas).await?;
    }
    Ok(StatementResult::Rows(applied(request.table, true)))
}

/// Puts all deletions one microsecond behind what is inserted (`PartitionUpdate.Builder.updateAllTimestamp`): only within
/// a row, where they have met by now, does a deletion win over an insertion of the same request.
fn held_back(mut mutation: Mutation) -> Mutation {
    for update in &mut mutation.updates {
        let of_ranges = update.range_tombstones.iter_mut().map(|range| &mut range.deletion);
        let rows = update.rows.iter_mut().chain(&mut update.static_row);
        let of_rows = rows.flat_map(|row| {
            let of_columns = row.complex_deletions.iter_mut().map(|(_, deletion)| deletion);
            of_columns.chain([&mut row.deletion])
        });
        for deletion in of_ranges.chain(of_rows).chain([&mut update.deletion]) {
            if !deletion.is_live() {
                deletion.timestamp = deletion.timestamp.saturating_sub(1);
            }
        }
    }
    mutation
}

/// Whether there is nothing to agree upon: no level is then asked for.
fn is_nothing(mutation: &Mutation) -> bool {
    mutation.updates.iter().all(|update| {
        update.deletion.is_live()
            && update.range_tombstones.is_empty()
            && update.static_row.iter().chain(&update.rows).all(Row::is_empty)
    })
}

/// The newest write time in what was read.
fn newest(current: Option<&PartitionRows>) -> i64 {
    let rows = current.into_iter().flat_map(|current| current.rows.iter().chain(&current.static_row));
    let times = |row: &Row| {
        row.cells.iter().map(|cell| cell.timestamp).chain([row.liveness.timestamp]).max().unwrap_or(i64::MIN)
    };
    // A time from the far future must not drag all later conditional writes there.
    rows.map(times).max().filter(|time| *time < i64::MAX / 2).unwrap_or(i64::MIN)
}

fn kind_name(plan: &ModifyPlan) -> &'static str {
    if plan.kind == StatementKind::Update { "updates" } else { "deletions" }
}

fn prepare<'a>(
    steps: &'a [Step<'a>],
    is_batch: bool,
    execution: &mut Execution<'_>,
) -> CqlResult<Request<'a>> {
    let table = &steps[0].plan.table;
    let mut key: Option<DecoratedKey> = None;
    let mut request = Request {
        table,
        key: DecoratedKey::new(Bytes::new()),
        static_condition: None,
        conditions: Vec::new(),
        writes: Vec::with_capacity(steps.len()),
        shown: Some(Vec::new()),
    };
    for step in steps {
        let plan = step.plan;
        let execution = execution.with_values(&step.values);
        let mut keys = plan.keys(&execution)?;
        if plan.restrictions.key_is_in(table) {
            if is_batch {
                return Err(CqlError::server(
                    "java.lang.IllegalArgumentException: Batch with conditions cannot span multiple partitions (you cannot use IN on the partition key)",
                ));
            }
            bail!("IN on the partition key is not supported with conditional {}", kind_name(plan));
        }
        let Some(own) = keys.pop() else { return invalid("Key may not be empty") };
        ensure(key.as_ref().is_none_or(|key| *key == own), || {
            "Batch with conditions cannot span multiple partitions".to_owned()
        })?;
        key = Some(own);
        ensure(!plan.restrictions.clustering_has_in(), || {
            format!("IN on the clustering key columns is not supported with conditional {}", kind_name(plan))
        })?;
        let rows = plan.rows(&execution)?;
        if let (Rows::Named(named), false) = (&rows, plan.conditions.is_empty()) {
            let clustering = named.first().cloned().unwrap_or_default();
            request.add_conditions(plan, clustering, &execution)?;
        }
        request.writes.push((step, rows));
    }
    request.key = key.unwrap_or(request.key);
    request.conditions.sort_by(|(a, _), (b, _)| table.compare_clusterings(a, b));
    Ok(request)
}

impl<'a> Request<'a> {
    /// What is asked of the static row, or of a row.
    fn condition(&mut self, of_static: bool, clustering: &Clustering) -> Option<&mut RowCondition> {
        if of_static {
            return self.static_condition.as_mut();
        }
        let table = self.table;
        let asked = self
            .conditions
            .iter_mut()
            .find(|(known, _)| table.compare_clusterings(known, clustering).is_eq());
        asked.map(|(_, condition)| condition)
    }

    fn put_condition(&mut self, of_static: bool, clustering: Clustering, condition: RowCondition) {
        if of_static {
            self.static_condition = Some(condition);
        } else {
            self.conditions.push((clustering, condition));
        }
    }

    fn add_conditions(
        &mut self,
        plan: &ModifyPlan,
        clustering: Clustering,
        execution: &Execution<'_>,
    ) -> CqlResult<()> {
        let mixed = "Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row";
        let with_columns =
            |not: &str| format!("Cannot mix IF conditions and IF {not}EXISTS for the same row");
        match &plan.conditions {
            Conditions::None => {}
            Conditions::Exists | Conditions::NotExists => {
                let negative = matches!(plan.conditions, Conditions::NotExists);
                self.shown = None;
                let of_static = plan.is_on_static_row();
                match (self.condition(of_static, &clustering), negative) {
                    (None, true) => self.put_condition(of_static, clustering, RowCondition::NotExists),
                    (None, false) => self.put_condition(of_static, clustering, RowCondition::Exists),
                    (Some(RowCondition::NotExists), true) | (Some(RowCondition::Exists), false) => {}
                    (Some(RowCondition::Columns(_)), _) => {
                        return invalid(with_columns(if negative { "NOT " } else { "" }));
                    }
                    _ => return invalid(mixed),
                }
            }
            Conditions::Columns(conditions) => {
                let binding = execution.binding();
                let table = self.table;
                let of_static =
                    |condition: &&Condition| table.columns[condition.column].kind == ColumnKind::Static;
                let (statics, regular): (Vec<&Condition>, Vec<&Condition>) =
                    conditions.iter().partition(of_static);
                // Those on static columns are asked of the static row, wherever the row is, and come last.
                for (conditions, of_static) in [(regular, false), (statics, true)] {
                    if conditions.is_empty() {
                        continue;
                    }
                    let bound = conditions.iter().map(|condition| condition.bind(&binding));
                    let bound = bound.collect::<CqlResult<Vec<Bound>>>()?;
                    match self.condition(of_static, &clustering) {
                        None => {
                            self.put_condition(of_static, clustering.clone(), RowCondition::Columns(bound))
                        }
                        Some(RowCondition::Columns(known)) => known.extend(bound),
                        Some(_) => return invalid(with_columns("NOT ")),
                    }
                    self.show(&conditions);
                }
            }
        }
        Ok(())
    }

    fn show(&mut self, conditions: &[&Condition]) {
        let Some(shown) = &mut self.shown else { return };
        for condition in conditions {
            if !shown.contains(&condition.column) {
                shown.push(condition.column);
            }
        }
    }

    fn read_command(&self, steps: &[Step<'_>], now_s: i64) -> ReadCommand {
        let table = self.table;
        let conditional = |step: &&Step<'_>| !step.plan.conditions.is_empty();
        let all_rows = steps.iter().any(|step| step.plan.updates_rows());
        let all_statics = steps.iter().filter(conditional).any(|step| step.plan.updates_statics());
        let wanted = |index: usize| {
            steps.iter().any(|step| {
                step.plan.conditions.columns().any(|column| column == index)
                    || step.plan.read_columns().any(|column| column == index)
            })
        };
        let mut ids: Vec<_> = table
            .columns
            .iter()
            .enumerate()
            .filter(|(index, column)| match column.kind {
                ColumnKind::Static => all_statics || wanted(*index),
                ColumnKind::Regular => all_rows || wanted(*index),
                ColumnKind::PartitionKey | ColumnKind::Clustering => false,
            })
            .map(|(_, column)| column.id)
            .collect();
        ids.sort_unstable();
        let (rows, row_limit) = if self.conditions.is_empty() {
            (RowSelection::Slices(vec![Slice::all()]), 1)
        } else {
            let names = self.conditions.iter().map(|(clustering, _)| clustering.clone()).collect();
            (RowSelection::Names(names), u32::MAX)
        };
        ReadCommand {
            table: table.clone(),
            now_s,
            columns: ColumnFilter::Only(ids),
            row_filter: RowFilter::default(),
            layout: None,
            limits: DataLimits { rows: row_limit, keeps_static: true, ..DataLimits::NONE },
            target: ReadTarget::Partition {
                key: self.key.clone(),
                filter: ClusteringFilter { rows, reversed: false, resume_after: None },
            },
        }
    }

    fn holds(&self, current: Option<&PartitionRows>) -> CqlResult<bool> {
        let static_row = current.and_then(|current| current.static_row.as_ref());
        if let Some(condition) = &self.static_condition
            && !condition.holds(self.table, static_row)?
        {
            return Ok(false);
        }
        for (clustering, condition) in &self.conditions {
            // Equal values may be written differently.
            let is_asked = |row: &&Row| self.table.compare_clusterings(&row.clustering, clustering).is_eq();
            let row = current.and_then(|current| current.rows.iter().find(is_asked));
            if !condition.holds(self.table, row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn write(
        &self,
        collector: &mut Collector,
        current: &[PartitionRows],
        timestamp: i64,
        execution: &mut Execution<'_>,
    ) -> CqlResult<()> {
        let is_range = |rows: &Rows| matches!(rows, Rows::Slices(_));
        let in_order = self.writes.iter().filter(|(_, rows)| !is_range(rows));
        for (step, rows) in in_order.chain(self.writes.iter().filter(|(_, rows)| is_range(rows))) {
            let execution = execution.with_values(&step.values);
            let plan = step.plan;
            let writer = Writer {
                table: &plan.table,
                binding: execution.binding(),
                timestamp,
                now_s: execution.now_s,
                ttl_s: plan.attributes.ttl_s(&execution, &plan.table)?,
                max_deletion_time_s: execution
                    .processor
                    .settings
                    .storage_compatibility_mode
                    .max_deletion_time_s(),
                is_conditional: true,
                read: current,
            };
            plan.write(collector.update(&plan.table, &self.key, &plan.replication), &writer, rows)?;
        }
        Ok(())
    }

    /// What is there, where the conditions did not hold.
    fn refused(
        &self,
        current: Option<&PartitionRows>,
        is_batch: bool,
        execution: &Execution<'_>,
    ) -> CqlResult<ResultSet> {
        let table = self.table;
        let selection = match &self.shown {
            None => Selection::wildcard(table),
            Some(shown) => {
                let key = if is_batch { table.partition_key_count + table.clustering_count } else { 0 };
                let others = shown.iter().copied().filter(|column| *column >= key);
                Selection::of_columns(table, (0..key).chain(others).collect(), false)
            }
        };
        let mut builder =
            ResultBuilder::new(&selection, table, None, execution.binding(), execution.now_s, true)?;
        if let Some(current) = current {
            builder.add(current)?;
        }
        let built = builder.finish()?;
        let mut result = applied(table, false);
        if built.rows == 0 {
            return Ok(result);
        }
        let mut columns = result.metadata.columns.clone();
        columns.extend(selection.metadata.columns.iter().cloned());
        let mut values = Vec::with_capacity(built.rows * (built.width + 1));
        for row in built.values.chunks_exact(built.width.max(1)) {
            values.extend(result.values.first().cloned());
            values.extend(row.iter().cloned());
        }
        result.metadata = Arc::new(ResultMetadata { columns, id: CONDITIONAL_RESULT_ID });
        result.values = values;
        result.row_count = built.rows;
        Ok(result)
    }
}

impl RowCondition {
    fn holds(&self, table: &Table, row: Option<&Row>) -> CqlResult<bool> {
        match self {
            RowCondition::NotExists => Ok(row.is_none()),
            RowCondition::Exists => Ok(row.is_some()),
            RowCondition::Columns(conditions) => {
                for condition in conditions {
                    if !condition.holds(table, row)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

/// The result that says only whether.
fn applied(table: &Table, applied: bool) -> ResultSet {
    let column = ColumnSpec {
        keyspace: table.keyspace.clone(),
        table: table.name.clone(),
        name: "[applied]".into(),
        data_type: DataType::Boolean,
    };
    ResultSet {
        metadata: Arc::new(ResultMetadata { columns: vec![column], id: CONDITIONAL_RESULT_ID }),
        values: vec![Some(Bytes::from_static(if applied { &[1] } else { &[0] }))],
        packed: Vec::new(),
        row_count: 1,
        paging_state: None,
    }
}
