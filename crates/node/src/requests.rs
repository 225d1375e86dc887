//! One statement from request to answer: QUERY, PREPARE, EXECUTE and BATCH, from the words of the wire
//! into those of the query processor and back. Knows no socket; a panic ends here.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use basalt_model::ids::{Md5Id, result_metadata_id};
use basalt_model::{Consistency, CqlError, SerialConsistency};
use basalt_query::request::{BatchEntry, BatchKind, ClientState, QueryOptions, Value, Values};
use basalt_query::result::{Outcome, PreparedStatement, ResultSet, StatementResult};
use basalt_wire::connection::{ClientRequest, ReplyTo};
use basalt_wire::prelude::Prelude;
use basalt_wire::request::{self, BatchStatement, QueryParams};
use basalt_wire::response::QueryResult;
use basalt_wire::response::result::{Prepared, PreparedMetadata, RowsMetadata};
use basalt_wire::{ProtocolVersion, Request, Response, primitives};
use bytes::Bytes;

use crate::context::{Local, wire_columns};
use crate::metrics::RequestKind;
use crate::{push, trace};

/// What a client is told when a defect of ours stopped its request.
const DEFECT: &str = "Internal error: the request was stopped; the node's log says why";

/// A request that has begun.
pub struct Begun {
    /// The request.
    pub request: ClientRequest,
    /// When its bytes had arrived, nanoseconds.
    pub arrived_nanos: u64,
    /// When it was begun, nanoseconds.
    pub began_nanos: u64,
    /// Warnings it begins with.
    pub warnings: Vec<String>,
    /// Keyspace and role of the connection.
    pub client: ClientState,
    /// The client's end.
    pub address: std::net::SocketAddr,
}

/// A request's answer.
pub struct Answer {
    /// Where it belongs.
    pub reply_to: ReplyTo,
    /// What it answers.
    pub kind: RequestKind,
    /// When the request's bytes had arrived, nanoseconds.
    pub arrived_nanos: u64,
    /// When it was begun, nanoseconds.
    pub began_nanos: u64,
    /// What the request counted for against the limits, bytes.
    pub body_len: u64,
    /// What stands before the answer.
    pub prelude: Prelude,
    /// The answer.
    pub reply: Reply,
    /// What USE set.
    pub keyspace: Option<Arc<str>>,
}

/// An answer, not encoded yet.
pub enum Reply {
    /// Any but rows.
    Message(Response),
    /// Rows.
    Rows {
        /// The rows.
        set: ResultSet,
        /// Columns are not sent: the client has them.
        skip_metadata: bool,
        /// The client's columns are outdated: new ones are sent with this id (v5).
        is_changed: bool,
        /// The rows are a prepared statement's whose columns are the same for every execution.
        is_prepared: bool,
    },
}

/// Which kind of request that is.
pub fn kind_of(request: &Request) -> RequestKind {
    match request {
        Request::Query(_) => RequestKind::Query,
        Request::Prepare(_) => RequestKind::Prepare,
        Request::Execute(_) => RequestKind::Execute,
        Request::Batch(_) => RequestKind::Batch,
        Request::Startup(_) | Request::AuthResponse(_) | Request::Options | Request::Register(_) => {
            RequestKind::Other
        }
    }
}

/// Runs a statement to its answer.
pub async fn run(local: Rc<Local>, mut begun: Begun) -> Answer {
    // What begun holds is used where it is: taken apart, the future would have room for it twice.
    let result = {
        let version = begun.request.reply_to.version;
        let mut work = pin!(serve(&local, &begun.request.request, version, &mut begun.client));
        poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(poll) => poll,
            Err(panic) => Poll::Ready(Err(defect(&*panic, &begun.request.request))),
        })
        .await
    };
    let mut prelude = Prelude { warnings: std::mem::take(&mut begun.warnings), ..Prelude::EMPTY };
    let (reply, keyspace) = match result {
        Ok(served) => {
            prelude.warnings.extend(served.warnings);
            (served.reply, served.keyspace)
        }
        Err(error) => {
            prelude.warnings.append(&mut begun.client.warnings);
            (Reply::Message(Response::Error(error)), None)
        }
    };
    let request = &begun.request.request;
    if let Some(limit_nanos) = local.node.slow_query_nanos {
        let nanos = local.node.env.monotonic_nanos().saturating_sub(begun.began_nanos);
        if nanos > limit_nanos {
            let (millis, statement) = (nanos / 1_000_000, describe(request));
            tracing::warn!(millis, client = %begun.address, %statement, "slow");
        }
    }
    if begun.request.tracing {
        let nanos = local.node.env.monotonic_nanos().saturating_sub(begun.began_nanos);
        prelude.tracing_id = Box::pin(trace::record(&local, request, begun.address, nanos / 1_000)).await;
    }
    Answer {
        reply_to: begun.request.reply_to,
        kind: kind_of(request),
        arrived_nanos: begun.arrived_nanos,
        began_nanos: begun.began_nanos,
        body_len: u64::from(begun.request.body_len),
        prelude,
        reply,
        keyspace,
    }
}

fn defect(panic: &(dyn std::any::Any + Send), request: &Request) -> CqlError {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    tracing::error!(panic = text, statement = %describe(request), "a defect stopped a request");
    CqlError::server(DEFECT)
}

/// A request for the log: its text or id, shortened, in one line whatever it holds.
pub fn describe(request: &Request) -> String {
    const SHOWN: usize = 1_000;
    let text = match request {
        Request::Query(query) => query.query.clone(),
        Request::Prepare(prepare) => format!("PREPARE {}", prepare.query),
        Request::Execute(execute) => format!("EXECUTE {:x}", execute.id),
        Request::Batch(batch) => format!("BATCH of {} statements", batch.statements.len()),
        other => other.opcode().to_string(),
    };
    let mut line: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        line.push_str("...");
    }
    line
}

struct Served {
    reply: Reply,
    warnings: Vec<String>,
    keyspace: Option<Arc<str>>,
}

async fn serve(
    local: &Local,
    request: &Request,
    version: ProtocolVersion,
    client: &mut ClientState,
) -> Result<Served, CqlError> {
    let processor = &local.node.processor;
    match request {
        Request::Query(query) => {
            let options = query_options(&query.params, version)?;
            let outcome = processor.query(&query.query, &options, client).await?;
            Ok(served(outcome, |_| (query.params.skip_metadata, false), false))
        }
        Request::Execute(execute) => {
            let id = statement_id(&execute.id)?;
            let options = query_options(&execute.params, version)?;
            let outcome = processor.execute(&id, &options, client).await?;
            Ok(served(outcome, |set| metadata_wanted(execute, set, version), true))
        }
        Request::Batch(batch) => {
            let options = query_options(&batch.params, version)?;
            let entries = batch_entries(&batch.statements)?;
            let kind = match batch.kind {
                request::BatchKind::Logged => BatchKind::Logged,
                request::BatchKind::Unlogged => BatchKind::Unlogged,
                request::BatchKind::Counter => BatchKind::Counter,
            };
            let outcome = Box::pin(processor.batch(kind, &entries, &options, client)).await?;
            Ok(served(outcome, |_| (batch.params.skip_metadata, false), false))
        }
        Request::Prepare(prepare) => {
            let prepared = processor.prepare(&prepare.query, prepare.keyspace.as_deref(), client)?;
            Ok(Served {
                reply: Reply::Message(Response::Result(QueryResult::Prepared(prepared_message(&prepared)))),
                warnings: prepared.warnings.clone(),
                keyspace: None,
            })
        }
        Request::Startup(_) | Request::AuthResponse(_) | Request::Options | Request::Register(_) => {
            Err(CqlError::server(DEFECT))
        }
    }
}

fn served(outcome: Outcome, metadata: impl FnOnce(&ResultSet) -> (bool, bool), is_prepared: bool) -> Served {
    let message = |result| Reply::Message(Response::Result(result));
    let mut keyspace = None;
    let reply = match outcome.result {
        StatementResult::Void => message(QueryResult::Void),
        StatementResult::SetKeyspace(name) => {
            let result = QueryResult::SetKeyspace(name.as_ref().to_owned());
            keyspace = Some(name);
            message(result)
        }
        StatementResult::SchemaChange(change) => {
            message(QueryResult::SchemaChange(push::schema_change(&change)))
        }
        StatementResult::Rows(set) => {
            let (skip_metadata, is_changed) = metadata(&set);
            let is_prepared = is_prepared && !is_conditional(&set);
            Reply::Rows { set, skip_metadata, is_changed, is_prepared }
        }
    };
    Served { reply, warnings: outcome.warnings, keyspace }
}

/// Whether an execution's columns are left out, and whether they are new to the client
/// (`ExecuteMessage.execute`). A conditional statement's columns depend on its outcome: they are
/// always sent and never announced as a change.
fn metadata_wanted(execute: &request::Execute, set: &ResultSet, version: ProtocolVersion) -> (bool, bool) {
    if is_conditional(set) {
        return (false, false);
    }
    let is_changed = version >= ProtocolVersion::V5
        && execute.result_metadata_id.as_deref() != Some(set.metadata.id.as_slice());
    (execute.params.skip_metadata && !is_changed, is_changed)
}

/// Whether these are the rows of a conditional statement: no other column has that name.
fn is_conditional(set: &ResultSet) -> bool {
    set.metadata.columns.first().is_some_and(|column| column.name.as_ref() == "[applied]")
}

fn statement_id(id: &Bytes) -> Result<[u8; 16], CqlError> {
    // No statement has another length of id: this one is not prepared here.
    id.as_ref().try_into().map_err(|_| CqlError::protocol("Invalid length of a prepared statement's id"))
}

fn value(value: &primitives::Value) -> Value {
    match value {
        primitives::Value::Null => Value::Null,
        primitives::Value::Unset => Value::Unset,
        primitives::Value::Bytes(bytes) => Value::Bytes(bytes.clone()),
    }
}

fn query_options(params: &QueryParams, version: ProtocolVersion) -> Result<QueryOptions, CqlError> {
    if params.page_size == Some(0) {
        return Err(CqlError::protocol("The page size cannot be 0"));
    }
    let values = params.values.values.iter().map(value);
    Ok(QueryOptions {
        consistency: params.consistency,
        serial_consistency: match params.serial_consistency {
            None | Some(Consistency::Serial) => SerialConsistency::Serial,
            Some(Consistency::LocalSerial) => SerialConsistency::LocalSerial,
            Some(_) => {
                return Err(CqlError::invalid(
                    "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL",
                ));
            }
        },
        values: match &params.values.names {
            None => Values::Positional(values.collect()),
            Some(names) => {
                Values::Named(names.iter().map(|name| Arc::from(name.as_str())).zip(values).collect())
            }
        },
        page_size: params.page_size.filter(|size| *size > 0),
        paging_state: params.paging_state.clone(),
        default_timestamp: params.default_timestamp,
        now_s: params.now_in_seconds,
        keyspace: params.keyspace.as_deref().map(Arc::from),
        protocol_version: version.number(),
    })
}

fn batch_entries(statements: &[BatchStatement]) -> Result<Vec<(BatchEntry, Vec<Value>)>, CqlError> {
    let entry = |statement: &BatchStatement| {
        let entry = match statement {
            BatchStatement::Query { query, .. } => BatchEntry::Text(Arc::from(query.as_str())),
            BatchStatement::Prepared { id, .. } => BatchEntry::Prepared(statement_id(id)?),
        };
        Ok((entry, statement.values().iter().map(value).collect()))
    };
    statements.iter().map(entry).collect()
}

/// The metadata id of a statement without a result (`ResultMetadata.EMPTY`).
fn no_columns() -> Md5Id {
    result_metadata_id::<&str, &str>([])
}

fn prepared_message(prepared: &PreparedStatement) -> Prepared {
    let id = |id: &[u8; 16]| Bytes::copy_from_slice(id);
    Prepared {
        id: id(&prepared.id),
        result_metadata_id: Some(id(&prepared.result_metadata.as_ref().map_or_else(no_columns, |m| m.id))),
        metadata: PreparedMetadata {
            columns: wire_columns(&prepared.variables),
            partition_key_indexes: prepared.partition_key_indices.clone(),
        },
        result_metadata: match &prepared.result_metadata {
            Some(metadata) => RowsMetadata::of(wire_columns(&metadata.columns)),
            None => RowsMetadata::empty(),
        },
    }
}
