//! The present in all its types, and conversions between types of time (`TimeFcts`).

use basalt_model::DataType;
use bytes::Bytes;

use super::calendar::MS_PER_DAY;
use super::{Function, Scalar};
use crate::bind::Binding;
use crate::error::{CqlResult, bail};
use crate::timeuuid;

const S_PER_DAY: i64 = 86_400;
/// The day 1970-01-01 of a `date`.
const DATE_EPOCH: i64 = 1 << 31;

/// The functions of a name.
pub(super) fn offer(name: &str) -> Vec<Function> {
    use DataType as T;
    let now = |returns: DataType| vec![Function::scalar(name, &[], returns, Scalar::Now)];
    let convert = |returns: DataType, from: &[DataType]| -> Vec<Function> {
        let one = |from: &DataType| {
            Function::scalar(name, std::slice::from_ref(from), returns.clone(), Scalar::ConvertTime)
        };
        from.iter().map(one).collect()
    };
    match name {
        "now" | "current_timeuuid" | "currenttimeuuid" => now(T::TimeUuid),
        "current_timestamp" | "currenttimestamp" => now(T::Timestamp),
        "current_date" | "currentdate" => now(T::Date),
        "current_time" | "currenttime" => now(T::Time),
        "uuid" => vec![Function::scalar(name, &[], T::Uuid, Scalar::RandomUuid)],
        "min_timeuuid" | "mintimeuuid" => {
            vec![Function::scalar(name, &[T::Timestamp], T::TimeUuid, Scalar::MinTimeUuid)]
        }
        "max_timeuuid" | "maxtimeuuid" => {
            vec![Function::scalar(name, &[T::Timestamp], T::TimeUuid, Scalar::MaxTimeUuid)]
        }
        "to_date" | "todate" => convert(T::Date, &[T::TimeUuid, T::Timestamp]),
        "to_timestamp" | "totimestamp" => convert(T::Timestamp, &[T::TimeUuid, T::Date]),
        "to_unix_timestamp" | "tounixtimestamp" => convert(T::BigInt, &[T::TimeUuid, T::Timestamp, T::Date]),
        _ => Vec::new(),
    }
}

/// The present as a type of time.
pub(super) fn now(data_type: &DataType, binding: &Binding<'_>) -> Bytes {
    let micros = binding.env.wall_micros();
    let ms = micros.div_euclid(1_000);
    match data_type {
        DataType::Timestamp => big_endian(ms),
        DataType::Date => date(ms),
        DataType::Time => big_endian(ms.rem_euclid(MS_PER_DAY) * 1_000_000),
        _ => Bytes::copy_from_slice(&binding.timeuuids.next()),
    }
}

/// The smallest or largest time-UUID of a timestamp.
pub(super) fn bound(largest: bool, timestamp: &Bytes) -> Option<Bytes> {
    let ms = long(timestamp)?;
    let uuid = if largest { timeuuid::max_at(ms) } else { timeuuid::min_at(ms) };
    Some(Bytes::copy_from_slice(&uuid))
}

/// A time as the function's result type.
pub(super) fn convert(function: &Function, value: &Bytes) -> CqlResult<Option<Bytes>> {
    let Some(from) = function.arguments.first() else { return Ok(None) };
    Ok(unix_ms(from, value)?.map(|ms| from_unix_ms(&function.returns, ms)))
}

/// A value of a type of time from milliseconds since 1970.
pub(super) fn from_unix_ms(data_type: &DataType, unix_ms: i64) -> Bytes {
    match data_type {
        DataType::Date => date(unix_ms),
        _ => big_endian(unix_ms),
    }
}

/// Milliseconds since 1970 of a value of a type of time; `None` for an empty value.
///
/// # Errors
/// A bound of time-UUIDs that is none, because its time does not fit into one.
pub(super) fn unix_ms(data_type: &DataType, value: &[u8]) -> CqlResult<Option<i64>> {
    Ok(match data_type {
        DataType::TimeUuid | DataType::LegacyTimeUuid => match value.first_chunk() {
            Some(uuid) if uuid[6] >> 4 != 1 => bail!("Invalid UUID version {} for timeuuid", uuid[6] >> 4),
            uuid => uuid.map(timeuuid::unix_ms),
        },
        DataType::Date => value.first_chunk().map(|bytes| {
            let days = i64::from(u32::from_be_bytes(*bytes)) - DATE_EPOCH;
            days * MS_PER_DAY
        }),
        _ => long(value),
    })
}

fn date(unix_ms: i64) -> Bytes {
    // Whole seconds rounded down, then whole days rounded towards 1970 (`SimpleDateSerializer`).
    let days = unix_ms.div_euclid(1_000) / S_PER_DAY + DATE_EPOCH;
    Bytes::copy_from_slice(&(days as u32).to_be_bytes())
}

fn long(value: &[u8]) -> Option<i64> {
    Some(i64::from_be_bytes(*value.first_chunk()?))
}

fn big_endian(value: i64) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes())
}
