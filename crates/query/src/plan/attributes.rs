//! USING TIMESTAMP and TTL (`Attributes`).

use basalt_cql::ast;
use basalt_model::{DataType, Table};

use super::Execution;
use crate::error::{CqlResult, bail, invalid};
use crate::receiver::{Markers, Receiver};
use crate::request::Value;
use crate::terms::{Context, Term};

/// Twenty years, seconds.
const MAX_TTL_S: i32 = 20 * 365 * 24 * 60 * 60;

/// What a modification says of its times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    /// USING TIMESTAMP
    pub(crate) timestamp: Option<Term>,
    /// USING TTL
    pub(crate) ttl: Option<Term>,
}

/// Resolves them; `place` gives keyspace and table of the markers.
pub(crate) fn prepare(
    context: &Context<'_>,
    markers: &mut Markers,
    (timestamp, ttl): (Option<&ast::Term>, Option<&ast::Term>),
    place: &Receiver,
) -> CqlResult<Attributes> {
    let mut term = |written: Option<&ast::Term>, name: &str, data_type: DataType| match written {
        None => Ok(None),
        Some(term) => {
            let place = place.part(name.to_owned(), &data_type);
            Term::prepare(context, markers, term, &place).map(Some)
        }
    };
    Ok(Attributes {
        timestamp: term(timestamp, "[timestamp]", DataType::BigInt)?,
        ttl: term(ttl, "[ttl]", DataType::Int)?,
    })
}

impl Attributes {
    /// The write time: the statement's own, or `otherwise`.
    pub(crate) fn timestamp(&self, execution: &Execution<'_>, otherwise: i64) -> CqlResult<i64> {
        let Some(term) = &self.timestamp else { return Ok(otherwise) };
        match term.bind(&execution.binding())? {
            Value::Null => invalid("Invalid null value of timestamp"),
            Value::Unset => Ok(otherwise),
            Value::Bytes(bytes) => match bytes.first_chunk::<8>() {
                Some(bytes) => Ok(i64::from_be_bytes(*bytes)),
                None => invalid("Invalid timestamp value"),
            },
        }
    }

    /// Seconds to live; 0 for ever.
    pub(crate) fn ttl_s(&self, execution: &Execution<'_>, table: &Table) -> CqlResult<i32> {
        let default = table.options.default_time_to_live;
        let Some(term) = &self.ttl else {
            check_overflow(execution, table, default, true)?;
            return Ok(default);
        };
        let bytes = match term.bind(&execution.binding())? {
            Value::Null => return Ok(0),
            Value::Unset => return Ok(default),
            Value::Bytes(bytes) if bytes.is_empty() => return Ok(0),
            Value::Bytes(bytes) => bytes,
        };
        let Some(ttl) = bytes.first_chunk::<4>().map(|bytes| i32::from_be_bytes(*bytes)) else {
            return invalid("Invalid TTL value");
        };
        if ttl < 0 {
            bail!("A TTL must be greater or equal to 0, but was {ttl}");
        }
        if ttl > MAX_TTL_S {
            bail!("ttl is too large. requested ({ttl}) maximum ({MAX_TTL_S})");
        }
        check_overflow(execution, table, ttl, false)?;
        Ok(ttl)
    }
}

/// Refuses what would expire beyond what the format can say (policy REJECT).
fn check_overflow(execution: &Execution<'_>, table: &Table, ttl: i32, is_default: bool) -> CqlResult<()> {
    let mode = execution.processor.settings.storage_compatibility_mode;
    if ttl == 0 || execution.processor.env.now_s() + i64::from(ttl) <= mode.max_deletion_time_s() {
        return Ok(());
    }
    let which = if is_default { "default " } else { "" };
    bail!(
        "Request on table {}.{} with {which}ttl of {ttl} seconds exceeds maximum supported expiration date of {}. In order to avoid this use a lower TTL, change the expiration date overflow policy or upgrade to a version where this limitation is fixed. See CASSANDRA-14092 and CASSANDRA-14227 for more details.",
        table.keyspace,
        table.name,
        mode.max_deletion_time_text()
    )
}
