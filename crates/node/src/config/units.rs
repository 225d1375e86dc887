//! Durations, sizes and rates with units, as `cassandra.yaml` writes them (`config/DurationSpec`,
//! `DataStorageSpec`, `DataRateSpec`): which units a key takes and which range.

/// The range of Java's type behind a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Below 2^31 - 1 in the key's unit.
    Int,
    /// Below 2^63 - 1 in the key's unit.
    Long,
}

impl Bound {
    fn max(self) -> i128 {
        match self {
            Bound::Int => i128::from(i32::MAX),
            Bound::Long => i128::from(i64::MAX),
        }
    }
}

/// The smallest unit a duration takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DurationUnit {
    /// `ns`
    Nanos,
    /// `us`
    Micros,
    /// `ms`
    Millis,
    /// `s`
    Seconds,
    /// `m`
    Minutes,
    /// `h`
    Hours,
    /// `d`
    Days,
}

impl DurationUnit {
    const ALL: [(DurationUnit, &'static str, i128); 7] = [
        (DurationUnit::Nanos, "NANOSECONDS", 1),
        (DurationUnit::Micros, "MICROSECONDS", 1_000),
        (DurationUnit::Millis, "MILLISECONDS", 1_000_000),
        (DurationUnit::Seconds, "SECONDS", 1_000_000_000),
        (DurationUnit::Minutes, "MINUTES", 60_000_000_000),
        (DurationUnit::Hours, "HOURS", 3_600_000_000_000),
        (DurationUnit::Days, "DAYS", 86_400_000_000_000),
    ];

    fn of(symbol: &str) -> Option<DurationUnit> {
        Some(match symbol {
            "ns" => DurationUnit::Nanos,
            "us" | "µs" => DurationUnit::Micros,
            "ms" => DurationUnit::Millis,
            "s" => DurationUnit::Seconds,
            "m" => DurationUnit::Minutes,
            "h" => DurationUnit::Hours,
            "d" => DurationUnit::Days,
            _ => return None,
        })
    }

    fn row(self) -> (DurationUnit, &'static str, i128) {
        DurationUnit::ALL[self as usize]
    }
}

/// The smallest unit a size takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StorageUnit {
    /// `B`
    B,
    /// `KiB`
    KiB,
    /// `MiB`
    MiB,
    /// `GiB`
    GiB,
}

impl StorageUnit {
    const ALL: [(StorageUnit, &'static str, i128); 4] = [
        (StorageUnit::B, "BYTES", 1),
        (StorageUnit::KiB, "KIBIBYTES", 1 << 10),
        (StorageUnit::MiB, "MEBIBYTES", 1 << 20),
        (StorageUnit::GiB, "GIBIBYTES", 1 << 30),
    ];

    fn of(symbol: &str) -> Option<StorageUnit> {
        Some(match symbol {
            "B" => StorageUnit::B,
            "KiB" => StorageUnit::KiB,
            "MiB" => StorageUnit::MiB,
            "GiB" => StorageUnit::GiB,
            _ => return None,
        })
    }

    fn row(self) -> (StorageUnit, &'static str, i128) {
        StorageUnit::ALL[self as usize]
    }
}

/// Splits `<digits><unit>`; `None` when there are no digits or more than a Java `long` holds.
fn split(text: &str) -> Option<(i128, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    Some((i128::from(number.parse::<i64>().ok()?), unit))
}

/// A duration in nanoseconds.
///
/// # Errors
/// In Cassandra's words: no such unit, a finer unit than `smallest`, or too large.
pub fn duration_nanos(text: &str, smallest: DurationUnit, bound: Bound) -> Result<i128, String> {
    let accepted = || {
        let names: Vec<&str> = DurationUnit::ALL[smallest as usize..].iter().map(|row| row.1).collect();
        format!("[{}]", names.join(", "))
    };
    let Some((quantity, unit)) = split(text).and_then(|(q, symbol)| Some((q, DurationUnit::of(symbol)?)))
    else {
        return Err(format!(
            "Invalid duration: {text} Accepted units:{} where case matters and only non-negative values.",
            accepted()
        ));
    };
    if unit < smallest {
        return Err(format!("Invalid duration: {text} Accepted units:{}", accepted()));
    }
    let nanos = quantity * unit.row().2;
    if nanos / smallest.row().2 >= bound.max() {
        return Err(format!(
            "Invalid duration: {text}. It shouldn't be more than {} in {}",
            bound.max() - 1,
            smallest.row().1.to_lowercase()
        ));
    }
    Ok(nanos)
}

/// A size in bytes.
///
/// # Errors
/// In Cassandra's words: no such unit, a finer unit than `smallest`, or too large.
pub fn storage_bytes(text: &str, smallest: StorageUnit, bound: Bound) -> Result<u64, String> {
    let accepted = || {
        let names: Vec<&str> = StorageUnit::ALL[smallest as usize..].iter().map(|row| row.1).collect();
        format!("[{}]", names.join(", "))
    };
    let Some((quantity, unit)) = split(text).and_then(|(q, symbol)| Some((q, StorageUnit::of(symbol)?)))
    else {
        return Err(format!(
            "Invalid data storage: {text} Accepted units:{} where case matters and only non-negative values are accepted",
            accepted()
        ));
    };
    if unit < smallest {
        return Err(format!("Invalid data storage: {text} Accepted units:{}", accepted()));
    }
    let bytes = quantity * unit.row().2;
    let too_large = bytes / smallest.row().2 >= bound.max();
    match u64::try_from(bytes) {
        Ok(bytes) if !too_large => Ok(bytes),
        _ => Err(format!(
            "Invalid data storage: {text}. It shouldn't be more than {} in {}",
            bound.max() - 1,
            smallest.row().1.to_lowercase()
        )),
    }
}

/// A rate in bytes a second.
///
/// # Errors
/// In Cassandra's words: no such unit, or too large.
pub fn rate_bytes_per_second(text: &str) -> Result<u64, String> {
    let factor = |symbol| match symbol {
        "B/s" => Some(1),
        "KiB/s" => Some(1 << 10),
        "MiB/s" => Some(1 << 20),
        _ => None,
    };
    let Some((quantity, factor)) = split(text).and_then(|(q, symbol)| Some((q, factor(symbol)?))) else {
        return Err(format!(
            "Invalid data rate: {text} Accepted units: MiB/s, KiB/s, B/s where case matters and only non-negative values are valid"
        ));
    };
    match i64::try_from(quantity * factor) {
        Ok(rate) if rate < i64::MAX => Ok(rate.unsigned_abs()),
        _ => Err(format!(
            "Invalid data rate: {text}. It shouldn't be more than {} in bytes_per_second",
            i64::MAX - 1
        )),
    }
}
