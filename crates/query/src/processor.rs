//! The door of the crate: text or a prepared id in, an outcome out (`cql3/QueryProcessor`).
//!
//! Simple and prepared statements take one path: parse, prepare, bind, execute. Knows neither
//! connections nor messages.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use basalt_coordinator::Coordinator;
use basalt_model::env::SharedEnv;
use basalt_model::{CqlError, Schema};

use crate::access::SchemaAccess;
use crate::bind::in_marker_order;
use crate::cache::{Cache, Entry};
use crate::clock::WriteClock;
use crate::error::{CqlResult, bail, invalid};
use crate::plan::attributes::Attributes;
use crate::plan::conditional::Step;
use crate::plan::modify::ModifyPlan;
use crate::plan::{Execution, batch, use_};
use crate::prepare::{Plan, Prepared, prepare, resolve};
use crate::request::{BatchEntry, BatchKind, ClientState, QueryOptions, Value};
use crate::result::{Outcome, PreparedStatement, StatementResult};
use crate::settings::QuerySettings;
use crate::timeuuid::TimeUuids;
use basalt_model::ids;

/// Runs statements. One per node, shared by all its threads.
pub struct QueryProcessor {
    pub(crate) env: SharedEnv,
    pub(crate) schema: Arc<dyn SchemaAccess>,
    pub(crate) coordinator: Coordinator,
    pub(crate) settings: QuerySettings,
    pub(crate) clock: WriteClock,
    pub(crate) timeuuids: TimeUuids,
    cache: Cache,
}

impl QueryProcessor {
    /// A processor over a schema and a coordinator.
    pub fn new(
        env: SharedEnv,
        schema: Arc<dyn SchemaAccess>,
        coordinator: Coordinator,
        settings: QuerySettings,
    ) -> QueryProcessor {
        let timeuuids = TimeUuids::new(env.clone());
        let cache = Cache::new(settings.prepared_statements_cache_bytes);
        QueryProcessor { env, schema, coordinator, settings, clock: WriteClock::default(), timeuuids, cache }
    }

    /// Runs one statement given as text (QUERY). USE changes `client.keyspace`.
    ///
    /// # Errors
    /// What the client is told.
    pub async fn query(
        &self,
        text: &str,
        options: &QueryOptions,
        client: &mut ClientState,
    ) -> Result<Outcome, CqlError> {
        check_page_size(options)?;
        let schema = self.schema.current();
        check_keyspace(&schema, options.keyspace.as_deref())?;
        let keyspace = options.keyspace.clone().or_else(|| client.keyspace.clone());
        let prepared = Box::new(resolve(&schema, text, keyspace.as_deref())?);
        let mismatch = |_| "Invalid amount of bind variables".to_owned();
        let values = in_marker_order(&options.values, &prepared.variables, mismatch)?;
        prepared.validate()?;
        self.run(&schema, &prepared.plan, &values, options, keyspace.as_deref(), client).await
    }

    /// Forgets what counters were counted from: their tables' data has been replaced.
    pub fn forget_counts(&self) {
        self.coordinator.forget_counts();
    }

    /// Prepares a statement (PREPARE). `keyspace` is the request's own (v5); else the
    /// connection's counts. The answer of a statement that is prepared already is the same.
    ///
    /// # Errors
    /// What the client is told.
    pub fn prepare(
        &self,
        text: &str,
        keyspace: Option<&str>,
        client: &ClientState,
    ) -> Result<Arc<PreparedStatement>, CqlError> {
        let schema = self.schema.current();
        check_keyspace(&schema, keyspace)?;
        let is_of_request = keyspace.is_some();
        let keyspace: Option<Arc<str>> = keyspace.map(Arc::from).or_else(|| client.keyspace.clone());
        let plain = ids::statement_id(None, text);
        let with_keyspace = ids::statement_id(keyspace.as_deref(), text);
        let known = [plain, with_keyspace].into_iter().filter_map(|id| self.cache.get(&id)).find(|entry| {
            let prepared = entry.prepared.load();
            let same_keyspace = prepared.is_fully_qualified || entry.keyspace == keyspace;
            prepared.generation == schema.generation && same_keyspace && *entry.text == *text
        });
        if let Some(entry) = known {
            return Ok(entry.answer.load_full());
        }
        let prepared = Arc::new(prepare(&schema, text, keyspace.as_deref())?);
        let own = if prepared.is_fully_qualified { plain } else { with_keyspace };
        let answer = Arc::new(answer(own, &prepared));
        let entry = Arc::new(Entry::new(text, keyspace, prepared, answer.clone()));
        let bytes = entry.bytes();
        if bytes > self.cache.bytes_max() {
            let shown: String = text.chars().take(200).collect();
            bail!(
                "Prepared statement of size {bytes} bytes is larger than allowed maximum of {} MB: {shown}...",
                self.cache.bytes_max() >> 20
            );
        }
        self.cache.put(own, entry.clone());
        let warning = if entry.prepared.load().is_fully_qualified {
            None
        } else {
            // Cassandra forgets having told where the request brought its keyspace.
            let told = !is_of_request && client.warned_of_use.swap(true, Ordering::Relaxed);
            let keyspace = entry.keyspace.as_deref();
            (!told).then(|| use_warning(&own, keyspace, keyspace))
        };
        match warning {
            None => Ok(answer),
            Some(warning) => Ok(Arc::new(PreparedStatement { warnings: vec![warning], ..(*answer).clone() })),
        }
    }

    /// Runs a prepared statement (EXECUTE). Rows carry the statement's present result metadata,
    /// whose `id` a v5 connection compares with the client's.
    ///
    /// # Errors
    /// What the client is told; [`CqlError::Unprepared`] when the id is unknown.
    pub async fn execute(
        &self,
        id: &[u8; 16],
        options: &QueryOptions,
        client: &mut ClientState,
    ) -> Result<Outcome, CqlError> {
        check_page_size(options)?;
        let schema = self.schema.current();
        let entry = self.cache.get(id).ok_or(CqlError::Unprepared(*id))?;
        let prepared = self.up_to_date(id, &entry, &schema, options.protocol_version)?;
        let warning = other_keyspace_warning(id, &entry, &prepared, client);
        let count = prepared.variables.len();
        let mismatch = |found| format!("there were {count} markers(?) in CQL but {found} bound variables");
        let keyspace = entry.keyspace.clone();
        let mut outcome = match in_marker_order(&options.values, &prepared.variables, mismatch) {
            Ok(values) => {
                self.run(&schema, &prepared.plan, &values, options, keyspace.as_deref(), client).await
            }
            Err(error) => Err(error),
        };
        if let Some(warning) = warning {
            let warnings = outcome.as_mut().map_or(&mut client.warnings, |outcome| &mut outcome.warnings);
            warnings.insert(0, warning);
        }
        outcome
    }

    /// The plan under the present schema. A client that could not notice new columns must prepare
    /// again: protocols before v5 have no result metadata id.
    fn up_to_date(
        &self,
        id: &[u8; 16],
        entry: &Entry,
        schema: &Schema,
        protocol_version: u8,
    ) -> CqlResult<Arc<Prepared>> {
        let prepared = entry.prepared.load_full();
        if prepared.generation == schema.generation {
            return Ok(prepared);
        }
        let Ok(renewed) = prepare(schema, &entry.text, entry.keyspace.as_deref()) else {
            self.cache.remove(id);
            return Err(CqlError::Unprepared(*id));
        };
        let same_columns = renewed.result_metadata() == prepared.result_metadata();
        if renewed.variables != prepared.variables || (!same_columns && protocol_version < 5) {
            self.cache.remove(id);
            return Err(CqlError::Unprepared(*id));
        }
        let renewed = Arc::new(renewed);
        entry.answer.store(Arc::new(answer(*id, &renewed)));
        entry.prepared.store(renewed.clone());
        Ok(renewed)
    }

    /// Runs a BATCH message. `options.values` is not looked at: each entry has its own, by
    /// position.
    ///
    /// # Errors
    /// What the client is told.
    pub async fn batch(
        &self,
        kind: BatchKind,
        entries: &[(BatchEntry, Vec<Value>)],
        options: &QueryOptions,
        client: &mut ClientState,
    ) -> Result<Outcome, CqlError> {
        let schema = self.schema.current();
        check_keyspace(&schema, options.keyspace.as_deref())?;
        let keyspace = options.keyspace.clone().or_else(|| client.keyspace.clone());
        let mut prepared: Vec<Arc<Prepared>> = Vec::with_capacity(entries.len());
        for (entry, values) in entries {
            let statement = match entry {
                BatchEntry::Text(text) => Arc::new(prepare(&schema, text, keyspace.as_deref())?),
                BatchEntry::Prepared(id) => {
                    let entry = self.cache.get(id).ok_or(CqlError::Unprepared(*id))?;
                    self.up_to_date(id, &entry, &schema, options.protocol_version)?
                }
            };
            let (markers, found) = (statement.variables.len(), values.len());
            if markers != found {
                bail!("There were {markers} markers(?) in CQL but {found} bound variables");
            }
            prepared.push(statement);
        }
        let mut plans: Vec<&ModifyPlan> = Vec::with_capacity(prepared.len());
        for statement in &prepared {
            let Plan::Modify(plan) = &statement.plan else {
                return invalid(
                    "Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.",
                );
            };
            plans.push(plan);
        }
        let attributes = Attributes::default();
        batch::validate(kind, &plans, &attributes)?;
        let mut warnings = Vec::new();
        let mut execution = self.execution(options, &[], &mut warnings);
        let steps = plans.into_iter().zip(entries);
        let steps = steps.map(|(plan, (_, values))| Step::new(plan, values, &execution));
        let steps = steps.collect::<CqlResult<Vec<Step<'_>>>>()?;
        let result = batch::run(kind, &steps, &attributes, &mut execution).await;
        outcome(result, warnings, client)
    }

    fn execution<'a>(
        &'a self,
        options: &'a QueryOptions,
        values: &'a [Value],
        warnings: &'a mut Vec<String>,
    ) -> Execution<'a> {
        let now_s = options.now_s.map_or_else(|| self.env.now_s(), i64::from);
        Execution { processor: self, options, values, now_s, warnings }
    }

    async fn run(
        &self,
        schema: &Schema,
        plan: &Plan,
        values: &[Value],
        options: &QueryOptions,
        keyspace: Option<&str>,
        client: &mut ClientState,
    ) -> Result<Outcome, CqlError> {
        let mut warnings = Vec::new();
        let mut execution = self.execution(options, values, &mut warnings);
        // What is boxed is large: every request would carry room for it, and move it from future to future.
        let result = match plan {
            Plan::Select(select) => Box::pin(select.execute(&mut execution)).await.map(StatementResult::Rows),
            Plan::Modify(modify) => modify.execute(&mut execution).await,
            Plan::Batch(batch) => Box::pin(batch.execute(&mut execution)).await,
            Plan::Truncate(truncate) => Box::pin(truncate.execute(&execution)).await,
            Plan::Use(name) => use_::execute(schema, name, client),
            Plan::Other(statement) => return self.schema.run(statement, keyspace, options, client).await,
        };
        outcome(result, warnings, client)
    }

    /// Ends a turn of the calling thread, which has polled some requests: what they write is written now, in one step. Says
    /// whether there was something; then some of them may go on.
    pub fn end_turn(&self) -> bool {
        self.coordinator.end_turn()
    }

    /// The schema now.
    pub fn schema(&self) -> Arc<Schema> {
        self.schema.current()
    }

    /// How many statements are prepared.
    pub fn prepared_count(&self) -> usize {
        self.cache.len()
    }
}

/// A result with its warnings; those of a failure wait at the client's.
fn outcome(
    result: CqlResult<StatementResult>,
    warnings: Vec<String>,
    client: &mut ClientState,
) -> Result<Outcome, CqlError> {
    match result {
        Ok(result) => Ok(Outcome { result, warnings }),
        Err(error) => {
            client.warnings = warnings;
            Err(error)
        }
    }
}

/// What a connection is told, unless it was before, when the keyspace it uses is not that of a prepared statement that
/// names its table without one (`ExecuteMessage.execute`).
fn other_keyspace_warning(
    id: &[u8; 16],
    entry: &Entry,
    prepared: &Prepared,
    client: &ClientState,
) -> Option<String> {
    let statements = match prepared.plan {
        Plan::Use(_) | Plan::Other(_) => None,
        _ => entry.keyspace.as_deref(),
    };
    let is_other = client.keyspace.as_deref() != statements;
    if prepared.is_fully_qualified || !is_other || matches!(prepared.plan, Plan::Batch(_)) {
        return None;
    }
    let told = client.warned_of_use.swap(true, Ordering::Relaxed);
    (!told).then(|| use_warning(id, client.keyspace.as_deref(), statements))
}

/// What a connection is told once when it prepares a statement that names a table without its
/// keyspace (`ClientState.warnAboutUseWithPreparedStatements`).
fn use_warning(id: &[u8; 16], used: Option<&str>, statements: Option<&str>) -> String {
    let (used, statements) = (used.unwrap_or("null"), statements.unwrap_or("null"));
    let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "`USE <keyspace>` with prepared statements is considered to be an anti-pattern due to ambiguity in non-qualified table names. Please consider removing instances of `Session#setKeyspace(<keyspace>)`, `Session#execute(\"USE <keyspace>\")` and `cluster.newSession(<keyspace>)` from your code, and always use fully qualified table names (e.g. <keyspace>.<table>). Keyspace used: {used}, statement keyspace: {statements}, statement id: {id}"
    )
}

/// The keyspace of a request must exist.
fn check_keyspace(schema: &Schema, keyspace: Option<&str>) -> CqlResult<()> {
    match keyspace {
        Some(name) if schema.keyspace(name).is_none() => bail!("Keyspace '{name}' does not exist"),
        _ => Ok(()),
    }
}

fn check_page_size(options: &QueryOptions) -> CqlResult<()> {
    if options.page_size == Some(0) {
        return Err(CqlError::protocol("The page size cannot be 0"));
    }
    Ok(())
}

fn answer(id: [u8; 16], prepared: &Prepared) -> PreparedStatement {
    PreparedStatement {
        id,
        variables: prepared.variables.clone(),
        partition_key_indices: prepared.partition_key_indices.clone(),
        result_metadata: prepared.result_metadata(),
        warnings: Vec::new(),
    }
}
