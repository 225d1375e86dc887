//! Values of one request in marker order, and what evaluating a term may ask for besides them:
//! time and fresh time-UUIDs. Does not know what the values are for.

use std::borrow::Cow;
use std::sync::Arc;

use basalt_model::env::Env;

use crate::error::{CqlResult, invalid};
use crate::request::{Value, Values};
use crate::result::ColumnSpec;
use crate::timeuuid::TimeUuids;

/// What terms are evaluated with.
#[derive(Clone, Copy)]
pub(crate) struct Binding<'a> {
    /// Bound values in marker order.
    pub(crate) values: &'a [Value],
    /// The clock of `now()` and its like; randomness of `uuid()`.
    pub(crate) env: &'a dyn Env,
    /// Fresh time-UUIDs.
    pub(crate) timeuuids: &'a TimeUuids,
}

impl Binding<'_> {
    /// The value of a marker; absent ones were refused when the request came in.
    pub(crate) fn value(&self, index: usize) -> &Value {
        self.values.get(index).unwrap_or(&Value::Null)
    }

    /// Milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        self.env.wall_micros().div_euclid(1_000)
    }
}

/// The values in marker order (`QueryOptions.prepare`): named ones are looked up by the markers'
/// names, unknown names are ignored.
///
/// # Errors
/// `mismatch` (given the number of values found) when there are not as many values as markers.
pub(crate) fn in_marker_order<'a>(
    values: &'a Values,
    markers: &[ColumnSpec],
    mismatch: impl Fn(usize) -> String,
) -> CqlResult<Cow<'a, [Value]>> {
    let ordered = match values {
        Values::Positional(values) => Cow::Borrowed(values.as_slice()),
        Values::Named(named) => Cow::Owned(by_name(named, markers)),
    };
    if ordered.len() == markers.len() { Ok(ordered) } else { invalid(mismatch(ordered.len())) }
}

fn by_name(named: &[(Arc<str>, Value)], markers: &[ColumnSpec]) -> Vec<Value> {
    let find = |marker: &ColumnSpec| named.iter().find(|(name, _)| *name == marker.name);
    markers.iter().filter_map(find).map(|(_, value)| value.clone()).collect()
}
