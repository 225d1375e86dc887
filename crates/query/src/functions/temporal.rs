//! Dates and timestamps plus and minus durations (`TemporalType.addDuration`).

use basalt_cql::ast::ArithmeticOp;
use basalt_model::DataType;
use basalt_model::types::elements::take_vint;
use bytes::Bytes;

use super::{Function, Scalar, time};
use crate::literals;
use crate::literals::calendar::{date_from_days, days_from_date, month_length};

const MS_PER_DAY: i64 = 86_400_000;
const NANOS_PER_MS: i64 = 1_000_000;

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
    let Some(unix_ms) = time::unix_ms(data_type, time_value) else { return Ok(None) };
    let mut rest: &[u8] = duration;
    let parts = (take_vint(&mut rest), take_vint(&mut rest), take_vint(&mut rest));
    let (Some(months), Some(days), Some(nanos)) = parts else { return Ok(None) };
    let (what, is_precise) = match data_type {
        DataType::Date => ("day", nanos == 0),
        _ => ("millisecond", nanos % NANOS_PER_MS == 0),
    };
    if !is_precise {
        let shown = literals::to_text(&DataType::Duration, duration).unwrap_or_default();
        return Err(format!("The duration must have a {what} precision. Was: {shown}"));
    }
    let sign = if subtract { -1 } else { 1 };
    let (day, within) = (unix_ms.div_euclid(MS_PER_DAY), unix_ms.rem_euclid(MS_PER_DAY));
    let day = add_months(day, sign * months).saturating_add(sign * days);
    let shifted =
        day.saturating_mul(MS_PER_DAY).saturating_add(within).saturating_add(sign * (nanos / NANOS_PER_MS));
    Ok(Some(time::from_unix_ms(data_type, shifted)))
}

/// The same day some months later, or the last one of a shorter month.
fn add_months(day: i64, months: i64) -> i64 {
    if months == 0 {
        return day;
    }
    let (year, month, of_month) = date_from_days(day);
    let month = year * 12 + (month - 1) + months;
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
    days_from_date(year, month, of_month.min(month_length(year, month)))
}
