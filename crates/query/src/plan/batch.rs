//! BATCH, as a statement and as a message (`BatchStatement`).

use basalt_coordinator::Replication;
use basalt_cql::ast;
use basalt_cql::ast::Modification;
use basalt_model::error::WriteType;
use basalt_model::{Mutation, Schema};

use super::attributes::{self, Attributes};
use super::collect::Collector;
use super::conditional::{self, Step};
use super::modify::ModifyPlan;
use super::{Execution, delete, insert, oversize, size, update};
use crate::error::{CqlResult, ensure, invalid};
use crate::receiver::{Markers, Receiver};
use crate::request::BatchKind;
use crate::restrictions::table_name;
use crate::result::StatementResult;
use crate::terms::Context;

/// A BATCH, resolved.
#[derive(Clone, Debug)]
pub(crate) struct BatchPlan {
    kind: BatchKind,
    pub(crate) statements: Vec<ModifyPlan>,
    attributes: Attributes,
}

/// Resolves a BATCH statement.
pub(crate) fn prepare(
    schema: &Schema,
    markers: &mut Markers,
    batch: &ast::Batch,
    keyspace: Option<&str>,
) -> CqlResult<BatchPlan> {
    let mut statements = Vec::with_capacity(batch.statements.len());
    for statement in &batch.statements {
        let plan = match statement {
            Modification::Insert(insert) => insert::prepare(schema, markers, insert, keyspace)?,
            Modification::Update(update) => update::prepare(schema, markers, update, keyspace)?,
            Modification::Delete(delete) => delete::prepare(schema, markers, delete, keyspace)?,
        };
        statements.push(plan);
    }
    let context = Context::new(schema, keyspace.unwrap_or_default());
    let place = Receiver {
        keyspace: "[batch]".into(),
        table: "[batch]".into(),
        name: "".into(),
        data_type: basalt_model::DataType::BigInt,
        column: None,
        is_reversed: false,
    };
    let using = (batch.using.timestamp.as_ref(), batch.using.ttl.as_ref());
    let attributes = attributes::prepare(&context, markers, using, &place)?;
    let kind = match batch.kind {
        ast::BatchKind::Logged => BatchKind::Logged,
        ast::BatchKind::Unlogged => BatchKind::Unlogged,
        ast::BatchKind::Counter => BatchKind::Counter,
    };
    let plan = BatchPlan { kind, statements, attributes };
    plan.validate()?;
    Ok(plan)
}

impl BatchPlan {
    fn validate(&self) -> CqlResult<()> {
        let statements: Vec<&ModifyPlan> = self.statements.iter().collect();
        validate(self.kind, &statements, &self.attributes)
    }

    /// Runs it with one list of values for all its statements.
    pub(crate) async fn execute(&self, execution: &mut Execution<'_>) -> CqlResult<StatementResult> {
        let values = execution.values;
        let steps = self.statements.iter().map(|plan| Step::new(plan, values, execution));
        let steps = steps.collect::<CqlResult<Vec<Step<'_>>>>()?;
        run(self.kind, &steps, &self.attributes, execution).await
    }
}

/// Checks a batch as a whole (`BatchStatement.validate`).
pub(crate) fn validate(
    kind: BatchKind,
    statements: &[&ModifyPlan],
    attributes: &Attributes,
) -> CqlResult<()> {
    ensure(attributes.ttl.is_none(), || "Global TTL on the BATCH statement is not supported.".to_owned())?;
    let timed = attributes.timestamp.is_some();
    let conditional = statements.iter().any(|statement| !statement.conditions.is_empty());
    let refuse = |holds: bool, text: &str| ensure(!holds, || text.to_owned());
    refuse(timed && conditional, "Cannot provide custom timestamp for conditional BATCH")?;
    refuse(timed && kind == BatchKind::Counter, "Cannot provide custom timestamp for counter BATCH")?;
    let twice = statements.iter().any(|statement| timed && statement.attributes.timestamp.is_some());
    refuse(twice, "Timestamp must be set either on BATCH or individual statements")?;
    let counters = statements.iter().any(|statement| statement.table.is_counter());
    let others = statements.iter().any(|statement| !statement.table.is_counter());
    refuse(timed && counters, "Cannot provide custom timestamp for a BATCH containing counters")?;
    refuse(kind == BatchKind::Counter && others, "Cannot include non-counter statement in a counter batch")?;
    refuse(counters && others, "Counter and non-counter mutations cannot exist in the same batch")?;
    refuse(kind == BatchKind::Logged && counters, "Cannot include a counter statement in a logged batch")?;
    let computed = statements.iter().any(|statement| statement.table.is_virtual);
    let stored = statements.iter().any(|statement| !statement.table.is_virtual);
    refuse(
        kind == BatchKind::Logged && computed,
        "Cannot include a virtual table statement in a logged batch",
    )?;
    refuse(computed && stored, "Mutations for virtual and regular tables cannot exist in the same batch")?;
    refuse(
        conditional && computed,
        "Conditional BATCH statements cannot include mutations for virtual tables",
    )?;
    if conditional {
        let same = statements.windows(2).all(|pair| pair[0].table.id == pair[1].table.id);
        refuse(!same, "Batch with conditions cannot span multiple tables")?;
    }
    Ok(())
}

/// Runs the statements of a batch.
pub(crate) async fn run(
    kind: BatchKind,
    steps: &[Step<'_>],
    attributes: &Attributes,
    execution: &mut Execution<'_>,
) -> CqlResult<StatementResult> {
    for step in steps {
        step.plan.refuse_unbuilt()?;
    }
    if steps.iter().any(|step| !step.plan.conditions.is_empty()) {
        return conditional::execute(steps, Some(attributes), execution).await;
    }
    let otherwise = execution.timestamp();
    let mut collector = Collector::default();
    // The keys of all statements are looked at before anything else of the first.
    let keys = steps.iter().map(|step| step.plan.keys(&execution.with_values(&step.values)));
    let keys = keys.collect::<CqlResult<Vec<_>>>()?;
    for (step, keys) in steps.iter().zip(&keys) {
        let mut execution = execution.with_values(&step.values);
        let timestamp = attributes.timestamp(&execution, otherwise)?;
        step.plan.add_updates(&mut collector, &mut execution, keys, timestamp).await?;
    }
    if kind == BatchKind::Logged {
        warn_low_gc_grace(steps, execution);
    }
    let mutations = collector.into_replicated();
    if mutations.is_empty() {
        return Ok(StatementResult::Void);
    }
    let max_bytes = execution.processor.settings.max_mutation_bytes;
    mutations.iter().try_for_each(|(mutation, _)| oversize::check(mutation, max_bytes))?;
    check_size(&mutations, execution)?;
    warn_many_partitions(kind, &mutations, execution);
    let write_type = match (mutations.len(), kind) {
        (1, _) => WriteType::Simple,
        (_, BatchKind::Logged) => WriteType::Batch,
        _ => WriteType::UnloggedBatch,
    };
    let consistency = execution.options.consistency;
    let coordinator = &execution.processor.coordinator;
    // A batch holds counters only, or none.
    match steps.iter().any(|step| step.plan.table.is_counter()) {
        true => coordinator.write_counters(mutations, consistency).await?,
        false => coordinator.write_batch(mutations, consistency, write_type).await?,
    }
    Ok(StatementResult::Void)
}

/// Each name once, in the order in which Java's `HashSet` of texts lists them.
fn names(tables: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in tables {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let buckets = (names.len() * 4).div_ceil(3).next_power_of_two().max(16) as u32;
    names.sort_by_key(|name| {
        let hash = name.encode_utf16().fold(0_u32, |hash, c| hash.wrapping_mul(31).wrapping_add(c.into()));
        (hash ^ (hash >> 16)) % buckets
    });
    names
}

fn warn_low_gc_grace(steps: &[Step<'_>], execution: &mut Execution<'_>) {
    let low = steps.iter().filter(|step| step.plan.table.options.gc_grace_seconds == 0);
    let low = names(low.map(|step| table_name(&step.plan.table)));
    if low.is_empty() {
        return;
    }
    execution.warnings.push(format!(
        "Executing a LOGGED BATCH on table{} [{}], configured with a gc_grace_seconds of 0. The gc_grace_seconds is used to TTL batchlog entries, so setting gc_grace_seconds too low on tables involved in an atomic batch might cause batchlog entries to expire before being replayed.",
        if low.len() == 1 { "" } else { "s" },
        low.join(", ")
    ));
}

fn written_tables(mutations: &[(Mutation, Replication)]) -> Vec<String> {
    names(
        mutations.iter().flat_map(|(mutation, _)| &mutation.updates).map(|update| table_name(&update.table)),
    )
}

fn check_size(mutations: &[(Mutation, Replication)], execution: &mut Execution<'_>) -> CqlResult<()> {
    if mutations.len() <= 1 {
        return Ok(());
    }
    let settings = &execution.processor.settings;
    let bytes: usize = mutations.iter().map(|(mutation, _)| size::of_mutation(mutation)).sum();
    let threshold = settings.batch_size_warn_threshold_bytes;
    if bytes <= threshold {
        return Ok(());
    }
    if bytes > settings.batch_size_fail_threshold_bytes {
        return invalid("Batch too large");
    }
    execution.warnings.push(format!(
        "Batch for [{}] is of size {bytes}, exceeding specified threshold of {threshold} by {}.",
        written_tables(mutations).join(", "),
        bytes - threshold
    ));
    Ok(())
}

fn warn_many_partitions(
    kind: BatchKind,
    mutations: &[(Mutation, Replication)],
    execution: &mut Execution<'_>,
) {
    if kind == BatchKind::Logged || mutations.len() <= 1 {
        return;
    }
    let mut keys: Vec<&[u8]> = mutations.iter().map(|(mutation, _)| mutation.key.key.as_ref()).collect();
    keys.sort_unstable();
    keys.dedup();
    let threshold = execution.processor.settings.unlogged_batch_across_partitions_warn_threshold;
    if keys.len() <= threshold {
        return;
    }
    let tables = written_tables(mutations);
    execution.warnings.push(format!(
        "Unlogged batch covering {} partitions detected against table{} [{}]. You should use a logged batch for atomicity, or asynchronous writes for performance.",
        keys.len(),
        if tables.len() == 1 { "" } else { "s" },
        tables.join(", ")
    ));
}
