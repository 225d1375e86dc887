//! `floor` of a time by a duration, counted from 1970 or from a given start (`TimeFcts`,
//! `Duration.floorTimestamp`, `Duration.floorTime`).

use basalt_model::DataType;
use bytes::Bytes;

use super::calendar::{add_months, year_and_month};
use super::temporal::Duration;
use super::{Function, Scalar, time};
use crate::error::{CqlResult, bail, invalid};
use crate::literals;

const NANOS_PER_DAY: i64 = 86_400_000_000_000;
/// So many steps of a month or more meet every length of every month on their way; the day of the
/// month is then the shortest's and stays.
const STEPS_UNTIL_STEADY: i32 = 4800;

/// The functions of a name.
pub(super) fn offer(name: &str) -> Vec<Function> {
    use DataType as T;
    if name != "floor" {
        return Vec::new();
    }
    let function =
        |arguments: &[DataType], returns: DataType| Function::scalar(name, arguments, returns, Scalar::Floor);
    vec![
        function(&[T::Timestamp, T::Duration], T::Timestamp),
        function(&[T::Timestamp, T::Duration, T::Timestamp], T::Timestamp),
        function(&[T::TimeUuid, T::Duration], T::Timestamp),
        function(&[T::TimeUuid, T::Duration, T::Timestamp], T::Timestamp),
        function(&[T::Date, T::Duration], T::Date),
        function(&[T::Date, T::Duration, T::Date], T::Date),
        function(&[T::Time, T::Duration], T::Time),
    ]
}

/// Computes.
pub(super) fn call(function: &Function, arguments: &[Bytes]) -> CqlResult<Option<Bytes>> {
    let ([data_type, _, start_type @ ..], [value, duration, start @ ..]) =
        (function.arguments.as_slice(), arguments)
    else {
        return Ok(None);
    };
    let Some(parsed) = Duration::read(duration) else { return Ok(None) };
    if *data_type == DataType::Time {
        let Some(nanos) = value.first_chunk().map(|bytes| i64::from_be_bytes(*bytes)) else {
            return Ok(None);
        };
        return Ok(Some(Bytes::copy_from_slice(&floor_time(nanos, &parsed)?.to_be_bytes())));
    }
    let Some(unix_ms) = time::unix_ms(data_type, value)? else { return Ok(None) };
    let start_ms = match (start_type.first(), start.first()) {
        (Some(start_type), Some(start)) => match time::unix_ms(start_type, start)? {
            Some(start_ms) => start_ms,
            None => return Ok(None),
        },
        _ => 0,
    };
    check_precision(data_type, &parsed, duration)?;
    let floor = floor_timestamp(unix_ms, &parsed, start_ms)?;
    Ok(Some(time::from_unix_ms(&function.returns, floor)))
}

fn check_precision(data_type: &DataType, parsed: &Duration, duration: &[u8]) -> CqlResult<()> {
    let shown = || literals::to_text(&DataType::Duration, duration).unwrap_or_default();
    match data_type {
        DataType::Date if !parsed.has_day_precision() => bail!(
            "The floor on date values cannot be computed for the {} duration as precision is below 1 day",
            shown()
        ),
        DataType::Date => Ok(()),
        _ if !parsed.has_millisecond_precision() => bail!(
            "The floor cannot be computed for the {} duration as precision is below 1 millisecond",
            shown()
        ),
        _ => Ok(()),
    }
}

fn floor_timestamp(unix_ms: i64, duration: &Duration, start_ms: i64) -> CqlResult<i64> {
    if start_ms > unix_ms {
        return invalid("The floor function starting time is greater than the provided time");
    }
    if duration.is_negative() {
        return invalid("Negative durations are not supported by the floor function");
    }
    if duration.months != 0 {
        return Ok(floor_by_months(unix_ms, duration, start_ms));
    }
    let step_ms = duration.milliseconds();
    Ok(match step_ms {
        0 => unix_ms,
        _ => unix_ms.wrapping_sub(unix_ms.wrapping_sub(start_ms) % step_ms),
    })
}

/// Goes from the start by as many times the duration's months as lie between, then back while its
/// days and milliseconds lead beyond the time.
fn floor_by_months(unix_ms: i64, duration: &Duration, start_ms: i64) -> i64 {
    let ((year, month), (start_year, start_month)) = (year_and_month(unix_ms), year_and_month(start_ms));
    let between = (year - start_year) * 12 + (month - start_month);
    // Java counts in 32 bits.
    let mut times = (between as i32) / duration.months;
    let mut at_ms = add_months(start_ms, times.wrapping_mul(duration.months));
    if duration.days == 0 && duration.nanos == 0 {
        return at_ms;
    }
    let step_ms = duration.milliseconds();
    let floor = |at_ms: i64, times: i32| at_ms.wrapping_add(i64::from(times).wrapping_mul(step_ms));
    let mut steps = 0;
    while floor(at_ms, times) > unix_ms && steps < STEPS_UNTIL_STEADY {
        (times, steps) = (times.wrapping_sub(1), steps + 1);
        at_ms = add_months(at_ms, duration.months.wrapping_neg());
    }
    if floor(at_ms, times) > unix_ms {
        let back = |steps: i32| {
            let at_ms = add_months(at_ms, steps.wrapping_mul(duration.months).wrapping_neg());
            floor(at_ms, times.wrapping_sub(steps))
        };
        // The fewest steps back that suffice.
        let (mut few, mut enough) = (0, times.max(1));
        while few + 1 < enough {
            let middle = few + (enough - few) / 2;
            if back(middle) > unix_ms { few = middle } else { enough = middle }
        }
        return start_ms.max(back(enough));
    }
    start_ms.max(floor(at_ms, times))
}

fn floor_time(nanos: i64, duration: &Duration) -> CqlResult<i64> {
    if duration.is_negative() {
        return invalid("Negative durations are not supported by the floor function");
    }
    if duration.months != 0 || duration.days != 0 || duration.nanos > NANOS_PER_DAY {
        return invalid("For time values, the floor can only be computed for durations smaller that a day");
    }
    Ok(match duration.nanos {
        0 => nanos,
        step => nanos - nanos % step,
    })
}
