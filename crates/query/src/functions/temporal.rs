//! Dates and timestamps plus and minus durations (`TemporalType.addDuration`, `Duration.addTo`).

use basalt_cql::ast::ArithmeticOp;
use basalt_model::DataType;
use basalt_model::types::elements::take_vint;
use bytes::Bytes;

use super::calendar::{MS_PER_DAY, add_months};
use super::{Function, Scalar, time};
use crate::literals;

const NANOS_PER_MS: i64 = 1_000_000;

/// A `duration`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Duration {
    /// Months.
    pub(super) months: i32,
    /// Days.
    pub(super) days: i32,
    /// Nanoseconds.
    pub(super) nanos: i64,
}

impl Duration {
    /// Reads a serialized duration.
    pub(super) fn read(value: &[u8]) -> Option<Duration> {
        let mut rest = value;
        let months = i32::try_from(take_vint(&mut rest)?).ok()?;
        let days = i32::try_from(take_vint(&mut rest)?).ok()?;
        Some(Duration { months, days, nanos: take_vint(&mut rest)? })
    }

    /// Below zero, as all its parts are then.
    pub(super) fn is_negative(&self) -> bool {
        self.months < 0 || self.days < 0 || self.nanos < 0
    }

    /// Whether it is whole milliseconds.
    pub(super) fn has_millisecond_precision(&self) -> bool {
        self.nanos % NANOS_PER_MS == 0
    }

    /// Whether it is whole days.
    pub(super) fn has_day_precision(&self) -> bool {
        self.nanos == 0
    }

    /// Its days and nanoseconds in milliseconds.
    pub(super) fn milliseconds(&self) -> i64 {
        i64::from(self.days) * MS_PER_DAY + self.nanos / NANOS_PER_MS
    }

    fn negated(&self) -> Duration {
        Duration {
            months: self.months.wrapping_neg(),
            days: self.days.wrapping_neg(),
            nanos: self.nanos.wrapping_neg(),
        }
    }

    /// The moment later by it.
    fn after(&self, unix_ms: i64) -> i64 {
        if self.months == 0 {
            return unix_ms.wrapping_add(self.milliseconds());
        }
        // Beside months Java adds milliseconds in 32 bits.
        let within = i64::from((self.nanos / NANOS_PER_MS) as i32);
        let days = i64::from(self.days) * MS_PER_DAY;
        add_months(unix_ms, self.months).wrapping_add(days).wrapping_add(within)
    }
}

/// The functions of an operator.
pub(super) fn offer(name: &str, op: ArithmeticOp) -> Vec<Function> {
    if !matches!(op, ArithmeticOp::Add | ArithmeticOp::Subtract) {
        return Vec::new();
    }
    let function = |data_type: DataType| {
        let arguments = [data_type.clone(), DataType::Duration];
        Function::scalar(name, &arguments, data_type, Scalar::Arithmetic(op))
    };
    vec![function(DataType::Timestamp), function(DataType::Date)]
}

/// Adds a duration to a time, or takes it away; why not, as a text.
pub(super) fn shift(
    data_type: &DataType,
    time_value: &Bytes,
    duration: &Bytes,
    subtract: bool,
) -> Result<Option<Bytes>, String> {
    let unix_ms = time::unix_ms(data_type, time_value).map_err(|error| error.to_string())?;
    let Some(unix_ms) = unix_ms else { return Ok(None) };
    let Some(parsed) = Duration::read(duration) else { return Ok(None) };
    let (what, is_precise) = match data_type {
        DataType::Date => ("day", parsed.has_day_precision()),
        _ => ("millisecond", parsed.has_millisecond_precision()),
    };
    if !is_precise {
        let shown = literals::to_text(&DataType::Duration, duration).unwrap_or_default();
        return Err(format!("The duration must have a {what} precision. Was: {shown}"));
    }
    let parsed = if subtract { parsed.negated() } else { parsed };
    Ok(Some(time::from_unix_ms(data_type, parsed.after(unix_ms))))
}
